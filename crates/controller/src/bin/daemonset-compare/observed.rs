//! The actions of another controller, derived from an object before and after its change.
//!
//! The author of a change is not visible: a pod that a person deletes looks like one that a controller deletes.

use crate::action_id::ActionId;
use daemonset::model::{ControllerRevision, Labels, NodeName, OwnerReference, Pod, PodMeta, Uid};
use std::sync::Arc;

const HASH_LABEL: &str = "controller-revision-hash";

/// One action of another controller.
#[derive(Debug, Clone)]
pub(crate) struct ObservedAction {
    /// Its identity.
    pub(crate) id: ActionId,
    /// The action in words: `delete pod web-x on node-3`.
    pub(crate) description: String,
    /// The pod's node; `None` for revisions.
    pub(crate) node: Option<NodeName>,
    /// The object before the action.
    pub(crate) previous: Previous,
}

/// An object before an action; `None` if it did not exist.
#[derive(Debug, Clone)]
pub(crate) enum Previous {
    /// The pod with this uid.
    Pod(Uid, Option<Arc<Pod>>),
    /// The revision with this uid.
    Revision(Uid, Option<Arc<ControllerRevision>>),
}

/// The DaemonSet that controls a pod or a revision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ObservedOwner {
    /// The DaemonSet's uid.
    pub(crate) uid: Uid,
    /// Its namespace and name.
    pub(crate) name: String,
}

/// The actions that explain a change of a pod.
pub(crate) fn pod_actions(
    before: Option<&Arc<Pod>>,
    after: Option<&Pod>,
) -> Vec<(ObservedOwner, ObservedAction)> {
    match (before, after) {
        (Some(old), Some(new)) if old.metadata.uid == new.metadata.uid => pod_changed(old, new),
        (before, after) => {
            let removed = before.into_iter().flat_map(pod_removed);
            removed.chain(after.into_iter().flat_map(pod_added)).collect()
        }
    }
}

fn pod_added(new: &Pod) -> Vec<(ObservedOwner, ObservedAction)> {
    let Some(owner) = owner(&new.metadata.namespace, &new.metadata.owner_references) else {
        return Vec::new();
    };
    let node = target_node(new);
    let create = ActionId::CreatePod(node.clone().unwrap_or_default());
    let mut actions = vec![(owner.clone(), on_pod(create, "create", new, None))];
    if new.metadata.deletion_timestamp.is_some() {
        let before =
            Pod { metadata: PodMeta { deletion_timestamp: None, ..new.metadata.clone() }, ..new.clone() };
        let delete = ActionId::DeletePod(new.metadata.uid.clone());
        actions.push((owner, on_pod(delete, "delete", new, Some(Arc::new(before)))));
    }
    actions
}

/// The removal of a terminating pod is no action: its delete was observed before.
fn pod_removed(old: &Arc<Pod>) -> Option<(ObservedOwner, ObservedAction)> {
    let owner = owner(&old.metadata.namespace, &old.metadata.owner_references)?;
    let delete = ActionId::DeletePod(old.metadata.uid.clone());
    let action = on_pod(delete, "delete", old, Some(old.clone()));
    old.metadata.deletion_timestamp.is_none().then_some((owner, action))
}

fn pod_changed(old: &Arc<Pod>, new: &Pod) -> Vec<(ObservedOwner, ObservedAction)> {
    let (before, after) = (&old.metadata, &new.metadata);
    let uid = || after.uid.clone();
    let action = |id, verb| on_pod(id, verb, new, Some(old.clone()));
    let old_owner = owner(&before.namespace, &before.owner_references);
    let new_owner = owner(&after.namespace, &after.owner_references);
    let mut actions = Vec::new();
    if old_owner != new_owner {
        actions.extend(old_owner.map(|owner| (owner, action(ActionId::ReleasePod(uid()), "release"))));
        actions.extend(new_owner.map(|owner| (owner, action(ActionId::AdoptPod(uid()), "adopt"))));
    } else if let Some(owner) = new_owner {
        if before.deletion_timestamp.is_none() && after.deletion_timestamp.is_some() {
            actions.push((owner, action(ActionId::DeletePod(uid()), "delete")));
        } else if hash_label_changed(&before.labels, &after.labels) {
            actions.push((owner, action(ActionId::LabelPod(uid()), "label")));
        }
    }
    actions
}

/// The actions that explain a change of a revision.
pub(crate) fn revision_actions(
    before: Option<&Arc<ControllerRevision>>,
    after: Option<&ControllerRevision>,
) -> Vec<(ObservedOwner, ObservedAction)> {
    match (before, after) {
        (Some(old), Some(new)) if old.metadata.uid == new.metadata.uid => revision_changed(old, new),
        (before, after) => {
            let removed = before.and_then(|old| {
                let owner = owner(&old.metadata.namespace, &old.metadata.owner_references)?;
                let delete = ActionId::DeleteRevision(old.metadata.uid.clone());
                let action = on_revision(delete, "delete", old, Some(old.clone()));
                old.metadata.deletion_timestamp.is_none().then_some((owner, action))
            });
            let added = after.and_then(|new| {
                let owner = owner(&new.metadata.namespace, &new.metadata.owner_references)?;
                Some((owner, on_revision(ActionId::CreateRevision(new.revision), "create", new, None)))
            });
            removed.into_iter().chain(added).collect()
        }
    }
}

fn revision_changed(
    old: &Arc<ControllerRevision>,
    new: &ControllerRevision,
) -> Vec<(ObservedOwner, ObservedAction)> {
    let (before, after) = (&old.metadata, &new.metadata);
    let uid = || after.uid.clone();
    let action = |id, verb| on_revision(id, verb, new, Some(old.clone()));
    let old_owner = owner(&before.namespace, &before.owner_references);
    let new_owner = owner(&after.namespace, &after.owner_references);
    let mut actions = Vec::new();
    if old_owner != new_owner {
        actions.extend(old_owner.map(|owner| (owner, action(ActionId::ReleaseRevision(uid()), "release"))));
        actions.extend(new_owner.map(|owner| (owner, action(ActionId::AdoptRevision(uid()), "adopt"))));
    } else if let Some(owner) = new_owner {
        if before.deletion_timestamp.is_none() && after.deletion_timestamp.is_some() {
            actions.push((owner, action(ActionId::DeleteRevision(uid()), "delete")));
        } else if old.revision != new.revision {
            actions.push((owner, action(ActionId::RenumberRevision(uid(), new.revision), "renumber")));
        } else if hash_label_changed(&before.labels, &after.labels) {
            actions.push((owner, action(ActionId::LabelRevision(uid()), "label")));
        }
    }
    actions
}

fn on_pod(id: ActionId, verb: &str, pod: &Pod, before: Option<Arc<Pod>>) -> ObservedAction {
    let node = target_node(pod);
    let place = node.as_ref().map(|node| format!(" on {node}")).unwrap_or_default();
    let description = format!("{verb} pod {}{place}", pod.metadata.name);
    ObservedAction { id, description, node, previous: Previous::Pod(pod.metadata.uid.clone(), before) }
}

fn on_revision(
    id: ActionId,
    verb: &str,
    revision: &ControllerRevision,
    before: Option<Arc<ControllerRevision>>,
) -> ObservedAction {
    let description = format!("{verb} revision {} as #{}", revision.metadata.name, revision.revision);
    let previous = Previous::Revision(revision.metadata.uid.clone(), before);
    ObservedAction { id, description, node: None, previous }
}

/// The DaemonSet among the owners that is the controller.
pub(crate) fn owner(namespace: &str, references: &[OwnerReference]) -> Option<ObservedOwner> {
    let controller = references.iter().find(|owner| owner.controller == Some(true))?;
    let name = format!("{namespace}/{}", controller.name);
    (controller.kind == "DaemonSet").then(|| ObservedOwner { uid: controller.uid.clone(), name })
}

/// v1.36 `util.GetTargetNodeName`.
fn target_node(pod: &Pod) -> Option<NodeName> {
    match pod.spec.node_name.as_str() {
        "" => pod.spec.affinity_node.clone(),
        _ => Some(pod.spec.node_name.clone()),
    }
}

fn hash_label_changed(before: &Labels, after: &Labels) -> bool {
    before.get(HASH_LABEL) != after.get(HASH_LABEL)
}
