//! Whether the pod of a node's goal would fit on the node, once the node's own pods are gone.

use crate::node::fleet::Fleet;
use crate::position::NodeIx;
use daemonset_objects::internal::quantity::{Amounts, amounts, pod_requests};
use daemonset_objects::model::Pod;

/// Resources of which a node always has some: where the caller does not give them, they suffice.
const ALWAYS_THERE: [&str; 4] = ["cpu", "ephemeral-storage", "memory", "pods"];

/// A resource of which a node has too little for the pod of its goal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Lacking {
    pub resource: String,
    /// In billionths, as the room.
    pub requested: i128,
    /// With the requests of the node's own pods, which go.
    pub room: i128,
}

/// The first such resource, by name; `None` where the pod fits, or nothing is known of the node.
pub(crate) fn lacking(fleet: &Fleet<'_>, node: NodeIx, goal: &Pod) -> Option<Lacking> {
    let free = amounts(fleet.node_view(node).free?);
    let live = fleet.pods_of(node).filter(|(_, pod)| pod.is_live());
    // The amounts below borrow from the objects.
    let live: Vec<_> = live.map(|(_, pod)| fleet.view(pod).object.model()).collect();
    let own: Vec<Amounts<'_>> = live.iter().map(|pod| pod_requests(pod)).collect();
    pod_requests(goal).into_iter().find_map(|(resource, requested)| {
        let given_back: i128 = own.iter().filter_map(|requests| requests.get(resource)).sum();
        let room = room(&free, resource)?.saturating_add(given_back);
        (requested > room).then(|| Lacking { resource: resource.to_owned(), requested, room })
    })
}

/// How much a node has of a resource; `None` where it has enough in any case.
pub fn room(of_node: &Amounts<'_>, resource: &str) -> Option<i128> {
    match of_node.get(resource) {
        Some(amount) => Some(*amount),
        None if ALWAYS_THERE.contains(&resource) => None,
        None => Some(0),
    }
}
