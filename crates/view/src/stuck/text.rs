//! The answer for a person: one line about the rollout, then its obstacles, its waits, and the commands to run next.

use crate::case::Case;
use crate::plan::next;
use crate::stuck::StuckAnswer;
use crate::stuck::finding::Ends;
use crate::words::{count, labelled};
use daemonset::outlook::RolloutState;

impl StuckAnswer<'_> {
    pub fn text(&self, case: &Case<'_>) -> String {
        let mut text = format!("{}: {}\n", self.name, self.headline());
        let mut lines = Vec::new();
        for (ends, label) in [(Ends::Somebody, "Cause"), (Ends::Time, "Waiting"), (Ends::Others, "Held")] {
            let found = self.findings.iter().filter(|finding| finding.ends == ends);
            lines.extend(labelled(label, found.map(|finding| finding.line())));
        }
        // Some DaemonSets are meant for nodes that a cluster does not have: this is no obstacle.
        lines.extend(case.without_targets().map(|text| ("Nodes", text)));
        if case.plan.acts() && !self.is_stuck() && !case.namespace_ends() {
            lines.push(("Now", case.plan.summary()));
        }
        if case.plan.requeue().is_some() {
            lines.push(("Next", next(case.plan, case.now)));
        }
        lines.extend(labelled("Run", self.commands.iter().cloned()));
        for (label, content) in lines {
            text.push_str(&format!("{label:<11}{content}\n"));
        }
        text
    }

    /// Whether it moves, in one line.
    pub fn headline(&self) -> String {
        let outlook = &self.outlook;
        let outdated = match outlook.outdated {
            0 => "no node has an outdated pod".to_owned(),
            1 => "1 node has an outdated pod".to_owned(),
            several => format!("{several} nodes have an outdated pod"),
        };
        let left = match outlook.rounds_left.filter(|_| self.is_rollout) {
            None => outdated.clone(),
            Some(0) => format!("{outdated}, no round is left"),
            Some(rounds) => format!("{outdated}, about {} left", count(rounds as usize, "round")),
        };
        match &outlook.state {
            RolloutState::Complete => format!("complete: {outdated}"),
            RolloutState::Moving { acting, waiting, .. } => {
                let parts = [(*acting, "to act on"), (*waiting, "to wait for")];
                let parts = parts.into_iter().filter(|(nodes, _)| *nodes > 0);
                let parts = parts.map(|(nodes, what)| format!("{} {what}", count(nodes as usize, "node")));
                let parts = parts.chain([left]).collect::<Vec<_>>();
                format!("moves: {}", parts.join(", "))
            }
            RolloutState::Stuck { .. } => {
                format!("stuck: nothing moves until somebody does something; {left}")
            }
            other => format!("{other:?}; {left}"),
        }
    }
}
