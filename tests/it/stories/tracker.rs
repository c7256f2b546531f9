//! Plans from changes: the lists that they need, and the order of their candidates.

use super::reconciler::lines;
use crate::support::{
    Given, NodeStory, PodStory, at, given, new, node, old, pod, revision, rolling, surging, template, tracked,
};
use daemonset::model::{self, ObjectRef};
use daemonset::outlook::{Outlook, RolloutState};
use daemonset::report::{NodeOutcome, ReportScope};
use daemonset::{Action, ActionOutcome, DeleteReason, Observed, Plan, Policy, Recording, RevisionView};
use daemonset_audit::ViolationKind;
use daemonset_incremental::{Auditor, Change, NeedsLists, Tracker, VerifyError, audit_kept};
use jiff::SignedDuration;
use serde_json::{Value, json};

/// The state that plans from changes has taken in a part of them when it finds that all objects must be listed.
#[test]
fn a_refused_list_leaves_no_half_changed_state() {
    let with = |pods: [Option<PodStory>; 5]| {
        let revisions = [revision("old", 1), revision("mid", 2), revision("new", 3)];
        let fleet = given(rolling(1)).policy(json!({"rollout": {"paused": true}})).revisions(revisions);
        ["a", "b", "c", "d", "e"]
            .into_iter()
            .zip(pods)
            .fold(fleet, |fleet, (name, has)| fleet.node(node(name).has_all(has)))
    };
    let mid = || Some(pod("mid"));
    let old_is_stable = with([Some(old()), Some(old()), mid(), None, None]).recording();
    let changed = Some(pod("mid").named("a-2").not_ready());
    let mid_is_stable = with([changed.clone(), Some(old()), mid(), None, None]).recording();
    let old_is_stable_again = with([changed, Some(old()), mid(), Some(old()), Some(old())]).recording();
    let refused = with([None, None, None, None, None]).with("/daemonSet/spec/minReadySeconds", json!(-1));

    let mut tracker = Tracker::new("uid-agent", old_is_stable.policy.clone());
    let mut before = &old_is_stable;
    let mut plan = |after, listed: &Recording| {
        apply_changes(&mut tracker, std::mem::replace(&mut before, after), after);
        tracked(&mut tracker, || observed(listed), after.now)
    };
    let stable = |plan: &Plan| plan.report.rollout.as_ref().unwrap().stable.clone().unwrap();
    assert_eq!(stable(&plan(&old_is_stable, &old_is_stable).unwrap()), "agent-old");
    let error = plan(&mid_is_stable, &refused.recording()).unwrap_err();
    assert!(error.to_string().contains("minReadySeconds"), "{error}");
    let plan = plan(&old_is_stable_again, &old_is_stable_again).unwrap();
    assert_eq!(stable(&plan), "agent-old");
    assert_eq!(plan.status, daemonset::plan(&old_is_stable_again.snapshot().unwrap()).status);
    assert_eq!(plan.status.unwrap().number_ready, 4, "the new pod of a is not Ready");
}

/// A tenant deletes a revision and creates another one under its name.
#[test]
fn a_revision_whose_data_can_not_be_read_is_listed_and_refused() {
    let readable = given(rolling(1)).node(node("a").has(new())).recording();
    let mut unreadable = readable.clone();
    unreadable.revisions[0].data = Value::Null;
    let mut tracker = Tracker::new("uid-agent", readable.policy.clone());
    let mut plan = |recording: &Recording| {
        let _ = tracker.apply(Change::Revision(RevisionView::from(&recording.revisions[0])));
        tracked(&mut tracker, || observed(recording), recording.now)
    };
    assert!(plan(&readable).is_ok());
    assert!(plan(&unreadable).is_err());
    assert!(plan(&readable).is_ok());
}

/// Node sync gives up the new pods of a and b for old ones that are Ready; the update deletes the old ones instead. The cap
/// must not end the look at further nodes before the one delete of node sync that stays.
#[test]
fn deletes_that_the_update_takes_back_do_not_count_for_the_cap() {
    let both = |name| node(name).has(new().named(&format!("{name}-new")).pending()).has(old());
    let fleet = given(rolling("100%")).policy(json!({"burst": 1})).node(both("a")).node(both("b"));
    let fleet = fleet.node(node("c").has(new()).has(new().named("c-2"))).recording();
    let mut tracker = Tracker::new("uid-agent", fleet.policy.clone());
    for _ in 0..2 {
        let plan = tracked(&mut tracker, || observed(&fleet), fleet.now).unwrap();
        assert_eq!(lines(&plan)[0], "DeletePod c-2 on c (ExcessPod)");
    }
}

/// The stable revision of a roll-back.
fn completed() -> Value {
    let mut stable = revision("old", 1);
    stable["metadata"]["annotations"] = json!({"rollout.daemonset/completed": format!("1 {}", at(-9000))});
    stable
}

/// The current revision, with this number, which is rolled back.
fn failed(number: i64) -> Value {
    let mut new = revision("new", number);
    new["metadata"]["annotations"] = json!({
        "rollout.daemonset/started": format!("{number} {}", at(-900)),
        "rollout.daemonset/failed": format!("{number} {} TooManyFailures", at(-600)),
    });
    new
}

/// On the way back to the stable revision, the pods of the current revision are candidates, the least number first.
#[test]
fn a_renumbered_revision_changes_the_order_of_the_way_back() {
    let fleet = |second: PodStory, revisions: Vec<Value>| {
        given(rolling(1))
            .policy(json!({"rollout": {"onFailure": {"action": "RollBack", "maxFailures": 0}}}))
            .revisions(revisions)
            .node(node("a").has(new()))
            .node(node("b").has(second))
            .node(node("c").has(old()))
            .recording()
    };
    let before = fleet(old(), vec![completed(), failed(2)]);
    let after = fleet(pod("mid").named("b-2"), vec![completed(), revision("mid", 3), failed(4)]);

    let mut tracker = Tracker::new("uid-agent", before.policy.clone());
    let deletes = |plan: &Plan| {
        let lines = lines(plan).into_iter().filter(|line| line.starts_with("DeletePod"));
        lines.collect::<Vec<_>>()
    };
    let plan = tracked(&mut tracker, || observed(&before), before.now).unwrap();
    assert_eq!(deletes(&plan), ["DeletePod a-1 on a (OutdatedAvailable)"]);
    apply_changes(&mut tracker, &before, &after);
    // The first of these plans looks at b anyway, since it has changed.
    for _ in 0..2 {
        let plan = tracked(&mut tracker, || observed(&after), after.now).unwrap();
        assert_eq!(deletes(&plan), ["DeletePod b-2 on b (OutdatedAvailable)"]);
    }
}

/// Pods with a hash that several revisions share are those of the stable revision, as long as the stable revision shares it.
#[test]
fn another_hash_of_the_stable_revision_takes_pods_from_it_or_gives_them_to_it() {
    let fleet = |label: &str| {
        let mut stable = completed();
        stable["metadata"]["labels"]["controller-revision-hash"] = json!(label);
        let mut mid = revision("mid", 2);
        mid["metadata"]["labels"]["controller-revision-hash"] = json!("shared");
        given(rolling(1))
            .policy(json!({"rollout": {"onFailure": {"action": "RollBack", "maxFailures": 0}}}))
            .revisions([stable, mid, failed(3)])
            .nodes(["a", "b"], pod("shared"))
            .recording()
    };
    let deletes = |plan: &Plan| plan.actions.iter().filter(|action| action.kind() == "DeletePod").count();
    for (before, after, expected) in [("shared", "alone", [0, 1]), ("alone", "shared", [1, 0])] {
        let [before, after] = [before, after].map(fleet);
        let mut tracker = Tracker::new("uid-agent", before.policy.clone());
        let plan = tracked(&mut tracker, || observed(&before), before.now).unwrap();
        assert_eq!(deletes(&plan), expected[0], "{plan:#?}");
        apply_changes(&mut tracker, &before, &after);
        let plan = tracked(&mut tracker, || observed(&after), after.now).unwrap();
        assert_eq!(deletes(&plan), expected[1], "{plan:#?}");
    }
}

/// The collision count is a part of the hash of a new revision: a pod that carries that hash already is up to date.
#[test]
fn another_collision_count_changes_the_meaning_of_a_hash() {
    let fleet = |collisions: u32, hash: &str| {
        let fleet = given(rolling(1)).revisions([]);
        // The plan looks at a anyway: it would be the next to go.
        let fleet = fleet.node(node("a").has(pod(hash))).node(node("b").has(pod(hash)));
        fleet.with("/daemonSet/status", json!({"collisionCount": collisions})).recording()
    };
    let plan = daemonset::plan(&fleet(1, "another").snapshot().unwrap());
    let hash = plan.actions.iter().find_map(|action| match action {
        Action::CreateRevision { revision, .. } => {
            revision["metadata"]["labels"]["controller-revision-hash"].as_str()
        }
        _ => None,
    });
    let [before, after] = [0, 1].map(|collisions| fleet(collisions, hash.unwrap()));
    let mut tracker = Tracker::new("uid-agent", Policy::default());
    let updated = |plan: &Plan| plan.status.as_ref().unwrap().updated_number_scheduled;
    assert_eq!(updated(&tracked(&mut tracker, || observed(&before), before.now).unwrap()), 0);
    let _ = tracker.apply(Change::DaemonSet(&after.daemon_set));
    assert_eq!(updated(&tracked(&mut tracker, || observed(&after), after.now).unwrap()), 2);
}

/// While the DaemonSet goes, no plan asks for the stable revision of its rollout: one list is enough.
#[test]
fn a_steered_daemon_set_that_is_being_deleted_is_listed_once() {
    let fleet = given(rolling(1))
        .policy(json!({"rollout": {}}))
        .with("/daemonSet/metadata/deletionTimestamp", json!(at(-10)))
        .revisions([revision("old", 1), revision("new", 2)])
        .node(node("a").has(old()))
        .node(node("b").has(new()))
        .recording();
    let mut tracker = Tracker::new("uid-agent", fleet.policy.clone());
    let mut lists = 0;
    for pod in &fleet.pods {
        let list = || {
            lists += 1;
            observed(&fleet)
        };
        let plan = tracked(&mut tracker, list, fleet.now).unwrap();
        assert_eq!(plan.actions, []);
        assert!(tracker.explain(fleet.now).is_ok());
        let _ = tracker.apply(Change::PodGone { namespace: "ns", name: &pod.metadata.name });
    }
    assert_eq!(lists, 1);
}

#[test]
fn the_same_policy_lists_nothing_again() {
    let fleet = given(rolling(1)).nodes(["a", "b"], old()).recording();
    let mut tracker = Tracker::new("uid-agent", Policy::default());
    let mut lists = 0;
    let mut listed = |tracker: &mut Tracker| {
        let list = || {
            lists += 1;
            observed(&fleet)
        };
        let plan = tracked(tracker, list, fleet.now).unwrap();
        assert_eq!(lines(&plan)[0], "DeletePod a-1 on a (OutdatedAvailable)");
        lists
    };
    assert_eq!(listed(&mut tracker), 1);
    tracker.set_policy(Policy::default());
    assert!(tracker.explain(fleet.now).is_ok());
    assert_eq!(listed(&mut tracker), 1);
    tracker.set_policy(Policy::default().burst(7));
    assert_eq!(tracker.policy().burst, 7);
    assert!(tracker.explain(fleet.now).is_err());
    assert_eq!(listed(&mut tracker), 2);
}

/// A fleet that is much smaller than it was is listed once more, so that it takes less memory.
#[test]
fn a_fleet_that_shrinks_is_listed_once() {
    let names = (0..100).map(|number| format!("node-{number:02}"));
    let mut fleet = given(rolling(1)).nodes(names, new()).recording();
    let mut tracker = Tracker::new("uid-agent", Policy::default());
    let mut lists = 0;
    loop {
        let list = || {
            lists += 1;
            observed(&fleet)
        };
        let plan = tracked(&mut tracker, list, fleet.now).unwrap();
        let whole = daemonset::plan(&fleet.snapshot().unwrap());
        assert_eq!((plan.actions, plan.status), (whole.actions, whole.status));
        let Some((node, pod)) = fleet.nodes.pop().zip(fleet.pods.pop()) else { break };
        let _ = tracker.apply(Change::PodGone { namespace: "ns", name: &pod.metadata.name });
        let _ = tracker.apply(Change::NodeGone(node.metadata.name.as_str()));
    }
    assert_eq!(lists, 2, "the first plan, and that of a quarter of the fleet");
}

/// Node a is gone and comes back, which nobody applies: the plan from changes no longer waits for its delete.
#[test]
fn a_refused_plan_leaves_the_memory_as_it_is() {
    let fleet = given(rolling(1)).node(node("a").has(old())).node(node("b").has(new())).recording();
    let mut tracker = Tracker::new("uid-agent", Policy::default());
    let plan = tracked(&mut tracker, || observed(&fleet), fleet.now).unwrap();
    for action in &plan.actions {
        let _ = tracker.record(action, &ActionOutcome::Done, fleet.now);
    }
    let before = tracker.memory().clone();
    let _ = tracked(&mut tracker, || observed(&fleet), fleet.now).unwrap();
    let _ = tracker.apply(Change::PodGone { namespace: "ns", name: "a-1" });
    let _ = tracker.apply(Change::NodeGone("a"));
    let error = tracker.verify(|_| true, || observed(&fleet), fleet.now).unwrap_err();
    assert!(matches!(error, VerifyError::Diverged { .. }), "{error}");
    assert_eq!(*tracker.memory(), before);
}

/// A thousand pods are gone, and no change says so.
#[test]
fn the_text_of_a_difference_is_short_and_its_field_whole() {
    let nodes = || (0..1_000).map(|number| format!("n{number:03}"));
    let fleet = given(rolling(1)).nodes(nodes(), new()).recording();
    let mut without = fleet.clone();
    without.pods.clear();
    let mut tracker = Tracker::new("uid-agent", Policy::default());
    let _ = tracked(&mut tracker, || observed(&fleet), fleet.now).unwrap();
    let error = tracker.verify(|_| true, || observed(&without), without.now).unwrap_err();
    let text = error.to_string();
    let begin =
        "the plan from applied changes differs from the plan of all objects: action 0: Some(UpdateStatus { ";
    assert!(text.starts_with(begin) && text.ends_with('…') && text.chars().count() < 400, "{text}");
    let VerifyError::Diverged { difference, recording, .. } = error else { panic!("{text}") };
    assert!(difference.contains(" instead of Some(CreatePod { node: NodeName(\"n000\"), "), "{difference}");
    assert_eq!((recording.nodes.len(), recording.pods.len()), (1_000, 0));
}

pub(super) fn observed(
    recording: &Recording,
) -> Observed<'_, &[model::Node], &[model::Pod], &[model::ControllerRevision]> {
    let Recording { daemon_set, nodes, pods, revisions, .. } = recording;
    Observed { daemon_set, nodes, pods, revisions }
}

/// Applies the changes of pods and revisions that lead from one recording to the other.
fn apply_changes(tracker: &mut Tracker, before: &Recording, after: &Recording) {
    let names =
        |recording: &Recording| Vec::from_iter(recording.pods.iter().map(|pod| pod.metadata.name.clone()));
    let remaining = names(after);
    for name in names(before).iter().filter(|name| !remaining.contains(name)) {
        let _ = tracker.apply(Change::PodGone { namespace: "ns", name });
    }
    after.pods.iter().for_each(|pod| {
        let _ = tracker.apply(Change::Pod(pod.into()));
    });
    after.revisions.iter().for_each(|revision| {
        let _ = tracker.apply(Change::Revision(revision.into()));
    });
}

/// A pod that a webhook protects stays in the plan: the node's verdict tells it as the plan of all objects does.
#[test]
fn a_rejected_delete_is_told_in_the_next_plan_from_changes() {
    let recording = given(rolling(1)).node(node("a").has(old())).node(node("b").has(new())).recording();
    let mut tracker = Tracker::new("uid-agent", recording.policy.clone());
    let first = tracked(&mut tracker, || observed(&recording), recording.now).unwrap();
    let ended = tracker.record(&first.actions[0], &ActionOutcome::Rejected, recording.now);
    assert!(ended.ends_plan());
    let second = tracked(&mut tracker, || observed(&recording), recording.now).unwrap();
    assert_eq!(second.report.scope, ReportScope::ChangedNodes);
    let outcome = &second.report.nodes[0].outcome;
    assert!(matches!(outcome, NodeOutcome::Delete { rejected: Some(_), .. }), "{outcome:?}");
    assert_eq!(tracker.memory().retry_at(), Some(at(1)));
}

/// The pod of node a has been Ready for a minute, and then, by a clock that goes back, for half a minute: node b must keep its pod.
#[test]
fn an_audit_of_changes_counts_again_when_the_clock_goes_back() {
    let fleet = given(rolling(1)).min_ready(60);
    let fleet =
        fleet.node(node("a").has(new().ready_for(60))).node(node("b").has(old().ready_for(600))).recording();
    let mut tracker = Tracker::new("uid-agent", fleet.policy.clone());
    let _ = tracked(&mut tracker, || observed(&fleet), fleet.now).unwrap();
    let pod = fleet.pods.iter().find(|pod| pod.spec.node_name.as_str() == "b").unwrap();
    let delete =
        [Action::delete_pod("b".into(), ObjectRef::from(&pod.metadata), DeleteReason::OutdatedAvailable)];
    let mut auditor = Auditor::default();
    assert_eq!(auditor.audit(&mut tracker, &delete, fleet.now), Ok(vec![]));
    let earlier = fleet.now - SignedDuration::from_secs(30);
    let found = auditor.audit(&mut tracker, &delete, earlier).unwrap();
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(Ok(found), audit_kept(&tracker, &delete, earlier));
}

/// Under surge as many leaving nodes keep their pods as target nodes have none. A node that the rollout has not reached leaves by no
/// toleration: it does not stand in for one that goes.
#[test]
fn an_audit_of_changes_counts_no_held_node_among_those_that_leave() {
    let leaving = |name: &str| node(name).taint("y", "NoSchedule").has(old().tolerates("y"));
    // Without a stable revision, so that it keeps its outdated pod.
    let mut failed = revision("old", 1);
    failed["metadata"]["annotations"] =
        json!({"rollout.daemonset/failed": format!("1 {} TooManyFailures", at(-60))});
    let fleet = given(surging(1))
        .policy(json!({"rollout": {"paused": true}}))
        .revisions([failed, revision("new", 2)])
        .node(node("t"))
        .node(leaving("a").has(new().not_ready()))
        .node(leaving("held"))
        .recording();
    let mut tracker = Tracker::new("uid-agent", fleet.policy.clone());
    let _ = tracked(&mut tracker, || observed(&fleet), fleet.now).unwrap();
    let pod = fleet.pods.iter().find(|pod| pod.metadata.name == "a-1").unwrap();
    let pod = ObjectRef::from(&pod.metadata);
    let delete = [Action::delete_pod("a".into(), pod, DeleteReason::TolerationWithdrawn)];
    let mut auditor = Auditor::default();
    let of_all = auditor.audit(&mut tracker, &delete, fleet.now).unwrap();
    let kinds: Vec<_> = of_all.iter().map(|violation| violation.kind.clone()).collect();
    assert_eq!(kinds, [ViolationKind::LeavesTooEarly { leaving: 1, unavailable: 1 }]);
    assert_eq!(auditor.audit(&mut tracker, &delete, fleet.now), Ok(of_all), "beside the others");
}

/// The former template comes back, whose revision is as old as the other one: node x has an updated pod now, which is being replaced.
#[test]
fn an_audit_of_changes_counts_again_when_pods_are_of_another_template() {
    let fleet = given(rolling(1))
        .policy(json!({"unready": "WithinBudget"}))
        .revisions([revision("old", 1), revision("new", 2)])
        .node(node("x").has(old().not_ready()))
        .node(node("y").has(new().not_ready()))
        .recording();
    let mut tracker = Tracker::new("uid-agent", fleet.policy.clone());
    let _ = tracked(&mut tracker, || observed(&fleet), fleet.now).unwrap();
    let mut auditor = Auditor::default();
    assert_eq!(auditor.audit(&mut tracker, &[], fleet.now), Ok(vec![]));
    let mut daemon_set = fleet.daemon_set.clone();
    daemon_set.spec.template = template("old");
    assert_eq!(tracker.apply(Change::DaemonSet(&daemon_set)), Ok(()));
    let pod = fleet.pods.iter().find(|pod| pod.metadata.name == "y-1").unwrap();
    let pod = ObjectRef::from(&pod.metadata);
    let delete = [Action::delete_pod("y".into(), pod, DeleteReason::OutdatedNotReady)];
    let found = auditor.audit(&mut tracker, &delete, fleet.now).unwrap();
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(matches!(found[0].kind, ViolationKind::BudgetExceeded { before: 1, .. }), "{found:?}");
    assert_eq!(Ok(found), audit_kept(&tracker, &delete, fleet.now));
}

/// A report of changed nodes alone would call each rollout complete as soon as nothing changes.
#[test]
fn a_plan_from_changes_has_no_outlook() {
    let recording = given(rolling(1)).nodes(["a", "b"], old()).recording();
    let mut tracker = Tracker::new("uid-agent", recording.policy.clone());
    let mut plan = || tracked(&mut tracker, || observed(&recording), recording.now).unwrap();
    let outlook = |plan: &Plan| Outlook::new(plan, recording.now, SignedDuration::from_secs(600));
    assert!(outlook(&plan()).is_ok(), "the first plan lists all nodes");
    let second = plan();
    assert_eq!(second.report.scope, ReportScope::ChangedNodes);
    assert!(outlook(&second).is_err());
    let explained = tracker.explain(recording.now).unwrap();
    assert!(matches!(outlook(&explained).unwrap().state, RolloutState::Moving { .. }));
}

/// A plan from too little would be a wrong one.
#[test]
fn a_tracker_says_when_the_changes_do_not_suffice() {
    let recording = given(rolling(1)).node(node("a").has(old())).recording();
    let mut tracker = Tracker::new("uid-agent", recording.policy.clone());
    let nameless = model::Node::default();
    let nameless = || Change::Node((&nameless).into());
    assert_eq!(tracker.plan(recording.now).unwrap_err(), NeedsLists::NotListed);
    assert_eq!(tracker.apply(nameless()), Err(NeedsLists::NotListed));
    let list = |tracker: &mut Tracker| tracker.list(observed(&recording), recording.now).map(|_| ()).unwrap();
    list(&mut tracker);
    assert_eq!(tracker.apply(Change::Node((&recording.nodes[0]).into())), Ok(()));
    assert_eq!(tracker.apply(nameless()), Err(NeedsLists::NotKept));
    for _ in 0..2 {
        assert_eq!(
            tracker.plan(recording.now).unwrap_err(),
            NeedsLists::NotKept,
            "a swallowed error comes again"
        );
    }
    assert_eq!(tracker.explain(recording.now).unwrap_err(), NeedsLists::NotKept);
    list(&mut tracker);
    assert!(tracker.plan(recording.now).is_ok());
    tracker.forget_objects();
    let verified = tracker.verify(|_| true, || observed(&recording), recording.now).unwrap_err();
    assert_eq!(verified, VerifyError::NeedsLists(NeedsLists::NotListed));
}

/// `[surge-leaves-last]`, from changes: the order in which nodes go, and whose turn it is, change with the nodes.
#[test]
fn nodes_leave_last_in_the_order_of_a_plan_of_all_objects() {
    let leaving = |name: &str| node(name).taint("y", "NoSchedule").has(old().tolerates("y"));
    let drained = |name: &str| leaving(name).condition("Drained", "True", None);
    let fleet = |nodes: Vec<NodeStory>| {
        let fleet = given(surging(1)).policy(json!({"lifecycle": "Respect"})).node(node("t"));
        nodes.into_iter().fold(fleet, Given::node).recording()
    };
    let begun = fleet(vec![drained("a"), leaving("b"), leaving("c")]);
    let mut tracker = Tracker::new("uid-agent", begun.policy.clone());
    let mut deletes = |fleet: &Recording| {
        fleet.nodes.iter().for_each(|node| tracker.apply(Change::Node(node.into())).unwrap_or_default());
        apply_changes(&mut tracker, fleet, fleet);
        let plan = tracked(&mut tracker, || observed(fleet), fleet.now).unwrap();
        assert_eq!(json!(plan.actions), json!(daemonset::plan(&fleet.snapshot().unwrap()).actions));
        lines(&plan).into_iter().filter(|line| line.starts_with("DeletePod")).collect::<Vec<_>>()
    };
    let [a, b, c] = ["a", "b", "c"].map(|node| format!("DeletePod {node}-1 on {node} (TolerationWithdrawn)"));
    for _ in 0..2 {
        assert_eq!(deletes(&begun), [b.clone(), c.clone()], "a node that the policy lets alone goes last");
    }
    let done = fleet(vec![leaving("a"), leaving("b"), drained("c")]);
    for _ in 0..2 {
        assert_eq!(deletes(&done), [a.clone(), b.clone()]);
    }
    // Without its taint c is a target node, and no longer one of those that leave.
    let stays = node("c").has(old().tolerates("y"));
    let two = fleet(vec![leaving("a"), leaving("b"), stays]);
    for _ in 0..2 {
        assert_eq!(deletes(&two), std::slice::from_ref(&a));
    }
}

/// A plan looks at one node more than it may act on: these are not the nodes whose deletes come last.
#[test]
fn nodes_that_the_policy_lets_alone_do_not_hide_the_deletes_of_others() {
    let two = |name: &str| node(name).has(new()).has(new().named(&format!("{name}-2")));
    let drained = |name: &str| two(name).condition("Drained", "True", None);
    let policy = json!({"burst": 1, "lifecycle": "Respect"});
    let fleet = given(rolling(1)).policy(policy).node(drained("a")).node(drained("b")).node(two("c"));
    let fleet = fleet.recording();
    let mut tracker = Tracker::new("uid-agent", fleet.policy.clone());
    for _ in 0..2 {
        let plan = tracked(&mut tracker, || observed(&fleet), fleet.now).unwrap();
        assert_eq!(lines(&plan)[0], "DeletePod c-2 on c (ExcessPod)");
    }
}
