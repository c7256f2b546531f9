//! Why a pod is deleted, as a person would say it.

use daemonset::DeleteReason;

pub(crate) fn deleting(reason: DeleteReason) -> String {
    let text = match reason {
        DeleteReason::SucceededPod => "it has succeeded, as no daemon should",
        DeleteReason::FailedPod => "it has failed",
        DeleteReason::ExcessPod => "the node has a better one",
        DeleteReason::SuccessorAvailable => "its successor is available",
        DeleteReason::NotReadyBesideSuccessor => "not Ready, and has a successor",
        DeleteReason::NodeExcluded => "the node must not run it",
        DeleteReason::TolerationWithdrawn => "outdated, and its toleration is withdrawn",
        DeleteReason::NodeGone => "never bound, and its node is gone",
        DeleteReason::OutdatedPending => "outdated and Pending, down anyway",
        DeleteReason::OutdatedNotReady => "outdated and not Ready, down anyway",
        DeleteReason::OutdatedNotYetAvailable => "outdated and not yet available",
        DeleteReason::OutdatedAvailable => "outdated, within the budget",
        other => return format!("{other:?}"),
    };
    text.to_owned()
}
