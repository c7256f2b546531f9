//! The rules of pulls: how many nodes pull at a time, and the Ready pods that wait for images.

use crate::facts::memories;
use crate::facts::names;
use crate::facts::pulls::{Pull, has_image, images, of_daemon_set, rules};
use crate::fleet::context::{Context, Goal};
use crate::kind::ViolationKind;
use crate::rules::limits;
use crate::violation::Findings;
use daemonset::internal::{NodeIx, Placement};
use daemonset::kubernetes::ImageReference;
use daemonset::policy::PullPolicy;
use daemonset::{Action, CreateReason};
use std::collections::BTreeSet;

/// A Ready pod stays until the images of its successor are on the node, or nobody waits for them any more.
pub(crate) fn waits(context: &Context<'_>, node: NodeIx) -> Option<ViolationKind> {
    let rules = rules(context.snapshot)?;
    (!is_pulled(context, node, rules)).then_some(ViolationKind::NotPulled)
}

fn is_pulled(context: &Context<'_>, node: NodeIx, rules: &PullPolicy) -> bool {
    let snapshot = context.snapshot;
    let Goal { template, hash, .. } = context.goal_of(node);
    let images = images(template);
    let on_node = &snapshot.node(node).object.model().status.images;
    let is_there = |(image, policy): &(String, String)| {
        let reference = ImageReference::split(image);
        let always = policy == "Always" || (policy.is_empty() && reference.is_latest());
        on_node.iter().any(|known| known.names.contains(image)) && (!always || reference.digest.is_some())
    };
    let shows = |pull: &Pull<'_>| {
        let object = pull.pod.object.model();
        pull.is_over(snapshot, rules)
            || (0..images.len()).all(|index| has_image(&object, &format!("image-{index}")))
    };
    images.iter().all(is_there)
        || memories::is_pull_refused(snapshot, &names::of_pull(snapshot, snapshot.node(node).name, hash))
        || context.pulls.get(&(node, hash)).into_iter().flatten().any(shows)
}

/// Checks how many nodes pull at a time, that each is a target node, and that it pulls the images of a revision once.
pub(crate) fn check(context: &Context<'_>, desired: u32, findings: &mut Findings<'_>) {
    let snapshot = context.snapshot;
    let creates = context.actions.iter().enumerate().filter_map(|(index, action)| match action {
        Action::CreatePod { node, pod, reason: CreateReason::PullImages, .. } => Some((index, node, pod)),
        _ => None,
    });
    let mut creates = creates.peekable();
    if creates.peek().is_none() {
        return;
    }
    let Some(rules) = rules(snapshot) else {
        creates.for_each(|(index, ..)| {
            findings.add(index, ViolationKind::TooManyPulls { pulling: 1, limit: 0 })
        });
        return;
    };
    let limit = limits::nodes(rules.parallel, desired);
    let pulling = of_daemon_set(snapshot).filter(|pull| pull.pulls(snapshot, rules)).count();
    let mut known: BTreeSet<(Option<&str>, &str)> =
        of_daemon_set(snapshot).map(|pull| (pull.pod.target, pull.hash)).collect();
    let mut pulling = pulling as u32 + memories::unseen_pulls(snapshot);
    for (index, node, pod) in creates {
        pulling += 1;
        let place = snapshot.index().node(node.as_str());
        let is_target = place.is_some_and(|node| context.goals.placement(node) == Placement::Run);
        if !is_target {
            findings.add(index, ViolationKind::NotTargetNode);
        } else if !known.insert((Some(node.as_str()), pod.revision_hash())) {
            findings.add(index, ViolationKind::SecondCreate);
        } else if pulling > limit {
            findings.add(index, ViolationKind::TooManyPulls { pulling, limit });
        }
    }
}
