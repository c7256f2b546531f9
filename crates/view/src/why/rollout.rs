//! The rollout of a node in sentences: the wave that it belongs to, and the step that opens it.

use crate::case::Case;
use crate::cluster::policy::APPROVED;
use crate::steered::{Steered, has_available};
use crate::words;
use daemonset::report::{HoldReason, NodeOutcome, NodeVerdict, RolloutStage, Wait, WaveProgress};
use jiff::Timestamp;
use std::collections::BTreeSet;

/// Names at most so many nodes.
const MOST_NAMES: usize = 5;

impl Case<'_> {
    pub fn steered(&self) -> Option<Steered<'_>> {
        let steered = self.planned.steered(self.plan, self.now, self.plugin)?;
        Some(steered.connected(self.connection).among(&self.models.revisions))
    }

    /// Why the rollout has not reached a node, and the step that it waits for.
    pub(crate) fn held_by_rollout(&self, node: &NodeVerdict, because: &HoldReason) -> String {
        let Some(steered) = self.steered() else { return format!("It {because}.") };
        let keeps = "The rollout has not reached it: it keeps the old version.";
        match because {
            HoldReason::Wave { wave, next, progress, opens_at, .. } => {
                let wait = ClosedWave { wave: *wave, next: *next, progress: *progress, opens_at: *opens_at };
                format!("{keeps} It belongs to wave {wave}{}", self.opens(&steered, &wait))
            }
            HoldReason::NoWave => format!(
                "{keeps} It belongs to no wave, so this is for good: a wave that selects it, or a larger upTo, would reach it."
            ),
            HoldReason::Outside => format!(
                "{keeps} By the new template it does not take part, so it follows when all nodes that do are released."
            ),
            HoldReason::Paused if steered.lacks_on_delete() => {
                format!("The rollout {}.", steered.while_invalid())
            }
            HoldReason::Paused if steered.invalid().is_some() => {
                format!("{keeps} The rollout counts as paused until its policy is repaired.")
            }
            HoldReason::Paused => format!(
                "{keeps}{} The rollout is paused: {} lets it go on.",
                wave_of(&steered, node),
                steered.resume().join(", and ")
            ),
            HoldReason::Stopped { reason, .. } if steered.is_undone() => format!(
                "{keeps}{} The new version has failed ({reason}), and the template before it comes back.",
                wave_of(&steered, node)
            ),
            HoldReason::Stopped { reason, .. } => format!(
                "{keeps}{} The new version has failed ({reason}), so that no further node gets it{}",
                wave_of(&steered, node),
                retry(&steered)
            ),
            other => format!("{keeps} It {other}."),
        }
    }

    /// `. Wave 2 waits for approval: …`
    fn opens(&self, steered: &Steered<'_>, wait: &ClosedWave) -> String {
        let ClosedWave { wave, next, .. } = *wait;
        let order = if wave == next { String::new() } else { format!(", and wave {next} opens before it") };
        let approve = |wave: u32| steered.approve(wave as usize);
        let needs_approval = |wave: u32| steered.needs_approval(wave as usize);
        let step = match (wait.progress, wait.opens_at) {
            (WaveProgress::WaitsForApproval, _) => {
                format!("Wave {next} waits for approval: {} tells how to give it.", approve(next))
            }
            (_, Some(at)) => {
                format!("Wave {next} opens {}, when {} has baked.", self.at(at), before(next))
            }
            (_, None) => {
                let lack = self.lack(steered);
                let approval = if needs_approval(next) {
                    format!(", and then for approval: {} tells how to give it in advance", approve(next))
                } else {
                    String::new()
                };
                format!("Wave {next} waits until {} is done{lack}{approval}.", before(next))
            }
        };
        let later: Vec<u32> = (next.saturating_add(1)..=wave).filter(|wave| needs_approval(*wave)).collect();
        let later = match later.last() {
            None => String::new(),
            Some(last) => format!(
                " Wave{} {} need{} approval, too: {} tells how to give it in advance.",
                if later.len() == 1 { "" } else { "s" },
                words::names(&later, MOST_NAMES),
                if later.len() == 1 { "s" } else { "" },
                approve(*last)
            ),
        };
        format!("{order}. {step}{later}")
    }

    /// ` (b, c have no available updated pod yet)`, or the end of the baking.
    fn lack(&self, steered: &Steered<'_>) -> String {
        let mut open = steered.report.waves.iter().enumerate().filter(|(index, _)| steered.is_open(*index));
        let nodes: BTreeSet<&str> =
            open.clone().flat_map(|(_, wave)| wave.nodes.iter()).map(|node| node.as_str()).collect();
        if let Some(WaveProgress::Baking { until, .. }) = open.next_back().map(|(_, wave)| wave.progress) {
            return format!(" (baking until {until}, {})", words::relative(until, self.now));
        }
        let lacks = |node: &&NodeVerdict| nodes.contains(node.node.as_str()) && !has_available(node);
        let lacking: Vec<&str> =
            self.plan.report.nodes.iter().filter(lacks).map(|node| node.node.as_str()).collect();
        let have = if lacking.len() == 1 { "has" } else { "have" };
        match lacking.as_slice() {
            [] => String::new(),
            nodes => format!(" ({} {have} no available updated pod yet)", words::names(nodes, MOST_NAMES)),
        }
    }

    /// For a node that the rollout has reached, or takes back.
    pub(super) fn reached_by_rollout(&self, node: &NodeVerdict) -> Option<String> {
        let steered = self.steered()?;
        let mut sentences = Vec::new();
        if let Some(failing) = steered.report.failing.iter().find(|failing| failing.node == node.node) {
            let evidence = words::failure(&failing.evidence, self.now);
            sentences.push(format!("The node counts as failing under the new version: {evidence}."));
        }
        let is_held = matches!(node.outcome, NodeOutcome::Waits(Wait::Rollout { .. }));
        let wave = steered.first_wave(node);
        match (&steered.report.stage, wave) {
            (RolloutStage::RolledBack { reason, .. }, _) => {
                let stable = steered.report.stable.as_deref().unwrap_or_default();
                sentences.push(format!(
                    "The new version has failed ({reason}), so that every node goes back to {stable}{}",
                    retry(&steered)
                ));
            }
            (RolloutStage::Complete, _) | (_, None) => {}
            (_, Some((index, _))) if is_held || !steered.is_open(index) => {}
            (_, Some((index, progress))) => {
                sentences.push(format!(
                    "It belongs to wave {index}, which is {}.",
                    steered.state(index, progress)
                ));
            }
        }
        Some(sentences.join(" ")).filter(|text| !text.is_empty())
    }

    /// The approval of another revision, which opens nothing: `: annotation … approves revision 1, and the current one is 2`.
    pub fn approval_of_another(&self) -> Option<String> {
        let text = self.planned.daemon_set.metadata.annotations.get(APPROVED)?;
        let (of, current) = (text.split_once('=')?.0.trim(), self.steered()?.number()?);
        let other =
            format!(": annotation {APPROVED} approves revision {of}, and the current one is {current}");
        (of != current.to_string()).then_some(other)
    }

    /// The problems of a policy that can't be read.
    pub(super) fn unreadable_policy(&self) -> Option<String> {
        let problems = self.steered()?.invalid()?;
        Some(format!("The policy of the rollout is invalid: {problems}."))
    }
}

/// A wave that is not open, and the one that opens next.
struct ClosedWave {
    /// The first wave of the node.
    wave: u32,
    /// The wave that opens next.
    next: u32,
    progress: WaveProgress,
    opens_at: Option<Timestamp>,
}

/// `wave 1`
fn before(wave: u32) -> String {
    match wave.checked_sub(1) {
        Some(before) => format!("wave {before}"),
        None => "the rollout before it".to_owned(),
    }
}

/// ` It belongs to wave 2.`
fn wave_of(steered: &Steered<'_>, node: &NodeVerdict) -> String {
    match steered.first_wave(node) {
        Some((index, _)) => format!(" It belongs to wave {index}."),
        None => String::new(),
    }
}

/// The end of a sentence about a version that has failed.
fn retry(steered: &Steered<'_>) -> String {
    match steered.retry() {
        Some(command) => {
            format!(": a new template is a new start, and {command} gives this one another chance.")
        }
        None => ".".to_owned(),
    }
}
