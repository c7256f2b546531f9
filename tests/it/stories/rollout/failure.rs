//! When the new version has failed, and what follows.

use super::{creates, deletes, mark, marked, marks, requeue, revisions, steered};
use crate::support::{
    Given, NodeStory, PodStory, at, given, new, node, old, on_delete, revision, rolling, template, tracked,
};
use daemonset::model::ObjectRef;
use daemonset::report::{FailureEvidence, RolloutStage, Warning};
use daemonset::{Action, DeleteReason, Observed, Recording};
use daemonset_audit::ViolationKind;
use daemonset_incremental::{Auditor, Tracker};
use jiff::SignedDuration;
use serde_json::{Value, json};

/// Node a with this pod of the new version, b with one that is well, c waits for the next wave.
fn judged(on_failure: Value, a: NodeStory) -> Given {
    let rollout = json!({"waves": [{"upTo": 2}, {}], "onFailure": on_failure});
    steered(rollout).node(a).node(node("b").has(new())).node(node("c").has(old()))
}

fn evidence(on_failure: Value, a: NodeStory) -> Option<FailureEvidence> {
    let plan = judged(on_failure, a).plan();
    let failing = plan.report.rollout.unwrap().failing;
    assert!(failing.iter().all(|failing| failing.node.as_str() == "a"), "{failing:?}");
    failing.first().map(|failing| failing.evidence.clone())
}

fn kind(on_failure: Value, pod: PodStory) -> Option<String> {
    let evidence = evidence(on_failure, node("a").has(pod))?;
    Some(serde_json::to_value(evidence).unwrap()["type"].as_str().unwrap().to_owned())
}

fn containers(waiting: Option<&str>, restarts: u32) -> Value {
    let state = waiting.map(|reason| json!({"waiting": {"reason": reason}})).unwrap_or_default();
    json!([{"name": "c", "restartCount": restarts, "state": state}])
}

#[test]
fn a_failed_pod_fails_its_node_unless_others_ended_it() {
    let with = |reason: &str| kind(json!({}), new().failed().with("/status/reason", json!(reason)));
    assert_eq!((with("").as_deref(), with("Error").as_deref()), (Some("PodFailed"), Some("PodFailed")));
    for reason in ["Evicted", "Preempting", "Terminated", "NodeShutdown", "NodeAffinity"] {
        assert_eq!(with(reason), None, "{reason}");
    }
}

#[test]
fn too_many_restarts_of_a_container_or_an_init_container_fail_a_node() {
    let with = |list: &str, restarts| {
        kind(json!({"maxRestarts": 2}), new().with(&format!("/status/{list}"), containers(None, restarts)))
    };
    assert_eq!(with("containerStatuses", 3).as_deref(), Some("TooManyRestarts"));
    assert_eq!(with("initContainerStatuses", 3).as_deref(), Some("TooManyRestarts"));
    assert_eq!(with("containerStatuses", 2), None);
}

#[test]
fn a_pod_that_goes_is_not_judged_and_one_that_has_ended_is() {
    let restarted = |pod: PodStory| {
        kind(json!({"maxRestarts": 0}), pod.with("/status/containerStatuses", containers(None, 1)))
    };
    assert_eq!(restarted(new().succeeded()).as_deref(), Some("TooManyRestarts"));
    assert_eq!(restarted(new().terminating(30)), None);
}

#[test]
fn a_container_that_waits_in_vain_fails_its_node_at_an_age() {
    let with = |on_failure: Value, reason: &str, age| {
        let pod =
            new().pending().created_ago(age).with("/status/containerStatuses", containers(Some(reason), 0));
        kind(on_failure, pod)
    };
    let rule = json!({"waitingSeconds": 60});
    assert_eq!(with(rule.clone(), "ImagePullBackOff", 60).as_deref(), Some("Waiting"));
    assert_eq!(with(rule.clone(), "ImagePullBackOff", 59), None);
    assert_eq!(with(rule, "ContainerCreating", 60), None);
    assert_eq!(with(json!({}), "ImagePullBackOff", 60), None, "without waitingSeconds waiting fails nobody");
    let own = json!({"waitingSeconds": 0, "waitingReasons": ["ContainerCreating"]});
    assert_eq!(with(own.clone(), "ContainerCreating", 0).as_deref(), Some("Waiting"));
    assert_eq!(with(own, "ImagePullBackOff", 60), None, "the own list replaces the usual one");
}

#[test]
fn a_pod_that_is_not_available_for_too_long_fails_its_node() {
    let with = |pod: PodStory| kind(json!({"availableWithinSeconds": 20}), pod);
    assert_eq!(with(new().not_ready().created_ago(20)).as_deref(), Some("Unavailable"), "not Ready for 30 s");
    assert_eq!(with(new().not_ready().created_ago(19)), None, "it is too young");
    assert_eq!(with(new().ready_for(5)), None);
    let changed = |ago: i64| {
        let condition =
            json!([{"type": "Ready", "status": "False", "lastTransitionTime": at(-ago).to_string()}]);
        with(new().created_ago(900).with("/status/conditions", condition))
    };
    assert_eq!((changed(20).as_deref(), changed(19)), (Some("Unavailable"), None));
    let conditions = |conditions: Value| with(new().created_ago(900).with("/status/conditions", conditions));
    assert_eq!(conditions(json!([])).as_deref(), Some("Unavailable"), "it never had a condition");
    assert_eq!(conditions(json!([{"type": "Ready", "status": "False"}])), None, "since an unknown instant");
}

#[test]
fn a_node_that_goes_down_under_its_new_pod_fails() {
    let with = |rule: Value, down: i64, pod: PodStory| {
        evidence(rule, node("a").ready("Unknown", Some(at(-down))).has(pod))
    };
    let since = |down: i64| serde_json::to_value(FailureEvidenceOf(down)).unwrap();
    let down = with(json!({}), 60, new().not_ready().created_ago(61));
    assert_eq!(serde_json::to_value(down).unwrap(), since(60));
    assert_eq!(with(json!({}), 60, new().not_ready().created_ago(60)), None, "it was down before");
    assert_eq!(with(json!({}), 60, new().created_ago(900)), None, "the pod is Ready");
    assert_eq!(with(json!({"availableWithinSeconds": 61}), 60, new().not_ready().created_ago(900)), None);
    let restarting = new().not_ready().created_ago(30).with("/status/containerStatuses", containers(None, 9));
    assert_eq!(with(json!({"maxRestarts": 0}), 60, restarting), None, "nothing there is judged");
}

/// The JSON form of a node that is down for so many seconds.
struct FailureEvidenceOf(i64);

impl serde::Serialize for FailureEvidenceOf {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        json!({"type": "NodeDown", "since": at(-self.0).to_string()}).serialize(serializer)
    }
}

fn restarting() -> NodeStory {
    node("a").has(new().with("/status/containerStatuses", containers(None, 9)))
}

#[test]
fn more_failing_nodes_than_may_fail_stop_the_rollout() {
    let plan = |max: Value| judged(json!({"maxRestarts": 0, "maxFailures": max}), restarting()).plan();
    let failed = plan(json!(0));
    assert_eq!((marks(&failed), deletes(&failed)), (vec!["failed=TooManyFailures".to_owned()], vec![]));
    assert_eq!(failed.report.rollout.unwrap().stage, stopped("TooManyFailures"));
    let tolerated = plan(json!(1));
    assert_eq!((marks(&tolerated), deletes(&tolerated)), (vec!["wave=1".to_owned()], vec!["c".to_owned()]));
    assert_eq!(deletes(&plan(json!("34%"))), ["c"], "one of three nodes");
    assert_eq!(deletes(&plan(json!("33%"))), Vec::<String>::new(), "rounded down");
}

/// The variant can't be built outside the crate.
fn stopped(reason: &str) -> RolloutStage {
    let stage = |failed: &str| {
        let fleet = steered(json!({"onFailure": {}})).node(node("a").has(old()));
        let failed = mark(failed);
        revisions(fleet, revision("old", 1), &[("failed", &failed)]).plan().report.rollout.unwrap().stage
    };
    stage(reason)
}

#[test]
fn a_failed_mark_stops_until_a_person_removes_it() {
    let failed = mark("TooManyFailures");
    let fleet = judged(json!({}), node("a").has(new()));
    let stopped = revisions(fleet.clone(), revision("old", 1), &[("failed", &failed)]).plan();
    assert_eq!((deletes(&stopped), marks(&stopped)), (vec![], vec![]));
    assert_eq!(deletes(&fleet.plan()), ["c"]);
}

#[test]
fn without_a_rule_a_failed_mark_stops_nothing() {
    let fleet = steered(json!({})).node(node("a").has(old()));
    let plan = revisions(fleet, revision("old", 1), &[("failed", &mark("TooManyFailures"))]).plan();
    assert_eq!(deletes(&plan), ["a"]);
}

#[test]
fn a_failed_version_is_rolled_back_to_the_stable_revision() {
    let rule = json!({"maxRestarts": 0, "action": "RollBack"});
    let plan = judged(rule, restarting()).node(node("d")).plan();
    assert_eq!(marks(&plan), ["failed=TooManyFailures"]);
    assert_eq!(deletes(&plan), ["a", "b"], "both have the new version");
    assert_eq!(creates(&plan), [("d".to_owned(), "old".to_owned())]);
}

#[test]
fn the_way_back_keeps_the_budget_and_ignores_a_pause() {
    let fleet =
        given(rolling(1)).policy(json!({"rollout": {"paused": true, "onFailure": {"action": "RollBack"}}}));
    let fleet = revisions(fleet, revision("old", 1), &[("failed", &mark("TooManyFailures"))]);
    let plan = fleet.nodes(["a", "b"], new()).plan();
    assert_eq!((deletes(&plan), marks(&plan)), (vec!["a".to_owned()], vec!["started-".to_owned()]));
}

#[test]
fn without_a_stable_revision_a_failed_version_is_stopped_and_a_warning_says_so() {
    let rule = json!({"maxRestarts": 0, "action": "RollBack"});
    let stable = marked("old", 1, &[("failed", &format!("1 {} TooManyFailures", at(-99)))]);
    let plan = revisions(judged(rule, restarting()), stable, &[]).plan();
    assert_eq!(deletes(&plan), Vec::<String>::new(), "the only old revision has failed itself");
    assert!(plan.warnings.contains(&Warning::NothingToRollBackTo), "{:?}", plan.warnings);
}

#[test]
fn a_revision_that_this_plan_creates_is_not_judged() {
    let rule = json!({"rollout": {"onFailure": {}}});
    let fleet =
        given(rolling(1)).policy(rule).generation(7).with("/daemonSet/spec/template", template("newer"));
    let plan = fleet.node(node("a").has(new().generation("7").failed())).plan();
    assert_eq!(*plan.report.rollout.unwrap().failing, []);
}

/// Node a is released and lags; the rollout has started ten minutes ago.
fn lagging(deadline: i64, pod: PodStory) -> Given {
    steered(json!({"onFailure": {"progressDeadlineSeconds": deadline}})).node(node("a").has(pod))
}

#[test]
fn a_rollout_without_progress_fails_at_its_deadline() {
    let late = lagging(600, old()).plan();
    assert_eq!((marks(&late), deletes(&late)), (vec!["failed=ProgressDeadlineExceeded".to_owned()], vec![]));
    let early = lagging(601, old()).plan();
    assert_eq!((marks(&early), requeue(&early)), (vec![], Some((1, "ProgressDeadline".to_owned()))));
    assert_eq!(deletes(&early), ["a"]);
}

#[test]
fn new_pods_ready_pods_and_open_waves_are_progress() {
    assert_eq!(marks(&lagging(300, new().not_ready().created_ago(299)).plan()), Vec::<String>::new());
    assert_eq!(
        marks(&lagging(300, new().not_ready().created_ago(300)).plan()),
        ["failed=ProgressDeadlineExceeded"]
    );
    let other_ready = |ago| lagging(300, old()).node(node("b").has(new().ready_for(ago))).plan();
    assert_eq!(marks(&other_ready(299)), Vec::<String>::new());
    assert_eq!(marks(&other_ready(300)), ["failed=ProgressDeadlineExceeded"]);
    let waves = json!({"waves": [{"upTo": 1}], "onFailure": {"progressDeadlineSeconds": 300}});
    let opened = |ago: i64| {
        let fleet = steered(waves.clone()).node(node("a").has(old()));
        let wave = format!("2 {} 0", at(-ago));
        marks(&revisions(fleet, revision("old", 1), &[("wave", &wave)]).plan())
    };
    assert_eq!((opened(299), opened(300)), (vec![], vec!["failed=ProgressDeadlineExceeded".to_owned()]));
    assert_eq!(marks(&steered(waves).node(node("a").has(old())).plan()), ["wave=0"], "it opens only now");
}

#[test]
fn the_deadline_is_not_judged_while_paused_or_under_on_delete_or_where_nothing_is_waited_for() {
    let rule = json!({"progressDeadlineSeconds": 60});
    let paused = steered(json!({"paused": true, "onFailure": rule})).node(node("a").has(old()));
    assert_eq!(marks(&paused.plan()), ["started-"]);
    let by_hand = lagging(60, old()).with("/daemonSet/spec/updateStrategy", on_delete());
    assert_eq!(marks(&by_hand.plan()), Vec::<String>::new());
    assert_eq!(marks(&lagging(60, new()).plan()), ["completed="]);
    let held = steered(json!({"waves": [{"upTo": 1}], "onFailure": rule}));
    let held = revisions(
        held.node(node("a").has(new())).node(node("b").has(old())),
        revision("old", 1),
        &[("wave", &mark("0"))],
    );
    assert_eq!(marks(&held.plan()), Vec::<String>::new(), "a partition has arrived");
    let down = lagging(60, new()).node(node("b").ready("False", Some(at(-900))).has(old().not_ready()));
    assert_eq!(marks(&down.plan()), Vec::<String>::new(), "b is out of reach");
}

#[test]
fn a_wake_up_is_asked_for_when_a_pod_will_have_failed() {
    let plan =
        judged(json!({"availableWithinSeconds": 45}), node("a").has(new().not_ready().created_ago(40)))
            .plan();
    assert_eq!(requeue(&plan), Some((15, "FailureDue".to_owned())), "not Ready for 30 s");
}

#[test]
fn no_pod_is_created_from_a_revision_that_has_failed() {
    let fleet = steered(json!({"paused": true})).node(node("a").has(old())).node(node("b"));
    let failed = marked(
        "bad",
        3,
        &[("failed", &format!("3 {} bad", at(-1))), ("completed", &format!("3 {}", at(-1)))],
    );
    let current = marked("new", 4, &[]);
    let plan = fleet.revisions([revision("old", 1), failed, current]).plan();
    assert_eq!(creates(&plan), [("b".to_owned(), "old".to_owned())]);
}

/// A pod has failed by its age, when the time comes for the evidence that names its container.
#[test]
fn a_plan_from_changes_has_the_evidence_that_time_brings() {
    let waits = new().pending().created_ago(40).with("/status/containerStatuses", containers(Some("x"), 0));
    let on_failure = json!({"maxFailures": 2, "availableWithinSeconds": 30, "waitingReasons": ["x"], "waitingSeconds": 60});
    let recording = judged(on_failure, node("a").has(waits)).recording();
    let uid = recording.daemon_set.metadata.uid.clone();
    let mut tracker = Tracker::new(uid, recording.policy.clone());
    let mut evidence_after = |seconds| {
        let observed = || Observed {
            daemon_set: &recording.daemon_set,
            nodes: &recording.nodes,
            pods: &recording.pods,
            revisions: &recording.revisions,
        };
        let plan = tracked(&mut tracker, observed, recording.now + SignedDuration::from_secs(seconds));
        let [failing] = &plan.unwrap().report.rollout.unwrap().failing[..] else { panic!("one node fails") };
        serde_json::to_value(&failing.evidence).unwrap()["type"].clone()
    };
    assert_eq!([0, 19, 20].map(&mut evidence_after), ["Unavailable", "Unavailable", "Waiting"]);
}

#[test]
fn a_node_that_takes_no_part_does_not_fail() {
    let restarted = || new().with("/status/containerStatuses", containers(None, 1));
    let with = |node: NodeStory, pod| evidence(json!({"maxRestarts": 0}), node.has(pod));
    assert!(with(node("a"), restarted()).is_some());
    assert_eq!(with(node("a").taint("x", "NoExecute"), restarted()), None, "no pod may stay there");
    assert!(with(node("a").taint("x", "NoSchedule"), restarted()).is_some(), "it keeps the new version");
    assert_eq!(with(node("a").taint("x", "NoSchedule"), new().failed()), None, "it has no live pod to keep");
}

/// Nothing but time shows that the new version has failed on node a: from then on node b keeps its pod.
#[test]
fn an_audit_of_changes_judges_the_new_version_again_when_time_has_passed() {
    let fleet = steered(json!({"onFailure": {"availableWithinSeconds": 60}}))
        .node(node("a").has(new().not_ready().created_ago(30)))
        .node(node("b").has(old()))
        .recording();
    let Recording { daemon_set, nodes, pods, revisions, .. } = &fleet;
    let mut tracker = Tracker::new("uid-agent", fleet.policy.clone());
    let _ = tracker.list(Observed { daemon_set, nodes, pods, revisions }, fleet.now).unwrap();
    let pod = ObjectRef::from(&pods.iter().find(|pod| pod.metadata.name == "b-1").unwrap().metadata);
    let delete = [Action::delete_pod("b".into(), pod, DeleteReason::OutdatedAvailable)];
    let mut auditor = Auditor::default();
    let mut kinds = |seconds| {
        let found = auditor.audit(&mut tracker, &delete, fleet.now + SignedDuration::from_secs(seconds));
        found.unwrap().into_iter().map(|violation| violation.kind).collect::<Vec<_>>()
    };
    assert_eq!(kinds(29), []);
    assert_eq!(kinds(30), [ViolationKind::NotReleased]);
}
