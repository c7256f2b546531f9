//! The accepted creates and deletes that a snapshot does not show yet.

use crate::input::Snapshot;
use crate::input::memory::Memory;
use crate::input::memory::accepted::{CreatedPod, InFlight};
#[cfg(daemonset_mutants)]
use crate::mutants::{Mutant, is_active};
use daemonset_objects::PodView;
use daemonset_objects::internal::{ClaimVerdict, Hasher, Ownership};
use daemonset_objects::model::NodeName;
use indexmap::IndexSet;
use jiff::Timestamp;
use std::collections::BTreeSet;

impl Memory {
    /// The in-flight creates that this snapshot does not show, by node.
    pub(crate) fn unseen_creates<'m>(&'m self, snapshot: &Snapshot<'_>) -> Vec<UnseenCreate<'m>> {
        if self.creates.is_empty() {
            return Vec::new();
        }
        #[cfg(daemonset_mutants)]
        if is_active(Mutant::CreatesForgotten) {
            return Vec::new();
        }
        let shown = self.shown(snapshot);
        let unseen = self.creates.iter().filter(|(node, create)| !shown.has(node, create));
        unseen
            .filter_map(|(node, create)| {
                let until = create.until(snapshot)?;
                Some(UnseenCreate { node, revision: &create.expected.revision, at: create.at, until })
            })
            .collect()
    }

    /// When the deletion of this pod expires, which the snapshot does not show.
    #[doc(hidden)]
    pub fn deleting_until(&self, uid: &str, snapshot: &Snapshot<'_>) -> Option<Timestamp> {
        #[cfg(daemonset_mutants)]
        if is_active(Mutant::DeletesForgotten) {
            return None;
        }
        self.deletes.get(uid)?.until(snapshot)
    }
}

impl Memory {
    /// The pods of the snapshot that creates are looked up among.
    pub(crate) fn shown<'s>(&self, snapshot: &'s Snapshot<'_>) -> ShownPods<'s> {
        let mut shown = ShownPods::default();
        if self.creates.is_empty() {
            return shown;
        }
        shown.uids.extend(ours(snapshot).filter_map(|pod| Some((pod.target?, pod.uid))));
        if self.creates.values().any(|create| create.expected.uid.is_none()) {
            let key = snapshot.spec.policy.unique_label_key.as_str();
            let controlled =
                snapshot.pods_with_facts().filter(|(_, _, facts)| facts.ownership == Ownership::Controlled);
            let live = controlled.map(|(_, pod, _)| pod).filter(|pod| self.is_live(pod, snapshot));
            shown.live.extend(live.filter_map(|pod| Some((pod.target?, pod.labels.get(key)?))));
        }
        shown
    }

    /// A pod whose deletion is in flight is not live: the created pod may be its successor.
    fn is_live(&self, pod: &PodView<'_>, snapshot: &Snapshot<'_>) -> bool {
        pod.deleted_at.is_none() && !pod.finished() && self.deleting_until(pod.uid, snapshot).is_none()
    }
}

/// The pods that the DaemonSet owns, adopts or releases: no entry is about another one.
pub(crate) fn ours<'s>(snapshot: &'s Snapshot<'_>) -> impl Iterator<Item = &'s PodView<'s>> {
    let pods = snapshot.pods_with_facts();
    let ours = pods.filter(|(_, pod, facts)| facts.verdict(pod) != ClaimVerdict::Ignore);
    ours.map(|(_, pod, _)| pod)
}

/// A create that has not expired, and that the snapshot does not show.
pub(crate) struct UnseenCreate<'m> {
    pub(crate) node: &'m NodeName,
    pub(crate) revision: &'m str,
    pub(crate) at: Timestamp,
    pub(crate) until: Timestamp,
}

/// The pods of a snapshot, in the form in which creates are looked up.
#[derive(Default)]
pub(crate) struct ShownPods<'s> {
    /// The node of each pod, and its uid.
    uids: IndexSet<(&'s str, &'s str), Hasher>,
    /// Node and hash of the DaemonSet's live pods, for creates whose answer was lost: in order, since people choose labels. A create is
    /// planned only for a node without a live pod of its revision, so that such a pod can only be the created one.
    live: BTreeSet<(&'s str, &'s str)>,
}

impl ShownPods<'_> {
    pub(crate) fn has(&self, node: &NodeName, create: &InFlight<CreatedPod>) -> bool {
        match &create.expected.uid {
            Some(uid) => self.uids.contains(&(node.as_str(), uid.as_str())),
            None => self.live.contains(&(node.as_str(), create.expected.revision.as_str())),
        }
    }
}
