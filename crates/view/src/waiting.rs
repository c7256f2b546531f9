//! Each wait of a node in words: the one file that has a sentence for each reason. Table, `why`, `stuck` and the report of a simulation
//! take theirs from here, and a new reason does not compile before it has words.

use crate::case::Case;
use crate::cluster::ClusterNotes;
use crate::plan::phrase::Attention;
use crate::stuck::finding::{Ends, Finder};
use crate::turning::list;
use crate::words;
use daemonset::report::{HoldReason, NodeVerdict, PodState, PodVerdict, Wait, WaitsOn, WaveProgress};
use jiff::Timestamp;
use std::collections::BTreeSet;

/// How much a wait wants to be seen.
pub(crate) fn urgency(wait: &Wait) -> Attention {
    match wait {
        Wait::MaxUnavailable { .. }
        | Wait::MaxSurge { .. }
        | Wait::ManualDelete
        | Wait::Gates { .. }
        | Wait::Room => Attention::Held,
        Wait::Rollout { because, .. } => held(because),
        Wait::NextPlan
        | Wait::MinReadySeconds { .. }
        | Wait::Termination { .. }
        | Wait::CreatedPod { .. }
        | Wait::TargetNodes { .. }
        | Wait::NodePatch { .. }
        | Wait::Pull
        | Wait::Revision
        | Wait::OtherControllerCreates
        | Wait::NodeLeaves { .. } => Attention::Waits,
        Wait::Ready
        | Wait::BackOff { .. }
        | Wait::Return { .. }
        | Wait::TurnsFrozen
        | Wait::NodeUnreachable
        | Wait::Fit { .. }
        | Wait::NameTaken { .. } => Attention::Stuck,
    }
}

/// Whether a person decides about a node that the rollout has not reached. A node in no wave is where it should be.
fn held(because: &HoldReason) -> Attention {
    match because {
        HoldReason::NoWave => Attention::Calm,
        HoldReason::Paused
        | HoldReason::Stopped { .. }
        | HoldReason::Wave { progress: WaveProgress::WaitsForApproval, .. } => Attention::Held,
        HoldReason::Wave { .. } | HoldReason::Outside | _ => Attention::Waits,
    }
}

/// What follows a number of nodes: `3 waiting for Ready`.
pub(crate) fn in_short(node: &NodeVerdict, wait: &Wait, notes: &ClusterNotes) -> String {
    let text = match wait {
        Wait::NextPlan => "left for the next plan",
        Wait::MaxUnavailable { .. } => "held by maxUnavailable",
        Wait::MaxSurge { .. } => "held by maxSurge",
        Wait::Rollout { .. } => "not reached by the rollout",
        Wait::ManualDelete => "waiting for you to delete the pod",
        Wait::Ready => {
            let cause = words::trouble(node, notes).map(|cause| format!(" ({cause})"));
            return format!("waiting for Ready{}", cause.unwrap_or_default());
        }
        Wait::MinReadySeconds { .. } => "waiting for minReadySeconds",
        Wait::Termination { .. } => "waiting for a pod to be gone",
        Wait::BackOff { .. } => "in back-off",
        Wait::CreatedPod { .. } => "waiting to see the created pod",
        Wait::Return { .. } => "taken by the update and not back",
        Wait::TargetNodes { .. } => "leaving last",
        Wait::NodeLeaves { .. } => "left alone, as they leave",
        Wait::TurnsFrozen => "held, as the policy of turns can't be read",
        Wait::NodePatch { .. } => "waiting to see the change of the node",
        Wait::NodeUnreachable => "not reporting",
        Wait::Gates { .. } => "in turn, waiting for gates",
        Wait::Pull => "waiting for images",
        Wait::Fit { .. } => "too small for the new pod",
        Wait::Room => "in turn, waiting for room",
        Wait::Revision => "waiting for the revision of the new version",
        Wait::OtherControllerCreates => "without a pod until the other controller creates it",
        Wait::NameTaken { .. } => "without a pod, since another one has its name",
    };
    text.to_owned()
}

/// Why a simulated rollout has left a target node behind. `until` says how long it is until an instant.
pub fn left_over(wait: &Wait, until: impl Fn(Timestamp) -> String) -> String {
    match wait {
        Wait::Return { .. } => {
            "the update deleted its pod, and it is no target node any more: it counts until it is back"
                .to_owned()
        }
        Wait::TargetNodes { .. } => {
            "its old pod stays until as many new nodes have an available pod".to_owned()
        }
        Wait::MaxUnavailable { used, limit, .. } => {
            format!("waits: maxUnavailable is spent ({used} of {limit})")
        }
        Wait::MaxSurge { used, limit, .. } => format!("waits: maxSurge is spent ({used} of {limit})"),
        Wait::Rollout { because, .. } => because.to_string(),
        Wait::ManualDelete => "OnDelete: waits for a person to delete its pod".to_owned(),
        Wait::Ready => "its new pod does not become Ready".to_owned(),
        Wait::MinReadySeconds { .. } => "its new pod is not Ready for long enough".to_owned(),
        Wait::Termination { .. } => "its old pod does not end".to_owned(),
        Wait::BackOff { until: at, failures, .. } => {
            format!("failed {failures} times, tries again in {}", until(*at))
        }
        Wait::CreatedPod { .. } => "its new pod is to be created".to_owned(),
        Wait::NextPlan
        | Wait::NodeLeaves { .. }
        | Wait::TurnsFrozen
        | Wait::NodePatch { .. }
        | Wait::NodeUnreachable
        | Wait::Gates { .. }
        | Wait::Pull
        | Wait::Fit { .. }
        | Wait::Room
        | Wait::Revision
        | Wait::OtherControllerCreates
        | Wait::NameTaken { .. } => wait.to_string(),
    }
}

impl Case<'_> {
    /// The rule that holds a node which waits, and what would have to happen.
    pub(crate) fn rule_of_wait(&self, node: &NodeVerdict, wait: &Wait) -> String {
        match wait {
            Wait::MaxUnavailable { used, limit, .. } => self.held_by_max_unavailable(node, *used, *limit),
            Wait::MaxSurge { used, limit, .. } => self.held_by_max_surge(node, *used, *limit),
            Wait::ManualDelete => self.held_by_on_delete(node),
            Wait::TargetNodes { unavailable, leaving, .. } => format!(
                "The template no longer tolerates a taint of this node, so that its pod goes. Nodes that leave in this way: \
                 {leaving}; target nodes without an available pod: {unavailable}. Under surge as many of the leaving nodes as \
                 that keep their pods, the last ones by name, until the target nodes are served."
            ),
            Wait::NextPlan => format!(
                "Something is due here, but this plan is full: it creates and deletes at most {} each.",
                words::count(self.planned.policy.burst as usize, "pod")
            ),
            Wait::NameTaken { .. } => self.name_taken(node).unwrap_or_else(|| format!("It {wait}.")),
            Wait::Ready => self.waits_for_ready(node),
            Wait::MinReadySeconds { until: Some(_), .. } => format!(
                "It waits for minReadySeconds ({}s): until they have passed, the node counts as unavailable.",
                self.planned.daemon_set.spec.min_ready_seconds
            ),
            Wait::MinReadySeconds { until: None, .. } => {
                "It waits for minReadySeconds, which never pass: the pod's Ready condition tells no time."
                    .to_owned()
            }
            Wait::Termination { .. } => self.waits_for_termination(node),
            Wait::BackOff { until, failures, .. } => format!(
                "Its pod has failed {}; the next attempt is {}.",
                times(*failures),
                self.at(*until)
            ),
            Wait::CreatedPod { until, .. } => format!(
                "A pod was created for {} that is not seen yet; if it is not seen until {until} ({}), it is created again.",
                node.node,
                words::relative(*until, self.now)
            ),
            Wait::Return { since, .. } => format!(
                "The update deleted its pod at {since} ({}), no updated pod has been Ready here since, and the node should not \
                 run one now: perhaps a taint or a label appears while the daemon is away. It counts against the limit until a \
                 Ready updated pod is here or the node is gone: remove the taint or label, let the template tolerate it, or \
                 remove the node.",
                words::relative(*since, self.now)
            ),
            Wait::Rollout { because, .. } => self.held_by_rollout(node, because),
            Wait::NodeLeaves { lifecycle, .. } => format!(
                "The policy leaves it alone, because {lifecycle}: it gets no pod, and a Ready pod stays. It takes part again once \
                 that is over."
            ),
            Wait::Revision => "Its outdated pod waits until Kubernetes' own controller, which creates the pods, has made \
                 the revision of the new version the newest: before, that controller might give the node the old version again. Where \
                 this takes long, see whether kube-controller-manager runs."
                .to_owned(),
            Wait::OtherControllerCreates => "Kubernetes' own controller, which creates the pods, gives it one: the update is \
                 driven beside it. Where this takes long, see whether kube-controller-manager runs, and the events of the DaemonSet."
                .to_owned(),
            Wait::TurnsFrozen => "The policy of turns can't be read, or says Keep: until it is repaired no turn begins or ends, \
                 and no outdated pod goes."
                .to_owned(),
            Wait::NodePatch { until, .. } => format!(
                "A change of the node was sent that is not seen yet; if it is not seen until {until} ({}), the next plan decides \
                 anew.",
                words::relative(*until, self.now)
            ),
            Wait::NodeUnreachable => {
                "No turn begins here: the node does not report, and its kubelet could do nothing.".to_owned()
            }
            Wait::Gates { gates, .. } => match self.detail(node).and_then(|detail| detail.turn.as_ref()) {
                Some(turn) => self.waits_for_gates(node, turn),
                None => format!("It waits for the gates {}.", list(gates)),
            },
            Wait::Pull => match self.detail(node).and_then(|detail| detail.pull.as_ref()) {
                Some(pull) => self.waits_for_pull(node, pull),
                None => "It waits for its images.".to_owned(),
            },
            Wait::Fit { resource, .. } => self.does_not_fit(node, resource),
            Wait::Room => {
                "It is in turn, but too many other nodes are without an available pod now: its pod stays until some of them have \
                 one again."
                    .to_owned()
            }
        }
    }
}

fn times(number: u32) -> String {
    match number {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        more => format!("{more} times"),
    }
}

impl From<WaitsOn> for Ends {
    fn from(on: WaitsOn) -> Self {
        match on {
            WaitsOn::Time | WaitsOn::Kubelet | WaitsOn::OtherController => Ends::Time,
            WaitsOn::OtherNodes => Ends::Others,
            WaitsOn::Person => Ends::Somebody,
        }
    }
}

impl Finder<'_> {
    /// The wait of a node where no cause and no obstacle is known; `None` if there is nothing to look at.
    pub(crate) fn of_wait(&self, node: &NodeVerdict, wait: &Wait) -> Option<(Ends, String)> {
        let in_time =
            |at: Option<Timestamp>| at.map(|at| format!(" {}", self.case.at(at))).unwrap_or_default();
        let text = match wait {
            Wait::NextPlan | Wait::Rollout { because: HoldReason::NoWave, .. } => return None,
            Wait::MinReadySeconds { until, .. } => format!(
                "Ready, and available{} (minReadySeconds {})",
                in_time(*until),
                self.case.planned.daemon_set.spec.min_ready_seconds
            ),
            Wait::Gates { gates, turn: Some(turn), .. } => {
                let since = self.case.since(turn.since);
                format!("in turn since {since}, waits for {}{}", list(gates), self.in_the_end(turn))
            }
            Wait::Termination { overdue_at, .. } => {
                let terminating = |pod: &&PodVerdict| matches!(pod.state, PodState::Terminating { .. });
                let pods: Vec<&PodVerdict> = node.pods.iter().filter(terminating).collect();
                let names: Vec<&str> = pods.iter().map(|pod| pod.pod.name.as_str()).collect();
                let finalizers = self.finalizers_of(&pods);
                format!(
                    "pod {} ends, and should be gone{}{finalizers}",
                    names.join(", "),
                    in_time(*overdue_at)
                )
            }
            Wait::MaxUnavailable { used, limit, .. } => {
                format!("maxUnavailable is spent ({used} of {limit}){}", self.by_users(node))
            }
            Wait::MaxSurge { used, limit, .. } => {
                format!("maxSurge is spent ({used} of {limit}){}", self.by_users(node))
            }
            Wait::Rollout { because, .. } => {
                let opens = wait.until().map(|at| format!(" ({})", words::relative(at, self.case.now)));
                because.to_string().trim_start_matches("is ").to_owned() + &opens.unwrap_or_default()
            }
            Wait::ManualDelete
            | Wait::Ready
            | Wait::BackOff { .. }
            | Wait::CreatedPod { .. }
            | Wait::Return { .. }
            | Wait::TargetNodes { .. }
            | Wait::NodeLeaves { .. }
            | Wait::TurnsFrozen
            | Wait::NodePatch { .. }
            | Wait::NodeUnreachable
            | Wait::Gates { turn: None, .. }
            | Wait::Pull
            | Wait::Fit { .. }
            | Wait::Room
            | Wait::Revision
            | Wait::OtherControllerCreates
            | Wait::NameTaken { .. } => format!("{wait:#}{}", in_time(wait.instant())),
        };
        Some((Ends::from(wait.on()), text))
    }

    /// `, once the finalizer example.com/hold is removed`
    fn finalizers_of(&self, pods: &[&PodVerdict]) -> String {
        let notes = pods.iter().filter_map(|pod| self.case.models.notes.pod(&pod.pod.uid));
        let finalizers: BTreeSet<&str> =
            notes.flat_map(|notes| &notes.finalizers).map(String::as_str).collect();
        match Vec::from_iter(finalizers).as_slice() {
            [] => String::new(),
            [only] => format!(", once the finalizer {only} is removed"),
            several => format!(", once the finalizers {} are removed", several.join(", ")),
        }
    }
}
