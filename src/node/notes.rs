//! What warnings tell of one node: gates that are overdue, a name that is taken, and pods that do not settle.

use crate::input::Snapshot;
use crate::node::evaluation::NodeEvaluation;
use crate::node::fleet::Fleet;
use crate::node::sync::NodeSync;
use crate::position::{NodeIx, PodIx};

/// Of one node; most have none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Notes {
    /// Its closed gates, once they are overdue.
    pub overdue: Vec<String>,
    /// The pod of another owner that has the name of its pod.
    pub name_taken: Option<String>,
    /// Its pods that have settled for a long time, by name.
    pub stuck: Vec<String>,
}

impl Notes {
    pub fn new(fleet: &Fleet<'_>, node_sync: &NodeSync, node: NodeIx, evaluation: &NodeEvaluation) -> Self {
        // Most fleets have none of these.
        let Some(rare) = &fleet.rare else { return Notes::default() };
        let taken_by = node_sync.name_taken_by(node);
        let mut stuck = Vec::new();
        if !rare.in_place.is_empty() {
            let live = fleet.pods_of(node).map(|(_, pod)| pod).filter(|pod| pod.is_live());
            let now = fleet.snapshot.now;
            let is_stuck = live.filter(|pod| fleet.in_place(pod).is_some_and(|change| change.is_stuck(now)));
            stuck = is_stuck.map(|pod| fleet.view(pod).name.to_owned()).collect();
            stuck.sort_unstable();
        }
        Notes {
            overdue: evaluation.hold.as_ref().map(|hold| hold.overdue.clone()).unwrap_or_default(),
            name_taken: taken_by.and_then(|pod| foreign(fleet.snapshot, pod)),
            stuck,
        }
    }
}

/// The name of a pod that is not the DaemonSet's: one of its own goes by itself.
pub(crate) fn foreign(snapshot: &Snapshot<'_>, pod: PodIx) -> Option<String> {
    let view = snapshot.pod(pod);
    (!snapshot.facts(pod).verdict(view).is_ours()).then(|| view.name.to_owned())
}
