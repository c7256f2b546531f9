//! The events of a rollout in people's words.

use super::events::RolloutEvent;
use daemonset::model::{DaemonSet, NodeName};
use daemonset::report::{CurrentRevision, RevisionOrigin, RolloutReport, RolloutStage, Warning};
use daemonset::{Action, EventType, Plan, RolloutReason};

/// Names that a message has at most.
const NAMES: usize = 5;

/// The rollout that the words are about.
pub(super) struct Words<'p> {
    pub(super) ds: &'p DaemonSet,
    pub(super) plan: &'p Plan,
    pub(super) rollout: &'p RolloutReport,
    pub(super) current: &'p CurrentRevision,
}

impl Words<'_> {
    /// A rollout that begins, or goes on after a pause.
    pub(super) fn started(&self) -> RolloutEvent {
        let is_new = self.current.origin != RevisionOrigin::Kept || self.rollout.updated == 0;
        let waves = match self.rollout.waves.len() {
            0 => String::new(),
            1 => ", in 1 wave".to_owned(),
            waves => format!(", in {waves} waves"),
        };
        match is_new {
            true => normal(
                "RolloutStarted",
                format!("The rollout of {} begins{waves}: {}", self.revision(), self.progress()),
            ),
            false => normal(
                "RolloutResumed",
                format!("The rollout of {} goes on: {}", self.revision(), self.progress()),
            ),
        }
    }

    pub(super) fn paused(&self) -> RolloutEvent {
        let message = format!(
            "The rollout of {} is paused: {}, and no further pod is replaced",
            self.revision(),
            self.progress()
        );
        normal("RolloutPaused", message)
    }

    pub(super) fn wave_opened(&self, wave: usize) -> RolloutEvent {
        let nodes: &[NodeName] = self.rollout.waves.get(wave).map_or(&[], |wave| &wave.nodes);
        normal("WaveOpened", format!("Wave {wave} of {} is open: {}", self.revision(), named_nodes(nodes)))
    }

    pub(super) fn waits_for_approval(&self, wave: usize) -> RolloutEvent {
        let (number, approved) = (self.current.number, wave + 1);
        let metadata = &self.ds.metadata;
        let message = format!(
            "Wave {wave} of {} waits for approval: kubectl annotate --overwrite -n {} daemonset {} \
             rollout.daemonset/approved={number}={approved}",
            self.revision(),
            metadata.namespace,
            metadata.name,
        );
        normal("WaveWaitsForApproval", message)
    }

    pub(super) fn failed(&self) -> RolloutEvent {
        let reason = match &self.rollout.stage {
            RolloutStage::Stopped { reason, .. } | RolloutStage::RolledBack { reason, .. } => reason.as_str(),
            _ => "",
        };
        let follows = match (&self.rollout.stage, &self.rollout.stable) {
            (RolloutStage::RolledBack { .. }, Some(stable)) => format!("All nodes go back to {stable}"),
            (_, Some(stable)) if self.is_undone() => format!("The template of {stable} comes back"),
            _ => match self.stays() {
                Some(why) => format!("No further pod is replaced, and {why}"),
                None => "No further pod is replaced".to_owned(),
            },
        };
        let message = format!(
            "{} has failed ({reason}): {}. {follows}",
            capitalized(&self.revision()),
            self.evidence()
        );
        warning("RolloutFailed", message)
    }

    /// Whether this plan begins the undo of the version.
    fn is_undone(&self) -> bool {
        self.plan.actions.iter().any(|action| {
            matches!(action, Action::AnnotateRevision { reason: RolloutReason::RolloutUndone, .. })
        })
    }

    /// Why a version that has failed is not taken back, though its policy asks for it.
    fn stays(&self) -> Option<String> {
        self.plan.warnings.iter().find_map(|warning| match warning {
            Warning::NothingToRollBackTo => Some("there is no earlier version to go back to".to_owned()),
            Warning::NotUndone { because, .. } => Some(format!("its template stays, since {because}")),
            _ => None,
        })
    }

    /// A person has removed the mark of the failure.
    pub(super) fn failure_taken_back(&self) -> RolloutEvent {
        let message = format!(
            "The rollout of {} goes on, since it no longer counts as failed: {}",
            self.revision(),
            self.progress()
        );
        normal("RolloutResumed", message)
    }

    pub(super) fn rolled_back(&self) -> RolloutEvent {
        let stable = self.rollout.stable.as_deref().unwrap_or("the version before");
        warning(
            "RolloutRolledBack",
            format!("All nodes are back on {stable}, since {} has failed", self.revision()),
        )
    }

    pub(super) fn completed(&self) -> RolloutEvent {
        let RolloutReport { nodes, updated, .. } = *self.rollout;
        let nodes = match nodes {
            // A fleet that no rollout is left in is settled, and some of its nodes may lack their pod.
            _ if updated < nodes => {
                let message =
                    format!("No node is left to update to {}: {}", self.revision(), self.progress());
                return normal("RolloutCompleted", message);
            }
            1 => "The only node has".to_owned(),
            _ => format!("All {nodes} nodes have"),
        };
        normal("RolloutCompleted", format!("{nodes} {}", self.revision()))
    }

    /// `revision 5 (agent-7f9c)`.
    fn revision(&self) -> String {
        format!("revision {} ({})", self.current.number, self.current.name)
    }

    fn progress(&self) -> String {
        let RolloutReport { nodes, updated, .. } = self.rollout;
        let has = if *updated == 1 { "has" } else { "have" };
        format!("{updated} of {nodes} nodes {has} it")
    }

    /// Why the version has failed.
    fn evidence(&self) -> String {
        let failing = &self.rollout.failing;
        if failing.is_empty() {
            let unavailable = self.plan.report.unavailable.to_string();
            let lack = if unavailable.is_empty() { String::new() } else { format!(" ({unavailable})") };
            return format!("{}{lack}", self.progress());
        }
        let shown: Vec<String> = failing
            .iter()
            .take(NAMES)
            .map(|failing| format!("{}: {}", failing.node, failing.evidence))
            .collect();
        let more = failing.len().saturating_sub(NAMES);
        let more = if more > 0 { format!(", and {more} more nodes") } else { String::new() };
        format!("{}{more}", shown.join(", "))
    }
}

fn normal(reason: &'static str, message: String) -> RolloutEvent {
    RolloutEvent { event_type: EventType::Normal, reason, message }
}

fn warning(reason: &'static str, message: String) -> RolloutEvent {
    RolloutEvent { event_type: EventType::Warning, reason, message }
}

/// `2 nodes (node-1, node-2)`; names after the fifth are counted.
fn named_nodes(nodes: &[NodeName]) -> String {
    let shown: Vec<String> = nodes.iter().take(NAMES).map(ToString::to_string).collect();
    let names = match nodes.len().saturating_sub(NAMES) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    };
    match nodes.len() {
        0 => "no nodes".to_owned(),
        1 => format!("1 node ({names})"),
        nodes => format!("{nodes} nodes ({names})"),
    }
}

/// The first letter in upper case.
fn capitalized(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_names_five_nodes_and_counts_the_others() {
        let nodes: Vec<NodeName> = (0..7).map(|n| format!("n{n}").as_str().into()).collect();
        let texts = [0, 1, 5, 7].map(|count| named_nodes(&nodes[..count]));
        let five = "n0, n1, n2, n3, n4";
        assert_eq!(
            texts,
            [
                "no nodes".to_owned(),
                "1 node (n0)".to_owned(),
                format!("5 nodes ({five})"),
                format!("7 nodes ({five} and 2 more)"),
            ]
        );
    }
}
