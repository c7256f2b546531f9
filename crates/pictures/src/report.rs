//! The summary of a run, for a person or a program.

use crate::scene::Ran;
use crate::timeline::Timeline;
use comfy_table::{Table, presets};
use daemonset::model::{DaemonSet, IntOrString};
use daemonset::report::{NodeOutcome, NodePlacement, NodeVerdict, RolloutStage, Wait};
use daemonset_sim::{RolloutEnd, RolloutFigures, Spread, Summary, TurnFigures, Worst};
use daemonset_view::numbers::{count, duration, failure, number};
use daemonset_view::waiting;
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;
use std::fmt::Write as _;

/// Shows at most so many nodes that are left over.
const MOST_LEFT: usize = 20;

/// A summary with its name and seed.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Named<'a> {
    daemon_set: String,
    /// The setting that was tried; the DaemonSet's name where there is only one.
    label: &'a str,
    seed: u64,
    /// The policy that steers the rollout, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    policy: Option<&'a str>,
    /// Beside a run with a policy.
    #[serde(flatten)]
    reach: Option<Reach>,
    #[serde(flatten)]
    summary: &'a Summary,
}

/// The cost of a run, for a comparison of policies.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Reach {
    /// The number of nodes that ever got the new version.
    nodes_reached: u32,
    /// Without an available pod, summed over the nodes; rounded down.
    downtime_seconds: i64,
}

impl Reach {
    fn of(ran: &Ran) -> Self {
        let timeline = Timeline::of(&ran.picture());
        Reach {
            nodes_reached: ran.cluster.nodes_reached(ran.summary.started),
            downtime_seconds: timeline.curves.lost(timeline.length) / 1000,
        }
    }
}

/// One run of these.
pub fn json<'a>(ran: &'a Ran, all: &[Ran], seed: u64) -> Named<'a> {
    Named {
        daemon_set: name(ran),
        label: &ran.label,
        seed,
        policy: ran.policy.as_deref(),
        reach: all.iter().any(|ran| ran.policy.is_some()).then(|| Reach::of(ran)),
        summary: &ran.summary,
    }
}

/// Namespace and name.
pub fn name(ran: &Ran) -> String {
    let metadata = ran.cluster.daemon_set().map(|ds| &ds.metadata);
    metadata.map_or_else(String::new, |m| format!("{}/{}", m.namespace, m.name))
}

/// The whole summary as text.
pub fn text(ran: &Ran, source: &str, seed: u64) -> String {
    let summary = &ran.summary;
    let settings = ran.cluster.daemon_set().map_or_else(String::new, settings);
    let taint = ran.absence_taint.as_ref().map(|taint| {
        let (key, effect) = (&taint.key, &taint.effect);
        format!("{key}:{effect} on each node that has lost its pod; the new version does not tolerate it")
    });
    let mut text = String::new();
    for (title, line) in [
        ("DaemonSet", format!("{}, {settings}", name(ran))),
        ("Cluster", format!("{}, from {source}, seed {seed}", count(summary.nodes as usize, "node"))),
        ("Taint", taint.unwrap_or_default()),
        ("Policy", ran.policy.clone().unwrap_or_default()),
        ("Rollout", ending(summary)),
        ("Reached", summary.rollout.as_ref().map(reached).unwrap_or_default()),
        ("Waves", summary.rollout.as_ref().map(|rollout| waves(summary, rollout)).unwrap_or_default()),
        ("Down", down(summary)),
        ("Turns", summary.turns.as_ref().map(turns).unwrap_or_default()),
        ("Downtime", summary.turns.as_ref().map(|turns| downtime(turns.downtime)).unwrap_or_default()),
        ("Pods", pods(summary)),
        ("Controller", controller(summary)),
    ]
    .into_iter()
    .filter(|(_, line)| !line.is_empty())
    {
        let _ = writeln!(text, "{title:<11}{line}");
    }
    let _ = write!(text, "{}", left_over(summary));
    text
}

/// Strategy and limits in words.
fn settings(daemon_set: &DaemonSet) -> String {
    let strategy = &daemon_set.spec.update_strategy;
    let mut words = vec![if strategy.kind.is_empty() { "OnDelete" } else { &strategy.kind }.to_owned()];
    let limits = strategy.rolling_update.clone().unwrap_or_default();
    let surging = strategy.surging_rolling_update.as_ref().and_then(|limits| limits.max_surge);
    let rolling = strategy.kind == "RollingUpdate";
    let max_unavailable = limits.max_unavailable.filter(|_| rolling);
    let max_surge = limits.max_surge.filter(|_| rolling).or(surging);
    let limit_of = |name: &str, limit: Option<IntOrString>| {
        limit.filter(|limit| !limit.is_zero()).map(|limit| format!("{name} {limit}"))
    };
    words.extend(limit_of("maxUnavailable", max_unavailable));
    words.extend(limit_of("maxSurge", max_surge));
    if daemon_set.spec.min_ready_seconds > 0 {
        words.push(format!("minReadySeconds {}", daemon_set.spec.min_ready_seconds));
    }
    words.join(", ")
}

fn ending(summary: &Summary) -> String {
    let took = duration(i64::try_from(summary.duration_seconds.saturating_mul(1000)).unwrap_or(i64::MAX));
    match summary.end {
        RolloutEnd::Complete => format!("complete in {took}"),
        RolloutEnd::Stuck => format!("stuck: nothing happens any more, after {took}"),
        RolloutEnd::OutOfTime => format!("not complete after {took}"),
        RolloutEnd::RolledBack => {
            format!("{}; all nodes have the old version again after {took}", failed(summary))
        }
        RolloutEnd::Stopped => format!("{}: no further node gets the new version", failed(summary)),
        RolloutEnd::Held => format!("held: all released nodes have the new version, after {took}"),
        other => format!("{other:?} after {took}"),
    }
}

/// When the new version failed, and why.
fn failed(summary: &Summary) -> String {
    let rollout = summary.rollout.as_ref();
    let after = rollout.and_then(|rollout| rollout.failed_at).map(|at| after_start(summary, at));
    let why = rollout.and_then(|rollout| match &rollout.stage {
        RolloutStage::Stopped { reason, .. } | RolloutStage::RolledBack { reason, .. } => {
            Some(failure(reason, &rollout.failing))
        }
        _ => None,
    });
    format!("failed after {} ({})", after.unwrap_or_default(), why.unwrap_or_default())
}

fn after_start(summary: &Summary, at: Timestamp) -> String {
    let after = at.duration_since(summary.started).as_millis().max(0);
    duration(i64::try_from(after).unwrap_or(i64::MAX))
}

fn reached(rollout: &RolloutFigures) -> String {
    format!("{} of {} nodes ever got the new version", number(rollout.reached), number(rollout.nodes))
}

/// `0: 3 nodes, 0s to 1m18s; 1: 30 nodes, from 1m18s on; 2: 60 nodes, not opened`.
fn waves(summary: &Summary, rollout: &RolloutFigures) -> String {
    let waves = rollout.waves.iter().enumerate().map(|(wave, figures)| {
        let when = match (figures.opened_at, figures.done_at) {
            (None, _) => "not opened".to_owned(),
            (Some(from), None) => format!("from {} on", after_start(summary, from)),
            (Some(from), Some(to)) => {
                format!("{} to {}", after_start(summary, from), after_start(summary, to))
            }
        };
        format!("{wave}: {}, {when}", count(figures.nodes as usize, "node"))
    });
    waves.collect::<Vec<_>>().join("; ")
}

fn down(summary: &Summary) -> String {
    let when = |worst: Worst| {
        let after = worst.at.map(|at| after_start(summary, at));
        after.map_or_else(String::new, |after| format!(" ({after} after the start)"))
    };
    let worst = summary.worst_unavailable;
    // Nodes may have joined or left since.
    let of = if worst.nodes == 0 { summary.desired } else { worst.desired };
    let mut text = format!("at worst {} of {} nodes{}", number(worst.nodes), number(of), when(worst));
    if summary.worst_taken_down.nodes < worst.nodes {
        let _ = write!(text, ", {} of them by the rollout itself", number(summary.worst_taken_down.nodes));
    }
    if summary.max_surge > 0 {
        let _ = write!(text, "; maxSurge allows {} with two pods", count(summary.max_surge as usize, "node"));
    } else if summary.max_unavailable > 0 {
        let _ = write!(text, "; maxUnavailable allows {}", number(summary.max_unavailable));
    }
    text
}

/// `60, median 12s, 90 % within 20s, longest 31s; 180 pods evicted, 12 evictions refused`.
fn turns(figures: &TurnFigures) -> String {
    let mut parts = Vec::new();
    if figures.turns > 0 {
        parts.push(format!("{}, {}", number(figures.turns), spread(figures.in_turn)));
    }
    if figures.evictions + figures.evictions_refused > 0 {
        let evicted = count(figures.evictions as usize, "pod");
        let refused = count(figures.evictions_refused as usize, "eviction");
        parts.push(format!("{evicted} evicted, {refused} refused"));
    }
    parts.join("; ")
}

/// How long a node was without a Ready pod.
fn downtime(of_nodes: Spread) -> String {
    match of_nodes.most.is_zero() {
        true => "none: each node has a Ready pod all the time".to_owned(),
        false => format!("of a node: {}", spread(of_nodes)),
    }
}

/// `median 4.2s, 90 % within 6.1s, longest 9s`.
fn spread(spread: Spread) -> String {
    let words = |time: SignedDuration| duration(i64::try_from(time.as_millis()).unwrap_or(i64::MAX));
    let Spread { median, p90, most, .. } = spread;
    match median == most {
        true => format!("{} each", words(median)),
        false => format!("median {}, 90 % within {}, longest {}", words(median), words(p90), words(most)),
    }
}

fn pods(summary: &Summary) -> String {
    let mut text =
        format!("{} created, {} deleted", number(summary.pods_created), number(summary.pods_deleted));
    if let Some(figures) = summary.turns.filter(|figures| figures.pods_changed > 0) {
        let _ = write!(text, ", {} changed in their place", number(figures.pods_changed));
    }
    if summary.pods_failed > 0 {
        let _ = write!(text, ", {} failed", number(summary.pods_failed));
    }
    if summary.pods_lost_readiness > 0 {
        let _ = write!(text, ", readiness lost {} times", number(summary.pods_lost_readiness));
    }
    text
}

fn controller(summary: &Summary) -> String {
    let mut text = count(usize::try_from(summary.reconciles).unwrap_or(usize::MAX), "reconcile");
    if summary.plans_stopped > 0 {
        let _ = write!(text, ", {} of them not executed to the end", number(summary.plans_stopped));
    }
    if summary.controller_crashes > 0 {
        let crashes = count(usize::try_from(summary.controller_crashes).unwrap_or(usize::MAX), "crash");
        let _ = write!(text, ", {}", crashes.replace("crashs", "crashes"));
    }
    text
}

/// Nodes that do not run the new version, with the reason.
fn left_over(summary: &Summary) -> String {
    // Under a policy a node is up to date with the old version, too, where that is its goal.
    let is_left =
        |verdict: &&NodeVerdict| summary.rollout.is_none() || verdict.outcome != NodeOutcome::UpToDate;
    let left: Vec<&NodeVerdict> = summary.not_updated.iter().filter(is_left).collect();
    if left.is_empty() {
        let version = if summary.end == RolloutEnd::RolledBack { "old" } else { "new" };
        return format!("Left over  none: every target node has an available pod of the {version} version\n");
    }
    let mut text = format!("Left over  {}\n\n", count(left.len(), "node"));
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(["NODE", "PODS", "WHY"]);
    for column in table.column_iter_mut() {
        column.set_padding((0, 2));
    }
    for verdict in left.iter().copied().take(MOST_LEFT) {
        let pods = verdict.pods.iter().map(|pod| if pod.updated { "new" } else { "old" });
        let pods = pods.collect::<Vec<_>>().join(", ");
        let pods = if pods.is_empty() { "none".to_owned() } else { pods };
        table.add_row([verdict.node.to_string(), pods, why(verdict, summary.ended)]);
    }
    let _ = writeln!(text, "{table}");
    if left.len() > MOST_LEFT {
        let _ = writeln!(text, "and {} more", number(left.len() - MOST_LEFT));
    }
    text
}

pub fn why(verdict: &NodeVerdict, now: Timestamp) -> String {
    let until = |at: Timestamp| {
        duration(i64::try_from(at.duration_since(now).as_millis()).unwrap_or(i64::MAX).max(0))
    };
    if verdict.node_ready == Some(false) {
        let lost = (verdict.counts.down_after_update && !verdict.counts.deleted_by_update)
            || verdict.pods.iter().any(|pod| pod.updated);
        return if lost { "the node went down with the new version" } else { "the node is not Ready" }
            .to_owned();
    }
    match (&verdict.placement, &verdict.outcome) {
        (NodePlacement::Run, NodeOutcome::Create { .. }) => "its new pod is to be created".to_owned(),
        (NodePlacement::Run, NodeOutcome::Delete { .. }) => "its old pod is about to go".to_owned(),
        (NodePlacement::Run, NodeOutcome::Waits(wait))
        | (_, NodeOutcome::Waits(wait @ (Wait::Return { .. } | Wait::TargetNodes { .. }))) => {
            waiting::left_over(wait, until)
        }
        (NodePlacement::Run, outcome) => outcome.to_string(),
        _ => "no target node any more".to_owned(),
    }
}
