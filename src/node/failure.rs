//! When a node has failed under the new version, and when the rollout has.

use crate::input::rollout::policy::FailurePolicy;
use crate::node::fleet::{Fleet, FleetPod, PodStage};
use crate::position::NodeIx;
use crate::rollout::facts::Failing;
use crate::rollout::report::FailureEvidence;
use jiff::{SignedDuration, Timestamp};

/// Whether an updated pod of the node, which is not terminating, shows that the new version has failed there.
pub(crate) fn failing(fleet: &Fleet<'_>, node: NodeIx, pod: &FleetPod, policy: &FailurePolicy) -> Failing {
    // On a node that is down the state of the pod says nothing: no kubelet reports it, and the node explains its readiness.
    if fleet.node_view(node).ready == Some(false) {
        node_down(fleet, node, pod, policy)
    } else {
        pod_failing(fleet, pod, policy)
    }
}

/// The node went down under the pod. Where it was down before the pod was created, nothing is judged.
fn node_down(fleet: &Fleet<'_>, node: NodeIx, pod: &FleetPod, policy: &FailurePolicy) -> Failing {
    let since = fleet.node_view(node).ready_since;
    match since.zip(fleet.birth(pod)) {
        // Strictly before: instants have whole seconds, and a pod of the same second may have come to a node that was down.
        Some((since, created_at)) if created_at < since && !pod.is_ready() => {
            // Without the choice the node fails at once, since no other rule judges a node that is down.
            let within = policy.available_within_seconds.unwrap_or(0);
            failing_after(since, within, fleet.snapshot.now, || FailureEvidence::NodeDown { since })
        }
        // An unknown instant fails nobody, here and below.
        _ => Failing::NEVER,
    }
}

fn pod_failing(fleet: &Fleet<'_>, pod: &FleetPod, policy: &FailurePolicy) -> Failing {
    let view = fleet.view(pod);
    let (containers, now) = (view.containers, fleet.snapshot.now);
    let name = || view.name.to_owned();
    // Facts that stay go before conditions that time brings. This is the order of `FailureEvidence`, by which a node with several
    // pods chooses.
    if pod.stage == PodStage::Failed && !is_ended_by_others(containers.pod_reason()) {
        let reason = containers.pod_reason().to_owned();
        return failing_now(FailureEvidence::PodFailed { pod: name(), reason });
    }
    let in_place = fleet.in_place(pod);
    let restarts = in_place.map_or_else(|| containers.most_restarts(), |in_place| in_place.restarts);
    if policy.max_restarts.is_some_and(|limit| restarts > limit) {
        return failing_now(FailureEvidence::TooManyRestarts { pod: name(), restarts });
    }
    // Even a healthy container waits while its image comes: without `waitingSeconds`, waiting fails nobody.
    let settles = in_place.is_some_and(|in_place| in_place.settles);
    let is_of_new_image =
        |reason: &str| matches!(reason, "ErrImagePull" | "ImagePullBackOff" | "InvalidImageName");
    // While the pod settles, each other reason may be the old version's.
    let waiting = containers
        .first_waiting(|reason| policy.waits_in_vain(reason) && (!settles || is_of_new_image(reason)));
    let waiting = waiting.zip(policy.waiting_seconds).zip(fleet.birth(pod));
    let mut failing = unavailable(fleet, pod, policy);
    if let Some(((reason, seconds), created_at)) = waiting {
        let evidence = || FailureEvidence::Waiting { pod: name(), reason: reason.to_owned() };
        // Both may lie ahead, and the node looks again at the first of them.
        failing.add(failing_after(created_at, seconds, now, evidence));
    }
    failing
}

/// It is not available for longer than is acceptable (the proposal's "acceptable downtime"): neither its age nor a change
/// of its readiness explains it.
fn unavailable(fleet: &Fleet<'_>, pod: &FleetPod, policy: &FailurePolicy) -> Failing {
    let view = fleet.view(pod);
    let Some(within) = policy.available_within_seconds.filter(|_| !pod.is_available()) else {
        return Failing::NEVER;
    };
    // Without the condition the age of the pod decides alone. With it, an unknown instant may be a recent one.
    let born_at = fleet.birth(pod);
    let changed_at = if view.ready.is_some() { view.ready_since } else { born_at };
    let Some((created_at, changed_at)) = born_at.zip(changed_at) else { return Failing::NEVER };
    // The rule asks for both, the age of the pod and the time since the change: the later one decides.
    let since = created_at.max(changed_at);
    failing_after(since, within, fleet.snapshot.now, || FailureEvidence::Unavailable {
        pod: view.name.to_owned(),
        since,
    })
}

/// Failing from this number of seconds after an instant on.
fn failing_after(
    since: Timestamp,
    seconds: u32,
    now: Timestamp,
    evidence: impl FnOnce() -> FailureEvidence,
) -> Failing {
    match since.checked_add(SignedDuration::from_secs(seconds.into())) {
        Ok(at) if at <= now => failing_now(evidence()),
        Ok(at) => Failing { evidence: None, changes_at: Some(at) },
        // The instant is beyond the calendar.
        Err(_) => Failing::NEVER,
    }
}

fn failing_now(evidence: FailureEvidence) -> Failing {
    Failing { evidence: Some(evidence), changes_at: None }
}

/// Reasons for which the kubelet, the scheduler or the node's end makes a pod Failed, whatever its version (v1.36
/// `kubelet/eviction`, `kubelet/preemption`, `kubelet/nodeshutdown`, `kubelet/lifecycle/predicate.go`).
fn is_ended_by_others(reason: &str) -> bool {
    matches!(reason, "Evicted" | "Preempting" | "Terminated" | "NodeShutdown" | "NodeAffinity")
}
