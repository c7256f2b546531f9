//! The state that is kept for one DaemonSet between two reconciles.

use crate::caches::{Caches, Key};
use crate::change_log::{Entries, LogPosition};
use crate::in_flight::InFlight;
use crate::rollout::Rollout;
use daemonset::model::{DaemonSet, Uid};
use daemonset::{Action, Change, Plan, Policy, RevisionView, StatusReason};
use std::fmt::Write;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// The state that is kept for one DaemonSet between two reconciles.
#[derive(Debug, Clone)]
pub struct PerDaemonSet {
    /// The calls that were sent for it.
    pub in_flight: InFlight,
    /// Its rollout, if a policy steers it.
    pub rollout: Rollout,
    /// When it left the cache; `None` while the cache has it.
    pub absent_since: Option<Instant>,
    /// How far its reconciler has read the change log.
    position: LogPosition,
    /// The DaemonSet as its reconciler has seen it last.
    last_seen: Option<Arc<DaemonSet>>,
    status_sent_at: Option<Instant>,
    last_printed: String,
    /// The problems or warnings of the last plan.
    last_logged: Vec<String>,
}

impl PerDaemonSet {
    /// The state of a DaemonSet that was never reconciled.
    pub fn new(uid: Uid, policy: Policy) -> Self {
        PerDaemonSet {
            in_flight: InFlight::new(uid, policy),
            rollout: Rollout::default(),
            absent_since: None,
            position: LogPosition::default(),
            last_seen: None,
            status_sent_at: None,
            last_printed: String::new(),
            last_logged: Vec::new(),
        }
    }

    /// The uid of the DaemonSet: another one may take its name.
    pub fn uid(&self) -> &Uid {
        self.in_flight.reconciler.uid()
    }

    /// Applies the changes since the last time to its reconciler.
    pub fn catch_up(&mut self, log: &Entries, caches: &Caches, ds: &Arc<DaemonSet>) {
        let reconciler = &mut self.in_flight.reconciler;
        log.catch_up(&mut self.position, reconciler, caches, &ds.metadata.namespace);
        for revision in self.rollout.written.refresh(|written| caches.revision(written)) {
            reconciler.apply(Change::Revision(RevisionView::from(&*revision)));
        }
        if self.last_seen.as_ref().is_none_or(|seen| !Arc::ptr_eq(seen, ds)) {
            reconciler.apply(Change::DaemonSet(ds));
            self.last_seen = Some(Arc::clone(ds));
        }
    }

    /// Takes the status update out of a plan if the last one was sent less than `interval` ago; then also returns the time
    /// after which it may be sent.
    pub fn defer_status(
        &self,
        mut actions: Vec<Action>,
        interval: Duration,
    ) -> (Vec<Action>, Option<Duration>) {
        let Some(sent_at) = self.status_sent_at else { return (actions, None) };
        let wait = interval.saturating_sub(sent_at.elapsed());
        if wait.is_zero() || !actions.iter().any(is_deferrable) {
            return (actions, None);
        }
        actions.retain(|action| !is_deferrable(action));
        (actions, Some(wait))
    }

    /// Records that these actions were sent: if a status update is among them, the next one waits for an interval.
    pub fn sent(&mut self, actions: &[Action]) {
        if actions.iter().any(is_deferrable) {
            self.status_sent_at = Some(Instant::now());
        }
    }

    /// The messages that the last plan did not have, so that each is logged once.
    pub fn new_messages(&mut self, messages: Vec<String>) -> Vec<String> {
        let new = messages.iter().filter(|text| !self.last_logged.contains(text)).cloned().collect();
        self.last_logged = messages;
        new
    }

    /// Prints a plan unless it reads like the last one.
    pub fn print(&mut self, key: &Key, plan: &Plan) {
        let text = plan_text(key, plan);
        if text != self.last_printed {
            print!("{text}");
            self.last_printed = text;
        }
    }
}

/// The collision count of a name collision is never deferred: nothing else can go on before it is stored.
fn is_deferrable(action: &Action) -> bool {
    matches!(action, Action::UpdateStatus { reason, .. } if *reason == StatusReason::Changed)
}

/// A plan, one line per action and per warning.
fn plan_text(key: &Key, plan: &Plan) -> String {
    let mut text = String::new();
    let shown = plan.actions.iter().filter(|action| !matches!(action, Action::Requeue { .. }));
    let lines: Vec<String> = shown.map(ToString::to_string).collect();
    // Writing to a string can't fail.
    let _ = match lines.as_slice() {
        [] => writeln!(text, "{key}: nothing to do"),
        _ => writeln!(text, "{key}: {} actions", lines.len()),
    };
    for line in lines {
        let _ = writeln!(text, "  {line}");
    }
    for warning in &plan.warnings {
        let _ = writeln!(text, "  warning: {warning}");
    }
    text
}
