//! A rollout that a policy steers, in words: its stage, its waves, the step that each waits for, and the evidence of a
//! failure.

use crate::cause::{edit_of, quoted, stable_to_name, undo_of};
use crate::cluster::Input;
use crate::cluster::policy::{self, AnnotationProblem, PAUSED};
use crate::words::{self, count, labelled};
use daemonset::internal::steering::EXTERNAL_CONTROLLER;
use daemonset::model::{ControllerRevision, DaemonSet};
use daemonset::policy::{FailureAction, RolloutPolicy};
use daemonset::report::{
    HoldReason, NodeOutcome, NodePlacement, NodeVerdict, NotUndoneReason, PodState, RolloutReport,
    RolloutStage, Wait, Warning, WaveProgress,
};
use daemonset::{Plan, Policy};
use jiff::Timestamp;
use serde::Serialize;
use std::collections::BTreeSet;

/// The rollout of a plan, with its policy.
#[derive(Clone, Copy)]
pub struct Steered<'a> {
    daemon_set: &'a DaemonSet,
    mark_prefix: &'a str,
    /// Why it counts as paused, where its policy can't be read.
    problems: &'a [AnnotationProblem],
    pub policy: &'a RolloutPolicy,
    pub plan: &'a Plan,
    pub report: &'a RolloutReport,
    now: Timestamp,
    /// The words by which a person calls the plugin.
    plugin: &'a str,
    /// The flags by which kubectl finds the cluster, each after a space.
    connection: &'a str,
    /// The revisions of its namespace.
    revisions: &'a [ControllerRevision],
}

/// A wave with its figures.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WaveLine {
    /// From 0.
    pub index: usize,
    pub nodes: usize,
    /// Nodes with a live updated pod.
    pub updated: u32,
    /// Nodes with an available updated pod.
    pub available: u32,
    pub progress: WaveProgress,
    /// It opens only once it is approved, and it is not.
    pub needs_approval: bool,
}

impl<'a> Steered<'a> {
    /// `None` if the policy steers no rollout, or the plan stops before it.
    pub fn new(
        daemon_set: &'a DaemonSet,
        policy: &'a Policy,
        problems: &'a [AnnotationProblem],
        plan: &'a Plan,
        now: Timestamp,
        plugin: &'a str,
    ) -> Option<Self> {
        let (rollout, report) = policy.rollout.as_ref().zip(plan.report.rollout.as_ref())?;
        let mark_prefix = &policy.mark_prefix;
        Some(Steered {
            daemon_set,
            mark_prefix,
            problems,
            policy: rollout,
            plan,
            report,
            now,
            plugin,
            connection: "",
            revisions: &[],
        })
    }

    /// The same, which knows these revisions.
    pub fn among(self, revisions: &'a [ControllerRevision]) -> Self {
        Steered { revisions, ..self }
    }

    /// The same, whose commands find the cluster by these flags, each after a space.
    pub fn connected(self, connection: &'a str) -> Self {
        Steered { connection, ..self }
    }

    /// The rollout of the DaemonSet of an input.
    pub fn of_input(input: &'a Input, plan: &'a Plan, plugin: &'a str) -> Option<Self> {
        let Input { recording, policy_problems, .. } = input;
        let steered = Steered::new(
            &recording.daemon_set,
            &recording.policy,
            policy_problems,
            plan,
            recording.now,
            plugin,
        );
        steered.map(|steered| steered.among(&recording.revisions))
    }

    /// The problems of its policy, where there are any.
    pub fn invalid(&self) -> Option<String> {
        (!self.problems.is_empty()).then(|| policy::in_words(self.problems, None))
    }

    /// Whether a policy that is to drive the update is invalid since Kubernetes' own controller, which reads no policy, still updates.
    pub fn lacks_on_delete(&self) -> bool {
        let is_its_own = !matches!(self.daemon_set.spec.update_strategy.kind.as_str(), "" | "OnDelete");
        is_its_own
            && self
                .problems
                .iter()
                .any(|problem| EXTERNAL_CONTROLLER.contains(&problem.problem.path.as_str()))
    }

    /// The meaning of a policy that is invalid.
    pub fn while_invalid(&self) -> &'static str {
        match self.lacks_on_delete() {
            true => {
                "has no effect, and Kubernetes' own controller updates all nodes, since its policy is invalid"
            }
            false => "counts as paused, since its policy is invalid",
        }
    }

    /// Whether every node that takes part has the new version, and an available pod. A rollout that is over may have lost that since: a
    /// node joins, a pod fails, or the version is one that was complete before and comes back in place of a failed one.
    pub fn is_complete(&self) -> bool {
        self.report.updated >= self.report.nodes && self.unavailable() == 0
    }

    fn unavailable(&self) -> u32 {
        self.plan.report.budget.map_or(0, |budget| budget.unavailable)
    }

    /// The number of the current revision after this plan, by which waves are approved.
    pub fn number(&self) -> Option<i64> {
        self.plan.report.current_revision.as_ref().map(|current| current.number)
    }

    /// How many waves are approved.
    pub fn approved(&self) -> u32 {
        self.number().and_then(|number| self.policy.approved.get(&number)).copied().unwrap_or(0)
    }

    /// Whether the wave must be approved before it opens, and is not.
    pub fn needs_approval(&self, wave: usize) -> bool {
        let asked = self.policy.waves.get(wave).is_some_and(|wave| wave.needs_approval);
        asked && self.approved() as usize <= wave
    }

    /// Whether its nodes may have the new version.
    pub fn is_open(&self, wave: usize) -> bool {
        self.report.waves.get(wave).is_some_and(|wave| match wave.progress {
            WaveProgress::Updating | WaveProgress::Baking { .. } | WaveProgress::Done => true,
            WaveProgress::WaitsForWaveBefore | WaveProgress::WaitsForApproval | WaveProgress::Stopped | _ => {
                false
            }
        })
    }

    /// The first wave that is not open.
    pub fn next_wave(&self) -> Option<usize> {
        (0..self.report.waves.len()).find(|wave| !self.is_open(*wave))
    }

    /// The wave that would open now, but for its approval.
    pub fn waits_for_approval(&self) -> Option<usize> {
        let next = self.next_wave()?;
        let is_due = match self.report.waves.get(next)?.progress {
            WaveProgress::WaitsForApproval | WaveProgress::Stopped => true,
            WaveProgress::WaitsForWaveBefore | _ => false,
        };
        Some(next).filter(|next| is_due && self.needs_approval(*next))
    }

    /// The number of the failed version in whose place the current one came back; `None` once a newer one has come.
    pub fn restored_for(&self) -> Option<i64> {
        let (failed, current) = (self.mark("restored")?, self.current_name()?);
        let mut others = self.own_revisions().filter(|other| other.metadata.name != current);
        others.all(|other| other.revision <= failed).then_some(failed)
    }

    /// The failed version that nodes still have, where its template was undone.
    pub fn goes_back_from(&self) -> Option<i64> {
        let is_over = self.report.stage == RolloutStage::Complete && self.report.updated < self.report.nodes;
        // Later troubles are not those of the way back.
        let was_complete = self.mark("completed") == self.number();
        self.restored_for().filter(|_| is_over && !was_complete)
    }

    /// The number in a mark of the current revision.
    fn mark(&self, mark: &str) -> Option<i64> {
        let current = self.current_name()?;
        let current = self.own_revisions().find(|revision| revision.metadata.name == current)?;
        let value = current.metadata.annotations.get(&format!("{}/{mark}", self.mark_prefix))?;
        value.split(' ').next()?.parse().ok()
    }

    fn own_revisions(&self) -> impl Iterator<Item = &ControllerRevision> {
        let uid = &self.daemon_set.metadata.uid;
        self.revisions
            .iter()
            .filter(move |revision| revision.metadata.owner_references.iter().any(|owner| owner.uid == *uid))
    }

    fn current_name(&self) -> Option<&str> {
        self.plan.report.current_revision.as_ref().map(|current| current.name.as_str())
    }

    /// All waves, in order.
    pub fn waves(&self) -> Vec<WaveLine> {
        let figures = |(index, wave): (usize, &daemonset::report::WaveReport)| WaveLine {
            index,
            nodes: wave.nodes.len(),
            updated: wave.updated,
            available: wave.available,
            progress: wave.progress,
            needs_approval: !self.is_open(index) && self.needs_approval(index),
        };
        self.report.waves.iter().enumerate().map(figures).collect()
    }

    /// The stage and the figures: `progressing: 3 of 10 nodes updated, stable revision agent-5d4`.
    pub fn summary(&self) -> String {
        let RolloutReport { nodes, updated, stable, .. } = self.report;
        let figures = format!("{updated} of {} updated", count(*nodes as usize, "node"));
        let stable = match stable {
            Some(stable) => format!("stable revision {stable}"),
            None => "no stable revision".to_owned(),
        };
        if let Some(failed) = self.goes_back_from() {
            return format!("revision {failed} has failed and is undone, all nodes go back: {figures}");
        }
        match &self.report.stage {
            RolloutStage::Complete if self.is_complete() => format!("complete: {figures}"),
            RolloutStage::Complete => match self.unavailable() {
                0 => format!("complete before, and not any more: {figures}"),
                several => format!("complete before, and not any more: {figures}, {several} unavailable"),
            },
            RolloutStage::Progressing => format!("progressing: {figures}, {stable}"),
            RolloutStage::Paused if self.lacks_on_delete() => {
                format!("{}: {figures}, {stable}", self.while_invalid())
            }
            RolloutStage::Paused if !self.problems.is_empty() => {
                format!("paused, since its policy is invalid: {figures}, {stable}")
            }
            RolloutStage::Paused => format!("paused: {figures}, {stable}"),
            RolloutStage::Stopped { reason, .. } => {
                let follows = if self.is_undone() {
                    "the template before it comes back"
                } else {
                    "no further node is updated"
                };
                format!("failed ({reason}), {follows}: {figures}, {stable}")
            }
            RolloutStage::RolledBack { reason, .. } => {
                format!("failed ({reason}), all nodes go back to {stable}: {figures}")
            }
            other => format!("{other:?}: {figures}, {stable}"),
        }
    }

    /// Whether the version has failed and the template of the stable revision comes back.
    pub fn is_undone(&self) -> bool {
        let action = self.policy.on_failure.as_ref().map(|policy| policy.action);
        let is_stopped = matches!(self.report.stage, RolloutStage::Stopped { .. });
        is_stopped && action == Some(FailureAction::Undo) && self.not_undone().is_none()
    }

    /// Why a version that has failed is not undone, though the policy asks for it.
    fn not_undone(&self) -> Option<NotUndoneReason> {
        self.plan.warnings.iter().find_map(|warning| match warning {
            Warning::NotUndone { because, .. } => Some(*because),
            _ => None,
        })
    }

    /// The stage in a few words, for a cell of a table.
    pub fn in_short(&self) -> String {
        if self.goes_back_from().is_some() {
            return "undone, all nodes go back".to_owned();
        }
        match &self.report.stage {
            RolloutStage::Complete if self.is_complete() => "rollout complete".to_owned(),
            RolloutStage::Complete => "rollout not complete any more".to_owned(),
            RolloutStage::Paused if !self.problems.is_empty() => {
                "rollout paused, its policy is invalid".to_owned()
            }
            RolloutStage::Paused => "rollout paused".to_owned(),
            RolloutStage::Stopped { reason, .. } if self.is_undone() => format!("undoes ({reason})"),
            RolloutStage::Stopped { reason, .. } => format!("rollout failed ({reason})"),
            RolloutStage::RolledBack { reason, .. } => format!("rolls back ({reason})"),
            RolloutStage::Progressing | _ => self.open_wave_in_short(),
        }
    }

    fn open_wave_in_short(&self) -> String {
        if let Some(wave) = self.waits_for_approval() {
            return format!("wave {wave} waits for approval");
        }
        let open = self.report.waves.iter().enumerate().rfind(|(index, _)| self.is_open(*index));
        match open {
            // Without the time that is left, which differs at each look.
            Some((index, wave)) => match wave.progress {
                progress @ WaveProgress::Baking { .. } => format!("wave {index} {progress}"),
                progress => format!("wave {index} {}", self.state(index, progress)),
            },
            None => "rollout progressing".to_owned(),
        }
    }

    /// How far a wave is, and the step that it waits for.
    pub fn state(&self, index: usize, progress: WaveProgress) -> String {
        let approval = if self.needs_approval(index) { ", needs approval" } else { "" };
        match progress {
            _ if matches!(self.report.stage, RolloutStage::RolledBack { .. }) => {
                "goes back to the stable revision".to_owned()
            }
            _ if self.goes_back_from().is_some() => "goes back".to_owned(),
            WaveProgress::Baking { until, .. } => {
                format!("baking until {until} ({})", words::relative(until, self.now))
            }
            WaveProgress::WaitsForWaveBefore | WaveProgress::WaitsForApproval if self.has_failed() => {
                "not opened".to_owned()
            }
            WaveProgress::Updating if self.has_failed() => "stopped".to_owned(),
            WaveProgress::WaitsForWaveBefore => match index.checked_sub(1) {
                Some(before) => format!("waits for wave {before}{approval}"),
                None => format!("waits{approval}"),
            },
            WaveProgress::Stopped => format!("held, the rollout {}{approval}", self.stopped_by()),
            other => other.to_string(),
        }
    }

    fn has_failed(&self) -> bool {
        matches!(self.report.stage, RolloutStage::Stopped { .. })
    }

    fn stopped_by(&self) -> &'static str {
        match self.report.stage {
            RolloutStage::Paused => "is paused",
            RolloutStage::Stopped { .. } => "has failed",
            RolloutStage::Complete | RolloutStage::Progressing | RolloutStage::RolledBack { .. } | _ => {
                "does not go on"
            }
        }
    }

    /// Lines for the head of a plan, each with its label; a line that goes on under the one before has none.
    pub fn lines(&self, most_failing: usize) -> Vec<(&'static str, String)> {
        let mut lines: Vec<_> = self.invalid().map(|problems| ("Invalid", problems)).into_iter().collect();
        lines.push(("Rollout", self.summary()));
        let waves = self.waves().into_iter().map(|wave| {
            let WaveLine { index, nodes, updated, available, progress, .. } = wave;
            let nodes = count(nodes, "node");
            let state = self.state(index, progress);
            format!("wave {index}: {state}; {nodes}, {updated} updated, {available} available")
        });
        lines.extend(labelled("Waves", waves));
        lines.extend(self.failing(most_failing));
        lines.extend(self.held_for_good().map(|text| ("Held", text)));
        lines.extend(self.steps());
        lines
    }

    /// Each failing node with its evidence.
    pub fn failing(&self, most: usize) -> Vec<(&'static str, String)> {
        let failing = &self.report.failing;
        let evidence = failing
            .iter()
            .map(|failing| format!("{}: {}", failing.node, words::failure(&failing.evidence, self.now)));
        let more = failing.len().saturating_sub(most);
        let rest = (more > 0).then(|| format!("and {} more", count(more, "node")));
        labelled("Failing", evidence.take(most).chain(rest)).collect()
    }

    /// Commands for a person whose decision the rollout waits for.
    pub fn steps(&self) -> Vec<(&'static str, String)> {
        let mut steps = Vec::new();
        if self.report.stage == RolloutStage::Paused && self.problems.is_empty() {
            steps.extend(labelled("Resume", self.resume().into_iter()));
        }
        if let (Some(wave), RolloutStage::Progressing) = (self.waits_for_approval(), &self.report.stage) {
            steps.push(("Approve", self.approve(wave)));
        }
        if let Some(because) = self.not_undone() {
            steps.push(("Not undone", format!("since {because}")));
        }
        if self.has_failed() && !self.is_undone() && self.report.stable.is_some() {
            steps.push((
                "Undo",
                undo_of(
                    &self.daemon_set.metadata,
                    self.connection,
                    stable_to_name(self.revisions, self.plan),
                ),
            ));
        }
        steps.extend(self.retry().map(|command| ("Retry", command)));
        steps.extend(self.undo_again().map(|command| ("Undo again", command)));
        steps
    }

    /// The command that approves a wave.
    pub fn approve(&self, wave: usize) -> String {
        let name = self.full_name();
        format!("{} rollout approve{} {} --wave {wave}", self.plugin, self.connection, quoted(&name))
    }

    /// The commands that let a paused rollout go on: an annotation pauses it, or the policy itself, or both.
    pub fn resume(&self) -> Vec<String> {
        let (name, annotations) = (self.full_name(), &self.daemon_set.metadata.annotations);
        let by_annotation = annotations.get(PAUSED) == Some("true");
        let by_policy = !by_annotation || policy::is_paused(self.daemon_set);
        let resume = format!("{} rollout resume{} {}", self.plugin, self.connection, quoted(&name));
        let edit = edit_of(&self.daemon_set.metadata, self.connection);
        let edit = format!("{edit}    # its policy says that it is paused: take that out");
        [(by_annotation, resume), (by_policy, edit)]
            .into_iter()
            .filter(|(is, _)| *is)
            .map(|(_, it)| it)
            .collect()
    }

    /// The command by which the template of a failed version is undone once more.
    fn undo_again(&self) -> Option<String> {
        use NotUndoneReason::{DaemonSetChanged, TooLate, UndoneBefore};
        let was_tried = self.not_undone().is_some_and(|because| {
            // Without a stable revision, and for the limit of an hour, the mark is not in the way.
            matches!(because, UndoneBefore | DaemonSetChanged | TooLate)
        });
        self.unmark("undone").filter(|_| was_tried)
    }

    /// The command by which a failed version gets another chance.
    pub fn retry(&self) -> Option<String> {
        let failed =
            matches!(self.report.stage, RolloutStage::Stopped { .. } | RolloutStage::RolledBack { .. });
        self.unmark("failed").filter(|_| failed)
    }

    /// The command that removes a mark of the current revision.
    fn unmark(&self, mark: &str) -> Option<String> {
        let revision = self.plan.report.current_revision.as_ref()?;
        let (namespace, prefix) = (quoted(&self.daemon_set.metadata.namespace), self.mark_prefix);
        let (connection, name) = (self.connection, quoted(&revision.name));
        Some(format!(
            "kubectl annotate{connection} -n {namespace} controllerrevision/{name} {prefix}/{mark}-"
        ))
    }

    /// `NAMESPACE/NAME`.
    pub fn full_name(&self) -> String {
        let meta = &self.daemon_set.metadata;
        format!("{}/{}", meta.namespace, meta.name)
    }

    /// `2 nodes are in no wave and keep the old version: c, d`.
    pub fn held_for_good(&self) -> Option<String> {
        let (nodes, names) = self.in_no_wave()?;
        let verb = if nodes == 1 { "is in no wave and keeps" } else { "are in no wave and keep" };
        let names = if names.is_empty() { String::new() } else { format!(": {}", words::names(names, 10)) };
        Some(format!("{} {verb} the old version{names}", count(nodes, "node")))
    }

    /// How many nodes take part, are in no wave and do not have the new version; and their names where they are known.
    pub fn in_no_wave(&self) -> Option<(usize, Vec<&'a str>)> {
        let waves = &self.report.waves;
        let in_waves: BTreeSet<&str> =
            waves.iter().flat_map(|wave| wave.nodes.iter()).map(|node| node.as_str()).collect();
        let nodes = (self.report.nodes as usize).saturating_sub(in_waves.len());
        let reaches_all =
            matches!(self.report.stage, RolloutStage::Complete | RolloutStage::RolledBack { .. });
        if nodes == 0 || waves.is_empty() || reaches_all {
            return None;
        }
        let is_outside = |node: &NodeVerdict| {
            matches!(node.outcome, NodeOutcome::Waits(Wait::Rollout { because: HoldReason::Outside, .. }))
        };
        let in_no_wave = |node: &&NodeVerdict| !in_waves.contains(node.node.as_str()) && !is_outside(node);
        let verdicts = self.plan.report.nodes.iter().filter(in_no_wave);
        let (updated, others): (Vec<&NodeVerdict>, Vec<&NodeVerdict>) =
            verdicts.partition(|node| has_updated(node));
        let others = others.into_iter().filter(|node| node.placement == NodePlacement::Run);
        let names: Vec<&str> = others.map(|node| node.node.as_str()).collect();
        let nodes = nodes.saturating_sub(updated.len());
        // The placement of a held node follows the stable revision: it may differ from the current template's.
        let names = if names.len() == nodes { names } else { Vec::new() };
        Some((nodes, names)).filter(|(nodes, _)| *nodes > 0)
    }

    /// The first wave that has the node.
    pub fn first_wave(&self, node: &NodeVerdict) -> Option<(usize, WaveProgress)> {
        let mut waves = self.report.waves.iter().enumerate();
        let (index, wave) = waves.find(|(_, wave)| wave.nodes.contains(&node.node))?;
        Some((index, wave.progress))
    }
}

pub fn has_updated(node: &NodeVerdict) -> bool {
    node.pods.iter().any(|pod| pod.updated && is_live(pod.state))
}

pub fn has_available(node: &NodeVerdict) -> bool {
    node.pods.iter().any(|pod| pod.updated && matches!(pod.state, PodState::Available { .. }))
}

/// Neither terminating nor at its end.
pub fn is_live(state: PodState) -> bool {
    match state {
        PodState::Available { .. }
        | PodState::Ready { .. }
        | PodState::NotReady { .. }
        | PodState::Pending { .. } => true,
        PodState::Terminating { .. } | PodState::Failed | PodState::Succeeded | _ => false,
    }
}
