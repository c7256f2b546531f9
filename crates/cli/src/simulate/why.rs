//! Why a node does not run the new version, in a few words.

use crate::simulate::words::duration;
use daemonset::{NodeOutcome, NodePlacement, NodeVerdict};
use jiff::Timestamp;

pub(crate) fn why(verdict: &NodeVerdict, now: Timestamp) -> String {
    let until = |at: Timestamp| {
        duration(i64::try_from(at.duration_since(now).as_millis()).unwrap_or(i64::MAX).max(0))
    };
    if verdict.node_ready == Some(false) {
        let lost = verdict.counts.lost || verdict.pods.iter().any(|pod| pod.updated);
        return if lost { "the node went down with the new version" } else { "the node is not Ready" }
            .to_owned();
    }
    match (&verdict.placement, &verdict.outcome) {
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
