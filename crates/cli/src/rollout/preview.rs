//! `kubectl daemonset rollout plan`: the waves of a policy with their nodes before anything happens, and where the rollout
//! would stop.

use crate::cluster::policy;
use crate::cluster::{Choice, Input, Needs, Source};
use crate::rollout::args::PlanArgs;
use crate::rollout::steer;
use crate::shell::console::{Format, Stop};
use crate::shell::response::Response;
use crate::steered::Steered;
use crate::words::{self, count};
use comfy_table::{Table, presets};
use daemonset::model::IntOrString;
use daemonset::{
    CurrentRevision, FailureAction, FailurePolicy, NodePlacement, Plan, RolloutStage, WaveProgress, plan,
};
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;
use std::collections::BTreeSet;

/// The policy of the built-in example.
pub(crate) const EXAMPLE_POLICY: &str = include_str!("example-policy.yaml");
/// Names at most so many nodes.
const MOST_NAMES: usize = 10;

/// The waves before anything happens.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Preview<'a> {
    name: String,
    now: Timestamp,
    /// The revision that is rolled out.
    revision: Option<&'a CurrentRevision>,
    /// The revision of the nodes that the rollout has not reached.
    base: Option<&'a str>,
    stage: &'a RolloutStage,
    /// Nodes that take part.
    nodes: u32,
    waves: Vec<WavePlan<'a>>,
    /// Where it stops until a person acts, in the order in which it gets there.
    stops: Vec<StopsAt<'a>>,
    on_failure: Option<&'a FailurePolicy>,
}

/// A wave: its nodes, and what opens it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct WavePlan<'a> {
    index: usize,
    nodes: Vec<&'a str>,
    /// Those that are in no wave before.
    new_nodes: Vec<&'a str>,
    /// How long the pods of the waves before must have been Ready.
    bake_seconds_before: u32,
    needs_approval: bool,
    is_approved: bool,
    progress: WaveProgress,
}

/// A point at which the rollout stops.
#[derive(Serialize)]
#[serde(tag = "type", rename_all_fields = "camelCase")]
enum StopsAt<'a> {
    /// Already: the policy or a person has paused it.
    Paused,
    /// Already: the version has failed.
    Failed { reason: &'a str },
    /// The first wave that needs approval.
    Approval { wave: usize },
    /// Nodes in no wave keep the old version.
    NoWave { count: usize, nodes: Vec<&'a str> },
}

/// Reads the policy from a file or the annotations of the DaemonSet.
pub(crate) fn preview(args: &PlanArgs) -> Result<Response, Stop> {
    let (target, file) = args.target()?;
    let source = &target.source;
    let stop = |message: String| source.stop(message);
    let mut objects = match &file {
        Some(_) => source.objects(Needs::Plan)?,
        None => steer::objects(source, Needs::Plan, target.wanted.as_ref())?,
    };
    let title = file.as_ref().map(Source::to_string);
    if let Some(file) = &file {
        let bytes = file.bytes().map_err(|message| file.stop(message))?;
        let text = std::str::from_utf8(&bytes).map_err(|error| file.stop(error))?;
        objects.annotate(target.wanted.as_ref(), policy::POLICY, text).map_err(stop)?;
    }
    let choice = Choice { daemon_set: target.wanted, now: args.now, policy: None };
    let input = source.input_of(objects, &choice)?;
    if !input.policy_problems.is_empty() {
        let problems = policy::in_words(&input.policy_problems, title.as_deref());
        return Err(if title.is_some() { Stop::Input(problems) } else { stop(problems) });
    }
    let plan = plan(&input.snapshot().map_err(stop)?);
    let Some(steered) = Steered::of_input(&input, &plan) else {
        return Ok(Response::refusal(format_args!("error: {}", no_rollout(&input, &plan))));
    };
    source.announce(args.output)?;
    let preview = Preview::new(&input, &plan, &steered);
    match args.output {
        Format::Json => Response::json(&preview),
        Format::Text => Ok(Response::text(preview.text(source, title.as_deref(), &steered))),
    }
}

fn no_rollout(input: &Input, plan: &Plan) -> String {
    let name = &input.recording.daemon_set.metadata.name;
    match input.recording.policy.rollout {
        None => format!(
            "daemonsets.apps {name:?} has no rollout policy: all nodes are updated within the limits of its update strategy; \
             -f names a policy to try, annotation {} holds the one in force",
            policy::POLICY
        ),
        Some(_) => format!(
            "daemonsets.apps {name:?} has no rollout: its controller does nothing for it now ({:?})",
            plan.report.situation
        ),
    }
}

impl<'a> Preview<'a> {
    fn new(input: &'a Input, plan: &'a Plan, steered: &Steered<'a>) -> Self {
        let report = steered.report;
        let mut preview = Preview {
            name: steered.full_name(),
            now: input.recording.now,
            revision: plan.report.current_revision.as_ref(),
            base: report.base.as_deref(),
            stage: &report.stage,
            nodes: report.nodes,
            waves: waves(steered, input.recording.daemon_set.spec.min_ready_seconds),
            stops: Vec::new(),
            on_failure: steered.policy.on_failure.as_ref(),
        };
        preview.stops = preview.find_stops(steered);
        preview
    }

    fn find_stops(&self, steered: &Steered<'a>) -> Vec<StopsAt<'a>> {
        let already = match self.stage {
            RolloutStage::Stopped { reason, .. } | RolloutStage::RolledBack { reason, .. } => {
                Some(StopsAt::Failed { reason })
            }
            RolloutStage::Paused => Some(StopsAt::Paused),
            RolloutStage::Over | RolloutStage::GoingOn | _ => None,
        };
        // Pausing after the end holds the next version.
        let paused = (self.is_over() && steered.policy.paused).then_some(StopsAt::Paused);
        let unapproved = self.waves.iter().filter(|wave| {
            wave.needs_approval && !wave.is_approved && (self.is_over() || !steered.is_open(wave.index))
        });
        let approvals = unapproved.map(|wave| StopsAt::Approval { wave: wave.index });
        let held = if self.is_over() { self.in_no_wave(steered) } else { steered.in_no_wave() };
        let no_wave = held.map(|(count, nodes)| StopsAt::NoWave { count, nodes });
        already.into_iter().chain(paused).chain(approvals).chain(no_wave).collect()
    }

    fn is_over(&self) -> bool {
        *self.stage == RolloutStage::Over
    }

    /// Of a fleet that is rolled out: its next version finds all nodes outdated.
    fn in_no_wave(&self, steered: &Steered<'a>) -> Option<(usize, Vec<&'a str>)> {
        let in_waves: BTreeSet<&str> = self.waves.iter().flat_map(|wave| &wave.nodes).copied().collect();
        let left =
            steered.plan.report.nodes.iter().filter(|node| {
                node.placement == NodePlacement::Run && !in_waves.contains(node.node.as_str())
            });
        let left: Vec<&str> = left.map(|node| node.node.as_str()).collect();
        let has_waves = !self.waves.is_empty();
        (has_waves && !left.is_empty()).then_some((left.len(), left))
    }

    fn text(&self, source: &Source, file: Option<&str>, steered: &Steered<'_>) -> String {
        let mut text = String::new();
        let mut line = |label: &str, content: &str| text.push_str(&format!("{label:<11}{content}\n"));
        line("DaemonSet", &format!("{}, {source}", self.name));
        line("Revision", &self.revisions());
        line(
            "Policy",
            file.unwrap_or(match source {
                Source::Example { .. } => "built in",
                Source::Kubectl(_) | Source::File(_) | Source::Stdin => "in force",
            }),
        );
        line(
            "Rollout",
            &match self.stage {
                RolloutStage::Over => "complete: the waves are those of the next version".to_owned(),
                _ => steered.summary(),
            },
        );
        if self.waves.is_empty() {
            line("Waves", &format!("none: all {} are released at once", count(self.nodes as usize, "node")));
        } else {
            text.push_str(&format!("\n{}\n\n", self.table(steered)));
        }
        let mut line = |label: &str, content: &str| text.push_str(&format!("{label:<11}{content}\n"));
        for (position, stop) in self.stops.iter().enumerate() {
            line(if position == 0 { "Stops" } else { "" }, &stop_in_words(stop, steered));
        }
        if self.stops.is_empty() {
            line("Stops", "nowhere, unless a node fails or does not become available");
        }
        self.failure().iter().for_each(|(label, content)| line(label, content));
        if self.base.is_none() && !self.is_over() {
            line("No base", "no old revision is left: a missing pod of a held node gets the new version");
        }
        text
    }

    fn revisions(&self) -> String {
        let revision = self.revision.map_or_else(
            || "unknown".to_owned(),
            |revision| format!("{} #{}, {}", revision.name, revision.number, words::origin(revision.origin)),
        );
        match self.base {
            Some(base) => format!("{revision}; base {base}"),
            None => format!("{revision}; no base"),
        }
    }

    fn table(&self, steered: &Steered<'_>) -> String {
        let mut header = vec!["WAVE", "NODES", "NEW", "OPENS", "NOW", "NEW NODES"];
        header.retain(|title| *title != "NOW" || !self.is_over());
        let mut table = Table::new();
        table.load_style(presets::NOTHING).set_header(header);
        table.add_rows(self.waves.iter().map(|wave| {
            let figures = [wave.index, wave.nodes.len(), wave.new_nodes.len()].map(|it| it.to_string());
            let now = (!self.is_over()).then(|| steered.state(wave.index, wave.progress));
            let names = match wave.new_nodes.as_slice() {
                [] => "-".to_owned(),
                nodes => words::names(nodes, MOST_NAMES),
            };
            figures.into_iter().chain([self.opens(wave)]).chain(now).chain([names])
        }));
        let columns = table.column_count();
        for (position, column) in table.column_iter_mut().enumerate() {
            column.set_padding((0, if position + 1 == columns { 0 } else { 2 }));
        }
        table.lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>().join("\n")
    }

    /// What opens the wave, without regard to how far the rollout is.
    fn opens(&self, wave: &WavePlan<'_>) -> String {
        let after = wave.index.checked_sub(1).map(|before| match wave.bake_seconds_before {
            0 => format!("when wave {before} is available"),
            seconds => {
                let bake = words::duration(SignedDuration::from_secs(seconds.into()));
                format!("when wave {before} is Ready for {bake}")
            }
        });
        let approval = match (wave.needs_approval, wave.is_approved) {
            (false, _) => None,
            (true, false) => Some("by approval"),
            (true, true) => Some("by approval, which it has"),
        };
        match (after, approval) {
            (None, None) => "at once".to_owned(),
            (None, Some(approval)) => approval.to_owned(),
            (Some(after), None) => after,
            (Some(after), Some(approval)) => format!("{after}, and {approval}"),
        }
    }

    fn failure(&self) -> Vec<(&'static str, String)> {
        match self.on_failure {
            None => {
                let nothing = "nothing is judged: a version that fails goes on as far as the limits let it";
                vec![("Failure", nothing.to_owned())]
            }
            Some(policy) => on_failure(policy, self.base.is_some() || self.is_over()),
        }
    }
}

fn waves<'a>(steered: &Steered<'a>, min_ready_seconds: i32) -> Vec<WavePlan<'a>> {
    let min_ready = u32::try_from(min_ready_seconds).unwrap_or(0);
    let approved = steered.approved() as usize;
    let mut before = 0;
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    let waves = steered.report.waves.iter().zip(&steered.policy.waves).enumerate();
    waves
        .map(|(index, (report, wave))| {
            let nodes: Vec<&str> = report.nodes.iter().map(|node| node.as_str()).collect();
            let new_nodes = nodes.iter().copied().filter(|node| seen.insert(*node)).collect();
            let bake = wave.bake_seconds.max(min_ready);
            WavePlan {
                index,
                nodes,
                new_nodes,
                bake_seconds_before: std::mem::replace(&mut before, bake),
                needs_approval: wave.needs_approval,
                is_approved: approved > index,
                progress: report.progress,
            }
        })
        .collect()
}

fn stop_in_words(stop: &StopsAt<'_>, steered: &Steered<'_>) -> String {
    let name = steered.full_name();
    match stop {
        StopsAt::Paused => format!("now: paused, until kubectl daemonset rollout resume {name}"),
        StopsAt::Failed { reason } => match steered.retry() {
            Some(retry) => format!("now: the version has failed ({reason}), until {retry}"),
            None => format!("now: the version has failed ({reason})"),
        },
        StopsAt::Approval { wave } => {
            format!("before wave {wave}, until kubectl daemonset rollout approve {name} --wave {wave}")
        }
        StopsAt::NoWave { count: number, nodes } => {
            let verb = if *number == 1 { "is in no wave and keeps" } else { "are in no wave and keep" };
            let colon = if nodes.is_empty() { "" } else { ": " };
            let names = words::names(nodes, MOST_NAMES);
            format!("after the last wave: {} {verb} the old version{colon}{names}", count(*number, "node"))
        }
    }
}

/// What follows a failure, and what counts as one; each line with its label.
fn on_failure(policy: &FailurePolicy, has_base: bool) -> Vec<(&'static str, String)> {
    let follows = match (policy.action, has_base) {
        (FailureAction::RollBack, true) => "all nodes go back to the version before",
        (FailureAction::RollBack, false) => "the rollout stops, since there is no base to go back to",
        _ => "the rollout stops",
    };
    let too_many = match policy.max_failures {
        None | Some(IntOrString::Int(0) | IntOrString::Percent(0)) => "a node fails".to_owned(),
        Some(IntOrString::Int(1)) => "more than 1 node fails".to_owned(),
        Some(IntOrString::Int(limit)) => format!("more than {limit} nodes fail"),
        Some(limit @ IntOrString::Percent(_)) => format!("more than {limit} of the nodes fail"),
    };
    let deadline = policy.progress_deadline_seconds.map(|seconds| {
        let span = words::duration(SignedDuration::from_secs(seconds.into()));
        format!(", or {span} pass without progress")
    });
    let mut lines = vec![("Failure", format!("when {too_many}{}, {follows}", deadline.unwrap_or_default()))];
    lines.extend(
        signs(policy).into_iter().enumerate().map(|(position, sign)| {
            (if position == 0 { "A node" } else { "" }, format!("fails when {sign}"))
        }),
    );
    lines
}

/// The signs by which a node fails.
fn signs(policy: &FailurePolicy) -> Vec<String> {
    let span = |seconds: u32| words::duration(SignedDuration::from_secs(seconds.into()));
    let within = policy.available_within_seconds;
    let down = match within {
        None => "it goes down under its new pod".to_owned(),
        Some(seconds) => format!("it is down under its new pod for {}", span(seconds)),
    };
    let restarts =
        policy.max_restarts.map(|restarts| format!("a container restarts more than {}", times(restarts)));
    let waiting = policy.waiting_seconds.map(|seconds| {
        let reasons = match policy.waiting_reasons.as_slice() {
            [] => words::names(FailurePolicy::DEFAULT_WAITING_REASONS, 3),
            reasons => words::names(reasons, MOST_NAMES),
        };
        format!("its pod is {} old, and a container waits for one of: {reasons}", span(seconds))
    });
    let unavailable = within.map(|seconds| format!("its pod is not available for {}", span(seconds)));
    let first = ["its pod is in phase Failed".to_owned(), down];
    first.into_iter().chain(restarts).chain(waiting).chain(unavailable).collect()
}

fn times(number: u32) -> String {
    if number == 1 { "once".to_owned() } else { format!("{number} times") }
}
