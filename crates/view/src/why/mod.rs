//! Which rule holds a node, a pod or a rollout, since when, and what comes next.

mod node;
mod placement;
mod pod;
mod pods;
mod rollout;
mod rule;
mod subject;
mod turn;

use crate::case::View;
use crate::plan::Planned;
use daemonset::model::{DaemonSet, Node};
use daemonset::report::{NodeDetail, NodeVerdict, PodVerdict};
use jiff::Timestamp;
pub use pod::about as about_pod;
pub use rule::StrategyLimit;
use serde::Serialize;
pub use subject::Subject;

/// The answer as JSON.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WhyAnswer<'a> {
    /// `Node` or `Pod`.
    pub kind: &'static str,
    pub name: &'a str,
    pub now: Timestamp,
    /// For a pod of no DaemonSet, and for a node with a turn of none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sentences: Vec<String>,
    pub daemon_sets: Vec<AboutDaemonSet<'a>>,
}

/// The part of a DaemonSet in it.
#[derive(Serialize)]
pub struct AboutDaemonSet<'a> {
    pub name: &'a str,
    pub verdict: Option<&'a NodeVerdict>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pod: Option<&'a PodVerdict>,
    /// Of its turn, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<&'a NodeDetail>,
    pub sentences: Vec<String>,
    /// The commands to run next.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<String>,
}

/// Why a node is as it is, for each DaemonSet.
pub fn about_node<'a>(
    node: &'a Node,
    planned: &'a [Planned],
    all: &[DaemonSet],
    view: &View<'a>,
) -> WhyAnswer<'a> {
    let name = node.metadata.name.as_str();
    let about = planned.iter().map(|planned| match &planned.plan {
        Err(error) => AboutDaemonSet {
            name: &planned.name,
            verdict: None,
            pod: None,
            detail: None,
            sentences: vec![no_plan(error)],
            commands: Vec::new(),
        },
        Ok(plan) => {
            let case = view.case(planned, plan);
            let verdict = plan.report.node(name);
            let sentences = match verdict {
                Some(verdict) => case.sentences(verdict),
                None => vec![case.situation()],
            };
            let detail = planned.details.get(name);
            let commands = verdict.map(|verdict| case.look(verdict)).unwrap_or_default();
            AboutDaemonSet { name: &planned.name, verdict, pod: None, detail, sentences, commands }
        }
    });
    let daemon_sets: Vec<AboutDaemonSet<'a>> = about.collect();
    let mut sentences = turn::of_nobody(node, all, view.now);
    if daemon_sets.is_empty() {
        sentences.push("There is no DaemonSet here.".to_owned());
    }
    WhyAnswer { kind: "Node", name, now: view.now, sentences, daemon_sets }
}

fn no_plan(error: &str) -> String {
    format!("There is no plan: {error}")
}
