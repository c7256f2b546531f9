//! Turns: gates that nobody opens, a drain without an end, and a name that more than one pod may have.

use super::context::LintContext;
use super::finding::{Finding, Rule, Severity};
use super::format::{count, duration, node_names};
use super::manifest::{Manifest, POD};
use super::preflight::Preflight;
use super::rollout;
use daemonset::internal::Strategy;
use daemonset::model::NodeName;
use daemonset::policy::{OnTimeout, PodNames, TurnMode, TurnPolicy};
use serde_json::Value;
use std::collections::BTreeMap;

/// The gate that the drain of a node opens.
pub(super) const DRAINED: &str = "drained";

/// The rules of the turns, where nodes take theirs.
pub(super) fn rules<'p>(preflight: &'p Preflight<'_>) -> Option<&'p TurnPolicy> {
    match &preflight.policy.turn {
        Some(TurnMode::Take(turn)) => Some(turn),
        _ => None,
    }
}

/// A gate is open once somebody writes so on the node; the planner never does.
pub(super) fn gates_without_opener(preflight: &Preflight<'_>, manifest: &Manifest<'_>) -> Vec<Finding> {
    let Some(turn) = rules(preflight).filter(|_| replaces(manifest)) else { return Vec::new() };
    let wait = wait(turn);
    let gates = (0..).zip(&turn.gates).filter_map(|(index, gate): (usize, _)| {
        let (severity, opener) = match &preflight.gate_openers {
            Some(known) if known.contains(gate.as_str()) => return None,
            Some(_) => (Severity::Warning, "Nobody is known to open it".to_owned()),
            None if gate == DRAINED => (
                Severity::Advice,
                "A controller that drains the nodes, with the right to evict the pods of others, must open it".to_owned(),
            ),
            None => (
                Severity::Advice,
                format!("Somebody must open it, by an annotation {gate}.gate.daemonset/KEY of the node that repeats the request of its turn"),
            ),
        };
        let path = rollout::field(manifest.daemon_set, &format!("turn.gates[{index}]"));
        let finding = Finding::new(Rule::GateWithoutOpener, severity, path);
        Some(finding.why(format_args!("{opener}; until then each node in turn waits{wait}")))
    });
    let remedy = match turn.timeout_seconds {
        Some(_) => "Make sure that somebody opens it, or leave it out",
        None => "Make sure that somebody opens it, and set timeoutSeconds, or leave it out",
    };
    gates.map(|finding| finding.remedy(remedy)).collect()
}

/// How a wait for a closed gate ends.
fn wait(turn: &TurnPolicy) -> String {
    match (turn.timeout_seconds, turn.on_timeout) {
        (None, _) => " for good, and no warning tells of it".to_owned(),
        (Some(seconds), OnTimeout::Proceed) => {
            format!(", but after {} its pod goes all the same", duration(seconds.into()))
        }
        (Some(seconds), _) => format!(" for good, with a warning after {}", duration(seconds.into())),
    }
}

/// An evicted pod is created again, and the scheduler finds room on the node that it has just left.
pub(super) fn drain_without_cordon(preflight: &Preflight<'_>, manifest: &Manifest<'_>) -> Option<Finding> {
    let turn = rules(preflight).filter(|turn| !turn.cordon && replaces(manifest))?;
    let path = rollout::field(manifest.daemon_set, "turn.cordon");
    let finding = Finding::new(Rule::DrainWithoutCordon, Severity::Warning, path)
        .why("It is false beside the gate drained: the scheduler may put new pods on the node while it is drained, so that the drain has no end")
        .remedy("Set it to true, unless somebody else cordons the nodes");
    turn.gates.iter().any(|gate| gate == DRAINED).then_some(finding)
}

pub(super) fn kept(preflight: &Preflight<'_>, manifest: &Manifest<'_>) -> Option<Finding> {
    let path = rollout::field(manifest.daemon_set, "turn");
    let finding = Finding::new(Rule::TurnsKept, Severity::Warning, path)
        .why("It is Keep, which stands for a policy that can't be read: no turn begins or ends, and no outdated pod goes")
        .remedy("Write the object of a turn, or leave it out");
    // An annotation that can't be read is a finding of its own.
    let is_kept = matches!(preflight.policy.turn, Some(TurnMode::Keep));
    (is_kept && preflight.invalid_policy.is_none()).then_some(finding)
}

/// The API server forgets such a pod at once, and lends its name to the next one (v1.36 `registry/core/pod/strategy.go
/// CheckGracefulDelete`).
pub(super) fn name_without_grace(preflight: &Preflight<'_>, manifest: &Manifest<'_>) -> Option<Finding> {
    let path = rollout::field(manifest.daemon_set, "podNames");
    let finding = Finding::new(Rule::NameWithoutGrace, Severity::Error, path)
        .why(format_args!(
            "It is OnePerNode, and {POD}.terminationGracePeriodSeconds is 0: the name of a deleted pod is free while its containers still run, so that a node may have two"
        ))
        .remedy("Give the containers the seconds that they need to end; the default is 30");
    let grace = manifest.pod("/terminationGracePeriodSeconds").and_then(Value::as_u64);
    (preflight.policy.pod_names == PodNames::OnePerNode && grace == Some(0)).then_some(finding)
}

/// Another owner's pod has the one name that the pod of a node can have.
pub(super) fn names_taken(context: &LintContext<'_>, nodes: &BTreeMap<NodeName, String>) -> Finding {
    let names: Vec<NodeName> = nodes.keys().cloned().collect();
    let why = match nodes.values().next() {
        Some(pod) if nodes.len() == 1 => {
            format!("1 node gets no pod, since the pod {pod} of another owner has the name of its pod")
        }
        _ => format!(
            "{} get no pod, since pods of other owners have the names of theirs",
            count(names.len() as u64, "node")
        ),
    };
    let path = rollout::field(context.manifest.daemon_set, "podNames");
    Finding::new(Rule::NameTaken, Severity::Error, path)
        .why(format_args!("{why}: {}", node_names(&names)))
        .remedy("Delete or rename these pods, or rename the DaemonSet")
        .nodes(names)
}

fn replaces(manifest: &Manifest<'_>) -> bool {
    matches!(manifest.strategy, Strategy::Replace(_))
}
