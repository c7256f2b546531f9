//! The things that a simulation leaves out of the cluster that it starts from.

use crate::scene::Release;
use daemonset::report::{NodePlacement, NodeVerdict};
use daemonset::{Plan, plan};
use daemonset_view::cluster::Input;
use daemonset_view::words::{self, count};

/// For somebody who asks how a rollout goes on; `None` for a cluster at rest whose nodes run its pods.
pub fn note(input: &Input, release: Release) -> Option<String> {
    let plan = plan(&input.snapshot().ok()?);
    let outdated = number(&plan, |node| node.pods.iter().any(|pod| !pod.updated));
    let failing = number(&plan, |node| words::trouble(node, &input.notes).is_some());
    let in_the_middle = match release {
        Release::New(_) if outdated > 0 => Some(format!(
            "the cluster is in the middle of a rollout, with outdated pods on {}: this is the rollout of a further version, from its \
             start; --as-is goes on from where it is",
            count(outdated, "node")
        )),
        Release::New(_) | Release::None => None,
    };
    let not_kept = (failing > 0).then(|| {
        let its = if failing == 1 { "its pod" } else { "their pods" };
        format!(
            "{} can't pull an image or crashes now: the simulation lets {its} start; --pull-fails and --crash-loops make a version \
             that does not",
            count(failing, "node")
        )
    });
    let nowhere = (number(&plan, |_| true) == 0).then(|| {
        "no node may run its pod, by labels or taints, so that nothing is rolled out: `on NODE` tells why"
            .to_owned()
    });
    let notes: Vec<String> = nowhere.into_iter().chain(in_the_middle).chain(not_kept).collect();
    (!notes.is_empty()).then(|| notes.iter().map(|note| format!("note: {note}\n")).collect())
}

/// How many target nodes are so.
fn number(plan: &Plan, is_so: impl Fn(&NodeVerdict) -> bool) -> usize {
    plan.report.nodes.iter().filter(|node| node.placement == NodePlacement::Run && is_so(node)).count()
}
