//! What another controller did, told by how an object was before and is now.
//!
//! Who did it nobody can see: a pod that a person deletes looks like one that the controller does.

use super::act::Act;
use daemonset::model::{ControllerRevision, Labels, NodeName, OwnerReference, Pod, Uid};
use std::sync::Arc;

const HASH: &str = "controller-revision-hash";

/// One action of another controller.
#[derive(Debug, Clone)]
pub struct Seen {
    /// What.
    pub act: Act,
    /// To what, for people: `delete pod web-x on node-3`.
    pub told: String,
    /// The node that it happened on; none where nodes play no part.
    pub node: Option<NodeName>,
    /// The object as it was.
    pub before: Before,
}

/// An object as it was before; none where it was not there.
#[derive(Debug, Clone)]
pub enum Before {
    /// The pod of this uid.
    Pod(Uid, Option<Arc<Pod>>),
    /// The revision of this uid.
    Revision(Uid, Option<Arc<ControllerRevision>>),
}

/// Whose pod or revision it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owner {
    /// The DaemonSet's uid.
    pub uid: Uid,
    /// Its namespace and name.
    pub name: String,
}

/// What a change of a pod tells.
pub fn pod(before: Option<&Arc<Pod>>, after: Option<&Pod>) -> Vec<(Owner, Seen)> {
    match (before, after) {
        (Some(old), Some(new)) if old.metadata.uid == new.metadata.uid => pod_changed(old, new),
        (before, after) => {
            let gone = before.into_iter().flat_map(pod_gone);
            gone.chain(after.into_iter().flat_map(pod_came)).collect()
        }
    }
}

fn pod_came(new: &Pod) -> Vec<(Owner, Seen)> {
    let Some(owner) = owner(&new.metadata.namespace, &new.metadata.owner_references) else {
        return Vec::new();
    };
    let node = target(new);
    let created = Act::CreatePod(node.clone().unwrap_or_default());
    let mut seen = vec![(owner.clone(), of_pod(created, "create", new, None))];
    if new.metadata.deletion_timestamp.is_some() {
        let before = Pod {
            metadata: daemonset::model::PodMeta { deletion_timestamp: None, ..new.metadata.clone() },
            ..new.clone()
        };
        let deleted = Act::DeletePod(new.metadata.uid.clone());
        seen.push((owner, of_pod(deleted, "delete", new, Some(Arc::new(before)))));
    }
    seen
}

/// One that was terminating was deleted before.
fn pod_gone(old: &Arc<Pod>) -> Option<(Owner, Seen)> {
    let owner = owner(&old.metadata.namespace, &old.metadata.owner_references)?;
    let deleted = Act::DeletePod(old.metadata.uid.clone());
    let seen = of_pod(deleted, "delete", old, Some(old.clone()));
    old.metadata.deletion_timestamp.is_none().then_some((owner, seen))
}

fn pod_changed(old: &Arc<Pod>, new: &Pod) -> Vec<(Owner, Seen)> {
    let (was, is) = (&old.metadata, &new.metadata);
    let uid = || is.uid.clone();
    let seen = |act, verb| of_pod(act, verb, new, Some(old.clone()));
    let (loses, gets) =
        (owner(&was.namespace, &was.owner_references), owner(&is.namespace, &is.owner_references));
    let mut all = Vec::new();
    if loses != gets {
        all.extend(loses.map(|owner| (owner, seen(Act::ReleasePod(uid()), "release"))));
        all.extend(gets.map(|owner| (owner, seen(Act::AdoptPod(uid()), "adopt"))));
    } else if let Some(owner) = gets {
        if was.deletion_timestamp.is_none() && is.deletion_timestamp.is_some() {
            all.push((owner, seen(Act::DeletePod(uid()), "delete")));
        } else if differ(&was.labels, &is.labels) {
            all.push((owner, seen(Act::LabelPod(uid()), "label")));
        }
    }
    all
}

/// What a change of a revision tells.
pub fn revision(
    before: Option<&Arc<ControllerRevision>>,
    after: Option<&ControllerRevision>,
) -> Vec<(Owner, Seen)> {
    match (before, after) {
        (Some(old), Some(new)) if old.metadata.uid == new.metadata.uid => revision_changed(old, new),
        (before, after) => {
            let gone = before.and_then(|old| {
                let owner = owner(&old.metadata.namespace, &old.metadata.owner_references)?;
                let deleted = Act::DeleteRevision(old.metadata.uid.clone());
                let seen = of_revision(deleted, "delete", old, Some(old.clone()));
                old.metadata.deletion_timestamp.is_none().then_some((owner, seen))
            });
            let came = after.and_then(|new| {
                let owner = owner(&new.metadata.namespace, &new.metadata.owner_references)?;
                Some((owner, of_revision(Act::CreateRevision(new.revision), "create", new, None)))
            });
            gone.into_iter().chain(came).collect()
        }
    }
}

fn revision_changed(old: &Arc<ControllerRevision>, new: &ControllerRevision) -> Vec<(Owner, Seen)> {
    let (was, is) = (&old.metadata, &new.metadata);
    let uid = || is.uid.clone();
    let seen = |act, verb| of_revision(act, verb, new, Some(old.clone()));
    let (loses, gets) =
        (owner(&was.namespace, &was.owner_references), owner(&is.namespace, &is.owner_references));
    let mut all = Vec::new();
    if loses != gets {
        all.extend(loses.map(|owner| (owner, seen(Act::ReleaseRevision(uid()), "release"))));
        all.extend(gets.map(|owner| (owner, seen(Act::AdoptRevision(uid()), "adopt"))));
    } else if let Some(owner) = gets {
        if was.deletion_timestamp.is_none() && is.deletion_timestamp.is_some() {
            all.push((owner, seen(Act::DeleteRevision(uid()), "delete")));
        } else if old.revision != new.revision {
            all.push((owner, seen(Act::RenumberRevision(uid(), new.revision), "renumber")));
        } else if differ(&was.labels, &is.labels) {
            all.push((owner, seen(Act::LabelRevision(uid()), "label")));
        }
    }
    all
}

fn of_pod(act: Act, verb: &str, pod: &Pod, before: Option<Arc<Pod>>) -> Seen {
    let node = target(pod);
    let place = node.as_ref().map(|node| format!(" on {node}")).unwrap_or_default();
    let told = format!("{verb} pod {}{place}", pod.metadata.name);
    Seen { act, told, node, before: Before::Pod(pod.metadata.uid.clone(), before) }
}

fn of_revision(
    act: Act,
    verb: &str,
    revision: &ControllerRevision,
    before: Option<Arc<ControllerRevision>>,
) -> Seen {
    let told = format!("{verb} revision {} as #{}", revision.metadata.name, revision.revision);
    Seen { act, told, node: None, before: Before::Revision(revision.metadata.uid.clone(), before) }
}

/// The DaemonSet that is its controller.
pub fn owner(namespace: &str, references: &[OwnerReference]) -> Option<Owner> {
    let controller = references.iter().find(|owner| owner.controller == Some(true))?;
    let name = format!("{namespace}/{}", controller.name);
    (controller.kind == "DaemonSet").then(|| Owner { uid: controller.uid.clone(), name })
}

/// v1.36 `util.GetTargetNodeName`.
fn target(pod: &Pod) -> Option<NodeName> {
    match pod.spec.node_name.as_str() {
        "" => pod.spec.affinity_node.clone(),
        _ => Some(pod.spec.node_name.clone()),
    }
}

fn differ(was: &Labels, is: &Labels) -> bool {
    was.get(HASH) != is.get(HASH)
}
