//! Forgets the entries of a memory that a snapshot shows, and those that have expired.

use crate::action::Action;
use crate::input::Snapshot;
use crate::input::memory::Memory;
use crate::input::memory::in_flight::ours;
use crate::input::memory::node_failures::is_long_ago;
use crate::plan::rest_of_cluster::RestOfCluster;
use daemonset_objects::PodView;
use daemonset_objects::internal::Hasher;
use indexmap::IndexSet;

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
        self.settle_turns(action, stored);
        self.settle_restore(action, stored);
        // The answer of a create has its uid: such an entry is certain, whatever the list shows.
        if let Action::CreatePod { node, .. } = action {
            let shown = self.shown(stored);
            self.creates
                .retain(|of, create| of != node || create.expected.uid.is_some() || shown.has(of, create));
        }
        if let Action::DeletePod { pod, .. } = action {
            // A pull pod has no entry there.
            let is_there = |view: &PodView<'_>| view.uid == pod.uid.as_str() && view.deleted_at.is_none();
            if stored.pods.iter().any(is_there) {
                self.deletes.remove(&pod.uid);
                // The pod was not deleted, and its node not taken.
                self.deleted_by_update.retain(|_, taken| taken.uid != pod.uid);
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
        self.observe_beside(snapshot, RestOfCluster::none());
    }

    /// As [`observe`](Self::observe), for a snapshot of some nodes.
    #[doc(hidden)]
    pub fn observe_beside(&mut self, snapshot: &Snapshot<'_>, rest: &RestOfCluster<'_>) {
        let shown = self.shown(snapshot);
        // Most memories have no delete, and are spared the index of all pods.
        let mut not_terminating: IndexSet<&str, Hasher> = IndexSet::default();
        if !self.deletes.is_empty() {
            let pods = ours(snapshot).filter(|pod| pod.deleted_at.is_none());
            not_terminating.extend(pods.map(|pod| pod.uid));
        }
        self.creates.retain(|node, create| !shown.has(node, create) && create.until(snapshot).is_some());
        self.deletes
            .retain(|uid, delete| not_terminating.contains(uid.as_str()) && delete.until(snapshot).is_some());
        self.observe_turns(snapshot);
        self.observe_restores(snapshot);
        self.failures.retain(|_, failures| !failures.forgotten(snapshot.now));
        self.refusals.retain(|_, at| !is_long_ago(*at, snapshot.now));
        self.rejections.retain(|_, last| !is_long_ago(last.at, snapshot.now));
        // Last: a delete in flight hides its pod there, and one that has expired above no longer does.
        self.forget_taken(snapshot, rest);
    }
}
