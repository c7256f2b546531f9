//! Each rule of a drain, one story each.

use crate::support::{at, blocked, daemons, decide, evicted, node, now, pod, verdict};
use daemonset::model::Node;
use daemonset_drain::{
    BlockReason, DaemonOwner, Drain, DrainPolicy, DrainState, LeftAlone, Pod, PodVerdict, drain,
};
use serde_json::{from_value, json, to_value};

fn default() -> DrainPolicy {
    DrainPolicy::default()
}

fn selecting(selector: serde_json::Value) -> DrainPolicy {
    DrainPolicy::try_from(json!({"podSelector": selector})).unwrap()
}

/// The drain of this pod alone leaves it alone, and is over.
#[track_caller]
fn is_left_alone(why: LeftAlone, pod: impl Fn() -> crate::support::Given, policy: &DrainPolicy) {
    assert!(matches!(verdict(pod(), policy), PodVerdict::LeftAlone { why: found, .. } if found == why));
    let decided = decide([pod()], policy);
    assert_eq!((decided.state, decided.evict, decided.look_again), (DrainState::Drained, vec![], None));
}

/// The drain of this pod alone is blocked by it, evicts nothing, and waits for no instant.
#[track_caller]
fn blocks(reason: BlockReason, pod: impl Fn() -> crate::support::Given, policy: &DrainPolicy) {
    let decided = decide([pod()], policy);
    assert_eq!(blocked(&decided), [("ns/p".to_owned(), reason)]);
    assert_eq!((decided.evict, decided.look_again), (vec![], None));
}

#[track_caller]
fn is_evicted(pod: impl Fn() -> crate::support::Given, policy: &DrainPolicy) {
    let decided = decide([pod()], policy);
    assert_eq!((decided.state.left(), evicted(&decided)), (1, vec!["ns/p".to_owned()]));
    assert_eq!(decided.look_again, Some(at(5)));
}

#[test]
fn a_node_without_pods_is_drained() {
    let decided = decide([], &default());
    assert_eq!((&decided.state, decided.look_again), (&DrainState::Drained, None));
    assert_eq!(decided.to_string(), "drained");
}

#[test]
fn the_pods_of_controllers_are_evicted_in_every_phase_with_the_policy_s_grace() {
    for phase in ["Pending", "Running", "Unknown", ""] {
        is_evicted(|| pod("ns/p").phase(phase), &default());
    }
    let decided = decide([pod("ns/p")], &default().grace_seconds(30));
    assert_eq!(decided.evict[0].grace_seconds, Some(30));
    assert_eq!(decided.evict[0].pod.uid.as_str(), "uid-of-ns/p");
    assert_eq!(decide([pod("ns/p")], &default().grace_seconds(0)).evict[0].grace_seconds, Some(0));
    assert_eq!(decide([pod("ns/p")], &default()).evict[0].grace_seconds, None);
}

#[test]
fn a_mirror_pod_is_left_alone_whatever_it_has() {
    let mirror =
        |value: &str| pod("ns/p").annotation("kubernetes.io/config.mirror", value).without_controller();
    is_left_alone(LeftAlone::Mirror, || mirror("4fd"), &default());
    is_left_alone(LeftAlone::Mirror, || mirror("").local_storage().terminating(-5), &default());
    // A static pod's own annotation is none of a mirror.
    let source = || pod("ns/p").annotation("kubernetes.io/config.source", "file");
    is_evicted(source, &default());
}

#[test]
fn a_daemon_is_left_alone_and_so_is_its_finished_pod() {
    let daemon = || pod("ns/p").owned_by("DaemonSet", "agent").local_storage();
    is_left_alone(LeftAlone::Daemon, daemon, &default());
    // kubectl drain would evict these two: they are the DaemonSet's to remove.
    is_left_alone(LeftAlone::Daemon, || daemon().phase("Succeeded"), &default());
    is_left_alone(LeftAlone::Daemon, || daemon().phase("Failed"), &default());
    is_left_alone(LeftAlone::Daemon, || daemon().terminating(-5), &default());
}

#[test]
fn the_pods_of_a_kind_that_works_like_a_daemon_set_are_daemons() {
    is_left_alone(LeftAlone::Daemon, || pod("ns/p").owned_by("AgentSet", "fleet"), &default());
    // Another one of that kind, and another kind of that name, are controllers as any other.
    is_evicted(|| pod("ns/p").owned_by("AgentSet", "agent"), &default());
    is_evicted(|| pod("ns/p").owned_by("ReplicaSet", "agent"), &default());
}

#[test]
fn the_group_and_the_uid_of_a_daemon_set_do_not_count() {
    let other_group = json!([{"apiVersion": "apps.kruise.io/v1alpha1", "kind": "DaemonSet", "name": "agent", "uid": "x", "controller": true}]);
    is_left_alone(LeftAlone::Daemon, || pod("ns/p").owners(other_group.clone()), &default());
}

/// `DaemonSet` is a kind of more than one group, and an object that is not among the DaemonSets may exist in another one.
#[test]
fn a_daemon_set_of_another_group_is_a_controller_as_any_other() {
    let owned = |version: &str| json!([{"apiVersion": version, "kind": "DaemonSet", "name": "unknown", "uid": "x", "controller": true}]);
    is_evicted(|| pod("ns/p").owners(owned("apps.kruise.io/v1alpha1")), &default());
    blocks(BlockReason::Unmanaged, || pod("ns/p").owners(owned("apps/v1")), &default());
}

#[test]
fn a_daemon_set_of_another_namespace_does_not_exist_for_a_pod() {
    let elsewhere = [DaemonOwner::daemon_set("other", "agent")];
    let of_ns = [pod("ns/p").owned_by("DaemonSet", "agent").read()];
    let decided = drain(&node(), &of_ns, &elsewhere, &default(), now());
    assert_eq!(blocked(&decided), [("ns/p".to_owned(), BlockReason::Unmanaged)]);
}

#[test]
fn only_the_controller_among_the_owners_counts() {
    let owner = |kind: &str, name: &str, controller: bool| json!({"kind": kind, "name": name, "uid": name, "controller": controller});
    // A DaemonSet that is an owner without controller, as that of a pull pod is.
    let beside = json!([owner("DaemonSet", "agent", false), owner("ReplicaSet", "web", true)]);
    is_evicted(|| pod("ns/p").owners(beside.clone()), &default());
    let alone = json!([owner("DaemonSet", "agent", false), {"kind": "ReplicaSet", "name": "web", "uid": "w", "controller": null}]);
    blocks(BlockReason::Unmanaged, || pod("ns/p").owners(alone.clone()), &default());
    // Of two controllers, which no API server stores, the first one counts.
    let two = json!([owner("ReplicaSet", "web", true), owner("DaemonSet", "agent", true)]);
    is_evicted(|| pod("ns/p").owners(two.clone()), &default());
}

#[test]
fn a_pull_pod_is_left_alone() {
    let pull = || pod("ns/p").label("pull.daemonset/owner", "uid").without_controller();
    is_left_alone(LeftAlone::PullPod, pull, &default());
    is_left_alone(LeftAlone::PullPod, || pull().phase("Failed"), &default());
    is_evicted(|| pod("ns/p").label("pull.daemonset/revision", "abc"), &default());
}

#[test]
fn a_pod_that_the_selector_does_not_match_is_left_alone() {
    let not_selected = LeftAlone::NotSelected;
    let web = selecting(json!({"matchLabels": {"app": "web"}}));
    is_left_alone(not_selected, || pod("ns/p").label("app", "db").without_controller(), &web);
    is_left_alone(not_selected, || pod("ns/p").terminating(-5), &web);
    is_evicted(|| pod("ns/p").label("app", "web"), &web);
    let not_web =
        selecting(json!({"matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["web"]}]}));
    is_left_alone(not_selected, || pod("ns/p").label("app", "web"), &not_web);
    is_evicted(|| pod("ns/p"), &not_web);
    // An empty selector is that of all pods.
    is_evicted(|| pod("ns/p"), &selecting(json!({})));
}

#[test]
fn a_pod_of_another_node_or_of_none_is_left_alone() {
    is_left_alone(LeftAlone::OtherNode, || pod("ns/p").on("b").local_storage(), &default());
    is_left_alone(LeftAlone::OtherNode, || pod("ns/p").on(""), &default());
    let nameless = Node::default();
    let decided = drain(&nameless, &[pod("ns/p").on("").read()], &daemons(), &default(), now());
    assert_eq!(decided.state, DrainState::Drained);
}

#[test]
fn a_terminating_pod_is_waited_for_until_it_is_gone() {
    for seconds in [-3600, -5, 0, 25] {
        let decided = decide([pod("ns/p").terminating(seconds)], &default());
        assert_eq!((decided.state.left(), evicted(&decided), decided.look_again), (1, vec![], None));
        assert_eq!(decided.to_string(), "draining: 1 pod left, all terminating");
    }
}

#[test]
fn a_terminating_pod_blocks_nothing_and_is_not_evicted_again() {
    let all = || pod("ns/p").terminating(-5).local_storage().without_controller();
    assert_eq!(verdict(all(), &default()).to_string(), "waits until it is gone");
    assert_eq!(decide([all()], &default()).state.left(), 1);
    let finished = decide([all().phase("Failed")], &default());
    assert_eq!((finished.state.left(), evicted(&finished)), (1, vec![]));
}

#[test]
fn a_terminating_pod_is_no_longer_waited_for_from_its_instant_on() {
    let policy = default().skip_wait_for_delete_seconds(30);
    let waits = |seconds: i64| decide([pod("ns/p").terminating(seconds)], &policy);
    assert_eq!((waits(-29).state.left(), waits(-29).look_again), (1, Some(at(1))));
    assert_eq!((waits(25).state.left(), waits(25).look_again), (1, Some(at(55))));
    // At least that long ago; kubectl drain waits a second longer.
    is_left_alone(LeftAlone::NoLongerWaitedFor, || pod("ns/p").terminating(-30), &policy);
    is_left_alone(LeftAlone::NoLongerWaitedFor, || pod("ns/p").terminating(-31).phase("Failed"), &policy);
    is_left_alone(LeftAlone::NoLongerWaitedFor, || pod("ns/p").terminating(-31).local_storage(), &policy);
}

#[test]
fn an_instant_after_the_end_of_time_never_comes() {
    let late = from_value::<Pod>(json!({
        "metadata": {"name": "p", "namespace": "ns", "deletionTimestamp": "9999-12-31T23:59:59Z"}, "spec": {"nodeName": "a"},
    }));
    let policy = default().skip_wait_for_delete_seconds(u32::MAX);
    let decided = drain(&node(), &[late.unwrap()], &[], &policy, jiff::Timestamp::MAX);
    assert_eq!((decided.state.left(), decided.look_again), (1, None));
    let decided = drain(&node(), &[pod("ns/p").read()], &[], &policy, jiff::Timestamp::MAX);
    assert_eq!(decided.look_again, Some(jiff::Timestamp::MAX));
}

#[test]
fn a_finished_pod_is_evicted_whatever_it_has() {
    for phase in ["Succeeded", "Failed"] {
        is_evicted(|| pod("ns/p").phase(phase).local_storage(), &default());
        is_evicted(|| pod("ns/p").phase(phase).without_controller(), &default());
        // Of a DaemonSet that does not exist.
        is_evicted(|| pod("ns/p").phase(phase).owned_by("DaemonSet", "gone"), &default());
    }
}

#[test]
fn local_storage_blocks_unless_its_data_may_be_deleted() {
    let storage = || pod("ns/p").local_storage();
    blocks(BlockReason::LocalStorage, storage, &default());
    blocks(BlockReason::LocalStorage, storage, &default().evict_without_controller(true));
    is_evicted(storage, &default().delete_empty_dir_data(true));
    // An emptyDir that is null is another kind of volume.
    let null: Pod = from_value(json!({
        "metadata": {"name": "p", "namespace": "ns"}, "spec": {"nodeName": "a", "volumes": [{"name": "v", "emptyDir": null}]},
    }))
    .unwrap();
    assert!(!null.has_local_storage());
}

#[test]
fn a_pod_without_controller_blocks_unless_it_may_go_for_good() {
    let bare = || pod("ns/p").without_controller();
    blocks(BlockReason::Unmanaged, bare, &default());
    blocks(BlockReason::Unmanaged, bare, &default().delete_empty_dir_data(true));
    is_evicted(bare, &default().evict_without_controller(true));
}

#[test]
fn a_pod_whose_daemon_set_does_not_exist_blocks_as_one_without_controller() {
    let orphan = || pod("ns/p").owned_by("DaemonSet", "gone");
    blocks(BlockReason::Unmanaged, orphan, &default());
    is_evicted(orphan, &default().evict_without_controller(true));
}

#[test]
fn local_storage_comes_before_the_controller() {
    let both = || pod("ns/p").local_storage().without_controller();
    blocks(BlockReason::LocalStorage, both, &default());
    blocks(BlockReason::Unmanaged, both, &default().delete_empty_dir_data(true));
    is_evicted(both, &default().delete_empty_dir_data(true).evict_without_controller(true));
}

#[test]
fn while_a_pod_blocks_none_is_evicted() {
    let decided = decide(
        [
            pod("ns/web"),
            pod("b/bare").without_controller(),
            pod("a/cache").local_storage(),
            pod("ns/done").phase("Failed"),
        ],
        &default(),
    );
    let expected = [("a/cache", BlockReason::LocalStorage), ("b/bare", BlockReason::Unmanaged)];
    assert_eq!(blocked(&decided), expected.map(|(name, reason)| (name.to_owned(), reason)));
    assert_eq!((decided.evict.len(), decided.look_again), (0, None));
    assert_eq!(
        decided.to_string(),
        "blocked by a/cache (it has an emptyDir volume, whose data would be lost), \
         b/bare (nothing would create it again: it has no controller, or its DaemonSet is gone)"
    );
}

#[test]
fn a_blocked_drain_looks_again_when_a_terminating_pod_is_no_longer_waited_for() {
    let policy = default().skip_wait_for_delete_seconds(30);
    let decided =
        decide([pod("ns/bare").without_controller(), pod("ns/web"), pod("ns/old").terminating(-28)], &policy);
    assert_eq!((blocked(&decided).len(), decided.look_again), (1, Some(at(2))));
}

#[test]
fn the_next_look_is_the_earliest_of_all_instants() {
    let policy = default().skip_wait_for_delete_seconds(30);
    let look = |waiting: [i64; 2], evicts: bool| {
        let evicted = evicts.then(|| pod("ns/web"));
        let waiting = waiting.map(|seconds| pod(&format!("ns/t{seconds}")).terminating(seconds));
        decide(waiting.into_iter().chain(evicted), &policy).look_again
    };
    assert_eq!(look([-20, -28], false), Some(at(2)));
    assert_eq!(look([-28, -20], true), Some(at(2)));
    assert_eq!(look([-20, -10], true), Some(at(5)));
    assert_eq!(look([-40, -20], false), Some(at(10)));
    // Nothing to evict and no instant: a watch of the pods says when.
    assert_eq!(decide([pod("ns/t").terminating(-28)], &default()).look_again, None);
}

#[test]
fn what_is_left_is_evicted_or_terminating() {
    let decided = decide(
        [
            pod("ns/web"),
            pod("ns/t").terminating(3),
            pod("ns/d").owned_by("DaemonSet", "agent"),
            pod("ns/x").on("b"),
        ],
        &default(),
    );
    assert_eq!((decided.state.left(), evicted(&decided)), (2, vec!["ns/web".to_owned()]));
    assert_eq!(decided.to_string(), "draining: 2 pods left, 1 of them to evict");
}

#[test]
fn the_order_is_by_namespace_then_by_name() {
    // By its text, `a-b/x` comes before `a/x`.
    let names = ["a/x", "a/y", "a-b/a", "b/a"];
    let decided = decide(names.into_iter().rev().map(pod), &default());
    assert_eq!(evicted(&decided), names);
    let decided = decide(names.into_iter().rev().map(|name| pod(name).local_storage()), &default());
    assert_eq!(blocked(&decided).into_iter().map(|(name, _)| name).collect::<Vec<_>>(), names);
}

#[test]
fn pods_of_the_same_name_in_two_namespaces_are_two_pods() {
    let decided = decide([pod("b/web"), pod("a/web")], &default());
    assert_eq!(evicted(&decided), ["a/web", "b/web"]);
    let decided = decide(
        [
            pod("other/agent-x").owned_by("DaemonSet", "agent"),
            pod("ns/agent-x").owned_by("DaemonSet", "agent"),
        ],
        &default(),
    );
    assert_eq!(blocked(&decided), [("other/agent-x".to_owned(), BlockReason::Unmanaged)]);
}

#[test]
fn bytes_of_a_server_are_read_with_their_nulls_and_unknown_fields() {
    let stored: Pod = from_value(json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {
            "name": "p", "namespace": "ns", "uid": "u", "labels": null, "annotations": null, "ownerReferences": null, "finalizers": null,
            "deletionTimestamp": null, "managedFields": [{"manager": "kubelet"}],
        },
        "spec": {"nodeName": "a", "volumes": null, "containers": null, "newField": {"x": [1]}},
        "status": null,
    }))
    .unwrap();
    let decided = drain(&node(), &[stored], &[], &default(), now());
    assert_eq!(blocked(&decided), [("ns/p".to_owned(), BlockReason::Unmanaged)]);
    let empty: Pod = from_value(json!({"metadata": null, "spec": null, "status": null})).unwrap();
    assert_eq!(empty, Pod::default());
    let owner: DaemonOwner =
        from_value(json!({"kind": null, "metadata": {"name": "agent", "namespace": "ns", "labels": null}}))
            .unwrap();
    assert_eq!(owner, DaemonOwner::daemon_set("ns", "agent"));
}

#[test]
fn a_decision_is_read_back_from_its_json() {
    let draining = decide([pod("ns/web"), pod("ns/t").terminating(3)], &default().grace_seconds(5));
    assert_eq!(
        to_value(&draining).unwrap(),
        json!({
            "state": {"type": "Draining", "left": 2},
            "evict": [{
                "type": "EvictPod", "pod": {"namespace": "ns", "name": "web", "uid": "uid-of-ns/web"},
                "graceSeconds": 5, "reason": "Drain",
            }],
            "lookAgain": "2026-01-01T12:00:05Z",
        })
    );
    let blocked = decide([pod("ns/p").local_storage()], &default());
    for decided in [draining, blocked, decide([], &default())] {
        assert_eq!(from_value::<Drain>(to_value(&decided).unwrap()).unwrap(), decided);
    }
}

#[test]
fn each_verdict_has_words() {
    let policy = default().skip_wait_for_delete_seconds(30);
    let words = |pod| verdict(pod, &policy).to_string();
    assert_eq!(words(pod("ns/p")), "is evicted");
    assert_eq!(words(pod("ns/p").terminating(-5)), "waits until it is gone, or until 2026-01-01T12:00:25Z");
    assert_eq!(words(pod("ns/p").on("b")), "left alone: it is not on the node");
    assert_eq!(
        words(pod("ns/p").terminating(-40)),
        "left alone: it has been terminating for too long to wait for it"
    );
    assert_eq!(
        words(pod("ns/p").local_storage()),
        "blocks: it has an emptyDir volume, whose data would be lost"
    );
}
