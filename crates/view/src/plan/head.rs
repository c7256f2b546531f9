//! The head of the text: the DaemonSet, its rollout so far, and the outcome of the plan.

use crate::cluster::{ClusterNotes, Input, TimeSource};
use crate::plan::budget;
use crate::plan::phrase::{Attention, urgency};
use crate::steered::{Steered, has_available};
use crate::turning::{self, Details};
use crate::{waiting, words};
use daemonset::model::{DaemonSet, DaemonSetStatus};
use daemonset::report::{NodeOutcome, NodeVerdict, Situation, StrategyInForce};
use daemonset::{Plan, Policy};
use indexmap::IndexMap;
use std::collections::BTreeMap;
use std::fmt;

/// Names the evidence of at most so many failing nodes.
const MOST_FAILING: usize = 5;

/// Each with its label.
pub fn lines(
    source: &dyn fmt::Display,
    input: &Input,
    plan: &Plan,
    details: &Details,
    plugin: &str,
) -> Vec<(&'static str, String)> {
    let mut lines = vec![("DaemonSet", daemon_set(input, plan))];
    if let Some(current) = &plan.report.current_revision {
        let text = format!("{} #{}, {}", current.name, current.number, words::origin(current.origin));
        lines.push(("Revision", text));
    }
    if let (Some(strategy), Some(figures)) = (plan.report.strategy, &plan.report.budget) {
        lines.push(("Budget", budget::line(strategy, figures, &plan.report.nodes)));
    }
    // Turns that are kept since the policy can't be read are nobody's choice.
    let is_chosen = |name: &str| name != "turn" || input.policy_problems.is_empty();
    let changed = changed(&input.recording.policy, is_chosen);
    if !changed.is_empty() {
        lines.push(("Policy", changed));
    }
    let steered = Steered::of_input(input, plan, plugin);
    lines.extend(steered.iter().flat_map(|steered| steered.lines(MOST_FAILING)));
    lines.extend(turning::lines(details, input.recording.now));
    if !plan.report.nodes.is_empty() {
        lines.push(("Nodes", nodes(plan, &input.notes)));
    }
    lines.push(("Now", now(plan, &input.notes)));
    lines.push(("As of", as_of(source, input)));
    lines
}

fn daemon_set(input: &Input, plan: &Plan) -> String {
    let daemon_set = &input.recording.daemon_set;
    let strategy = strategy(daemon_set, plan).map(|text| format!(", {text}")).unwrap_or_default();
    let meta = &daemon_set.metadata;
    let counters = match &plan.status {
        Some(status) => counters(status),
        None => format!("{}, as last written", counters(&daemon_set.status)),
    };
    let min_ready = match daemon_set.spec.min_ready_seconds {
        0 => String::new(),
        seconds => format!(", minReadySeconds {seconds}"),
    };
    format!("{}/{}{strategy}{min_ready}: {counters}", meta.namespace, meta.name)
}

/// The strategy in force, with its limit.
pub fn strategy(daemon_set: &DaemonSet, plan: &Plan) -> Option<String> {
    plan.report.strategy.map(|strategy| match strategy {
        StrategyInForce::OnDelete => "OnDelete".to_owned(),
        StrategyInForce::Replace(limit) if daemon_set.spec.update_strategy.kind == "OnDelete" => {
            format!("OnDelete, driven as RollingUpdate, maxUnavailable {limit}")
        }
        StrategyInForce::Replace(limit) => format!("RollingUpdate, maxUnavailable {limit}"),
        StrategyInForce::Surge(limit) => {
            format!("{}, maxSurge {limit}", daemon_set.spec.update_strategy.kind)
        }
        other => format!("{other:?}"),
    })
}

fn counters(status: &DaemonSetStatus) -> String {
    let desired = status.desired_number_scheduled;
    let mut text = format!(
        "updated {}/{desired}, ready {}/{desired}, available {}/{desired}",
        status.updated_number_scheduled, status.number_ready, status.number_available
    );
    if status.number_misscheduled > 0 {
        text.push_str(&format!(", misscheduled {}", status.number_misscheduled));
    }
    text
}

/// The members that differ from the default; the first line has the driven strategy, and the rollout's waves and failures have lines of
/// their own.
fn changed(policy: &Policy, is_chosen: impl Fn(&str) -> bool) -> String {
    let members = |policy: &Policy| serde_json::to_value(policy).unwrap_or_default();
    let (members, default) = (members(policy), members(&Policy::default()));
    let changed =
        members.as_object().into_iter().flatten().filter(|(name, value)| default.get(name) != Some(value));
    let changed =
        changed.filter(|(name, _)| !["drive", "rollout"].contains(&name.as_str()) && is_chosen(name));
    let changed = changed.map(|(name, value)| match value.as_str() {
        Some(text) => format!("{name} {text}"),
        None => format!("{name} {value}"),
    });
    changed.collect::<Vec<_>>().join(", ")
}

/// How many there are of each outcome, the most urgent first.
fn nodes(plan: &Plan, notes: &ClusterNotes) -> String {
    let mut counts = IndexMap::new();
    for node in &plan.report.nodes {
        let its = urgency(&node.outcome);
        let (count, most) = counts.entry(in_short(node, notes)).or_insert((0, its));
        *count += 1;
        *most = (*most).min(its);
    }
    counts.sort_by(|a, (_, x), b, (_, y)| x.cmp(y).then(a.cmp(b)));
    let counts = counts.into_iter().map(|(what, (count, _))| format!("{count} {what}"));
    format!("{}: {}", plan.report.nodes.len(), counts.collect::<Vec<_>>().join(", "))
}

fn in_short(node: &NodeVerdict, notes: &ClusterNotes) -> String {
    let text = match &node.outcome {
        NodeOutcome::UpToDate if has_available(node) => "up to date",
        NodeOutcome::UpToDate => "on the stable revision",
        NodeOutcome::NotTarget => "no target",
        NodeOutcome::Create { .. } => "to get a pod",
        NodeOutcome::Delete { .. } => "to lose a pod",
        NodeOutcome::UpdateInPlace { .. } => "to be changed in place",
        NodeOutcome::TurnBegins => "to begin a turn",
        NodeOutcome::Waits(wait) => return waiting::in_short(node, wait, notes),
    };
    text.to_owned()
}

/// The actions of the plan, in a few words.
pub fn now(plan: &Plan, notes: &ClusterNotes) -> String {
    match plan.report.situation {
        Situation::SelectingAll => {
            "nothing but an event: the selector is empty, and would choose every pod".to_owned()
        }
        Situation::BeingDeleted => "nothing: the DaemonSet is being deleted".to_owned(),
        Situation::NameCollision => {
            "only another collision count: the new revision's name is taken".to_owned()
        }
        _ => {
            let waiting = plan.report.nodes.iter().filter(|node| waits(node)).count();
            let wait = format!("{} must wait{}", words::count(waiting, "node"), troubles(plan, notes));
            let summary = plan.summary();
            match (summary.as_str(), waiting) {
                ("", 0) => "nothing to do".to_owned(),
                ("", _) => format!("no action: {wait}"),
                (_, 0) => summary,
                (_, _) => format!("{summary}; {wait}"),
            }
        }
    }
}

/// ` (2 crashing, 1 unable to pull its image)`: the nodes whose containers say so, if there are any.
fn troubles(plan: &Plan, notes: &ClusterNotes) -> String {
    let waiting = plan.report.nodes.iter().filter(|node| waits(node));
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for cause in waiting.filter_map(|node| words::trouble(node, notes)) {
        *counts.entry(cause).or_default() += 1;
    }
    let counts: Vec<String> = counts.into_iter().map(|(cause, nodes)| format!("{nodes} {cause}")).collect();
    if counts.is_empty() { String::new() } else { format!(" ({})", counts.join(", ")) }
}

/// Whether a node waits for anything.
pub fn any_waits(plan: &Plan) -> bool {
    plan.report.nodes.iter().any(waits)
}

fn waits(node: &NodeVerdict) -> bool {
    match urgency(&node.outcome) {
        Attention::Stuck | Attention::Waits | Attention::Held => true,
        Attention::Acts | Attention::Calm => false,
    }
}

fn as_of(source: &dyn fmt::Display, input: &Input) -> String {
    let now = input.recording.now;
    match input.clock {
        TimeSource::CommandLine => format!("{now}, as --now says; {source}"),
        TimeSource::Recording => format!("{now}, the time of recording {}; {source}", input.recording.name),
        TimeSource::System => format!("{now}, the clock of this machine; {source}"),
        TimeSource::NewestInList => format!("{now}, the newest time in {source}"),
    }
}
