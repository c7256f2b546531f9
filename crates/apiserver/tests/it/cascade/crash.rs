//! A caller that crashes between two actions calls again and continues.

use super::world::{World, object, owner, world};
use daemonset_apiserver::cascade::Propagation;
use serde_json::json;

/// Runs to the end, but crashes once, before the action with this number.
fn crashing_before(mut world: World, number: usize) -> (World, usize) {
    let mut done = 0;
    for _ in 0..20 {
        let actions = world.actions();
        for action in &actions {
            if done == number {
                break;
            }
            world.execute(action);
            done += 1;
        }
        if done == number {
            break;
        }
        if !world.settle() && actions.is_empty() {
            break;
        }
    }
    world.run_out();
    (world, done)
}

#[test]
fn a_crash_at_any_boundary_loses_nothing() {
    for policy in [Propagation::Background, Propagation::Foreground, Propagation::Orphan] {
        let shared = object("shared", json!([owner("ours"), {"kind": "Lease", "name": "l", "uid": "other"}]));
        let start = world().pod(shared).finalizers(json!(["example.com/backup"])).deleted(policy);
        let mut expected = start.clone();
        expected.run_out();
        let mut boundaries = 0;
        for number in 0..20 {
            let (mut end, done) = crashing_before(start.clone(), number);
            end.removed.sort_unstable();
            let mut removed = expected.removed.clone();
            removed.sort_unstable();
            assert_eq!((end.names(), &end.removed), (expected.names(), &removed), "{policy:?} {number}");
            boundaries = boundaries.max(done);
        }
        assert!(boundaries >= 4, "{policy:?}: {boundaries} actions");
    }
}

#[test]
fn an_action_is_harmless_when_repeated() {
    for policy in [Propagation::Background, Propagation::Foreground, Propagation::Orphan] {
        let mut once = world().deleted(policy);
        let mut twice = once.clone();
        for _ in 0..4 {
            let actions = once.actions();
            actions.iter().for_each(|action| once.execute(action));
            // The crash came before the results of the actions were known.
            actions.iter().chain(&actions).for_each(|action| twice.execute(action));
            once.settle();
            twice.settle();
        }
        assert_eq!((once.names(), &once.removed), (twice.names(), &twice.removed), "{policy:?}");
    }
}
