//! A decision on a dump can be recorded and replayed, and does not depend on the order of the lists.

use super::{DUMPS, Dump};
use crate::support::round_trip;
use daemonset::{Recording, plan};
use daemonset_audit::audit;

#[test]
fn replaying_a_recording_gives_the_same_plan_byte_for_byte() {
    for (name, recording) in recordings() {
        let taken = Recording::from(&recording.snapshot().unwrap());
        let line = serde_json::to_vec(&taken).unwrap();
        let read = Recording::from_json(&line).unwrap();
        assert_eq!(read, taken, "{name}");
        assert!(planned(&read) == planned(&recording), "{name}: the replayed plan differs");
        let again = Recording::from(&read.snapshot().unwrap());
        assert!(serde_json::to_vec(&again).unwrap() == line, "{name}: a recording of the replay differs");
    }
}

#[test]
fn the_order_of_pods_nodes_and_revisions_does_not_matter() {
    for (name, recording) in recordings() {
        let expected = planned(&recording);
        for (how, permuted) in permutations(&recording) {
            assert!(planned(&permuted) == expected, "{name}: the plan differs after {how}");
        }
    }
}

#[test]
fn the_plans_are_read_from_their_forms() {
    for (_, recording) in recordings() {
        round_trip(&plan(&recording.snapshot().unwrap()), &recording);
    }
}

/// Every DaemonSet of every dump.
fn recordings() -> Vec<(String, Recording)> {
    let mut recordings = Vec::new();
    for name in DUMPS {
        let dump = Dump::load(name);
        let all = dump.daemon_sets().into_iter();
        recordings.extend(all.map(|ds| (format!("{name}: {ds}"), dump.daemon_set(&ds))));
    }
    assert_eq!(recordings.len(), 11);
    recordings
}

fn planned(recording: &Recording) -> Vec<u8> {
    let snapshot = recording.snapshot().unwrap();
    let plan = plan(&snapshot);
    assert_eq!(audit(&snapshot, &plan.actions), [], "a plan breaks no rule");
    serde_json::to_vec(&plan).unwrap()
}

/// A recording with each list reversed, and with each list rotated.
fn permutations(recording: &Recording) -> Vec<(&'static str, Recording)> {
    let with = |change: fn(&mut Recording)| {
        let mut permuted = recording.clone();
        change(&mut permuted);
        permuted
    };
    vec![
        ("reversing the pods", with(|r| r.pods.reverse())),
        ("reversing the nodes", with(|r| r.nodes.reverse())),
        ("reversing the revisions", with(|r| r.revisions.reverse())),
        ("rotating the pods", with(|r| rotate(&mut r.pods))),
        ("rotating the nodes", with(|r| rotate(&mut r.nodes))),
        ("rotating the revisions", with(|r| rotate(&mut r.revisions))),
    ]
}

fn rotate<T>(list: &mut [T]) {
    list.rotate_left(list.len().div_ceil(3));
}
