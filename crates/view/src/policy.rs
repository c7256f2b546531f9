//! The rollout policy of a simulated DaemonSet: a file, the DaemonSet's own annotation, or none.

use crate::cluster::read_policy;
use crate::numbers::duration;
use crate::turning;
use daemonset::internal::steering::{POLICY, PREFIX, external_controller_name};
use daemonset::model::{DaemonSet, IntOrString, UpdateStrategy};
use daemonset::policy::{InPlacePolicy, InvalidRolloutPolicy, Permissions, RolloutPolicy, Wave};
use daemonset::{Policy, Recording};
use serde::Deserialize;
use serde_json::Value;

/// A policy to try.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PolicyChoice {
    /// No policy steers.
    None,
    /// The policy of a file.
    File {
        name: String,
        /// The content as JSON, which the library reads.
        json: String,
    },
}

impl PolicyChoice {
    /// The policy of a text in YAML or JSON, with the name that comparisons have for it.
    ///
    /// # Errors
    /// A text that can't be read.
    pub fn named(name: &str, text: &[u8]) -> Result<Self, String> {
        Ok(PolicyChoice::File { name: name.to_owned(), json: read(text)?.to_string() })
    }

    pub fn label(&self) -> String {
        match self {
            PolicyChoice::None => "no policy".to_owned(),
            PolicyChoice::File { name, .. } => format!("policy {name}"),
        }
    }

    /// Replaces the policy, the approvals and the pauses of the DaemonSet.
    pub fn apply(&self, recording: &mut Recording) {
        turning::forget(&mut recording.policy);
        self.annotate(&mut recording.daemon_set);
    }

    pub fn annotate(&self, daemon_set: &mut DaemonSet) {
        let annotations = &daemon_set.metadata.annotations;
        let others = annotations.iter().filter(|(key, _)| !key.starts_with(PREFIX));
        let chosen = match self {
            PolicyChoice::None => None,
            PolicyChoice::File { json, .. } => Some((POLICY, json.as_str())),
        };
        daemon_set.metadata.annotations = others.chain(chosen).collect();
    }
}

/// The strategy that the policy drives: of the annotation, or of the recording.
pub fn driven(recording: &Recording) -> Option<UpdateStrategy> {
    let annotated = annotated(recording)
        .and_then(|policy| UpdateStrategy::deserialize(policy.get(external_controller_name(&policy))?).ok());
    annotated.or_else(|| recording.policy.external_controller.clone())
}

/// Drives another strategy.
pub fn drive(recording: &mut Recording, strategy: UpdateStrategy) {
    let strategies = annotated(recording).zip(serde_json::to_value(&strategy).ok());
    if let Some((mut policy, strategy)) = strategies.filter(|(policy, _)| policy.is_object()) {
        let name = external_controller_name(&policy);
        if let Some(members) = policy.as_object_mut() {
            members.insert(name.to_owned(), strategy);
        }
        let annotations = &recording.daemon_set.metadata.annotations;
        recording.daemon_set.metadata.annotations = annotations.with(POLICY, &policy.to_string());
    } else {
        recording.policy.external_controller = Some(strategy);
    }
}

/// Lets so many nodes pull at a time.
pub fn pull(recording: &mut Recording, parallel: IntOrString) {
    let is_annotated = change_annotated(recording, "pull", |pull| {
        if let (Some(pull), Ok(parallel)) = (pull.as_object_mut(), serde_json::to_value(parallel)) {
            pull.insert("parallel".to_owned(), parallel);
        }
    });
    if !is_annotated {
        let pull = recording.policy.pull.take().unwrap_or_default();
        recording.policy.pull = Some(pull.parallel(parallel));
    }
}

/// Lets pods be changed in their place, or not.
pub fn change_in_place(recording: &mut Recording, choice: InPlacePolicy) {
    let is_annotated = change_annotated(recording, "inPlace", |member| {
        *member = serde_json::to_value(choice).unwrap_or_default();
    });
    if !is_annotated {
        recording.policy.in_place = choice;
    }
}

/// Changes a member of the policy in the annotation, which prevails over the recording's. False where it has no such member.
fn change_annotated(recording: &mut Recording, member: &str, change: impl FnOnce(&mut Value)) -> bool {
    let Some(mut policy) = annotated(recording) else { return false };
    let Some(found) = policy.get_mut(member).filter(|found| !found.is_null()) else { return false };
    change(found);
    let annotations = &recording.daemon_set.metadata.annotations;
    recording.daemon_set.metadata.annotations = annotations.with(POLICY, &policy.to_string());
    true
}

/// The policy in the annotation.
fn annotated(recording: &Recording) -> Option<Value> {
    read(recording.daemon_set.metadata.annotations.get(POLICY)?.as_bytes()).ok()
}

/// The one value of a policy in YAML or JSON.
pub fn read(text: &[u8]) -> Result<Value, String> {
    match read_policy(text)?.as_slice() {
        [only] => Ok(only.clone()),
        [] => Ok(Value::Object(serde_json::Map::new())),
        several => Err(format!("has {} documents, and must have one", several.len())),
    }
}

/// Writes the policy in the annotation as JSON, which the simulated controller reads, and returns what it asks for.
///
/// # Errors
/// An annotation that steers a rollout and can't be read, or is not permitted, with the field.
pub fn normalize(
    daemon_set: &mut DaemonSet,
    policy: &Policy,
    powers: &Permissions,
) -> Result<Policy, InvalidRolloutPolicy> {
    let annotations = &daemon_set.metadata.annotations;
    let policy = policy.clone().with_annotations(daemon_set, powers, |text| read(text.as_bytes()))?;
    if let Some(value) = annotations.get(POLICY).and_then(|text| read(text.as_bytes()).ok()) {
        daemon_set.metadata.annotations = annotations.with(POLICY, &value.to_string());
    }
    Ok(policy)
}

/// The problems with the file, or with the DaemonSet's own annotation.
pub fn message(error: &InvalidRolloutPolicy, file: Option<&str>) -> String {
    match file {
        Some(file) => {
            let problems: Vec<String> = error.problems.iter().map(|one| one.problem.to_string()).collect();
            format!("{file}: {}", problems.join("; "))
        }
        None => error.to_string(),
    }
}

/// Whether it asks for more than deletes and creates: for turns, pulls or changes in place.
pub fn asks_for_turns(policy: &Policy) -> bool {
    !turning::choices(policy).is_empty() || policy.drain.is_some()
}

/// The policy in words; `None` where it steers and drives nothing.
pub fn words(policy: &Policy) -> Option<String> {
    let driven = policy.external_controller.as_ref().map(|strategy| {
        let limits = strategy.rolling_update.clone().unwrap_or_default();
        let limit = limits.max_unavailable.unwrap_or(IntOrString::Int(1));
        format!("driven beside Kubernetes' own controller, maxUnavailable {limit}")
    });
    let rollout = policy.rollout.as_ref().map(of_rollout);
    let parts: Vec<String> = driven.into_iter().chain(rollout).chain(turning::in_short(policy)).collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// Waves and failures: `waves 5% (bake 1m), 50%, all; RollBack when more than 1 node fails`.
fn of_rollout(policy: &RolloutPolicy) -> String {
    let waves: Vec<String> = policy.waves.iter().map(wave).collect();
    let waves = match waves.as_slice() {
        [] => "all nodes at once".to_owned(),
        waves => format!("waves {}", waves.join(", ")),
    };
    let failure = policy.on_failure.as_ref().map(|failure| {
        let too_many = match failure.max_failures.unwrap_or(IntOrString::Int(0)) {
            IntOrString::Int(0) => "a node fails".to_owned(),
            IntOrString::Int(1) => "more than 1 node fails".to_owned(),
            most @ IntOrString::Int(_) => format!("more than {most} nodes fail"),
            most @ IntOrString::Percent(_) => format!("more than {most} of the nodes fail"),
        };
        format!("; {:?} when {too_many}", failure.action)
    });
    waves + &failure.unwrap_or_default()
}

fn wave(wave: &Wave) -> String {
    let of = match (&wave.nodes, wave.up_to) {
        (None, None) => "all".to_owned(),
        (None, Some(up_to)) => up_to.to_string(),
        (Some(_), None) => "by label".to_owned(),
        (Some(_), Some(up_to)) => format!("{up_to} by label"),
    };
    let bake =
        (wave.bake_seconds > 0).then(|| format!("bake {}", duration(i64::from(wave.bake_seconds) * 1000)));
    let approval = wave.needs_approval.then(|| "after approval".to_owned());
    let also: Vec<String> = bake.into_iter().chain(approval).collect();
    if also.is_empty() { of } else { format!("{of} ({})", also.join(", ")) }
}
