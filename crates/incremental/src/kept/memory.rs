//! The part of a memory that an action is about.

use daemonset::{Action, Memory};

/// The entries that the outcome of an action changes.
pub(crate) fn about(memory: &Memory, action: &Action) -> Memory {
    match action {
        Action::CreatePod { node, .. } => memory.part([node.as_str()].into_iter(), std::iter::empty()),
        Action::DeletePod { node, pod, .. } => {
            memory.part([node.as_str()].into_iter(), [pod.uid.as_str()].into_iter())
        }
        _ => Memory::default(),
    }
}
