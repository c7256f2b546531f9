//! An action of ours that they were not seen to do.

use super::deliberate;
use super::verdict::{Finding, Verdict};
use super::waiting::verdict;
use super::words;
use daemonset::{Action, DeleteReason, Plan};
use std::time::Duration;

/// An action of ours that they were not seen to do so far.
#[derive(Debug)]
pub(super) struct Standing {
    pub(super) action: Action,
    pub(super) since: Duration,
    pub(super) told: bool,
}

impl Standing {
    /// It stood for the whole grace time.
    pub(super) fn finding(&self, daemon_set: &str, plan: &Plan, grace: Duration) -> Finding {
        let node = match &self.action {
            Action::CreatePod { node, .. } | Action::DeletePod { node, .. } => Some(node),
            _ => None,
        };
        let on = verdict(plan, node);
        let verdict = on.map(|on| format!(", {}", words::verdict(on))).unwrap_or_default();
        let why = format!("we for {} s: {}{verdict}", grace.as_secs(), words::reason(&self.action));
        let hint = match &self.action {
            Action::DeletePod { reason: DeleteReason::FailedPod, .. } => {
                "; they may back off for failures from before this process began"
            }
            _ => "",
        };
        let (verdict, why) = match on.and_then(|on| deliberate::ours(&self.action, on, plan)) {
            Some(name) => (Verdict::Deliberate, format!("[{name}] {why}{hint}")),
            None => (Verdict::WeOnly, format!("{why}{hint}")),
        };
        Finding { verdict, daemon_set: daemon_set.to_owned(), what: words::action(&self.action), why }
    }
}
