//! What came of it, for a person or a program.

use crate::simulate::scene::Ran;
use crate::simulate::why::why;
use crate::simulate::words::{count, duration, number};
use comfy_table::{Table, presets};
use daemonset::model::{DaemonSet, IntOrString};
use daemonset::sim::{RolloutEnd, Summary, Worst};
use serde::Serialize;
use std::fmt::Write as _;

/// Tells at most so many nodes that are left over.
const MOST_LEFT: usize = 20;

/// A summary with what it is about.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Named<'a> {
    daemon_set: String,
    /// What was tried; the DaemonSet's name where it is only one.
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
    let mut text = String::new();
    for (title, line) in [
        ("DaemonSet", format!("{}, {settings}", name(ran))),
        ("Cluster", format!("{}, from {source}, seed {seed}", count(summary.nodes as usize, "node"))),
        ("Rollout", ending(summary)),
        ("Down", down(summary)),
        ("Pods", pods(summary)),
        ("Controller", controller(summary)),
    ] {
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
    let told = |name: &str, limit: Option<IntOrString>| {
        limit.filter(|limit| !limit.is_zero()).map(|limit| format!("{name} {limit}"))
    };
    words.extend(told("maxUnavailable", max_unavailable));
    words.extend(told("maxSurge", max_surge));
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
