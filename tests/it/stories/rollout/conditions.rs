//! The condition Progressing under a steered rollout.

use super::{mark, revisions};
use crate::support::{Given, at, given, new, node, old, revision, rolling};
use serde_json::{Value, json};

/// Node a has the new version, b not.
fn fleet(rollout: Value) -> Given {
    let fleet = given(rolling(1)).policy(json!({"conditions": true, "rollout": rollout}));
    revisions(fleet, revision("old", 1), &[])
        .node(node("a").has(new().ready_for(60)))
        .node(node("b").has(old()))
}

fn progressing(fleet: &Given) -> (String, String, String) {
    let status = fleet.plan().status.unwrap();
    let condition = status.conditions.iter().find(|condition| condition["type"] == "Progressing").unwrap();
    let text = |member: &str| condition[member].as_str().unwrap().to_owned();
    (text("status"), text("reason"), text("message"))
}

#[test]
fn it_says_why_a_rollout_does_not_go_on() {
    let until = at(540);
    for (rollout, status, reason, end) in [
        (json!({}), "True", "Updating", String::new()),
        (json!({"paused": true}), "Unknown", "Paused", "; the rollout is paused".to_owned()),
        (
            json!({"waves": [{"upTo": 1}, {"needsApproval": true}]}),
            "Unknown",
            "WaitingForApproval",
            "; wave 1 waits for approval".to_owned(),
        ),
        (
            json!({"waves": [{"upTo": 1, "bakeSeconds": 600}, {}]}),
            "True",
            "Baking",
            format!("; wave 0 bakes until {until}"),
        ),
    ] {
        let found = progressing(&fleet(rollout.clone()));
        assert_eq!((found.0.as_str(), found.1.as_str()), (status, reason), "{rollout}");
        assert!(found.2.starts_with("1 of 2 nodes has an available pod of agent-new"), "{}", found.2);
        assert!(found.2.ends_with(&end), "{}", found.2);
    }
    let (.., message) = progressing(&fleet(json!({"paused": true})));
    assert!(message.contains(", 1 is not reached by the rollout"), "{message}");
}

#[test]
fn it_is_false_once_the_new_version_has_failed() {
    let failed = |action: &str, reason: &str| {
        let fleet = fleet(json!({"onFailure": {"action": action}}));
        let (status, reason, message) =
            progressing(&revisions(fleet, revision("old", 1), &[("failed", &mark(reason))]));
        assert_eq!(status, "False");
        (reason, message.rsplit("; ").next().unwrap().to_owned())
    };
    let own = |reason: &str, message: &str| (reason.to_owned(), message.to_owned());
    assert_eq!(
        failed("Pause", "TooManyFailures"),
        own("TooManyFailures", "the new version has failed: TooManyFailures")
    );
    assert_eq!(
        failed("Pause", "ProgressDeadlineExceeded"),
        own("ProgressDeadlineExceeded", "the new version has failed: ProgressDeadlineExceeded")
    );
    assert_eq!(
        failed("Pause", "looks bad"),
        own("TooManyFailures", "the new version has failed: looks bad"),
        "a person has written it"
    );
    assert_eq!(
        failed("RollBack", "TooManyFailures"),
        own("RolledBack", "the new version has failed (TooManyFailures), all nodes go back to agent-old")
    );
}

/// Its pods may be available and crash from time to time: the verdict stands, and on the way back the first plan tells of it.
#[test]
fn it_is_false_although_each_node_has_the_failed_version() {
    for (action, expected) in
        [("Pause", "TooManyFailures"), ("RollBack", "RolledBack"), ("Undo", "RolledBack")]
    {
        let rollout = json!({"onFailure": {"action": action}});
        let fleet = given(rolling(1)).policy(json!({"conditions": true, "rollout": rollout}));
        let fleet = revisions(fleet, revision("old", 1), &[("failed", &mark("TooManyFailures"))]);
        let (status, reason, _) = progressing(&fleet.nodes(["a", "b"], new()));
        assert_eq!((status.as_str(), reason.as_str()), ("False", expected), "{action}");
    }
}

#[test]
fn a_rollout_that_is_over_is_complete() {
    let fleet = given(rolling(1)).policy(json!({"conditions": true, "rollout": {"waves": [{"upTo": 1}]}}));
    let fleet = revisions(fleet, revision("old", 1), &[("completed", &mark(""))]);
    let (_, reason, _) = progressing(&fleet.nodes(["a", "b"], new()));
    assert_eq!(reason, "Complete");
}
