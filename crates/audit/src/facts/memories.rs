//! The entries of `Memory`, read with an arithmetic apart from the planner's.

use crate::facts::in_place;
use crate::facts::named::ByUid;
use daemonset::internal::{NodeIx, Ownership, PodIx};
use daemonset::{Failure, PodView, Snapshot};
use jiff::{SignedDuration, Timestamp};
use std::collections::BTreeSet;

/// A create that was accepted, or may have been, and that the snapshot does not show.
pub(crate) struct Unseen<'s> {
    pub(crate) node: NodeIx,
    /// The hash of the pod's revision.
    pub(crate) revision: &'s str,
    pub(crate) at: Timestamp,
    /// Its answer was lost: a live pod of that revision on that node shows it.
    lost: bool,
    /// The snapshot has that pod.
    shown: bool,
}

/// Whether an action accepted at `at` is still expected to show: it has not expired, it is not so far ahead that a clock
/// must have gone back, and the list of pods is older than its version.
fn is_expected(snapshot: &Snapshot<'_>, at: Timestamp, version: Option<u64>) -> bool {
    let is_read = snapshot.pods_version().is_some_and(|read| version.is_some_and(|written| read >= written));
    !is_read && is_fresh(snapshot, at)
}

/// Whether it has not expired, and is not so far ahead that a clock must have gone back.
fn is_fresh(snapshot: &Snapshot<'_>, at: Timestamp) -> bool {
    let expiry = SignedDuration::from_secs(snapshot.spec().policy.in_flight_expiry_seconds.into());
    let age = snapshot.now().duration_since(at);
    age < expiry && -expiry <= age && at.checked_add(expiry).is_ok()
}

pub(crate) fn delete_in_flight(snapshot: &Snapshot<'_>, uid: &str) -> bool {
    let accepted = snapshot.memory().and_then(|memory| memory.deletes().get(uid));
    accepted.is_some_and(|delete| is_expected(snapshot, delete.at, delete.version))
}

/// Whether a pod was changed in its place, and the snapshot has its old form.
pub(crate) fn change_in_flight(snapshot: &Snapshot<'_>, pod: &PodView<'_>) -> bool {
    let accepted = snapshot.memory().and_then(|memory| memory.turns().in_place.get(pod.uid));
    accepted.is_some_and(|change| {
        let shown = in_place::changed_at(pod).is_some_and(|at| change.expected.changed_at <= at);
        !shown && is_expected(snapshot, change.at, change.version)
    })
}

/// When the patch of a node was accepted that the snapshot does not show.
pub(crate) fn patch_in_flight(snapshot: &Snapshot<'_>, node: &str) -> Option<Timestamp> {
    let patch = snapshot.memory()?.turns().patches.get(node)?;
    let is_read =
        snapshot.nodes_version().is_some_and(|read| patch.version.is_some_and(|written| read >= written));
    (!is_read && is_fresh(snapshot, patch.at)).then_some(patch.at)
}

/// Whether a template was restored that the snapshot does not show.
pub(crate) fn restore_in_flight(snapshot: &Snapshot<'_>) -> bool {
    let accepted = snapshot.memory().and_then(|memory| memory.restored());
    let shown = snapshot.spec().daemon_set.metadata.resource_version.parse::<u64>().ok();
    accepted.is_some_and(|accepted| {
        let is_shown = shown.is_some_and(|shown| accepted.version.is_some_and(|before| before < shown));
        !is_shown && is_fresh(snapshot, accepted.at)
    })
}

/// How many pull pods were created that the snapshot does not show.
pub(crate) fn unseen_pulls(snapshot: &Snapshot<'_>) -> u32 {
    let pulls = snapshot.memory().into_iter().flat_map(|memory| &memory.turns().pulls);
    let namespace = snapshot.spec().daemon_set.metadata.namespace.as_str();
    let expected = pulls.filter(|(_, pull)| is_expected(snapshot, pull.at, pull.version));
    let mut unseen: BTreeSet<&str> = expected.map(|(name, _)| name.as_str()).collect();
    if !unseen.is_empty() {
        let own = snapshot.pods().iter().filter(|pod| pod.namespace == namespace);
        own.for_each(|pod| _ = unseen.remove(pod.name));
    }
    unseen.len() as u32
}

pub(crate) fn pull_delete_in_flight(snapshot: &Snapshot<'_>, uid: &str) -> bool {
    let accepted = snapshot.memory().and_then(|memory| memory.turns().pull_deletes.get(uid));
    accepted.is_some_and(|delete| is_expected(snapshot, delete.at, delete.version))
}

/// Whether the create of the pull pod with this name was refused half an hour ago, or later.
pub(crate) fn is_pull_refused(snapshot: &Snapshot<'_>, name: &str) -> bool {
    let refused = snapshot.memory().and_then(|memory| memory.turns().refused_pulls.get(name));
    refused.is_some_and(|at| is_lately(snapshot, *at))
}

/// The same of the change of the pod with this uid in its place.
pub(crate) fn is_change_refused(snapshot: &Snapshot<'_>, uid: &str) -> bool {
    let refused = snapshot.memory().and_then(|memory| memory.turns().refused_in_place.get(uid));
    refused.is_some_and(|at| is_lately(snapshot, *at))
}

fn is_lately(snapshot: &Snapshot<'_>, at: Timestamp) -> bool {
    snapshot.now().duration_since(at).abs() < SignedDuration::from_mins(30)
}

/// The known uids of created pods.
pub(crate) fn created<'s>(snapshot: &'s Snapshot<'_>) -> impl Iterator<Item = &'s str> {
    let creates = snapshot.memory().into_iter().flat_map(|memory| memory.creates().values());
    creates.filter_map(|create| create.expected.uid.as_ref().map(|uid| uid.as_str()))
}

/// Creates that the snapshot does not show, by node.
pub(crate) fn unseen_creates<'s>(snapshot: &'s Snapshot<'s>, pods: &ByUid<'_, PodIx>) -> Vec<Unseen<'s>> {
    let creates = snapshot.memory().into_iter().flat_map(|memory| memory.creates());
    let expected = creates.filter(|(_, create)| is_expected(snapshot, create.at, create.version));
    let hidden = expected
        .filter(|(_, create)| create.expected.uid.as_ref().and_then(|u| pods.get(u.as_str())).is_none());
    let unseen = hidden.filter_map(|(node, create)| {
        let node = snapshot.index().node(node.as_str())?;
        Some(Unseen {
            node,
            revision: &create.expected.revision,
            at: create.at,
            lost: create.expected.uid.is_none(),
            shown: false,
        })
    });
    let mut unseen: Vec<_> = unseen.collect();
    unseen.sort_unstable_by_key(|create| create.node);
    if unseen.iter().any(|create| create.lost) {
        forget_shown(snapshot, &mut unseen);
    }
    unseen
}

/// A create whose answer was lost is shown by a live pod of its revision on its node.
fn forget_shown(snapshot: &Snapshot<'_>, unseen: &mut Vec<Unseen<'_>>) {
    let key = snapshot.spec().policy.unique_label_key.as_str();
    for (_, pod, facts) in snapshot.pods_with_facts() {
        if facts.ownership != Ownership::Controlled || pod.deleted_at.is_some() || pod.finished() {
            continue;
        }
        let Some(node) = facts.node else { continue };
        let Ok(found) = unseen.binary_search_by_key(&node, |create| create.node) else { continue };
        if let Some(create) = unseen.get_mut(found) {
            create.shown |= create.lost && pod.labels.get(key) == Some(create.revision);
        }
    }
    unseen.retain(|create| !create.shown);
}

/// The end of the back-off of a node's failed pods, if it holds them back, and the failure that their deletion counts as.
pub(crate) fn back_off(snapshot: &Snapshot<'_>, node: &str) -> (Option<Timestamp>, Failure) {
    const FORGOTTEN_AFTER: SignedDuration = SignedDuration::from_mins(30);
    const LONGEST_SECONDS: i64 = 15 * 60;
    let generation = snapshot.spec().failure_generation();
    let last = snapshot.memory().and_then(|memory| memory.all_failures().get(node)).filter(|last| {
        let age = snapshot.now().duration_since(last.at);
        last.generation == generation && age < FORGOTTEN_AFTER && -FORGOTTEN_AFTER < age
    });
    let next = |count: u32| Failure::new(generation, count.saturating_add(1));
    let Some(last) = last else { return (None, next(0)) };
    // 2^10 s is more than the longest back-off.
    let seconds = LONGEST_SECONDS.min(1 << last.count.saturating_sub(1).min(10));
    let until = last.at.checked_add(SignedDuration::from_secs(seconds)).ok();
    (until.filter(|until| snapshot.now() < *until), next(last.count))
}
