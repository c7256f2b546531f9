//! Accepted actions on nodes, pull pods and pods that are changed in their place, until a snapshot shows them; and refused ones.

use crate::action::{Action, CreateReason, DeleteReason};
use crate::input::Snapshot;
use crate::input::memory::accepted::{ChangedPod, InFlight, PatchedNode, PullPodCall};
use crate::input::memory::node_failures::{is_long_ago, remembered_until};
use crate::input::memory::turns::{SINCE, changed_at, shows_change};
use crate::input::memory::{ActionOutcome, DeletedByUpdate, Memory, parsed_version};
use daemonset_objects::PodView;
use daemonset_objects::model::Uid;
use jiff::Timestamp;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

impl Memory {
    /// Keeps the outcome of an action on a node, a pull pod, or a pod in its place; `false` for each other action.
    pub(crate) fn record_of_turns(
        &mut self,
        action: &Action,
        outcome: &ActionOutcome,
        at: Timestamp,
    ) -> bool {
        let is_refused = *outcome == ActionOutcome::Rejected;
        let version = outcome.object().and_then(|object| parsed_version(&object.resource_version));
        let turns = &mut self.turns;
        match action {
            Action::PatchNode { node, .. } => {
                if !is_refused {
                    turns
                        .patches
                        .insert(node.name.as_str().into(), InFlight { expected: PatchedNode, at, version });
                }
            }
            Action::CreatePod { pod, reason: CreateReason::PullImages, .. } => {
                let name = pod.name().unwrap_or_default().to_owned();
                if is_refused {
                    turns.refused_pulls.insert(name, at);
                } else {
                    turns.pulls.insert(name, InFlight { expected: PullPodCall, at, version });
                }
            }
            Action::DeletePod { pod, reason: DeleteReason::PullDone, .. } => {
                if !is_refused {
                    turns
                        .pull_deletes
                        .insert(pod.uid.clone(), InFlight { expected: PullPodCall, at, version });
                }
            }
            Action::UpdatePodInPlace { pod, .. } if is_refused => {
                turns.refused_in_place.insert(pod.uid.clone(), at);
            }
            Action::UpdatePodInPlace { node, pod, patch, .. } => {
                // A patch that another planner made may lack it.
                let changed_at =
                    patch.pointer(SINCE).and_then(Value::as_str).and_then(changed_at).unwrap_or(at);
                let expected = ChangedPod { changed_at };
                turns.in_place.insert(pod.uid.clone(), InFlight { expected, at, version });
                let taken = || DeletedByUpdate { uid: pod.uid.clone(), at, changed_at: Some(changed_at) };
                self.deleted_by_update.entry(node.clone()).or_insert_with(taken);
            }
            _ => return false,
        }
        true
    }

    /// When the patch of a node was accepted that the snapshot does not show, and when it expires.
    pub(crate) fn patched_until(
        &self,
        node: &str,
        snapshot: &Snapshot<'_>,
    ) -> Option<(Timestamp, Timestamp)> {
        let patch = self.turns.patches.get(node)?;
        let until = patch.until(snapshot)?;
        planted::patch(Some((patch.at, until)))
    }

    /// The names of the pull pods that were created and that the snapshot does not show.
    pub(crate) fn unseen_pulls(&self, snapshot: &Snapshot<'_>) -> BTreeSet<&str> {
        let pulls = self.turns.pulls.iter();
        let expected = pulls.filter(|(_, pull)| planted::is_expected(pull.until(snapshot).is_some()));
        let mut unseen: BTreeSet<&str> = expected.map(|(name, _)| name.as_str()).collect();
        if !unseen.is_empty() {
            let namespace = snapshot.spec.daemon_set.metadata.namespace.as_str();
            let shown = snapshot.pods.iter().filter(|pod| pod.namespace == namespace);
            shown.for_each(|pod| _ = unseen.remove(pod.name));
            if let Some(elsewhere) = snapshot.pod_names {
                unseen.retain(|name| !elsewhere.has_pod(name));
            }
        }
        unseen
    }

    /// When the delete of a pull pod expires, which the snapshot does not show.
    #[doc(hidden)]
    pub fn pull_deleted_until(&self, uid: &str, snapshot: &Snapshot<'_>) -> Option<Timestamp> {
        self.turns.pull_deletes.get(uid)?.until(snapshot)
    }

    /// When the first of these creates of pull pods expires.
    pub(crate) fn pulls_created_until(
        &self,
        snapshot: &Snapshot<'_>,
        unseen: &BTreeSet<&str>,
    ) -> Option<Timestamp> {
        unseen.iter().filter_map(|name| self.turns.pulls.get(*name)?.until(snapshot)).min()
    }

    /// Forgets an action whose answer was lost and that was not done, as the stored objects show. The patch of a node is in flight until
    /// it expires: nobody reads the nodes from storage.
    pub(crate) fn settle_turns(&mut self, action: &Action, stored: &Snapshot<'_>) {
        let is_there = |uid: &Uid, is_unchanged: &dyn Fn(&PodView<'_>) -> bool| {
            let mut pods = stored.pods.iter();
            pods.any(|pod| pod.uid == uid.as_str() && pod.deleted_at.is_none() && is_unchanged(pod))
        };
        match action {
            Action::CreatePod { pod, reason: CreateReason::PullImages, .. } => {
                let name = pod.name().unwrap_or_default();
                let namespace = stored.spec.daemon_set.metadata.namespace.as_str();
                if !stored.pods.iter().any(|pod| pod.name == name && pod.namespace == namespace) {
                    self.turns.pulls.remove(name);
                }
            }
            Action::DeletePod { pod, reason: DeleteReason::PullDone, .. }
                if is_there(&pod.uid, &|_| true) =>
            {
                self.turns.pull_deletes.remove(&pod.uid);
            }
            Action::UpdatePodInPlace { pod, .. } => {
                let Some(change) = self.turns.in_place.get(&pod.uid).copied() else { return };
                if is_there(&pod.uid, &|pod| !shows_change(pod.in_place(), change.expected.changed_at)) {
                    self.turns.in_place.remove(&pod.uid);
                    self.deleted_by_update.retain(|_, taken| {
                        taken.uid != pod.uid || taken.changed_at != Some(change.expected.changed_at)
                    });
                }
            }
            _ => {}
        }
    }

    /// When the change of a pod in its place expires, which the snapshot does not show.
    #[doc(hidden)]
    pub fn changing_until(&self, pod: &PodView<'_>, snapshot: &Snapshot<'_>) -> Option<Timestamp> {
        let change = self.turns.in_place.get(pod.uid)?;
        let until = change.until(snapshot);
        planted::changing(until.filter(|_| !shows_change(pod.in_place(), change.expected.changed_at)))
    }

    /// Until when the create of the pull pod with this name counts as refused: nobody waits for its images then.
    pub(crate) fn pull_refused_until(&self, name: &str, now: Timestamp) -> Option<Timestamp> {
        remembered_until(*self.turns.refused_pulls.get(name)?, now)
    }

    /// When the create of the pull pod with this name expires, or counts as refused no longer.
    #[doc(hidden)]
    pub fn next_end_of_pull(&self, name: &str, snapshot: &Snapshot<'_>) -> Option<Timestamp> {
        let created = self.turns.pulls.get(name).and_then(|pull| pull.until(snapshot));
        created.into_iter().chain(self.pull_refused_until(name, snapshot.now)).min()
    }

    /// Until when the change of a pod in its place counts as refused: a webhook may forbid the one and not a delete.
    pub(crate) fn in_place_refused_until(&self, uid: &str, now: Timestamp) -> Option<Timestamp> {
        remembered_until(*self.turns.refused_in_place.get(uid)?, now)
    }

    /// Forgets the actions that the snapshot shows, and the entries that have expired.
    pub(crate) fn observe_turns(&mut self, snapshot: &Snapshot<'_>) {
        if self.turns.is_empty() {
            return;
        }
        let mut turns = std::mem::take(&mut self.turns);
        // The questions below are asked of a memory: of a copy, while these entries are taken out.
        let before = Memory { turns: turns.clone(), ..Memory::default() };
        let unseen = before.unseen_pulls(snapshot);
        let pods = remembered_pods(&before, snapshot);
        turns.patches.retain(|node, _| {
            snapshot.index.node(node.as_str()).is_some()
                && before.patched_until(node.as_str(), snapshot).is_some()
        });
        turns.pulls.retain(|name, _| unseen.contains(name.as_str()));
        turns.pull_deletes.retain(|uid, _| {
            let is_there = pods.get(uid.as_str()).is_some_and(|pod| pod.deleted_at.is_none());
            is_there && before.pull_deleted_until(uid.as_str(), snapshot).is_some()
        });
        turns.in_place.retain(|uid, _| {
            let pod = pods.get(uid.as_str());
            pod.is_some_and(|pod| before.changing_until(pod, snapshot).is_some())
        });
        turns.refused_pulls.retain(|_, at| !is_long_ago(*at, snapshot.now));
        turns.refused_in_place.retain(|_, at| !is_long_ago(*at, snapshot.now));
        self.turns = turns;
    }
}

/// The pods of the snapshot whose deletes or changes are remembered, by uid.
fn remembered_pods<'s>(memory: &Memory, snapshot: &'s Snapshot<'s>) -> BTreeMap<&'s str, &'s PodView<'s>> {
    let turns = &memory.turns;
    let is_remembered = |uid: &str| turns.pull_deletes.contains_key(uid) || turns.in_place.contains_key(uid);
    snapshot.pods.iter().filter(|pod| is_remembered(pod.uid)).map(|pod| (pod.uid, pod)).collect()
}

/// The deliberate errors in this file.
mod planted {
    use jiff::Timestamp;

    crate::planted::planted! {
        patch(right: Option<(Timestamp, Timestamp)>): PatchesForgotten => None;
        is_expected(right: bool): PullsForgotten => false;
        changing(right: Option<Timestamp>): ChangesForgotten => None;
    }
}
