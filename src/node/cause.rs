//! Why a node has no available pod: the rules behind [`UnavailableCause`].

use crate::input::placement::Placement;
use crate::node::figures::{Figure, NodeFigures};
use crate::node::fleet::{Fleet, FleetPod, PodStage, Readiness};
use crate::node::unavailable::UnavailableCause;
use crate::position::NodeIx;

/// The cause of a target node without an available pod, before this plan's deletes, or of a node that `figures` has as taken.
pub(crate) fn unavailable_cause(
    fleet: &Fleet<'_>,
    node: NodeIx,
    figures: NodeFigures,
) -> Option<UnavailableCause> {
    if fleet.placement(node) != Placement::Run {
        // Other nodes are not expected to have a pod.
        return figures.has(Figure::DeletedByUpdate).then_some(UnavailableCause::DeletedByUpdate);
    }
    if fleet.pods_of(node).any(|(_, pod)| pod.is_available()) {
        // Where its turn alone lets it count.
        return (fleet.turn(node).is_some() && figures.has(Figure::Unavailable))
            .then_some(UnavailableCause::InTurn);
    }
    // A cause in the node explains those in its pods, and comes before them.
    Some(if fleet.lifecycle(node).is_some() {
        UnavailableCause::LeftAlone
    } else if fleet.node_view(node).ready == Some(false) {
        UnavailableCause::NodeDown
    } else {
        let causes = fleet.pods_of(node).filter_map(|(_, pod)| cause_of_pod(fleet, pod));
        // The order of the variants is that of their weight.
        causes.min().unwrap_or(UnavailableCause::NoPod)
    })
}

/// `None` for a pod that is out of the way: a successor can be created at once.
fn cause_of_pod(fleet: &Fleet<'_>, pod: &FleetPod) -> Option<UnavailableCause> {
    match pod.stage {
        PodStage::Live => Some(cause_of_live_pod(fleet, pod)),
        PodStage::Failed => Some(UnavailableCause::Crashing),
        PodStage::Terminating => Some(UnavailableCause::Terminating),
        PodStage::Succeeded | PodStage::Gone => None,
    }
}

fn cause_of_live_pod(fleet: &Fleet<'_>, pod: &FleetPod) -> UnavailableCause {
    let view = fleet.view(pod);
    match pod.readiness {
        Readiness::Available | Readiness::NotYetAvailable => UnavailableCause::NotYetAvailable,
        // A container that crashes is more telling than one that is pulled: its pod has come further.
        Readiness::NotReady | Readiness::Pending if view.containers.any_waits(is_crash) => {
            UnavailableCause::Crashing
        }
        Readiness::NotReady | Readiness::Pending if view.containers.any_waits(is_missing_image) => {
            UnavailableCause::Pulling
        }
        Readiness::NotReady | Readiness::Pending if !view.bound => UnavailableCause::NotScheduled,
        Readiness::NotReady | Readiness::Pending => UnavailableCause::Starting,
    }
}

/// Reasons, other than its image, for which the kubelet does not start a container (v1.36 `kubelet/container/sync_result.go`,
/// `kuberuntime_container.go`).
fn is_crash(reason: &str) -> bool {
    matches!(
        reason,
        "CrashLoopBackOff"
            | "CreateContainerConfigError"
            | "CreateContainerError"
            | "PostStartHookError"
            | "PreCreateHookError"
            | "PreStartHookError"
            | "RunContainerError"
    )
}

/// Reasons for which the kubelet has no image for a container (v1.36 `kubelet/images/types.go`).
fn is_missing_image(reason: &str) -> bool {
    matches!(
        reason,
        "ErrImageNeverPull"
            | "ErrImagePull"
            | "ImageInspectError"
            | "ImagePullBackOff"
            | "InvalidImageName"
            | "RegistryUnavailable"
            | "SignatureValidationFailed"
    )
}
