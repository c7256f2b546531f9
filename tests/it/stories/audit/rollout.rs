//! The rules of a rollout: waves open in their order, marks are true, and plans from changes are judged alike.

use super::super::rollout::{mark, revisions, steered};
use super::{broken, named};
use crate::support::{Given, NodeStory, at, new, node, old, revision, tracked};
use daemonset::{Action, Observed, RolloutReason};
use daemonset_audit::ViolationKind as Kind;
use daemonset_incremental::{Auditor, Change, Tracker, audit_kept};
use serde_json::{Value, json};

/// The current revision gets this mark now.
fn marks(name: &str, rest: &str) -> Action {
    let value = format!("2 {} {rest}", at(0)).trim_end().to_owned();
    let annotations = [(format!("rollout.daemonset/{name}"), Some(value))].into();
    Action::annotate_revision(named("agent-new"), annotations, RolloutReason::WaveOpened)
}

/// Wave 0 is open, and node a is the only one in it.
fn second_wave(rollout: Value, a: NodeStory) -> Given {
    let wave = mark("0");
    let given = steered(rollout).node(a).node(node("b").has(old()));
    revisions(given, revision("old", 1), &[("wave", wave.as_str())])
}

#[test]
fn a_wave_on_which_all_nodes_fail_lets_no_other_one_open_whatever_number_may_fail() {
    let policy = |nodes: u32| {
        let waves = json!([{"upTo": nodes}, {}]);
        json!({"waves": waves, "onFailure": {"maxFailures": 1, "maxRestarts": 0}})
    };
    let restarts = json!([{"name": "c", "restartCount": 1}]);
    let failing = || node("a").has(new().not_ready().with("/status/containerStatuses", restarts.clone()));
    let second = [marks("wave", "1")];
    assert_eq!(broken(&second_wave(policy(1), failing()), &second), [Kind::WaveNotDue { wave: 1 }]);
    let beside = second_wave(policy(2), failing()).node(node("a2").has(new()));
    assert_eq!(broken(&beside, &second), [], "node a2 shows that the version works");
}

#[test]
fn a_pod_that_is_ready_since_nobody_knows_when_has_not_baked() {
    let policy = json!({"waves": [{"upTo": 1, "bakeSeconds": 60}, {}]});
    let second = |pod| broken(&second_wave(policy.clone(), node("a").has(pod)), &[marks("wave", "1")]);
    assert_eq!(second(new().ready_without_time()), [Kind::WaveNotDue { wave: 1 }]);
    assert_eq!(second(new().ready_for(59)), [Kind::WaveNotDue { wave: 1 }]);
    assert_eq!(second(new().ready_for(60)), []);
}

#[test]
fn a_rollout_is_complete_once_each_target_node_has_an_available_pod_and_no_outdated_one() {
    let wrong = || vec![Kind::WrongMark { mark: "rollout.daemonset/completed".to_owned() }];
    let completed = |b: NodeStory| {
        let fleet = steered(json!({})).node(node("a").has(new())).node(b);
        broken(&revisions(fleet, revision("old", 1), &[]), &[marks("completed", "")])
    };
    assert_eq!(completed(node("b").has(new().not_ready())), wrong());
    assert_eq!(completed(node("b")), wrong());
    assert_eq!(completed(node("b").has(new()).has(old().not_ready())), wrong());
    assert_eq!(completed(node("b").has(new())), []);
}

/// Judges that the second wave opens, in a fleet and by changes after this one.
fn second_wave_opens(fleet: &Given, change: Change<'_>) -> [Vec<Kind>; 2] {
    let recording = fleet.recording();
    let observed = || Observed {
        daemon_set: &recording.daemon_set,
        nodes: &recording.nodes,
        pods: &recording.pods,
        revisions: &recording.revisions,
    };
    let mut tracker = Tracker::new("uid-agent", recording.policy.clone());
    let _ = tracked(&mut tracker, observed, recording.now).unwrap();
    let opens = [marks("wave", "1")];
    let mut auditor = Auditor::default();
    let mut judge = |tracker: &mut Tracker| {
        let found = auditor.audit(tracker, &opens, recording.now).unwrap();
        assert_eq!(Ok(&found), audit_kept(tracker, &opens, recording.now).as_ref());
        found.into_iter().map(|violation| violation.kind).collect()
    };
    let before = judge(&mut tracker);
    tracker.apply(change).unwrap();
    [before, judge(&mut tracker)]
}

#[test]
fn an_audit_of_changes_lets_the_next_node_into_a_wave_once_another_one_is_gone() {
    let fleet = second_wave(json!({"waves": [{"upTo": 1}, {}]}), node("a").has(new()));
    assert_eq!(
        second_wave_opens(&fleet, Change::NodeGone("a")),
        [vec![], vec![Kind::WaveNotDue { wave: 1 }]]
    );
    assert_eq!(second_wave_opens(&fleet, Change::NodeGone("b")), [vec![], vec![]]);
}

#[test]
fn an_audit_of_changes_sees_that_a_label_brings_a_node_into_a_wave() {
    let fleet = |size: &str| {
        let small = json!({"matchLabels": {"size": "small"}});
        let a = node("a").label("size", "small").has(new());
        let fleet = second_wave(json!({"waves": [{"nodes": small}, {}]}), a);
        fleet.node(node("c").label("size", size).has(old()))
    };
    let nodes = fleet("small").recording().nodes;
    let c = nodes.iter().find(|node| node.metadata.name.as_str() == "c").unwrap();
    let found = second_wave_opens(&fleet("large"), Change::Node(c.into()));
    assert_eq!(found, [vec![], vec![Kind::WaveNotDue { wave: 1 }]]);
}
