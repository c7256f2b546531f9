//! A model of the choices of Kubernetes' own controller, including its known bugs (v1.36 `pkg/controller/daemon`).
//!
//! Claims, history, placements and manifests are those of the crate's own plan. Where Go's random map order decides,
//! the model uses the order of node names.

mod expectations;
mod facts;
mod node_sync;
mod rolling_update;
mod status;

pub use expectations::Expectations;

use daemonset::{Action, CreateReason, DeleteReason, EventReason, EventType, Failure, RequeueReason};
use daemonset::{Recording, model::Pod};
use facts::{CleansUp, Facts};
use jiff::{SignedDuration, Timestamp};
use std::collections::BTreeSet;

/// The creates and deletes of one call of `syncNodes`; a burst caps each list.
const BURST: usize = 250;

/// The requests of one part of a sync.
#[derive(Default)]
struct Wish<'r> {
    deletes: Vec<Deletion<'r>>,
    creates: Vec<(&'r str, CreateReason)>,
    /// The end of a failed pod's back-off.
    retry_at: Option<Timestamp>,
}

struct Deletion<'r> {
    pod: &'r Pod,
    reason: DeleteReason,
    failure: Option<Failure>,
}

impl<'r> Wish<'r> {
    fn delete(&mut self, pod: &'r Pod, reason: DeleteReason) {
        self.deletes.push(Deletion { pod, reason, failure: None });
    }

    fn capped(mut self) -> Self {
        self.deletes.truncate(BURST);
        self.creates.truncate(BURST);
        self
    }
}

/// One sync on the objects of the caches. Without expectations the second part of the sync sees the effects of the
/// first part, although the caches do not show them.
///
/// Empty if the crate refuses the recording.
pub fn upstream(recording: &Recording, expectations: Option<&mut Expectations>) -> Vec<Action> {
    let Some(facts) = Facts::of(recording) else { return Vec::new() };
    if facts.is_left_alone() {
        return facts.plan.actions;
    }
    let mut actions = facts.claims_and_history();
    let mut unheeded = Expectations::default();
    let heeds = expectations.is_some();
    let expected = expectations.unwrap_or(&mut unheeded);
    if !expected.satisfied(facts.now) {
        actions.extend(facts.cleanup(CleansUp::DuplicatesOnly));
        actions.extend(status::update(&facts, status::Generation::AsWritten));
        let at = facts.now + SignedDuration::from_mins(5);
        actions.push(Action::requeue(at, RequeueReason::InFlightExpiry));
        return actions;
    }
    let manage = node_sync::wish(&facts).capped();
    expected.set(manage.creates.len(), manage.deletes.len(), facts.now);
    let update = if heeds && !expected.satisfied(facts.now) {
        Some(Wish::default())
    } else {
        let update = rolling_update::wish(&facts).map(Wish::capped);
        if let Some(update) = &update {
            expected.set(update.creates.len(), update.deletes.len(), facts.now);
        }
        update
    };
    let cleans_up = if update.is_some() { CleansUp::All } else { CleansUp::DuplicatesOnly };
    carry_out(&facts, &manage, &update.unwrap_or_default(), &mut actions);
    actions.extend(facts.cleanup(cleans_up));
    actions.extend(status::update(&facts, status::Generation::Observed));
    actions.extend(events(&facts, &manage));
    let retry = manage.retry_at.map(|at| (at, RequeueReason::BackOff));
    let young = status::resync_at(&facts).map(|at| (at, RequeueReason::MinReadySeconds));
    let next = retry.into_iter().chain(young).min();
    actions.extend(next.map(|(at, reason)| Action::requeue(at, reason)));
    actions
}

/// Deletes, then creates. If both parts of a sync request the same deletion, the second request finds no pod.
fn carry_out(facts: &Facts<'_>, manage: &Wish<'_>, update: &Wish<'_>, actions: &mut Vec<Action>) {
    let mut seen = BTreeSet::new();
    for Deletion { pod, reason, failure } in manage.deletes.iter().chain(&update.deletes) {
        if seen.insert(pod.metadata.uid.as_str()) {
            let node = Facts::target(pod).unwrap_or_default().into();
            let pod = facts.object_ref(pod);
            actions.push(match *failure {
                Some(failure) => Action::delete_failed_pod(node, pod, *reason, failure),
                None => Action::delete_pod(node, pod, *reason),
            });
        }
    }
    let creates = manage.creates.iter().chain(&update.creates);
    for (position, (node, reason)) in creates.enumerate() {
        let batch = (position + 1).ilog2();
        let Some(pod) = facts.manifests.get(*node).cloned() else { continue };
        actions.push(Action::create_pod((*node).into(), batch, *reason, pod));
    }
}

fn events(facts: &Facts<'_>, manage: &Wish<'_>) -> Vec<Action> {
    let event = |(event_type, reason): (EventType, EventReason)| {
        Action::record_event((&facts.recording.daemon_set).into(), event_type, reason, "")
    };
    let finished = manage.deletes.iter().filter_map(|deletion| match deletion.reason {
        DeleteReason::FailedPod => Some((EventType::Warning, EventReason::FailedDaemonPod)),
        DeleteReason::SucceededPod => Some((EventType::Normal, EventReason::SucceededDaemonPod)),
        _ => None,
    });
    finished.map(event).collect()
}
