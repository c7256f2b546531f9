//! The state of a pod and the outcome of a node, in a few words that fit a table.

use crate::cluster::{ClusterNotes, Input};
use crate::goal::GoalPhrase;
use crate::steered::{Steered, has_available};
use crate::{waiting, words};
use daemonset::Plan;
use daemonset::report::{NodeOutcome, NodePlacement, NodeVerdict, PodState, PodVerdict, Wait};
use jiff::{SignedDuration, Timestamp};

/// How much something wants to be seen; the first the most.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Attention {
    /// This plan does something.
    Acts,
    /// Something is wrong.
    Stuck,
    /// Something is on its way.
    Waits,
    /// A limit or a person decides when.
    Held,
    /// There is nothing to do.
    Calm,
}

/// Words, and the instant that they are about.
pub struct Phrase {
    pub what: String,
    pub urgency: Attention,
    at: Option<Timestamp>,
    joint: Joint,
}

/// How the instant follows the words.
#[derive(Clone, Copy)]
enum Joint {
    Space,
    Parentheses,
    Overdue,
}

/// The facts that choose the words.
#[derive(Clone, Copy)]
pub struct PhraseContext<'a> {
    /// Ages are counted from here.
    pub now: Timestamp,
    /// How long after Ready a pod is available.
    pub min_ready: SignedDuration,
    /// Number of the current revision.
    pub current: Option<i64>,
    /// The rollout that decides which version a node should have.
    pub steered: Option<Steered<'a>>,
    /// What the pods say of themselves.
    pub notes: &'a ClusterNotes,
}

impl<'a> PhraseContext<'a> {
    /// `plugin` are the words by which a person calls the plugin.
    pub fn new(input: &'a Input, plan: &'a Plan, plugin: &'a str) -> Self {
        let recording = &input.recording;
        PhraseContext {
            now: recording.now,
            min_ready: SignedDuration::from_secs(recording.daemon_set.spec.min_ready_seconds.into()),
            current: plan.report.current_revision.as_ref().map(|current| current.number),
            steered: Steered::of_input(input, plan, plugin),
            notes: &input.notes,
        }
    }
}

impl Phrase {
    fn new(urgency: Attention, what: impl Into<String>) -> Self {
        Phrase { what: what.into(), urgency, at: None, joint: Joint::Space }
    }

    fn at(self, at: Option<Timestamp>, joint: Joint) -> Self {
        Phrase { at, joint, ..self }
    }

    /// With how long it has been so, or will be.
    pub fn text(&self, now: Timestamp) -> String {
        Phrase::together(std::slice::from_ref(self), now)
    }

    /// Phrases of the same words in one, with the span of their times.
    pub fn together(phrases: &[Phrase], now: Timestamp) -> String {
        let Some(Phrase { what, joint, .. }) = phrases.first() else { return String::new() };
        let times = || phrases.iter().filter_map(|phrase| phrase.at);
        let (Some(first), Some(last)) = (times().min(), times().max()) else { return what.clone() };
        let span = words::span(first, last, now);
        match joint {
            Joint::Space => format!("{what} {span}"),
            Joint::Parentheses => format!("{what} ({span})"),
            Joint::Overdue => format!("{what} (overdue {span})"),
        }
    }
}

/// How a pod is, and since or until when.
pub fn state(pod: &PodVerdict, context: PhraseContext<'_>) -> Phrase {
    let state = pod.state;
    // Clocks differ: a state that is reached has lasted for at least 0 s.
    let past = |at: Timestamp| at.min(context.now);
    let is_unknown = context.notes.pod(&pod.pod.uid).is_some_and(|notes| notes.unknown.is_some());
    let words = if is_unknown && matches!(state, PodState::Pending { .. }) {
        "phase Unknown".to_owned()
    } else {
        state.to_string()
    };
    match state {
        PodState::Available { ready_since, .. } => {
            let since = ready_since.and_then(|ready| ready.checked_add(context.min_ready).ok());
            Phrase::new(Attention::Calm, words).at(since.map(past), Joint::Space)
        }
        PodState::Ready { available_at, .. } => {
            Phrase::new(Attention::Waits, "Ready, available").at(available_at, Joint::Space)
        }
        PodState::NotReady { since, .. } | PodState::Pending { since, .. } => {
            Phrase::new(Attention::Stuck, words).at(since.map(past), Joint::Space)
        }
        PodState::Terminating { overdue_at, .. } => {
            Phrase::new(Attention::Waits, words).at(overdue_at, Joint::Overdue)
        }
        PodState::Failed | PodState::Succeeded | _ => Phrase::new(Attention::Stuck, words),
    }
}

/// The next step of a node, or the reason why it waits.
pub fn outcome(node: &NodeVerdict, steered: Option<Steered<'_>>, notes: &ClusterNotes) -> Phrase {
    // Many nodes wait, and few need to know.
    let goal = || GoalPhrase::of(steered.as_ref(), node);
    let may_stay = matches!(node.placement, NodePlacement::ContinueOnly { .. }) && !node.pods.is_empty();
    let outcome = &node.outcome;
    let words = match outcome {
        NodeOutcome::UpToDate if !has_available(node) => "on the stable revision".to_owned(),
        NodeOutcome::NotTarget if may_stay => "left alone".to_owned(),
        NodeOutcome::NotTarget => "none wanted".to_owned(),
        NodeOutcome::Create { reason, rejected, .. } => {
            format!("CREATE: {}{}", goal().creating(*reason), words::rejected(*rejected))
        }
        NodeOutcome::Delete { reason, rejected, .. } => {
            format!("DELETE: {}{}", goal().deleting(*reason), words::rejected(*rejected))
        }
        NodeOutcome::UpdateInPlace { reason, rejected, .. } => {
            format!("CHANGE IN PLACE: {}{}", goal().deleting(*reason), words::rejected(*rejected))
        }
        NodeOutcome::TurnBegins => "BEGIN ITS TURN".to_owned(),
        NodeOutcome::Waits(Wait::Ready) => format!("{outcome}{}", trouble(node, notes)),
        // A person decides about a pod that is down, too.
        NodeOutcome::Waits(Wait::ManualDelete) => format!("{outcome:#}{}", trouble(node, notes)),
        outcome => format!("{outcome:#}"),
    };
    Phrase::new(urgency(outcome), words).at(outcome.instant(), joint(outcome))
}

/// `: crashing`, `: can't start: couldn't find key token in Secret logging/agent`.
fn trouble(node: &NodeVerdict, notes: &ClusterNotes) -> String {
    match (words::cannot_start(node, notes), words::trouble(node, notes)) {
        (Some(said), Some("unable to start")) if said.message.is_empty() => {
            format!(": can't start: {}", said.reason)
        }
        (Some(said), Some("unable to start")) => {
            format!(": can't start: {}", words::first_sentences(&said.message))
        }
        (_, Some(trouble)) => format!(": {trouble}"),
        (_, None) => String::new(),
    }
}

/// How much the next step of a node wants to be seen.
pub fn urgency(outcome: &NodeOutcome) -> Attention {
    match outcome {
        NodeOutcome::Create { .. }
        | NodeOutcome::Delete { .. }
        | NodeOutcome::UpdateInPlace { .. }
        | NodeOutcome::TurnBegins => Attention::Acts,
        NodeOutcome::UpToDate | NodeOutcome::NotTarget => Attention::Calm,
        NodeOutcome::Waits(wait) => waiting::urgency(wait),
    }
}

fn joint(outcome: &NodeOutcome) -> Joint {
    match outcome {
        NodeOutcome::Waits(Wait::Termination { .. }) => Joint::Overdue,
        _ => Joint::Parentheses,
    }
}
