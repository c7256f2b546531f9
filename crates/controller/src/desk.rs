//! What is kept of one DaemonSet between two reconciles.

use crate::sent::Sent;
use crate::world::Key;
use daemonset::model::Uid;
use daemonset::{Action, Plan, StatusReason};
use std::time::Duration;
use tokio::time::Instant;

/// What is kept of one DaemonSet between two reconciles.
#[derive(Debug, Clone, Default)]
pub struct Desk {
    /// Of this DaemonSet: another one may have its name.
    pub uid: Uid,
    /// What was sent for it.
    pub sent: Sent,
    /// Since when it has no DaemonSet any more.
    pub left: Option<Instant>,
    status_written: Option<Instant>,
    printed: String,
    /// What was told last: problems that nothing is done for, or warnings.
    told: Vec<String>,
}

impl Desk {
    /// Nothing is known of this DaemonSet yet.
    pub fn of(uid: Uid) -> Self {
        Desk { uid, ..Desk::default() }
    }

    /// Without the status, where the last one was written less than an interval ago; and when it may be written then.
    pub fn paced(&self, mut actions: Vec<Action>, interval: Duration) -> (Vec<Action>, Option<Duration>) {
        let Some(written) = self.status_written else { return (actions, None) };
        let rest = interval.saturating_sub(written.elapsed());
        if rest.is_zero() || !actions.iter().any(is_status) {
            return (actions, None);
        }
        actions.retain(|action| !is_status(action));
        (actions, Some(rest))
    }

    /// These were sent; the next status waits for an interval if there was one.
    pub fn has_written(&mut self, actions: &[Action]) {
        if actions.iter().any(is_status) {
            self.status_written = Some(Instant::now());
        }
    }

    /// What has not been told yet of what there is to tell now.
    pub fn news(&mut self, now: Vec<String>) -> Vec<String> {
        let news = now.iter().filter(|text| !self.told.contains(text)).cloned().collect();
        self.told = now;
        news
    }

    /// Prints a plan, once.
    pub fn print(&mut self, key: &Key, plan: &Plan) {
        let text = crate::print::plan(key, plan);
        if text != self.printed {
            print!("{text}");
            self.printed = text;
        }
    }
}

fn is_status(action: &Action) -> bool {
    // A collision of names has to be told before anything else can go on.
    matches!(action, Action::UpdateStatus { reason, .. } if *reason == StatusReason::Changed)
}
