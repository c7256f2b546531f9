//! Puts the audit between a planner and the executor: a tampered plan is refused.
//!
//! ```console
//! $ cargo run -p daemonset-audit --example guard
//! ```
//!
//! [`audit`] checks any list of actions against the snapshot, and returns the safety rules that they break. A plan of the
//! crate `daemonset` breaks no rule. The audit is useful as a second opinion, and for actions that come from another source: another
//! planner, a queue, or a person.
#![allow(clippy::restriction)]
#![expect(clippy::disallowed_methods, reason = "a planner's actions are audited")]

use daemonset::model::ObjectRef;
use daemonset::{Action, DeleteReason, Recording, plan};
use daemonset_audit::audit;

/// An executor that refuses a list of actions as a whole if one of them breaks a rule. Returns how many actions it executes.
fn execute(recording: &Recording, actions: &[Action]) -> Result<usize, Box<dyn std::error::Error>> {
    let snapshot = recording.snapshot()?;
    let violations = audit(&snapshot, actions);
    for violation in &violations {
        // Each violation names the action by its position, the object, and the broken rule with its figures.
        println!("  refused: {violation}");
    }
    if !violations.is_empty() {
        return Ok(0);
    }
    println!("  executed {} actions", actions.len());
    Ok(actions.len())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // A rollout over four nodes, of which one may be unavailable at a time.
    let recording = Recording::from_json(include_bytes!("recording.json"))?;
    let planned = plan(&recording.snapshot()?).actions;

    println!("the plan:");
    assert_eq!(execute(&recording, &planned)?, planned.len());

    // An impatient caller deletes the other outdated pods, too, which exceeds maxUnavailable.
    let mut tampered = planned;
    for pod in
        recording.pods.iter().filter(|pod| ["agent-c", "agent-d"].contains(&pod.metadata.name.as_str()))
    {
        let (node, pod) = (pod.spec.node_name.clone(), ObjectRef::from(&pod.metadata));
        tampered.insert(0, Action::delete_pod(node, pod, DeleteReason::OutdatedAvailable));
    }
    println!("the tampered plan:");
    assert_eq!(execute(&recording, &tampered)?, 0);
    Ok(())
}

#[test]
fn the_example_runs() {
    main().unwrap();
}
