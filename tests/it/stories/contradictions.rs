//! Lists that contradict the status, as lists of another namespace do.

use super::tracker::observed;
use crate::support::{Given, PodStory, at, given, new, node, old, pod, revision, rolling};
use daemonset::Action;
use daemonset_incremental::{Change, Tracker};
use serde_json::{Value, json};

/// A DaemonSet whose status counts so many nodes with a pod, and two nodes with these pods.
fn fleet(scheduled: i32, pods: [Option<PodStory>; 2]) -> Given {
    let given = given(rolling(1)).with(
        "/daemonSet/status",
        json!({
            "currentNumberScheduled": scheduled, "desiredNumberScheduled": scheduled, "observedGeneration": 1,
        }),
    );
    ["a", "b"].into_iter().zip(pods).fold(given, |given, (name, pod)| given.node(node(name).has_all(pod)))
}

fn warnings(given: &Given) -> Value {
    json!(given.plan().warnings)
}

#[test]
fn no_pod_where_the_status_counts_several_is_a_warning() {
    let missing = json!([{"type": "PodsMissing", "scheduled": 4}]);
    assert_eq!(warnings(&fleet(4, [None, None])), missing);
    assert_eq!(
        fleet(4, [None, None]).plan().warnings[0].to_string(),
        "the status counts 4 nodes with a pod, and in the lists none has one (all pods deleted together, or lists of another \
         namespace or cluster)"
    );
    let elsewhere = || new().with("/metadata/namespace", json!("elsewhere"));
    assert_eq!(warnings(&fleet(4, [Some(elsewhere()), Some(elsewhere())])), missing);
    let others = || new().owned_by("uid-other");
    assert_eq!(warnings(&fleet(4, [Some(others()), Some(others())])), missing);
    assert_eq!(warnings(&fleet(4, [Some(new()), None])), json!([]));
    let terminating = new().terminating(30);
    assert_eq!(warnings(&fleet(4, [Some(terminating), None])), json!([]));
}

#[test]
fn a_fleet_that_may_be_without_pods_is_none() {
    assert_eq!(warnings(&fleet(0, [None, None])), json!([]), "a fresh DaemonSet");
    assert_eq!(warnings(&fleet(1, [None, None])), json!([]), "an update takes the only pod");
    let no_target = fleet(4, [None, None]).with("/daemonSet/spec/template/spec/nodeName", json!("gone"));
    assert_eq!(warnings(&no_target), json!([{"type": "NoTargetNodes"}]));
    let written = fleet(4, [None, None]);
    let status = json!(written.plan().status);
    assert_eq!(warnings(&written.with("/daemonSet/status", status)), json!([]), "once the status is written");
}

/// An update of all pods at once deletes them, and the status is older.
#[test]
fn pods_that_the_memory_knows_of_are_not_missing() {
    let with = |memory: Value| warnings(&fleet(4, [None, None]).with("/memory", memory));
    assert_eq!(with(json!({})), json!([{"type": "PodsMissing", "scheduled": 4}]));
    assert_eq!(with(json!({"taken": {"b": {"uid": "uid-b-1", "at": at(-5)}}})), json!([]));
    let created = json!({"revision": "new", "at": at(-5)});
    assert_eq!(with(json!({"creates": {"a": created, "b": created}})), json!([]));
}

#[test]
fn no_revision_of_a_daemon_set_that_has_been_reconciled_is_a_warning() {
    let missing = json!([{"type": "RevisionsMissing", "nodes": 2}]);
    let without = |pods: [Option<PodStory>; 2]| fleet(2, pods).revisions([]);
    assert_eq!(warnings(&without([Some(old()), Some(old())])), missing);
    assert_eq!(warnings(&without([Some(old().without_hash()), Some(old())])), missing);
    assert_eq!(
        without([Some(old()), None]).plan().warnings[0].to_string(),
        "the list has no revision of this DaemonSet, though it has been reconciled before (a deleted history, or the list of \
         another namespace): the pods of 1 node count as outdated"
    );
    let mut foreign = revision("old", 1);
    foreign["metadata"]["namespace"] = json!("elsewhere");
    assert_eq!(warnings(&without([Some(old()), Some(old())]).revisions([foreign])), missing);
    let some = without([Some(old()), Some(old())]).revisions([revision("older", 1)]);
    assert_eq!(warnings(&some), json!([]), "the template has changed, and its revision is to be created");
}

#[test]
fn a_list_that_lags_behind_the_first_revision_is_none() {
    let fresh = fleet(2, [None, None]).revisions([]);
    let created = fresh.plan().actions.into_iter().find_map(|action| match action {
        Action::CreatePod { pod, .. } => Some(pod.revision_hash().to_owned()),
        _ => None,
    });
    let updated = || Some(pod(created.as_deref().unwrap()));
    let lagging = fleet(2, [updated(), updated()]).revisions([]);
    assert_eq!(warnings(&lagging), json!([]));
    let never_reconciled = given(rolling(1)).revisions([]).node(node("a").has(old()));
    assert_eq!(warnings(&never_reconciled), json!([]), "a new DaemonSet that adopts pods");
}

/// The facts of a plan from changes are sums.
#[test]
fn a_plan_from_changes_has_the_same_warnings() {
    let before = fleet(4, [Some(new()), Some(new())]).recording();
    let after = fleet(4, [None, None]).recording();
    let mut tracker = Tracker::new("uid-agent", before.policy.clone());
    let plan = tracker.list(observed(&before), before.now).unwrap();
    assert_eq!(plan.warnings, []);
    for pod in &before.pods {
        let _ = tracker.apply(Change::PodGone { namespace: "ns", name: &pod.metadata.name });
    }
    let plan = tracker.verify(|_| true, || observed(&after), after.now).unwrap();
    assert_eq!(json!(plan.warnings), json!([{"type": "PodsMissing", "scheduled": 4}]));
    for (namespace, name) in after.revisions.iter().map(|one| (&one.metadata.namespace, &one.metadata.name)) {
        let _ = tracker.apply(Change::RevisionGone { namespace, name });
    }
    for pod in &before.pods {
        let _ = tracker.apply(Change::Pod(pod.into()));
    }
    let mut outdated = before.clone();
    outdated.revisions.clear();
    let plan = tracker.verify(|_| true, || observed(&outdated), outdated.now).unwrap();
    assert_eq!(json!(plan.warnings), json!([{"type": "RevisionsMissing", "nodes": 2}]));
}
