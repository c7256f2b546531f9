//! Whoever crashes between two actions asks again and goes on.

use super::world::{World, object, owner, world};
use daemonset_apiserver::cascade::Propagation;
use serde_json::json;

/// Runs to the end, but stops before the action of this number, once, as if the rest of its list had been lost.
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
fn an_action_done_twice_does_no_harm() {
    for policy in [Propagation::Background, Propagation::Foreground, Propagation::Orphan] {
        let mut once = world().deleted(policy);
        let mut twice = once.clone();
        for _ in 0..4 {
            let actions = once.actions();
            actions.iter().for_each(|action| once.execute(action));
            // It crashed before it knew that they were done.
            actions.iter().chain(&actions).for_each(|action| twice.execute(action));
            once.settle();
            twice.settle();
        }
        assert_eq!((once.names(), &once.removed), (twice.names(), &twice.removed), "{policy:?}");
    }
}
