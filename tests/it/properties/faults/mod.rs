//! Faults planted in valid plans, each with the rule that it breaks.

mod creates;
mod deletes;
mod history;
mod list;
mod rollout;
mod turns;
mod undo;

use super::invariants::stage;
use super::rollout::driven;
use super::{oracle, planned};
use crate::support::{given, node, on_delete, pod};
use daemonset::model::{ObjectRef, Pod};
use daemonset::report::Situation;
use daemonset::{Action, DeleteReason, Plan, Recording};
use daemonset_audit::{Violation, audit};
use serde_json::{Value, json};

/// A valid plan, and a number that picks one of several places for a fault.
pub struct Case<'r> {
    recording: &'r Recording,
    plan: Plan,
    fleet: oracle::Fleet<'r>,
    pick: usize,
}

/// The actions to audit instead of the plan, and the rule that they break.
pub struct Planted {
    recording: Recording,
    actions: Vec<Action>,
    pub rule: &'static str,
}

/// `None` if the plan has no place for this fault.
type Fault = fn(&Case<'_>) -> Option<Planted>;

/// All faults that fit this plan.
pub fn planted(recording: &Recording, pick: usize) -> Vec<Planted> {
    let plan = planned(recording);
    if plan.report.situation != Situation::Synced {
        return Vec::new();
    }
    let case = Case { recording, plan, fleet: oracle::Fleet::of(recording), pick };
    let faults = [deletes::FAULTS, creates::FAULTS, history::FAULTS, list::FAULTS, turns::FAULTS];
    let planted = faults.into_iter().flatten().filter_map(|fault| fault(&case));
    let steered = steered(recording);
    // With and without marks.
    let driven = driven(if pick % 3 == 0 { steered.clone() } else { recording.clone() });
    planted
        .chain(planted_in(&steered, pick, rollout::FAULTS))
        .chain(planted_in(&driven, pick, turns::DRIVEN_FAULTS))
        .chain(undo::due(recording).into_iter().flat_map(|due| planted_in(&due, pick, undo::FAULTS)))
        .collect()
}

/// The same fleet under a steered rollout.
fn steered(recording: &Recording) -> Recording {
    let mut recording = recording.clone();
    recording.policy = recording.policy.rollout(Some(serde_json::from_value(rollout::policy()).unwrap()));
    recording
}

/// All of these faults that fit the plan of a fleet.
fn planted_in(recording: &Recording, pick: usize, faults: &[Fault]) -> Vec<Planted> {
    let case = Case { recording, plan: planned(recording), fleet: oracle::Fleet::of(recording), pick };
    faults.iter().filter_map(|fault| fault(&case)).collect()
}

impl Planted {
    /// The rules that the audit finds broken.
    pub fn found(&self) -> Vec<String> {
        let violations = audit(&self.recording.snapshot().unwrap(), &self.actions);
        violations.iter().flat_map(rules).collect()
    }

    pub fn steps(&self) -> Vec<String> {
        crate::support::lines(&self.actions)
    }
}

/// The kind of a violation in one word, with the figure for a budget. A limit of which lost nodes hold a part gets a
/// suffix; the wrong field of a manifest comes by itself, too.
fn rules(violation: &Violation) -> Vec<String> {
    let json = serde_json::to_value(violation).unwrap();
    let word = |key: &str| json["kind"][key].as_str().map(str::to_owned);
    let rule = [word("type"), word("figure")].into_iter().flatten().collect::<Vec<_>>().join(" ");
    let beside_lost = json["kind"]["lost"].as_u64().is_some_and(|lost| lost > 0);
    let again = beside_lost.then(|| format!("{rule} beside lost nodes"));
    let field = word("field").filter(|_| rule == "WrongManifest").map(|field| format!("{rule} {field}"));
    [rule].into_iter().chain(again).chain(field).collect()
}

impl Case<'_> {
    fn choose<T>(&self, among: impl IntoIterator<Item = T>) -> Option<T> {
        let mut among: Vec<T> = among.into_iter().collect();
        if among.is_empty() { None } else { Some(among.swap_remove(self.pick % among.len())) }
    }

    /// The position of one of the plan's actions.
    fn choose_action(&self, wanted: impl Fn(&Action) -> bool) -> Option<usize> {
        let actions = self.plan.actions.iter().enumerate();
        self.choose(actions.filter(|(_, action)| wanted(action)).map(|(index, _)| index))
    }

    fn planted(&self, rule: &'static str, change: impl FnOnce(&mut Vec<Action>)) -> Option<Planted> {
        let mut actions = self.plan.actions.clone();
        change(&mut actions);
        Some(Planted { recording: self.recording.clone(), actions, rule })
    }

    /// The plan with another action, in its place.
    fn with(&self, rule: &'static str, action: Action) -> Option<Planted> {
        self.planted(rule, |actions| {
            let place = actions.partition_point(|other| stage(other) <= stage(&action));
            actions.insert(place, action);
        })
    }

    fn deletes(&self, pod: &Pod) -> bool {
        let same = |action: &Action| matches!(action, Action::DeletePod { pod: gone, .. } if gone.uid == pod.metadata.uid);
        self.plan.actions.iter().any(same)
    }

    /// The verdict on a pod in the report.
    fn is_updated(&self, pod: &Pod) -> Option<bool> {
        let mut verdicts = self.plan.report.nodes.iter().flat_map(|node| &node.pods);
        verdicts.find(|verdict| verdict.pod.uid == pod.metadata.uid).map(|verdict| verdict.updated)
    }

    fn strategy(&self) -> &str {
        &self.recording.daemon_set.spec.update_strategy.kind
    }
}

/// Adds nodes that went down with the updated pod on them, or whose pod an update deleted and that are tainted since.
fn lose_nodes(case: &Case<'_>, planted: &mut Planted, count: usize) {
    if case.pick % 2 == 0 {
        let mut memory = json!(planted.recording.memory.take().unwrap_or_default());
        for number in 0..count {
            let name = format!("lost-{number}");
            let tainted = given(on_delete()).node(node(&name).taint("absent", "NoSchedule"));
            planted.recording.nodes.extend(tainted.recording().nodes);
            memory["taken"][&name] = json!({"uid": name, "at": planted.recording.now});
        }
        planted.recording.memory = serde_json::from_value(memory).unwrap();
        return;
    }
    let Some(current) = &case.plan.report.current_revision else { return };
    let lost =
        |number: usize| node(&format!("lost-{number}")).not_ready().has(pod(&current.hash).not_ready());
    let lost = (0..count).fold(given(on_delete()), |given, number| given.node(lost(number))).recording();
    planted.recording.nodes.extend(lost.nodes);
    planted.recording.pods.extend(lost.pods);
}

fn reference(pod: &Pod) -> ObjectRef {
    ObjectRef {
        namespace: pod.metadata.namespace.clone(),
        name: pod.metadata.name.clone(),
        uid: pod.metadata.uid.clone(),
        resource_version: String::new(),
    }
}

fn delete(pod: &Pod) -> Action {
    let node = oracle::Fleet::target(pod).unwrap_or_default().into();
    let reason = DeleteReason::OutdatedAvailable;
    Action::delete_pod(node, reference(pod), reason)
}

/// The object of an action.
fn object(action: &mut Action) -> Option<&mut ObjectRef> {
    match action {
        Action::AdoptPod { pod: object, .. }
        | Action::ReleasePod { pod: object, .. }
        | Action::LabelPod { pod: object, .. }
        | Action::DeletePod { pod: object, .. }
        | Action::UpdatePodInPlace { pod: object, .. }
        | Action::PatchNode { node: object, .. }
        | Action::AdoptRevision { revision: object, .. }
        | Action::ReleaseRevision { revision: object, .. }
        | Action::LabelRevision { revision: object, .. }
        | Action::AnnotateRevision { revision: object, .. }
        | Action::RenumberRevision { revision: object, .. }
        | Action::DeleteRevision { revision: object, .. }
        | Action::UpdateStatus { daemon_set: object, .. }
        | Action::RestoreTemplate { daemon_set: object, .. }
        | Action::RecordEvent { daemon_set: object, .. } => Some(object),
        Action::CreateRevision { .. } | Action::CreatePod { .. } | Action::Requeue { .. } => None,
    }
}

fn number_of(revision: &mut Value) -> &mut Value {
    &mut revision["revision"]
}
