//! `simulate` of a cluster in the middle of a rollout: the answer says which rollout it is about.

use super::{Cluster, HOUR, causes};
use crate::plan::file;
use crate::program::run;

/// The notes beside an answer.
fn notes(name: &str, cluster: &Cluster, more: &[&str]) -> Vec<String> {
    let path = file(&format!("simulated-{name}.json"), cluster.json());
    let ran = run("simulate", &[&["-f", &path, "--bound", "5m"], more].concat(), b"");
    assert!(matches!(ran.code, Some(0 | 1)), "{}", ran.err);
    ran.err.lines().map(|line| line.strip_prefix("note: ").unwrap().to_owned()).collect()
}

#[test]
fn a_further_version_and_a_failing_pod_are_told() {
    let further = |nodes: &str| {
        format!(
            "the cluster is in the middle of a rollout, with outdated pods on {nodes}: this is the rollout of a further version, from \
             its start; --as-is goes on from where it is"
        )
    };
    let starts = "1 node can't pull an image or crashes now: the simulation lets its pod start; --pull-fails and --crash-loops make \
                  a version that does not";
    assert_eq!(notes("middle", &Cluster::updated(3, HOUR), &[]), [further("2 nodes")]);
    assert_eq!(notes("image", &causes::image(), &[]), [further("1 node"), starts.to_owned()]);
    assert_eq!(notes("as-is", &causes::image(), &["--as-is"]), [starts]);
    assert_eq!(notes("rest", &Cluster::updated(5, HOUR), &[]), [""; 0]);
}
