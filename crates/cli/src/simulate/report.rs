//! The summary of a run, for a person or a program.

use crate::simulate::scene::Ran;
use crate::simulate::words::{count, duration, number};
use comfy_table::{Table, presets};
use daemonset::model::{DaemonSet, IntOrString};
use daemonset::sim::{RolloutEnd, Summary, Worst};
use daemonset::{NodeOutcome, NodePlacement, NodeVerdict};
use jiff::Timestamp;
use serde::Serialize;
use std::fmt::Write as _;

/// Shows at most so many nodes that are left over.
const MOST_LEFT: usize = 20;

/// A summary with its name and seed.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Named<'a> {
    daemon_set: String,
    /// The setting that was tried; the DaemonSet's name where there is only one.
    label: &'a str,
    seed: u64,
    #[serde(flatten)]
    summary: &'a Summary,
}

pub(crate) fn json(ran: &Ran, seed: u64) -> Named<'_> {
    Named { daemon_set: name(ran), label: &ran.label, seed, summary: &ran.summary }
}

/// Namespace and name.
pub(crate) fn name(ran: &Ran) -> String {
    let metadata = ran.cluster.daemon_set().map(|ds| &ds.metadata);
    metadata.map_or_else(String::new, |m| format!("{}/{}", m.namespace, m.name))
}

/// The whole summary as text.
pub(crate) fn text(ran: &Ran, source: &str, seed: u64) -> String {
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
        ("Rollout", ending(summary)),
        ("Down", down(summary)),
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
        other => format!("{other:?} after {took}"),
    }
}

fn down(summary: &Summary) -> String {
    let when = |worst: Worst| {
        let after = worst.at.map(|at| at.duration_since(summary.started).as_millis().max(0));
        after.map_or_else(String::new, |after| {
            format!(" ({} after the start)", duration(i64::try_from(after).unwrap_or(i64::MAX)))
        })
    };
    let worst = summary.worst_unavailable;
    let mut text =
        format!("at worst {} of {} nodes{}", number(worst.nodes), number(summary.desired), when(worst));
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

fn pods(summary: &Summary) -> String {
    let mut text =
        format!("{} created, {} deleted", number(summary.pods_created), number(summary.pods_deleted));
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
    let left = &summary.not_updated;
    if left.is_empty() {
        return "Left over  none: every target node has an available pod of the new version\n".to_owned();
    }
    let mut text = format!("Left over  {}\n\n", count(left.len(), "node"));
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(["NODE", "PODS", "WHY"]);
    for column in table.column_iter_mut() {
        column.set_padding((0, 2));
    }
    for verdict in left.iter().take(MOST_LEFT) {
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

pub(crate) fn why(verdict: &NodeVerdict, now: Timestamp) -> String {
    let until = |at: Timestamp| {
        duration(i64::try_from(at.duration_since(now).as_millis()).unwrap_or(i64::MAX).max(0))
    };
    if verdict.node_ready == Some(false) {
        let lost =
            (verdict.counts.lost && !verdict.counts.taken) || verdict.pods.iter().any(|pod| pod.updated);
        return if lost { "the node went down with the new version" } else { "the node is not Ready" }
            .to_owned();
    }
    match (&verdict.placement, &verdict.outcome) {
        (_, NodeOutcome::WaitsForReturn { .. }) => {
            "the update deleted its pod, and it is no target node any more: it counts until it is back"
                .to_owned()
        }
        (NodePlacement::Run, outcome) => match outcome {
            NodeOutcome::HeldByMaxUnavailable { used, limit } => {
                format!("waits: maxUnavailable is spent ({used} of {limit})")
            }
            NodeOutcome::HeldByMaxSurge { used, limit } => {
                format!("waits: maxSurge is spent ({used} of {limit})")
            }
            NodeOutcome::WaitsForDelete => "OnDelete: waits for a person to delete its pod".to_owned(),
            NodeOutcome::WaitsForReady => "its new pod does not become Ready".to_owned(),
            NodeOutcome::WaitsForMinReady { .. } => "its new pod is not Ready for long enough".to_owned(),
            NodeOutcome::WaitsForTermination { .. } => "its old pod does not end".to_owned(),
            NodeOutcome::WaitsForBackOff { until: at, failures } => {
                format!("failed {failures} times, tries again in {}", until(*at))
            }
            NodeOutcome::Create { .. } | NodeOutcome::WaitsForCreatedPod { .. } => {
                "its new pod is to be created".to_owned()
            }
            NodeOutcome::Delete { .. } => "its old pod is about to go".to_owned(),
            other => format!("{other:?}"),
        },
        _ => "no target node any more".to_owned(),
    }
}
