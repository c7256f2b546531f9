//! The part of a memory that an action is about.

use daemonset::{Action, CreateReason, Memory};
use std::iter::{empty, once};

/// The entries that the outcome of an action changes.
pub(crate) fn about(memory: &Memory, action: &Action) -> Memory {
    match action {
        Action::CreatePod { reason: CreateReason::PullImages, pod, .. } => {
            memory.part(empty(), empty(), pod.name().into_iter())
        }
        Action::CreatePod { node, .. } => memory.part(once(node.as_str()), empty(), empty()),
        Action::PatchNode { node, .. } => memory.part(once(node.name.as_str()), empty(), empty()),
        Action::DeletePod { node, pod, .. } | Action::UpdatePodInPlace { node, pod, .. } => {
            memory.part(once(node.as_str()), once(pod.uid.as_str()), empty())
        }
        _ => Memory::default(),
    }
}
