//! The state that is kept for one DaemonSet between two reconciles.

use crate::caches::{Caches, Key};
use crate::change_log::{Entries, LogPosition, Shown};
use crate::output::Output;
use crate::rollout::Rollout;
use crate::rollout::events::RolloutEvent;
use crate::rollout::policy::TurnsOf;
use crate::turns::Free;
use crate::turns::story::TurnStory;
use crate::turns::whole_pods::WholePods;
use daemonset::model::{DaemonSet, NodeName, Uid};
use daemonset::{Action, ActionOutcome, Escaped, Plan, Policy, RevisionView, StatusReason};
use daemonset_executor::{Call, ExecuteError, InFlight};
use daemonset_incremental::{Auditor, Change, NeedsLists, Tracker};
use std::collections::{BTreeSet, HashMap};
use std::fmt::Write;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// The state that is kept for one DaemonSet between two reconciles.
#[derive(Debug)]
pub struct PerDaemonSet {
    /// The calls that were sent for it.
    pub in_flight: InFlight<Tracker>,
    /// Judges the plans of its tracker.
    pub auditor: Auditor,
    /// Its rollout, if a policy steers it.
    pub rollout: Rollout,
    /// The driver beside this controller, if the policy leaves the turns to it.
    pub(crate) turns_of: TurnsOf,
    /// The events about its turns.
    pub(crate) turn_story: TurnStory,
    /// Its pods that the cache keeps too lean for its policy.
    pub(crate) whole_pods: WholePods,
    /// The free resources of the nodes, if its policy asks for them.
    pub(crate) free: Free,
    /// The nodes whose free resources its tracker has not seen.
    free_changed: BTreeSet<NodeName>,
    /// When it left the cache; `None` while the cache has it.
    pub absent_since: Option<Instant>,
    /// How far its tracker has read the change log.
    position: LogPosition,
    /// The DaemonSet as its tracker has seen it last.
    last_seen: Option<Arc<DaemonSet>>,
    status_sent_at: Option<Instant>,
    /// How often in a row the API server has refused the status for good.
    status_refusals: u32,
    last_printed: String,
    /// The problems or warnings of the last plan.
    last_logged: Vec<String>,
    /// The refusals that are in the log, each with the time of the last one.
    logged_refusals: HashMap<String, Instant>,
}

/// A status that is refused again and again waits for about ten minutes, with the usual interval.
const MAX_DOUBLINGS: u32 = 10;
/// Refusals that are remembered. With more, the one that happened longest ago is forgotten: it would be logged again.
const MAX_REFUSALS: usize = 64;
/// A refusal that did not happen for this time is a new one, as its event is.
const REFUSAL_TTL: Duration = Duration::from_secs(3600);

impl PerDaemonSet {
    /// The state of a DaemonSet that was never reconciled.
    pub fn new(uid: Uid, policy: Policy) -> Self {
        PerDaemonSet {
            in_flight: InFlight::new(Tracker::new(uid, policy)),
            auditor: Auditor::default(),
            rollout: Rollout::default(),
            turns_of: TurnsOf::This,
            turn_story: TurnStory::default(),
            whole_pods: WholePods::default(),
            free: Free::default(),
            free_changed: BTreeSet::new(),
            absent_since: None,
            position: LogPosition::default(),
            last_seen: None,
            status_sent_at: None,
            status_refusals: 0,
            last_printed: String::new(),
            last_logged: Vec::new(),
            logged_refusals: HashMap::new(),
        }
    }

    /// The uid of the DaemonSet: another one may take its name.
    pub fn uid(&self) -> &Uid {
        self.in_flight.driver.uid()
    }

    /// Takes the free resources of the nodes as they are now. No change of a node tells its tracker of them.
    pub(crate) fn set_free(&mut self, free: Free) {
        let mut before = std::mem::replace(&mut self.free, free);
        for (node, free) in &self.free {
            if before.remove(node).is_none_or(|before| !Arc::ptr_eq(&before, free)) {
                self.free_changed.insert(node.clone());
            }
        }
        self.free_changed.extend(before.into_keys());
    }

    /// Applies the changes since the last time to its tracker.
    pub fn catch_up(&mut self, log: &Entries, caches: &Caches, ds: &Arc<DaemonSet>) {
        let tracker = &mut self.in_flight.driver;
        let shown = Shown { caches, whole_pods: &self.whole_pods, free: &self.free };
        log.catch_up(&mut self.position, tracker, shown, &Key::from(&**ds));
        for node in std::mem::take(&mut self.free_changed) {
            // Where a change does not suffice, the next plan asks for lists, too.
            let _: Result<(), NeedsLists> = shown.apply_node(node.as_str(), tracker);
        }
        for revision in self.rollout.written.refresh(|written| caches.revision(written)) {
            let _: Result<(), NeedsLists> = tracker.apply(Change::Revision(RevisionView::from(&*revision)));
        }
        if self.last_seen.as_ref().is_none_or(|seen| !Arc::ptr_eq(seen, ds)) {
            let _: Result<(), NeedsLists> = tracker.apply(Change::DaemonSet(ds));
            self.last_seen = Some(Arc::clone(ds));
        }
    }

    /// Takes the status update out of a plan if the last one was sent less than `interval` ago, which doubles with each refusal;
    /// then also returns the time after which it may be sent.
    pub fn defer_status(
        &self,
        mut actions: Vec<Action>,
        interval: Duration,
    ) -> (Vec<Action>, Option<Duration>) {
        let Some(sent_at) = self.status_sent_at else { return (actions, None) };
        let interval = interval.saturating_mul(1 << self.status_refusals.min(MAX_DOUBLINGS));
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

    /// The calls in flight, and the state that each call changes beside them.
    pub(crate) fn after_calls(&mut self) -> (&mut InFlight<Tracker>, AfterCall<'_>) {
        let PerDaemonSet { in_flight, rollout, status_refusals, .. } = self;
        (in_flight, AfterCall { rollout, status_refusals })
    }

    /// The messages that the last plan did not have, so that each is logged once.
    pub fn new_messages(&mut self, messages: Vec<String>) -> Vec<String> {
        let new = messages.iter().filter(|text| !self.last_logged.contains(text)).cloned().collect();
        self.last_logged = messages;
        new
    }

    /// Whether a refusal with this text is not in the log yet.
    pub fn is_new_refusal(&mut self, text: &str) -> bool {
        self.logged_refusals.retain(|_, last| last.elapsed() < REFUSAL_TTL);
        let is_new = self.logged_refusals.insert(text.to_owned(), Instant::now()).is_none();
        if self.logged_refusals.len() > MAX_REFUSALS {
            let oldest = self.logged_refusals.iter().min_by_key(|(_, last)| **last);
            if let Some(oldest) = oldest.map(|(text, _)| text.clone()) {
                self.logged_refusals.remove(&oldest);
            }
        }
        is_new
    }

    /// Prints a plan unless it reads like the last one.
    pub fn print(&mut self, key: &Key, plan: &Plan, output: &Output) {
        let text = plan_text(key, plan);
        if text != self.last_printed {
            output.write(&text);
            self.last_printed = text;
        }
    }
}

/// The state that a call changes beside those in flight.
pub(crate) struct AfterCall<'s> {
    rollout: &'s mut Rollout,
    status_refusals: &'s mut u32,
}

impl AfterCall<'_> {
    /// Keeps the effects of a call, and returns the event about the move of the rollout that it has written.
    pub(crate) fn call(&mut self, call: &Call<'_>) -> Option<RolloutEvent> {
        self.rollout.written.extend(call.marked.cloned());
        if matches!(call.action, Action::UpdateStatus { .. }) {
            match call.error {
                // The plan without it is a success, which ends the back-off of the queue: the status has one of its own.
                Some(ExecuteError::Refused(_) | ExecuteError::Forbidden(_)) => {
                    *self.status_refusals = self.status_refusals.saturating_add(1);
                }
                Some(_) => {}
                None => *self.status_refusals = 0,
            }
        }
        match call.outcome {
            ActionOutcome::Done => self.rollout.story.written(call.action),
            _ => None,
        }
    }
}

/// The collision count of a name collision is never deferred: nothing else can go on before it is stored.
fn is_deferrable(action: &Action) -> bool {
    matches!(action, Action::UpdateStatus { reason, .. } if *reason == StatusReason::Changed)
}

/// A plan, one line per action and per warning, whatever the names in them are.
fn plan_text(key: &Key, plan: &Plan) -> String {
    let mut text = String::new();
    let shown = plan.actions.iter().filter(|action| action.acts());
    let lines: Vec<String> = shown.map(ToString::to_string).collect();
    // Writing to a string can't fail.
    let _ = match lines.as_slice() {
        [] => writeln!(text, "{key}: nothing to do"),
        _ => writeln!(text, "{key}: {} actions", lines.len()),
    };
    for line in lines {
        let _ = writeln!(text, "  {}", Escaped(&line));
    }
    for warning in &plan.warnings {
        let _ = writeln!(text, "  warning: {}", Escaped(&warning.to_string()));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{from_value, json};
    use tokio::time::advance;

    #[test]
    fn a_plan_is_a_line_for_each_action_and_warning_whatever_the_names_are() {
        let [free, taken] = ["free\n\u{1b}[2J", "taken\n\u{1b}[2J"];
        let recording: daemonset::Recording = from_value(json!({
            "now": "2026-01-01T12:00:00Z",
            "daemonSet": {
                "metadata": {"name": "agent", "namespace": "ns", "uid": "u"},
                "spec": {
                    "selector": {"matchLabels": {"app": "agent"}},
                    "template": {"metadata": {"labels": {"app": "agent"}}},
                },
            },
            "nodes": [
                {"metadata": {"name": free}},
                {"metadata": {"name": taken}, "spec": {"taints": [{"key": "a", "effect": "NoSchedule"}]}},
            ],
            "memory": {"taken": {taken: {"uid": "gone", "at": "2026-01-01T11:30:00Z"}}},
        }))
        .unwrap();
        let plan = daemonset::plan(&recording.snapshot().unwrap());
        let text = plan_text(&Key { namespace: "ns".to_owned(), name: "agent".to_owned() }, &plan);
        assert!(text.contains(r"free\n\u{1b}[2J") && text.contains(r"taken\n\u{1b}[2J"), "{text:?}");
        let acts = plan.actions.iter().filter(|action| action.acts()).count();
        assert_eq!((text.lines().count(), text.contains('\u{1b}')), (1 + acts + plan.warnings.len(), false));
    }

    #[tokio::test(start_paused = true)]
    async fn a_refusal_is_logged_once_until_it_has_not_happened_for_an_hour() {
        let mut state = PerDaemonSet::new("u".into(), Policy::default());
        assert!(state.is_new_refusal("a"));
        for _ in 0..5 {
            advance(Duration::from_secs(3599)).await;
            assert!(!state.is_new_refusal("a"));
        }
        assert!(state.is_new_refusal("b"));
        advance(Duration::from_secs(3600)).await;
        assert!(state.is_new_refusal("a"));
    }

    #[tokio::test(start_paused = true)]
    async fn refusals_are_remembered_up_to_a_limit() {
        let mut state = PerDaemonSet::new("u".into(), Policy::default());
        for number in 0..1000 {
            advance(Duration::from_secs(1)).await;
            assert!(state.is_new_refusal(&number.to_string()));
        }
        assert_eq!(state.logged_refusals.len(), MAX_REFUSALS);
        assert!(!state.is_new_refusal("999") && state.is_new_refusal("0"));
    }
}
