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
#![allow(clippy::restriction)]

use daemonset::{Plan, Recording, plan};

/// A rollout from v1 to v2 over four nodes: node a is updated, the outdated pod of node b is not Ready, and c and d wait.
const EMBEDDED: &[u8] = include_bytes!("recording.json");

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let plan = match std::env::args().nth(1) {
        Some(path) => replay(&std::fs::read(path)?)?,
        None => replay(EMBEDDED)?,
    };
    println!("{} actions", plan.actions.len());
    Ok(())
}

/// Plans what the recording holds. Errors name the field, such as `daemonSet.spec.updateStrategy.rollingUpdate.maxUnavailable`.
fn replay(recording: &[u8]) -> Result<Plan, Box<dyn std::error::Error>> {
    let recording = Recording::from_json(recording)?;
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
    Ok(plan)
}

#[test]
fn the_embedded_recording_gives_its_plan() {
    let plan = replay(EMBEDDED).unwrap();
    let lines: Vec<String> = plan.actions.iter().map(ToString::to_string).collect();
    let status = "UpdateStatus updated 1, ready 3, available 3 of 4 (Changed)";
    assert_eq!(lines, ["DeletePod agent-b on b (OutdatedNotReady)", status]);
}
