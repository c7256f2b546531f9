//! Actions about nodes in turn, and pods that are as good as the one to create.

use daemonset::policy::PodNames;
use daemonset::{Action, CreateReason, DeleteReason, TurnReason};

/// Whether an action changes a node, or a pod that pulls images.
pub fn is_of_turns(action: &Action) -> bool {
    matches!(
        action,
        Action::PatchNode { .. }
            | Action::CreatePod { reason: CreateReason::PullImages, .. }
            | Action::DeletePod { reason: DeleteReason::PullDone, .. }
    )
}

pub(crate) fn is_of_node(action: &Action) -> bool {
    matches!(action, Action::PatchNode { .. })
}

pub(crate) fn is_begin(action: &Action) -> bool {
    matches!(action, Action::PatchNode { reason: TurnReason::TurnBegins, .. })
}

pub(crate) fn is_end(action: &Action) -> bool {
    matches!(action, Action::PatchNode { reason: TurnReason::TurnEnds, .. })
}

/// Whether a pod that is there already is as good as the one to create: no other pod can have its name.
pub(crate) fn has_one_name(action: &Action, names: PodNames) -> bool {
    match action {
        Action::CreatePod { reason: CreateReason::PullImages, .. } => true,
        Action::CreatePod { .. } => names == PodNames::OnePerNode,
        _ => false,
    }
}
