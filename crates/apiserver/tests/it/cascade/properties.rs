//! Properties of every namespace, and a proof that the generated namespaces reach every action.

use super::world::{World, line, owner, with, world};
use daemonset_apiserver::cascade::{CascadeAction, Propagation};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};
use std::collections::BTreeSet;

fn owners() -> impl Strategy<Value = Value> {
    let mut loose = owner("ours");
    loose["blockOwnerDeletion"] = json!(false);
    let other = json!({"kind": "Lease", "name": "web", "uid": "other"});
    prop_oneof![
        5 => Just(json!([owner("ours")])),
        2 => Just(json!([loose])),
        1 => Just(json!([owner("before")])),
        1 => Just(json!([owner("ours"), other])),
        1 => Just(json!([other])),
        1 => Just(json!([])),
        1 => Just(json!(null)),
    ]
}

fn finalizers() -> impl Strategy<Value = Value> {
    const CHOICES: [&str; 4] = ["orphan", "foregroundDeletion", "a/b", "a/c"];
    prop_oneof![3 => Just(json!([])), 1 => Just(json!(null)),
        2 => proptest::sample::subsequence(&CHOICES[..], 0..3).prop_map(|f| json!(f))]
}

fn objects(prefix: &'static str) -> impl Strategy<Value = Vec<Value>> {
    let one = (owners(), finalizers(), proptest::bool::weighted(0.2), proptest::bool::weighted(0.1));
    proptest::collection::vec(one, 0..6).prop_map(move |all| {
        let object =
            |(index, (owners, finalizers, deleted, elsewhere)): (usize, (Value, Value, bool, bool))| {
                let object = super::world::object(&format!("{prefix}{index}"), owners);
                let object = with(object, "finalizers", finalizers);
                let at = if deleted { json!("2026-01-01T11:00:00Z") } else { json!(null) };
                let namespace = if elsewhere { "elsewhere" } else { "ns" };
                with(with(object, "deletionTimestamp", at), "namespace", json!(namespace))
            };
        all.into_iter().enumerate().map(object).collect()
    })
}

fn policies() -> impl Strategy<Value = Propagation> {
    prop_oneof![Just(Propagation::Background), Just(Propagation::Foreground), Just(Propagation::Orphan)]
}

fn namespaces() -> impl Strategy<Value = (World, Propagation)> {
    (objects("pod-"), objects("revision-"), finalizers(), policies()).prop_map(
        |(pods, revisions, finalizers, policy)| {
            let world = world().only(pods, revisions).finalizers(finalizers).deleted(policy);
            (world, policy)
        },
    )
}

fn is_deleted(object: &Value) -> bool {
    object["metadata"]["deletionTimestamp"].is_string()
}

/// Owned by the DaemonSet, in its namespace.
fn is_ours(object: &Value) -> bool {
    object["metadata"]["namespace"] == "ns" && uids(object).contains("ours")
}

fn uids(object: &Value) -> BTreeSet<&str> {
    let owners = object["metadata"]["ownerReferences"].as_array().into_iter().flatten();
    owners.filter_map(|owner| owner["uid"].as_str()).collect()
}

fn uid(object: &Value) -> String {
    object["metadata"]["uid"].as_str().unwrap().to_owned()
}

/// The uids of the objects that must be left in the end: all that were not being deleted, without the DaemonSet's own.
fn survivors(world: &World, policy: Propagation) -> BTreeSet<String> {
    let all = world.pods.iter().chain(&world.revisions).filter(|object| !is_deleted(object));
    let stays = |object: &&Value| policy == Propagation::Orphan || !is_ours(object) || uids(object).len() > 1;
    all.filter(stays).map(uid).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn it_ends_and_removes_exactly_the_dependents((mut world, policy) in namespaces()) {
        let survivors = survivors(&world, policy);
        world.run_out();
        prop_assert!(world.daemon_set.is_none());
        let left = world.pods.iter().chain(&world.revisions);
        prop_assert_eq!(left.clone().map(uid).collect::<BTreeSet<_>>(), survivors);
        prop_assert!(left.clone().all(|object| !is_ours(object)), "no object names it as owner any more");
    }

    #[test]
    fn every_action_is_about_a_dependent((mut world, policy) in namespaces()) {
        let mut moved = true;
        while moved {
            let actions = world.actions();
            for action in &actions {
                let object = action.object();
                let all: Vec<Value> = world.pods.iter().chain(&world.revisions).chain(&world.daemon_set).cloned().collect();
                let target = all.iter().find(|o| o["metadata"]["uid"] == object.uid.as_str()).unwrap();
                match action {
                    CascadeAction::DeletePod { .. } | CascadeAction::DeleteRevision { .. } => {
                        prop_assert_ne!(policy, Propagation::Orphan);
                        prop_assert!(is_ours(target) && uids(target).len() == 1 && !is_deleted(target));
                    }
                    CascadeAction::ReleasePod { .. } | CascadeAction::ReleaseRevision { .. } => {
                        prop_assert!(is_ours(target));
                        prop_assert!(policy == Propagation::Orphan || uids(target).len() > 1);
                    }
                    CascadeAction::RemoveFinalizer { .. } | CascadeAction::DeleteDaemonSet { .. } => {
                        let held = |o: &&Value| {
                            is_ours(o) && (policy == Propagation::Orphan
                                || o["metadata"]["ownerReferences"][0]["blockOwnerDeletion"] == true)
                        };
                        prop_assert_eq!(all.iter().find(held), None, "the owner is removed last");
                    }
                }
                world.execute(action);
            }
            moved = world.settle() || !actions.is_empty();
        }
    }

    #[test]
    fn the_order_of_the_lists_does_not_matter((world, _) in namespaces()) {
        let mut other = world.clone();
        other.pods.reverse();
        other.revisions.reverse();
        prop_assert_eq!(world.actions(), other.actions());
    }
}

#[test]
fn the_namespaces_reach_every_action() {
    const EVERYTHING: [&str; 13] = [
        "delete pod Background: OwnerGone",
        "delete pod Foreground: OwnerGone",
        "delete pod Orphan: OwnerGone",
        "delete pod Background: OwnerWaits",
        "delete revision Background: OwnerGone",
        "delete revision Background: OwnerWaits",
        "release pod Orphaned",
        "release pod OtherOwner",
        "release revision Orphaned",
        "release revision OtherOwner",
        "remove foregroundDeletion: DependentsGone",
        "remove orphan: DependentsOrphaned",
        "nothing",
    ];
    let mut runner = TestRunner::deterministic();
    let mut seen = BTreeSet::new();
    for _ in 0..500 {
        let (mut world, _) = namespaces().new_tree(&mut runner).unwrap().current();
        for _ in 0..4 {
            let actions = world.actions();
            for action in &actions {
                let printed = line(action).replace(&format!(" {}", action.object().name), "");
                seen.insert(printed.replace("pod: ", "pod ").replace("revision: ", "revision "));
                world.execute(action);
            }
            if actions.is_empty() {
                seen.insert("nothing".to_owned());
            }
            world.settle();
        }
    }
    for expected in EVERYTHING {
        assert!(seen.contains(expected), "never {expected}: {seen:#?}");
    }
}
