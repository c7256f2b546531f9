//! A call that the API server refuses.

use crate::case::Case;
use crate::cluster::Refusal;
use crate::stuck::change::last_change;
use crate::stuck::finding::acts;
use crate::words;
use daemonset::report::NodeVerdict;

impl Case<'_> {
    /// The last refusal, unless something was done after it.
    pub fn refusal(&self) -> Option<&Refusal> {
        let refusal = self.models.refusals.of(self.planned.daemon_set.metadata.uid.as_str())?;
        last_change(self).is_none_or(|at| at <= refusal.at).then_some(refusal)
    }

    /// The same for a node that the plan acts on.
    pub fn refusal_on(&self, node: &NodeVerdict) -> Option<&Refusal> {
        self.refusal().filter(|_| acts(node))
    }

    /// `the API server refuses it: Error creating: … (21 times, the last time 18s ago)`.
    pub fn refused(&self, refusal: &Refusal) -> String {
        let ago = words::duration(self.now.duration_since(refusal.at.min(self.now)));
        let times = match refusal.times {
            1 => "once".to_owned(),
            several => format!("{several} times, the last time"),
        };
        format!("the API server refuses it: {} ({times} {ago} ago)", refusal.said.message)
    }

    /// The commands that tell more of it: its events, and the thing that refuses, by the words of the API server.
    pub fn commands_of_refusal(&self, refusal: &Refusal) -> Vec<String> {
        let message = &refusal.said.message;
        let mut commands = vec![self.describe_daemon_set()];
        if message.contains("quota") {
            commands.push(self.get_quotas());
        }
        if message.contains("webhook") {
            commands.push(self.get_webhooks());
        }
        commands
    }
}
