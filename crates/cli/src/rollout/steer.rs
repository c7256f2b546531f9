//! `kubectl daemonset rollout pause`, `resume` and `approve`: annotations of the DaemonSet that steer its rollout.
//!
//! As for the other changes nothing is sent: the answer is that of a dry run of kubectl, and the command that makes the change is on
//! standard error, its patches in the JSON.

use crate::cluster::policy::{self, APPROVED, AnnotationProblem, PAUSED, set_annotation};
use crate::cluster::{Choice, Chosen, Needs, Objects, Source, Wanted, name, namespace};
use crate::rollout::args::From;
use crate::rollout::preview::EXAMPLE_POLICY;
use crate::rollout::{not_sent, on_daemon_set, steered};
use crate::shell::console::{Format, Stop};
use crate::shell::response::Response;
use daemonset::policy::Permissions;
use daemonset::report::RolloutStage;
use daemonset::{Policy, plan};
use daemonset_view::steered::Steered;
use daemonset_view::words;
use jiff::Timestamp;
use serde_json::{Value, json};

/// A DaemonSet whose rollout is steered, or shall be.
struct Subject {
    daemon_set: Value,
    policy: Policy,
    powers: Permissions,
    problems: Vec<AnnotationProblem>,
}

/// Why a change is not made: the words after the DaemonSet's name.
type Refusal = String;

/// An annotation with its new value.
struct Change {
    key: &'static str,
    /// `None` removes it.
    value: Option<String>,
    /// The operation as the answer has it: `paused`.
    done: String,
    /// Facts that a person should know, for standard error.
    notes: Vec<String>,
}

pub(crate) fn pause(from: &From) -> Result<Response, Stop> {
    let subject = Subject::read(from)?;
    respond(from, &subject.daemon_set, subject.pause())
}

pub(crate) fn resume(from: &From) -> Result<Response, Stop> {
    let subject = Subject::read(from)?;
    respond(from, &subject.daemon_set, subject.resume())
}

/// Approves the wave that waits for it, or all waves up to a given one.
pub(crate) fn approve(from: &From, wave: Option<usize>, now: Option<Timestamp>) -> Result<Response, Stop> {
    let (source, daemon_set) = from.resolve()?;
    let objects = objects(&source, Needs::Plan, daemon_set.as_ref())?;
    let stop = |message: String| source.stop(message);
    let Chosen { daemon_set: raw, .. } = objects.choose(daemon_set.as_ref()).map_err(stop)?;
    let input = source.input_of(objects, &Choice { daemon_set, now, policy: None })?;
    let plan = plan(&input.snapshot().map_err(stop)?);
    source.announce(from.output)?;
    let recording = &input.recording;
    let connection = source.connection();
    let approved = match (steered(&input, &plan, &connection), input.policy_problems.as_slice()) {
        (_, problems @ [_, ..]) => Err(format!(
            "counts as paused, since its policy is invalid: {}",
            policy::in_words(problems, None)
        )),
        (None, []) if recording.policy.rollout.is_none() => {
            Err(format!("has no rollout policy (annotation {}): no wave waits for approval", policy::POLICY))
        }
        (None, []) => Err(format!("has no rollout: {}", words::no_rollout(plan.report.situation))),
        (Some(steered), []) => approval(&steered, wave, annotation(&raw, APPROVED)),
    };
    respond(from, &raw, approved)
}

/// The annotation that approves the wave, and all before it.
fn approval(steered: &Steered<'_>, wave: Option<usize>, annotated: Option<&str>) -> Result<Change, Refusal> {
    let last = match (&steered.report.stage, wave) {
        (RolloutStage::Complete, _) => return Err("is rolled out: no wave waits for approval".to_owned()),
        (RolloutStage::Stopped { reason, .. } | RolloutStage::RolledBack { reason, .. }, _) => {
            let retry = steered.retry().map(|command| format!(" before {command}")).unwrap_or_default();
            return Err(format!("has failed ({reason}): no wave opens{retry}"));
        }
        (_, Some(wave)) => up_to(steered, wave)?,
        (_, None) => match steered.waits_for_approval() {
            Some(wave) => wave,
            None => return Err(nothing_waits(steered)),
        },
    };
    let Some(number) = steered.number() else { return Err("has no current revision".to_owned()) };
    let paused = steered.policy.paused.then(|| "the rollout is paused, too".to_owned());
    // The annotation has room for one revision.
    let is_other = |text: &&str| text.split_once('=').is_some_and(|(of, _)| of != number.to_string());
    let replaced = annotated.filter(is_other).map(|text| format!("it replaces the approval {text}"));
    Ok(Change {
        key: APPROVED,
        value: Some(format!("{number}={}", last.saturating_add(1))),
        done: format!("approved up to wave {last}"),
        notes: paused.into_iter().chain(replaced).collect(),
    })
}

/// The wave that a person names, if an approval up to it changes anything.
fn up_to(steered: &Steered<'_>, wave: usize) -> Result<usize, Refusal> {
    let waves = steered.report.waves.len();
    match waves.checked_sub(1) {
        None => Err("has no waves: all nodes are released at once".to_owned()),
        Some(last) if wave > last => Err(format!("has no wave {wave}: its last one is wave {last}")),
        Some(_) if (0..=wave).any(|wave| !steered.is_open(wave) && steered.needs_approval(wave)) => Ok(wave),
        Some(_) => Err(format!("has no wave up to wave {wave} that needs approval still")),
    }
}

/// The reason why no wave waits for approval, with the first one that will.
fn nothing_waits(steered: &Steered<'_>) -> Refusal {
    let waves = 0..steered.report.waves.len();
    let later = waves.into_iter().find(|wave| !steered.is_open(*wave) && steered.needs_approval(*wave));
    match later.zip(later.and_then(|wave| wave.checked_sub(1))) {
        None => "has no wave that waits for approval".to_owned(),
        Some((wave, before)) => format!(
            "has no wave that waits for approval now: wave {wave} will when wave {before} is done; --wave {wave} approves \
             it in advance"
        ),
    }
}

impl Subject {
    fn read(from: &From) -> Result<Self, Stop> {
        let (source, wanted) = from.resolve()?;
        let objects = objects(&source, Needs::Rollout, wanted.as_ref())?;
        let stop = |message: String| source.stop(message);
        let Chosen { daemon_set, .. } = objects.choose(wanted.as_ref()).map_err(stop)?;
        let (policy, problems) = objects.policy_of(wanted.as_ref()).map_err(stop)?;
        source.announce(from.output)?;
        let powers = objects.powers_of(namespace(&daemon_set));
        Ok(Subject { daemon_set, policy, powers, problems })
    }

    fn is_paused(&self) -> bool {
        self.problems.is_empty() && self.policy.rollout.as_ref().is_some_and(|rollout| rollout.paused)
    }

    /// v1.36 kubectl `objectpauser.go` has the words for a Deployment.
    fn pause(&self) -> Result<Change, Refusal> {
        match annotation(&self.daemon_set, PAUSED) {
            Some("true") => return Err("is already paused".to_owned()),
            Some(_) | None if self.is_paused() => return Err("is already paused, by its policy".to_owned()),
            Some(_) | None => {}
        }
        let mut notes = self.invalid();
        if self.policy.rollout.is_none() {
            notes.push(format!(
                "it has no rollout policy (annotation {}): this pause alone is one, for a controller that reads it; \
                 kube-controller-manager does not",
                policy::POLICY
            ));
        }
        Ok(Change { key: PAUSED, value: Some("true".to_owned()), done: "paused".to_owned(), notes })
    }

    /// v1.36 kubectl `objectresumer.go` has the words for a Deployment.
    fn resume(&self) -> Result<Change, Refusal> {
        let Some(_) = annotation(&self.daemon_set, PAUSED).filter(|text| *text != "false") else {
            return Err(match self.invalid().pop() {
                Some(invalid) => format!("is not paused by annotation {PAUSED}, but {invalid}"),
                None if self.is_paused() => {
                    format!("is paused by its policy: take paused out of it (annotation {})", policy::POLICY)
                }
                None => "is not paused".to_owned(),
            });
        };
        let mut alone = self.daemon_set.clone();
        set_annotation(&mut alone, PAUSED, None);
        let others = serde_json::from_value(alone)
            .map(|ds| policy::with_annotations(&Policy::default(), &ds, &self.powers))
            .unwrap_or_default();
        let notes = match others {
            (_, problems) if !problems.is_empty() => vec![counts_as_paused(&problems)],
            (policy, _) if policy.rollout.as_ref().is_some_and(|rollout| rollout.paused) => {
                vec![format!("its policy pauses it, too (annotation {})", policy::POLICY)]
            }
            _ => Vec::new(),
        };
        Ok(Change { key: PAUSED, value: None, done: "resumed".to_owned(), notes })
    }

    fn invalid(&self) -> Vec<String> {
        if self.problems.is_empty() { Vec::new() } else { vec![counts_as_paused(&self.problems)] }
    }
}

fn annotation<'v>(daemon_set: &'v Value, key: &str) -> Option<&'v str> {
    daemon_set.get("metadata")?.get("annotations")?.get(key)?.as_str()
}

fn counts_as_paused(problems: &[AnnotationProblem]) -> String {
    format!("it counts as paused, since its policy is invalid: {}", policy::in_words(problems, None))
}

/// The example gets a policy, so that there is something to steer.
pub(super) fn objects(source: &Source, needs: Needs, wanted: Option<&Wanted>) -> Result<Objects, Stop> {
    let mut objects = source.objects(needs)?;
    if let Source::Example { .. } = source {
        objects
            .annotate(wanted, policy::POLICY, Some(EXAMPLE_POLICY))
            .map_err(|message| source.stop(message))?;
    }
    Ok(objects)
}

/// The answer in kubectl's manner, with the command that makes the change.
fn respond(from: &From, daemon_set: &Value, change: Result<Change, Refusal>) -> Result<Response, Stop> {
    let change = match change {
        Ok(change) => change,
        Err(refusal) => {
            return Ok(Response::refusal(format_args!(
                "error: daemonsets.apps {:?} {refusal}",
                name(daemon_set)
            )));
        }
    };
    let command = command(from, daemon_set, &change);
    let response = match from.output {
        Format::Text => {
            Response::text(format!("daemonset.apps/{} {} (dry run)\n", name(daemon_set), change.done))
        }
        Format::Json => Response::json(&data(daemon_set, &change, &command))?,
    };
    let notes: String = change.notes.iter().map(|note| format!("note: {note}\n")).collect();
    Ok(Response { stderr: notes + &not_sent(&command), ..response })
}

/// `kubectl annotate …`, to be pasted into a shell.
fn command(from: &From, daemon_set: &Value, change: &Change) -> String {
    let assignment = match &change.value {
        Some(value) => format!("--overwrite {}={value}", change.key),
        None => format!("{}-", change.key),
    };
    format!("kubectl annotate{} {assignment}", on_daemon_set(from, daemon_set))
}

/// The patches in the form of `rollout restart`'s, and the DaemonSet after them.
fn data(daemon_set: &Value, change: &Change, command: &str) -> Value {
    let mut after = daemon_set.clone();
    set_annotation(&mut after, change.key, change.value.as_deref());
    let merge = json!({"metadata": {"annotations": {change.key: change.value}}});
    let has_annotations = daemon_set.pointer("/metadata/annotations").is_some_and(Value::is_object);
    let path = format!("/metadata/annotations/{}", change.key.replace('~', "~0").replace('/', "~1"));
    let operation = match (&change.value, has_annotations) {
        (Some(value), true) => json!({"op": "add", "path": path, "value": value}),
        (Some(value), false) => {
            json!({"op": "add", "path": "/metadata/annotations", "value": {change.key: value}})
        }
        (None, _) => json!({"op": "remove", "path": path}),
    };
    json!({"patches": {"strategicMerge": merge, "json": [operation]}, "after": after, "command": command})
}
