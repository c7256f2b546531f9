//! Replays a recorded decision: reads a [`Recording`], plans it, and prints the verdict on each node.
//!
//! ```console
//! $ cargo run --example replay
//! $ cargo run --example replay -- recording.json
//! ```
//!
//! A recording is one JSON object with everything that a decision depends on: the instant, the DaemonSet, the nodes, the
//! pods, the revisions, the policy and the memory. A controller can store one with `Recording::from(&snapshot)`, and anybody
//! can replay it elsewhere with exactly the same result.

use daemonset::{Recording, plan};

/// A rollout from v1 to v2 over four nodes: node a is updated, the outdated pod of node b is not Ready, and c and d wait.
const EMBEDDED: &[u8] = include_bytes!("recording.json");

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let recording = match std::env::args().nth(1) {
        // Errors name the field, such as `daemonSet.spec.updateStrategy.rollingUpdate.maxUnavailable`.
        Some(path) => Recording::from_json(&std::fs::read(path)?)?,
        None => Recording::from_json(EMBEDDED)?,
    };
    let snapshot = recording.snapshot()?;
    let plan = plan(&snapshot);

    println!("{} at {}", recording.name, recording.now);
    if let Some(budget) = &plan.report.budget {
        let (unavailable, desired) = (budget.unavailable, budget.desired);
        println!("{unavailable} of {desired} target nodes unavailable, {} allowed", budget.max_unavailable);
    }
    for verdict in &plan.report.nodes {
        // The outcome is the decision on the node: an action, or the condition that the node waits for.
        println!("node {}: {:?}", verdict.node, verdict.outcome);
        for pod in &verdict.pods {
            let version = if pod.updated { "updated" } else { "outdated" };
            println!("  pod {}: {version}, {:?}, by {:?}", pod.pod.name, pod.state, pod.evidence);
        }
    }
    for warning in &plan.warnings {
        println!("warning: {warning:?}");
    }
    println!("{} actions", plan.actions.len());
    Ok(())
}
