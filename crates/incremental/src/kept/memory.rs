//! The parts of a memory that are about some nodes and pods.

use daemonset::internal::FAILURES_FORGOTTEN_AFTER;
use daemonset::model::{NodeName, Uid};
use daemonset::{Action, Memory};
use jiff::{SignedDuration, Timestamp};
use std::borrow::Borrow;
use std::collections::BTreeMap;

/// The nodes that a memory has entries of, but for deletes; some more than once.
pub(super) fn nodes_with_entries(memory: &Memory) -> impl Iterator<Item = &NodeName> {
    let by_action = memory.creates.keys().chain(memory.taken.keys());
    by_action.chain(memory.failures.keys()).chain(memory.refusals.keys()).chain(memory.rejections.keys())
}

/// Whether it has entries of a node, but for deletes.
pub(super) fn has_entries_of(memory: &Memory, node: &str) -> bool {
    memory.creates.contains_key(node)
        || memory.taken.contains_key(node)
        || memory.failures.contains_key(node)
        || memory.refusals.contains_key(node)
        || memory.rejections.contains_key(node)
}

/// The entries that the outcome of an action changes.
pub(crate) fn about(memory: &Memory, action: &Action) -> Memory {
    match action {
        Action::CreatePod { node, .. } => part(memory, [node.as_str()].into_iter(), std::iter::empty()),
        Action::DeletePod { node, pod, .. } => {
            part(memory, [node.as_str()].into_iter(), [pod.uid.as_str()].into_iter())
        }
        _ => Memory::default(),
    }
}

/// The part about these nodes and these pods: their names and uids.
pub(super) fn part<'n>(
    memory: &Memory,
    nodes: impl Iterator<Item = &'n str> + Clone,
    pods: impl Iterator<Item = &'n str>,
) -> Memory {
    let mut part = Memory::default();
    part.uid.clone_from(&memory.uid);
    part.creates = with_keys(&memory.creates, nodes.clone());
    part.deletes = with_keys(&memory.deletes, pods);
    part.failures = with_keys(&memory.failures, nodes.clone());
    part.refusals = with_keys(&memory.refusals, nodes.clone());
    part.taken = with_keys(&memory.taken, nodes.clone());
    part.rejections = with_keys(&memory.rejections, nodes);
    // These are about the DaemonSet itself: each part has them.
    part.restores.clone_from(&memory.restores);
    part
}

/// Forgets the entries that a part of the memory had and has forgotten.
pub(super) fn forget(memory: &mut Memory, before: &Memory, after: &Memory) {
    remove_lost(&mut memory.creates, &before.creates, &after.creates);
    remove_lost(&mut memory.deletes, &before.deletes, &after.deletes);
    remove_lost(&mut memory.failures, &before.failures, &after.failures);
    remove_lost(&mut memory.refusals, &before.refusals, &after.refusals);
    remove_lost(&mut memory.taken, &before.taken, &after.taken);
    remove_lost(&mut memory.rejections, &before.rejections, &after.rejections);
    memory.restores.clone_from(&after.restores);
}

/// Adds the deletes of these pods that another memory has.
pub(super) fn add_deletes<'p>(memory: &mut Memory, other: &Memory, pods: impl IntoIterator<Item = &'p Uid>) {
    let deletes = pods.into_iter().filter_map(|uid| other.deletes.get_key_value(uid));
    memory.deletes.extend(deletes.map(|(uid, delete)| (uid.clone(), *delete)));
}

/// The first instant after `now` at which an entry of a node or of one of its pods ends, or its effect. Actions in flight
/// and taken nodes expire after these times.
pub(super) fn next_end<'p>(
    memory: &Memory,
    node: &str,
    pods: impl Iterator<Item = &'p str>,
    (expiry, taken_expiry): (SignedDuration, SignedDuration),
    now: Timestamp,
) -> Option<Timestamp> {
    let after = |at: Timestamp, time: SignedDuration| at.checked_add(time).ok();
    let deletes = pods.filter_map(|uid| memory.deletes.get(uid));
    let failures = memory.failures.get(node);
    let ends = [
        memory.creates.get(node).and_then(|create| after(create.at, expiry)),
        failures.and_then(|failures| after(failures.at, FAILURES_FORGOTTEN_AFTER)),
        failures.and_then(|failures| failures.back_off_ends()),
        memory.refusals.get(node).and_then(|at| after(*at, FAILURES_FORGOTTEN_AFTER)),
        memory.rejections.get(node).and_then(|last| after(last.at, FAILURES_FORGOTTEN_AFTER)),
        memory.taken.get(node).and_then(|taken| after(taken.at, taken_expiry)),
    ];
    let deletes = deletes.filter_map(|delete| after(delete.at, expiry));
    ends.into_iter().flatten().chain(deletes).filter(|at| now < *at).min()
}

/// The entries with these keys.
fn with_keys<'k, K, V>(entries: &BTreeMap<K, V>, keys: impl Iterator<Item = &'k str>) -> BTreeMap<K, V>
where
    K: Ord + Clone + Borrow<str>,
    V: Clone,
{
    if entries.is_empty() {
        return BTreeMap::new();
    }
    keys.filter_map(|key| entries.get_key_value(key))
        .map(|(key, entry)| (key.clone(), entry.clone()))
        .collect()
}

/// Removes the entries that `before` has and `after` lacks.
fn remove_lost<K: Ord, V>(entries: &mut BTreeMap<K, V>, before: &BTreeMap<K, V>, after: &BTreeMap<K, V>) {
    for key in before.keys().filter(|key| !after.contains_key(*key)) {
        entries.remove(key);
    }
}
