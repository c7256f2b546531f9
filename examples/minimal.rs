//! Plans one pass of a DaemonSet controller from JSON objects, and prints each action with its reason.
//!
//! ```console
//! $ cargo run --example minimal
//! ```
//!
//! The library does no I/O. A real controller lists the objects from the API server (or from its watch caches), asks for a
//! plan, and executes the actions in order.
#![allow(clippy::restriction)]

use daemonset::model::{ControllerRevision, DaemonSet, Node, Pod};
use daemonset::{Action, ActionOutcome, Observed, Policy, Reconciler};
use serde_json::{from_value, json};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let daemon_set: DaemonSet = from_value(json!({
        "metadata": {"name": "agent", "namespace": "monitoring", "uid": "u1", "generation": 1},
        "spec": {
            "selector": {"matchLabels": {"app": "agent"}},
            "template": {
                "metadata": {"labels": {"app": "agent"}},
                "spec": {"containers": [{"name": "agent", "image": "agent:1"}]},
            },
            "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 1}},
        },
    }))?;
    // Node b has a taint that the template does not tolerate, so that it gets no pod.
    let nodes: Vec<Node> = from_value(json!([
        {"metadata": {"name": "a"}},
        {"metadata": {"name": "b"}, "spec": {"taints": [{"key": "gpu", "effect": "NoSchedule"}]}},
        {"metadata": {"name": "c"}},
    ]))?;
    // The DaemonSet is new: it has no pods and no revisions yet. All objects of the namespace belong into these lists,
    // because an object that is missing here counts as not existing.
    let pods: Vec<Pod> = Vec::new();
    let revisions: Vec<ControllerRevision> = Vec::new();

    // The caller passes the time, so that the same input always gives the same plan.
    let now = "2026-01-01T12:00:00Z".parse()?;
    // One reconciler for each DaemonSet: it remembers between the plans.
    let mut reconciler = Reconciler::new(daemon_set.metadata.uid.clone(), Policy::default());
    let observed = Observed { daemon_set: &daemon_set, nodes: &nodes, pods: &pods, revisions: &revisions };
    let plan = reconciler.plan(observed, now)?;

    for batch in plan.batches() {
        for action in batch {
            println!("{action}");
            // A real caller executes the action here, and records the outcome that it got.
            let recorded = reconciler.record(action, &ActionOutcome::Done, now);
            assert!(!recorded.ends_plan(), "an executed action does not end the plan");
        }
    }
    // The report has a verdict on every node, including the nodes without an action.
    for node in &plan.report.nodes {
        println!("node {}: {:?}, {:?}", node.node, node.placement, node.outcome);
    }
    let creates = plan.actions.iter().filter(|action| action.kind() == "CreatePod");
    let created: Vec<&str> = creates.filter_map(Action::node).map(|node| node.as_str()).collect();
    assert_eq!(created, ["a", "c"], "one pod on each node that the taint does not exclude");
    Ok(())
}

#[test]
fn the_example_runs() {
    main().unwrap();
}
