//! Typed reasons, counts and spans of time as a person would say them: what every subcommand shares.

use crate::cluster::{ClusterNotes, ContainerNotes, Said};
use daemonset::DeleteReason;
use daemonset::model::Taint;
use daemonset::report::{
    Evidence, FailureEvidence, NodePlacement, NodeVerdict, PodState, PodVerdict, Rejections, RevisionOrigin,
    Situation, UnavailableCause,
};
use daemonset::{
    ClaimReason, CreateReason, LabelReason, RequeueReason, RestoreReason, RevisionReason, RolloutReason,
    StatusReason, TurnReason,
};
use jiff::{SignedDuration, Timestamp};
use std::fmt;

/// How long ago, or how long until: `for 40s`, `in 6s`.
pub fn relative(at: Timestamp, now: Timestamp) -> String {
    span(at, at, now)
}

/// The same for instants from `first` to `last`: `for 2s to 40s`.
pub fn span(first: Timestamp, last: Timestamp, now: Timestamp) -> String {
    let (word, near, far) = if last <= now { ("for", last, first) } else { ("in", first, last) };
    let ages = [near, far].map(|at| duration(at.duration_since(now).abs()));
    match ages {
        [near, far] if near == far => format!("{word} {near}"),
        [near, far] => format!("{word} {near} to {far}"),
    }
}

/// As kubectl writes ages.
pub fn duration(duration: SignedDuration) -> String {
    let (s, m, h) = (duration.as_secs(), duration.as_mins(), duration.as_hours());
    let two = |large: i64, unit: &str, small: i64, subunit: &str| match small {
        0 => format!("{large}{unit}"),
        _ => format!("{large}{unit}{small}{subunit}"),
    };
    match () {
        () if s < 120 => format!("{s}s"),
        () if m < 10 => two(m, "m", s % 60, "s"),
        () if m < 180 => format!("{m}m"),
        () if h < 8 => two(h, "h", m % 60, "m"),
        () if h < 48 => format!("{h}h"),
        () if h < 8 * 24 => two(h / 24, "d", h % 24, "h"),
        () => format!("{}d", h / 24),
    }
}

/// More of somebody else's text than this is left out.
const MOST_OF_A_MESSAGE: usize = 300;

/// The sentences at the beginning of somebody else's text that fit a line; where the first does not, its beginning.
pub fn first_sentences(text: &str) -> String {
    let Some((end, _)) = text.char_indices().nth(MOST_OF_A_MESSAGE) else { return text.to_owned() };
    let begin = text.get(..end).unwrap_or_default();
    let whole = [". ", "; "].iter().filter_map(|end| begin.rfind(end)).max();
    let cut = whole.or_else(|| begin.rfind(' ')).unwrap_or(begin.len());
    format!("{} …", begin.get(..=cut).unwrap_or(begin).trim_end())
}

/// The first names, and how many more there are.
pub fn names(names: impl IntoIterator<Item = impl fmt::Display>, most: usize) -> String {
    let mut names = names.into_iter();
    let mut text = names.by_ref().take(most).map(|name| name.to_string()).collect::<Vec<_>>().join(", ");
    match names.count() {
        0 => {}
        more => text.push_str(&format!(" and {more} more")),
    }
    text
}

/// The first line with the label, the others under it.
pub fn labelled(
    label: &'static str,
    lines: impl Iterator<Item = String>,
) -> impl Iterator<Item = (&'static str, String)> {
    lines.enumerate().map(move |(position, line)| (if position == 0 { label } else { "" }, line))
}

/// Why a plan stops before the rollout.
pub fn no_rollout(situation: Situation) -> &'static str {
    match situation {
        Situation::SelectingAll => "the selector is empty, so that the controller does nothing",
        Situation::BeingDeleted => "the DaemonSet is being deleted, so that the controller does nothing",
        Situation::NameCollision => "the name of the new revision is taken, and the next plan goes on",
        Situation::Synced | _ => "the controller does nothing now",
    }
}

/// Why a node counts as failed under the new version.
pub fn failure(evidence: &FailureEvidence, now: Timestamp) -> String {
    match evidence {
        FailureEvidence::NodeDown { since, .. } | FailureEvidence::Unavailable { since, .. } => {
            // Clocks differ: it has lasted for at least 0 s.
            format!("{evidence} ({})", relative((*since).min(now), now))
        }
        _ => evidence.to_string(),
    }
}

/// Why a revision is marked.
pub fn marking(reason: RolloutReason) -> String {
    match reason {
        RolloutReason::RolloutStarted => "the rollout begins".to_owned(),
        RolloutReason::RolloutPaused => "the rollout is paused".to_owned(),
        RolloutReason::WaveOpened => "the nodes of a wave may be updated".to_owned(),
        RolloutReason::RolloutFailed => "the new version has failed".to_owned(),
        RolloutReason::RolloutCompleted => "every target node has the new version".to_owned(),
        RolloutReason::RolloutUndone => "the template of the version before comes back".to_owned(),
        other => format!("{other:?}"),
    }
}

/// With a capital letter, as a sentence begins.
pub fn capitalized(text: &str) -> String {
    let mut rest = text.chars();
    rest.next().into_iter().flat_map(char::to_uppercase).chain(rest).collect()
}

/// A text of the core without its advice to undo the update, where there is no version before.
pub fn without_undo(text: &dyn fmt::Display, has_older: bool) -> String {
    let text = text.to_string();
    if has_older { text } else { text.replace(", or undo the update", "") }
}

/// `the finalizer example.com/flush keeps`.
pub fn of_finalizers(finalizers: &[String]) -> String {
    match finalizers {
        [only] => format!("the finalizer {only} keeps"),
        several => format!("the finalizers {} keep", several.join(", ")),
    }
}

/// `1 pod`, `5 pods`.
pub fn count(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

/// Whether the node should run the pod, and what else is known of it.
pub fn placement(node: &NodeVerdict) -> String {
    let mut text = match &node.placement {
        NodePlacement::Run => "run".to_owned(),
        NodePlacement::ContinueOnly { taint, .. } => format!("no new: {}", tainted(taint)),
        NodePlacement::OtherNodeName => "no: nodeName is another".to_owned(),
        NodePlacement::NodeSelectorMismatch => "no: nodeSelector".to_owned(),
        NodePlacement::NodeAffinityMismatch => "no: nodeAffinity".to_owned(),
        NodePlacement::UntoleratedNoExecute { taint, .. } => format!("no: {}", tainted(taint)),
        other => format!("{other:?}"),
    };
    if node.unschedulable {
        text.push_str(", cordoned");
    }
    if node.node_ready == Some(false) {
        text.push_str(", node NotReady");
    }
    text
}

/// The cause that the containers of a node's pod give for its not being Ready. A failed pod, which has ended, shows as such.
pub fn trouble(node: &NodeVerdict, notes: &ClusterNotes) -> Option<&'static str> {
    let is_live = node.pods.iter().all(|pod| pod.state != PodState::Failed);
    let known = match node.unavailable.filter(|_| is_live)? {
        UnavailableCause::Crashing => Some("crashing"),
        // The kubelet has tried, and has failed: that is no progress.
        UnavailableCause::Pulling => Some("unable to pull its image"),
        UnavailableCause::Starting => None,
        _ => return None,
    };
    // A container that has been started again waits for nothing; one that can't be started has never run.
    let crashes = containers(node, notes).any(ContainerNotes::crashes).then_some("crashing");
    crashes.or_else(|| cannot_start(node, notes).map(|_| "unable to start")).or(known)
}

/// Why the kubelet can't start a container of the node's pod, other than for want of its image.
pub fn cannot_start<'n>(node: &NodeVerdict, notes: &'n ClusterNotes) -> Option<&'n Said> {
    containers(node, notes).filter_map(ContainerNotes::cannot_start).find(|said| !said.lacks_image())
}

/// Of the pods of the node that should be Ready.
fn containers<'n>(node: &NodeVerdict, notes: &'n ClusterNotes) -> impl Iterator<Item = &'n ContainerNotes> {
    let is_late =
        |pod: &&PodVerdict| matches!(pod.state, PodState::NotReady { .. } | PodState::Pending { .. });
    let late = node.pods.iter().filter(is_late).filter_map(|pod| notes.pod(&pod.pod.uid));
    late.flat_map(|pod| &pod.containers)
}

/// The effect first: keys may be long, and wrapped.
pub fn tainted(taint: &Taint) -> String {
    let equals = if taint.value.is_empty() { "" } else { "=" };
    format!("{} {}{equals}{}", taint.effect, taint.key, taint.value)
}

/// Updated or outdated, with the number of its revision; and on what evidence, where generation and hash don't agree.
pub fn class(pod: &PodVerdict, current: Option<i64>) -> String {
    let number = pod.revision.map(|number| format!(" #{number}")).unwrap_or_default();
    match pod.evidence {
        Evidence::TemplateGeneration if pod.revision == current => format!("updated{number}"),
        Evidence::TemplateGeneration if pod.revision.is_none() => "updated by generation".to_owned(),
        Evidence::TemplateGeneration => format!("updated by generation, hash{number}"),
        Evidence::CurrentRevision => format!("updated{number} by hash"),
        Evidence::OldRevision => format!("outdated{number}"),
        Evidence::UnknownRevision => "outdated, unknown hash".to_owned(),
        Evidence::NoHash => "outdated, no hash".to_owned(),
        other => format!("{other:?}{number}"),
    }
}

pub fn origin(origin: RevisionOrigin) -> String {
    match origin {
        RevisionOrigin::Kept => "current as before".to_owned(),
        RevisionOrigin::Created => "new: this plan creates it".to_owned(),
        RevisionOrigin::CurrentAgain => {
            "an older one that is current again: this plan renumbers it".to_owned()
        }
        other => format!("{other:?}"),
    }
}

pub fn creating(reason: CreateReason) -> String {
    match reason {
        CreateReason::MissingPod => "the node has none".to_owned(),
        CreateReason::Surge => "updated, beside the outdated one".to_owned(),
        CreateReason::PullImages => "it pulls the new images".to_owned(),
        other => format!("{other:?}"),
    }
}

/// `, rejected 3 times since 2026-01-01T12:00:00Z`; empty without rejections.
pub fn rejected(rejected: Option<Rejections>) -> String {
    rejected.map(|rejected| format!(", {rejected}")).unwrap_or_default()
}

pub fn claiming(reason: ClaimReason) -> String {
    match reason {
        ClaimReason::SelectorMatches => "it has no controller, and the selector matches".to_owned(),
        ClaimReason::SelectorNoLongerMatches => "the selector no longer matches".to_owned(),
        other => format!("{other:?}"),
    }
}

pub fn labelling(reason: LabelReason) -> String {
    match reason {
        LabelReason::HashMissing => "its hash label is missing".to_owned(),
        LabelReason::DuplicateRevision => "its revision goes as a duplicate".to_owned(),
        LabelReason::LabelsLost => "the current revision has lost them".to_owned(),
        other => format!("{other:?}"),
    }
}

pub fn revising(reason: RevisionReason) -> String {
    match reason {
        RevisionReason::NewTemplate => "no revision has the template".to_owned(),
        RevisionReason::CurrentAgain => "the current one must have the largest number".to_owned(),
        RevisionReason::Duplicate => "another one of the same content is kept".to_owned(),
        RevisionReason::HistoryLimit => "more than revisionHistoryLimit".to_owned(),
        other => format!("{other:?}"),
    }
}

pub fn writing_status(reason: StatusReason) -> String {
    match reason {
        StatusReason::Changed => "as it has changed".to_owned(),
        StatusReason::NameCollision => "as the new revision's name is taken, to try another".to_owned(),
        other => format!("{other:?}"),
    }
}

pub fn restoring(reason: RestoreReason) -> String {
    match reason {
        RestoreReason::RolledBack => "the new version has failed".to_owned(),
        other => format!("{other:?}"),
    }
}

pub fn waking(reason: RequeueReason) -> String {
    match reason {
        RequeueReason::Burst => "this plan is full, and more is due".to_owned(),
        RequeueReason::MinReadySeconds => "a Ready pod becomes available then".to_owned(),
        RequeueReason::BackOff => "a failed pod may be deleted then".to_owned(),
        RequeueReason::InFlightExpiry => "an accepted action that is not seen is given up then".to_owned(),
        RequeueReason::TerminationOverdue => "a terminating pod is overdue then".to_owned(),
        RequeueReason::WaveDone => "a wave has baked then".to_owned(),
        RequeueReason::FailureDue => "a node counts as failing then".to_owned(),
        RequeueReason::ProgressDeadline => "the progress deadline of the rollout passes then".to_owned(),
        RequeueReason::TurnOverdue => "gates are overdue then".to_owned(),
        RequeueReason::PullTimeout => "images are waited for no longer then".to_owned(),
        RequeueReason::UndoDue => "an undo of a failed version is due then, or counts no longer".to_owned(),
        RequeueReason::RetryDue => {
            "a pull or a change in place that was refused is tried again then".to_owned()
        }
        RequeueReason::InPlaceSettled => "a pod that was changed in its place counts again then".to_owned(),
        other => format!("{other:?}"),
    }
}

pub fn patching(reason: TurnReason) -> String {
    match reason {
        TurnReason::TurnBegins => "its turn begins".to_owned(),
        TurnReason::TurnEnds => "its turn ends".to_owned(),
        TurnReason::TurnLosesCordon => "a person has uncordoned it".to_owned(),
        other => format!("{other:?}"),
    }
}

pub fn deleting(reason: DeleteReason) -> String {
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
        DeleteReason::PullDone => "nobody waits for its images any more",
        other => return format!("{other:?}"),
    };
    text.to_owned()
}
