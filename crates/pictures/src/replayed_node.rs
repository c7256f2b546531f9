//! A node and its pods during the replay, and their state together.

use crate::pod_now::{Phase, PodNow};
use crate::row::{Span, State};
use crate::run::Revisions;
use daemonset::DeleteReason;
use daemonset_sim::PodIdentity;

/// From an instant on, in milliseconds since the start, a node is a target node or not.
pub type Targets = Vec<(i64, bool)>;

pub struct ReplayedNode<'a> {
    pub ready: bool,
    here: bool,
    targets: Targets,
    pods: Vec<PodNow<'a>>,
    /// The end of the last span.
    known_until: i64,
    pub spans: Vec<Span>,
}

impl<'a> ReplayedNode<'a> {
    pub fn new(t: i64, targets: Targets) -> Self {
        ReplayedNode { ready: true, here: true, targets, pods: Vec::new(), known_until: t, spans: Vec::new() }
    }

    pub fn join(&mut self, ready: bool) {
        self.here = true;
        self.ready = ready;
    }

    pub fn leave(&mut self) {
        self.here = false;
        self.pods.clear();
    }

    pub fn create(&mut self, identity: &'a PodIdentity) {
        self.pods.push(PodNow { identity, phase: Phase::Pending, leaving: None });
    }

    pub fn terminate(&mut self, pod: &PodIdentity, reason: Option<DeleteReason>) {
        if let Some(it) = self.pods.iter_mut().find(|it| it.identity.uid == pod.uid) {
            it.leaving = Some(reason);
        }
    }

    /// The pod has another revision from now on, and is not Ready before its new containers are.
    pub fn change(&mut self, identity: &'a PodIdentity, reason: Option<DeleteReason>) {
        if let Some(it) = self.pods.iter_mut().find(|it| it.identity.uid == identity.uid) {
            (it.identity, it.phase) = (identity, Phase::Changing(reason));
        }
    }

    pub fn forget(&mut self, pod: &PodIdentity) {
        self.pods.retain(|it| it.identity.uid != pod.uid);
    }

    pub fn turn(&mut self, pod: &PodIdentity, phase: Phase) {
        if let Some(it) = self.pods.iter_mut().find(|it| it.identity.uid == pod.uid) {
            it.phase = phase;
        }
    }

    /// Adds the spans up to `t`.
    pub fn advance(&mut self, t: i64, min_ready: i64, revisions: &Revisions<'_>) {
        while self.known_until < t {
            let ripe = self.pods.iter().filter_map(|pod| pod.available_at(min_ready));
            let turns = self.targets.iter().map(|(since, _)| *since);
            let next = ripe.chain(turns).filter(|at| *at > self.known_until).min().map_or(t, |at| at.min(t));
            let from = self.known_until;
            self.known_until = next;
            if self.here && next > 0 {
                let span = self.span(from, next, min_ready, revisions);
                push(&mut self.spans, Span { from: from.max(0), ..span });
            }
        }
    }

    fn is_target(&self, t: i64) -> bool {
        let known = self.targets.partition_point(|(since, _)| *since <= t);
        known.checked_sub(1).and_then(|last| self.targets.get(last)).is_some_and(|(_, target)| *target)
    }

    fn span(&self, from: i64, to: i64, min_ready: i64, revisions: &Revisions<'_>) -> Span {
        let best = self.pods.iter().min_by_key(|pod| pod.rank(from, min_ready));
        let available = self.pods.iter().any(|pod| pod.is_available(from, min_ready));
        let unfinished =
            self.pods.iter().filter(|pod| !matches!(pod.phase, Phase::Failed(_)) || pod.leaving.is_some());
        let surging = unfinished.count() > 1;
        let target = self.is_target(from);
        let revision = best.map(|pod| revisions.position(&pod.identity.revision));
        let state = match best {
            None if !target => State::Idle,
            _ if !self.ready => State::NodeUnready,
            None => State::NoPod,
            Some(_) if available && surging => State::Surging,
            Some(pod) => pod.state(from, min_ready, revisions),
        };
        let in_words = |pod: &PodNow<'_>| pod.in_words(from, min_ready);
        let words: Vec<String> = self.pods.iter().map(in_words).collect();
        let pods = self.pods.iter().map(|pod| pod.identity.pod.clone()).collect();
        Span { from, to, state, target, available, surging, pods, revision, words: words.join("; ") }
    }
}

/// Adds a span, or makes the last one longer where nothing is new.
fn push(spans: &mut Vec<Span>, span: Span) {
    match spans.last_mut() {
        Some(last) if last.to == span.from && same(last, &span) => last.to = span.to,
        Some(_) | None => spans.push(span),
    }
}

fn same(one: &Span, other: &Span) -> bool {
    (one.state, one.target, one.available, one.surging)
        == (other.state, other.target, other.available, other.surging)
        && (&one.pods, &one.words) == (&other.pods, &other.words)
}
