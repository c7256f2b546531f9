//! Compares a memory with a snapshot: the accepted actions that the snapshot shows, and those that it does not show yet.

use super::node_failures::is_long_ago;
use super::{InFlightCreate, Memory};
use crate::action::Action;
use crate::kubernetes::hash::Hasher;
use crate::kubernetes::ownership::{ClaimVerdict, Ownership};
use crate::model::NodeName;
#[cfg(daemonset_mutants)]
use crate::mutants::{Mutant, is_active};
use crate::reconcile::claim::verdict_on_pod;
use crate::reconcile::outside::Outside;
use crate::snapshot::Snapshot;
use crate::view::PodView;
use indexmap::IndexSet;
use jiff::Timestamp;
use std::collections::BTreeSet;

impl Memory {
    /// Forgets an action whose outcome was [`Unknown`](crate::ActionOutcome::Unknown), if `stored` shows that it was not done: a
    /// create, if no live pod of its revision is on its node; a delete, if its pod is neither gone nor terminating. A
    /// failure that the delete has counted stays counted.
    ///
    /// `stored` must hold the DaemonSet's pods from storage (a list without a resource version, not a watch's cache), read
    /// after the API server has given up the call, by default after 60 s (`--request-timeout`). The action must be the last
    /// one that was recorded for its node or pod, since a later one may still be under way. Without this call, such an
    /// action stays in flight until a watch shows it or it expires.
    pub fn settle(&mut self, action: &Action, stored: &Snapshot<'_>) {
        if !self.is_in_flight(action) {
            return;
        }
        if let Action::CreatePod { node, .. } = action {
            let shown = self.shown(stored);
            self.creates.retain(|of, create| of != node || create.uid.is_some() || shown.has(of, create));
        }
        if let Action::DeletePod { pod, .. } = action {
            let is_there = |view: &PodView<'_>| view.uid == pod.uid.as_str() && view.deleted_at.is_none();
            if stored.pods.iter().any(is_there) {
                self.deletes.remove(&pod.uid);
                self.taken.retain(|_, taken| taken.uid != pod.uid);
            }
        }
    }

    /// Forgets the actions that the snapshot shows, and the entries that have expired by its `now`.
    ///
    /// A snapshot shows a create when it has the pod; for a create whose answer was lost, when a live pod of its revision is
    /// on its node. It shows a delete when the pod is gone or terminating. It shows both when its list of pods is at the
    /// version of the outcome or a later one: a pod that was created and is gone already is shown by that alone. Call it for each snapshot, before or after
    /// planning it: an entry that is never compared with the snapshot which shows it lasts until it expires.
    pub fn observe(&mut self, snapshot: &Snapshot<'_>) {
        self.observe_beside(snapshot, Outside::none());
    }

    /// As [`observe`](Self::observe), for a snapshot of some nodes.
    pub(crate) fn observe_beside(&mut self, snapshot: &Snapshot<'_>, outside: &Outside<'_>) {
        let shown = self.shown(snapshot);
        let mut not_terminating = UidSet::default();
        if !self.deletes.is_empty() {
            let pods = ours(snapshot).filter(|pod| pod.deleted_at.is_none());
            not_terminating.extend(pods.map(|pod| pod.uid));
        }
        let active = |at: Timestamp, version| snapshot.in_flight_until(at, version).is_some();
        self.creates.retain(|node, create| !shown.has(node, create) && active(create.at, create.version));
        self.deletes.retain(|uid, delete| {
            not_terminating.contains(uid.as_str()) && active(delete.at, delete.version)
        });
        self.failures.retain(|_, failures| !failures.forgotten(snapshot.now));
        self.refusals.retain(|_, at| !is_long_ago(*at, snapshot.now));
        self.rejections.retain(|_, last| !is_long_ago(last.at, snapshot.now));
        self.forget_taken(snapshot, outside);
    }

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
                let until = snapshot.in_flight_until(create.at, create.version)?;
                Some(UnseenCreate { node, revision: &create.revision, at: create.at, until })
            })
            .collect()
    }

    /// When the deletion of this pod expires, which the snapshot does not show.
    pub(crate) fn deleting_until(&self, uid: &str, snapshot: &Snapshot<'_>) -> Option<Timestamp> {
        #[cfg(daemonset_mutants)]
        if is_active(Mutant::DeletesForgotten) {
            return None;
        }
        let delete = self.deletes.get(uid)?;
        snapshot.in_flight_until(delete.at, delete.version)
    }
}

impl Memory {
    fn shown<'s>(&self, snapshot: &'s Snapshot<'_>) -> Shown<'s> {
        let mut shown = Shown::default();
        if self.creates.is_empty() {
            return shown;
        }
        shown.uids.extend(ours(snapshot).filter_map(|pod| Some((pod.target?, pod.uid))));
        if self.creates.values().any(|create| create.uid.is_none()) {
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
fn ours<'s>(snapshot: &'s Snapshot<'_>) -> impl Iterator<Item = &'s PodView<'s>> {
    let pods = snapshot.pods_with_facts();
    let ours = pods.filter(|(_, pod, facts)| verdict_on_pod(pod, facts) != ClaimVerdict::Ignore);
    ours.map(|(_, pod, _)| pod)
}

type UidSet<'a> = IndexSet<&'a str, Hasher>;

/// A create that has not expired, and that the snapshot does not show.
pub(crate) struct UnseenCreate<'m> {
    pub(crate) node: &'m NodeName,
    pub(crate) revision: &'m str,
    pub(crate) at: Timestamp,
    pub(crate) until: Timestamp,
}

/// The pods of a snapshot, in the form in which creates are looked up.
#[derive(Default)]
struct Shown<'s> {
    /// The node of each pod, and its uid.
    uids: IndexSet<(&'s str, &'s str), Hasher>,
    /// Node and hash of the DaemonSet's live pods, for creates whose answer was lost: in order, since people choose labels. A create is planned only for a node
    /// without a live pod of its revision, so that such a pod can only be the created one.
    live: BTreeSet<(&'s str, &'s str)>,
}

impl Shown<'_> {
    fn has(&self, node: &NodeName, create: &InFlightCreate) -> bool {
        match &create.uid {
            Some(uid) => self.uids.contains(&(node.as_str(), uid.as_str())),
            None => self.live.contains(&(node.as_str(), create.revision.as_str())),
        }
    }
}
