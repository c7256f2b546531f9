//! The way of a plan through its JSON form: to a person who approves it, to an executor in another process.

use daemonset::{Action, ActionOutcome, Memory, Plan, Recording};
use daemonset_audit::audit;

/// Checks that the plan read from its form is the one that was written, in all that an executor does with it.
pub fn round_trip(plan: &Plan, recording: &Recording) {
    let value = serde_json::to_value(plan).unwrap();
    let text = serde_json::to_string(plan).unwrap();
    let from_value: Plan = serde_json::from_value(value).unwrap();
    let from_text: Plan = serde_json::from_str(&text).unwrap();
    for read in [from_value, from_text] {
        assert_eq!(serde_json::to_string(&read).unwrap(), text, "the same bytes");
        assert_eq!(read.actions, plan.actions, "{text}");
        assert_eq!((&read.status, &read.warnings), (&plan.status, &plan.warnings));
        assert_eq!(read.report.nodes, plan.report.nodes);
        assert_eq!(
            audit(&recording.snapshot().unwrap(), &read.actions),
            audit(&recording.snapshot().unwrap(), &plan.actions)
        );
        for (action, written) in read.actions.iter().zip(&plan.actions) {
            is_executed_as(action, written, recording);
        }
    }
}

/// The same call, and the same memory of it.
fn is_executed_as(action: &Action, written: &Action, recording: &Recording) {
    assert_eq!(action.to_string(), written.to_string());
    let memory = |action: &Action| {
        let mut memory = Memory::default();
        memory.record(action, &ActionOutcome::Done, recording.now);
        memory
    };
    assert_eq!(memory(action), memory(written), "{written}");
    #[cfg(feature = "kube")]
    {
        use daemonset::kube::{ApiCall, Caller};
        let (daemon_set, now) = (&recording.daemon_set, recording.now);
        let call = |action: &Action| {
            let call = ApiCall::new(action, &Caller { daemon_set, component: "test", now })?;
            Some((serde_json::to_string(&call).unwrap(), call.body_bytes()))
        };
        assert_eq!(call(action), call(written), "{written}");
    }
}
