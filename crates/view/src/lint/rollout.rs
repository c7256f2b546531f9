//! The policy of a rollout: waves that reach no node, a failure that nobody notices, deadlines that nobody can meet.

use super::context::{LintContext, PlacedNode, is_live};
use super::finding::{Finding, Rule, Severity};
use super::format::{count, node_names};
use super::manifest::{Lifetime, ManifestItem};
use crate::policy;
use daemonset::internal::Placement;
use daemonset::internal::steering::{EXTERNAL_CONTROLLER, POLICY, external_controller_name};
use daemonset::model::{DaemonSet, IntOrString, NodeName};
use daemonset::policy::{AnnotationProblem, FailureAction, FailurePolicy, RolloutPolicy, Wave};
use daemonset::report::{RolloutReport, RolloutStage};
use serde_json::Value;
use std::collections::BTreeSet;

/// An annotation that steers a rollout and can't be read, or whose policy the snapshot's check refuses.
pub(super) fn unreadable(daemon_set: &DaemonSet, invalid: &AnnotationProblem) -> Finding {
    let AnnotationProblem { annotation, problem, .. } = invalid;
    let (path, message) = (&problem.path, &problem.kind);
    let annotation = match annotation.as_str() {
        "" => "metadata.annotations".to_owned(),
        annotation => format!("metadata.annotations[{annotation}]"),
    };
    let is_driven = matches!(daemon_set.spec.update_strategy.kind.as_str(), "" | "OnDelete");
    let lacks_on_delete = EXTERNAL_CONTROLLER.contains(&path.as_str()) && !is_driven;
    let path = if path.is_empty() { annotation } else { format!("{annotation}.{path}") };
    let finding = Finding::new(Rule::InvalidRolloutPolicy, Severity::Error, path);
    if lacks_on_delete {
        let field = &invalid.problem.path;
        return finding
            .why(format_args!(
                "It has no effect, and Kubernetes' own controller updates all nodes: {message}"
            ))
            .remedy(format_args!(
                "Set updateStrategy.type OnDelete before the next version, or remove {field}"
            ));
    }
    finding
        .why(format_args!("It can't be used, and the rollout counts as paused: {message}"))
        .remedy("Put it right: until then no further node gets a new version")
}

/// All rules about the policy of a rollout.
pub(super) fn findings(context: &LintContext<'_>) -> Vec<Finding> {
    let Some(policy) = &context.preflight.policy.rollout else { return Vec::new() };
    let rules = Rules { context, policy, path: path(context.manifest.daemon_set) };
    let mut findings = rules.bakes_below_min_ready();
    findings.extend(rules.failure_unnoticed());
    findings.extend(rules.waiting_reasons_unused());
    findings.extend(rules.deadlines_before_the_first_probe());
    findings.extend(rules.undone_revision_goes());
    if let Some(rollout) = context.plan.report.rollout.as_ref().filter(|_| context.desired() > 0) {
        findings.extend(rules.about_nodes(rollout));
    }
    findings
}

/// The path of the rollout's policy: in the annotation, or among the choices of the caller.
pub(super) fn path(daemon_set: &DaemonSet) -> String {
    annotation(daemon_set).unwrap_or_else(|| "policy.rollout".to_owned())
}

/// The path of a field beside the rollout's.
pub(super) fn field(daemon_set: &DaemonSet, name: &str) -> String {
    format!("{}.{name}", annotation(daemon_set).unwrap_or_else(|| "policy".to_owned()))
}

/// The path of the strategy beside an external controller, under the name that the policy uses.
pub(super) fn external_controller_field(daemon_set: &DaemonSet) -> String {
    let text = daemon_set.metadata.annotations.get(POLICY);
    let name = text
        .and_then(|text| policy::read(text.as_bytes()).ok())
        .map_or("drive", |policy| external_controller_name(&policy));
    field(daemon_set, name)
}

/// The path of the policy in the annotation, if the DaemonSet has it.
fn annotation(daemon_set: &DaemonSet) -> Option<String> {
    let is_there = daemon_set.metadata.annotations.contains_key(POLICY);
    is_there.then(|| format!("metadata.annotations[{POLICY}]"))
}

/// The input of each rule.
struct Rules<'c, 'a> {
    context: &'c LintContext<'a>,
    policy: &'c RolloutPolicy,
    path: String,
}

impl<'c> Rules<'c, '_> {
    fn finding(&self, rule: Rule, severity: Severity, field: &str) -> Finding {
        Finding::new(rule, severity, format!("{}.{field}", self.path))
    }

    fn waves(&self) -> impl Iterator<Item = (usize, &'c Wave)> {
        self.policy.waves.iter().enumerate()
    }

    fn min_ready(&self) -> u32 {
        u32::try_from(self.context.manifest.daemon_set.spec.min_ready_seconds).unwrap_or(0)
    }

    /// A wave is done when its pods are available, which takes minReadySeconds anyway.
    fn bakes_below_min_ready(&self) -> Vec<Finding> {
        let min_ready = self.min_ready();
        let below = self.waves().filter(|(_, wave)| (1..min_ready).contains(&wave.bake_seconds));
        below
            .map(|(index, wave)| {
                let field = format!("waves[{index}].bakeSeconds");
                self.finding(Rule::BakeBelowMinReady, Severity::Advice, &field)
                    .why(format_args!(
                        "It is {}, and minReadySeconds is {min_ready}: the wave bakes for {min_ready} seconds",
                        wave.bake_seconds
                    ))
                    .remedy("Bake for longer than minReadySeconds, or leave it out")
            })
            .collect()
    }

    /// The kubelet restarts the containers of a daemon, so that its pod is hardly ever in phase Failed.
    fn failure_unnoticed(&self) -> Option<Finding> {
        let FailurePolicy {
            max_restarts: None,
            available_within_seconds: None,
            waiting_seconds: None,
            progress_deadline_seconds: None,
            ..
        } = self.policy.on_failure.as_ref()?
        else {
            return None;
        };
        let finding = self.finding(Rule::FailureUnnoticed, Severity::Warning, "onFailure")
            .why("Only pods in phase Failed and nodes that go down count: a version that crashes again and again, or never becomes Ready, has not failed")
            .remedy("Set availableWithinSeconds, and maxRestarts for a version that becomes Ready between its crashes");
        Some(finding)
    }

    fn waiting_reasons_unused(&self) -> Option<Finding> {
        let failure = self.policy.on_failure.as_ref()?;
        let finding = self
            .finding(Rule::WaitingReasonsUnused, Severity::Advice, "onFailure.waitingReasons")
            .why("Without waitingSeconds no container waits in vain, whatever its reason is")
            .remedy("Set waitingSeconds, too");
        (!failure.waiting_reasons.is_empty() && failure.waiting_seconds.is_none()).then_some(finding)
    }

    /// A pod can't be Ready before its probes begin (v1.36 `kubelet/prober/worker.go doProbe`), so that a healthy one fails, too. Once it is
    /// Ready, availableWithinSeconds counts from there.
    fn deadlines_before_the_first_probe(&self) -> Vec<Finding> {
        let Some(failure) = &self.policy.on_failure else { return Vec::new() };
        let delay = self.longest_initial_delay();
        let deadlines = [
            ("availableWithinSeconds", failure.available_within_seconds),
            ("progressDeadlineSeconds", failure.progress_deadline_seconds),
        ];
        let short = deadlines.into_iter().filter_map(|(field, seconds)| Some((field, seconds?)));
        let short = short.filter(|(_, seconds)| delay > 0 && *seconds <= delay);
        let finding = |(field, seconds): (&str, u32)| {
            self.finding(Rule::DeadlineTooShort, Severity::Error, &format!("onFailure.{field}"))
                .why(format_args!(
                    "It is {seconds}, and the first probe of a pod comes {delay} seconds after its start: a version that works fails"
                ))
                .remedy("Allow more time than a healthy pod needs, with its image pulled first")
        };
        short.map(finding).collect()
    }

    fn longest_initial_delay(&self) -> u32 {
        let containers = self.context.manifest.containers();
        let lasting = containers.iter().filter(|(_, lifetime)| *lifetime == Lifetime::Pod);
        let delay = |item: &ManifestItem<'_>, probe: &str| {
            let seconds = item.value.get(probe)?.get("initialDelaySeconds").and_then(Value::as_u64)?;
            u32::try_from(seconds).ok()
        };
        let delays =
            lasting.flat_map(|(item, _)| ["readinessProbe", "startupProbe"].map(|probe| delay(item, probe)));
        delays.flatten().max().unwrap_or(0)
    }

    /// This crate's plans keep the stable revision and a version that was undone. Beside a driver the limit alone decides.
    fn undone_revision_goes(&self) -> Option<Finding> {
        let undoes = self.policy.on_failure.as_ref()?.action == FailureAction::Undo;
        let is_driven = self.context.preflight.policy.external_controller.is_some();
        let keeps_none = self.context.manifest.daemon_set.spec.revision_history_limit == Some(0);
        let finding = Finding::new(Rule::UndoneRevisionGoes, Severity::Warning, "spec.revisionHistoryLimit")
            .why("It is 0, and the other controller deletes each revision without a pod: the stable revision, or the version that was undone, whose mark keeps it from being undone again")
            .remedy("Keep at least 3 revisions");
        (undoes && is_driven && keeps_none).then_some(finding)
    }

    fn about_nodes(&self, rollout: &RolloutReport) -> Vec<Finding> {
        let mut findings = Vec::new();
        let mut before: BTreeSet<&NodeName> = BTreeSet::new();
        for ((index, wave), report) in self.waves().zip(&rollout.waves) {
            let nodes = &report.nodes;
            findings.extend(self.wave_without_nodes(index, wave, nodes));
            findings.extend(self.wave_adds_nothing(index, nodes, &before));
            before.extend(nodes.iter());
        }
        findings.extend(self.nodes_in_no_wave(&before));
        findings.extend(self.canary_may_fail(rollout));
        findings.extend(self.no_stable(rollout));
        findings
    }

    fn wave_without_nodes(&self, index: usize, wave: &Wave, nodes: &[NodeName]) -> Option<Finding> {
        let cut = wave.up_to.is_some_and(|up_to| up_to.is_zero());
        let (field, why) = match (&wave.nodes, cut) {
            (_, true) => ("upTo", "It is 0"),
            (Some(_), false) => ("nodes", "It matches no target node"),
            (None, false) => return None,
        };
        let finding = self
            .finding(Rule::WaveWithoutNodes, Severity::Warning, &format!("waves[{index}].{field}"))
            .why(format_args!("{why}: the wave has no node, and neither bakes nor shows a failure"))
            .remedy("Correct it, or remove the wave");
        nodes.is_empty().then_some(finding)
    }

    fn wave_adds_nothing(
        &self,
        index: usize,
        nodes: &[NodeName],
        before: &BTreeSet<&NodeName>,
    ) -> Option<Finding> {
        let all_before = nodes.iter().all(|node| before.contains(node));
        let finding = self
            .finding(Rule::WaveAddsNoNode, Severity::Advice, &format!("waves[{index}]"))
            .why(format_args!(
                "Its {} {} to the waves before it: it updates nothing, and only waits",
                count(nodes.len() as u64, "node"),
                if nodes.len() == 1 { "belongs" } else { "all belong" }
            ))
            .remedy("Give it more nodes, or remove it");
        (all_before && !nodes.is_empty()).then_some(finding)
    }

    /// A partition keeps nodes on the old version on purpose.
    fn nodes_in_no_wave(&self, in_waves: &BTreeSet<&NodeName>) -> Option<Finding> {
        let all = self.context.names(takes_part);
        let held: Vec<NodeName> = all.iter().filter(|node| !in_waves.contains(node)).cloned().collect();
        let finding = self
            .finding(Rule::NodesInNoWave, Severity::Advice, "waves")
            .why(format_args!(
                "{} of {} {} to no wave and never {} a new version: {}",
                held.len(),
                count(all.len() as u64, "node"),
                if held.len() == 1 { "belongs" } else { "belong" },
                if held.len() == 1 { "gets" } else { "get" },
                node_names(&held)
            ))
            .remedy("End with a wave of all nodes ({}), unless they are to keep the old version")
            .nodes(held.clone());
        (!held.is_empty() && !self.policy.waves.is_empty()).then_some(finding)
    }

    /// The version has failed when more nodes than maxFailures fail. Where all of the first wave may, the rollout waits there
    /// without an end: only a deadline would end it.
    fn canary_may_fail(&self, rollout: &RolloutReport) -> Option<Finding> {
        let failure = self.policy.on_failure.as_ref()?;
        let first = u32::try_from(rollout.waves.first()?.nodes.len()).ok()?;
        let all = rollout.nodes;
        let may_fail = failure.may_fail(all);
        let most = failure.max_failures.unwrap_or(IntOrString::Int(0));
        let finding = self
            .finding(Rule::CanaryMayFail, Severity::Warning, "onFailure.maxFailures")
            .why(format_args!(
                "It is {most} and lets {may_fail} of {} fail, and wave 0 has {}: a version that fails on all of wave 0 has not failed, and the rollout waits for good",
                count(all, "node"),
                count(first, "node")
            ))
            .remedy("Allow fewer failures than the first wave has nodes, or set progressDeadlineSeconds");
        (first > 0 && first <= may_fail && failure.progress_deadline_seconds.is_none()).then_some(finding)
    }

    /// A rollout that is over has made its revision the stable revision of the next one.
    fn no_stable(&self, rollout: &RolloutReport) -> Option<Finding> {
        let failure = self.policy.on_failure.as_ref()?;
        let runs = self.context.pods().any(is_live);
        // A DaemonSet that runs has revisions, which are not given then.
        let are_known = !runs || !self.context.preflight.revisions.is_empty();
        let is_lacking = are_known && rollout.stable.is_none() && rollout.stage != RolloutStage::Complete;
        let (severity, why) = match runs {
            true => (Severity::Warning, "No old revision is there to go back to, or each has failed itself"),
            false => (Severity::Advice, "The first version has no other one to go back to"),
        };
        let finding = self
            .finding(Rule::NoBase, severity, "onFailure.action")
            .why(format_args!("{why}: where it should roll back, the rollout only stops"))
            .remedy("Be ready to release a version that works");
        let wants_stable = matches!(failure.action, FailureAction::RollBack | FailureAction::Undo);
        (is_lacking && wants_stable).then_some(finding)
    }
}

/// The nodes that belong to a rollout: the target nodes, and those that keep the new version that they have.
fn takes_part(node: &PlacedNode<'_>) -> bool {
    match node.placement {
        Placement::Run => true,
        Placement::ContinueOnly(_) => node.verdict.pods.iter().any(|pod| pod.updated && is_live(pod)),
        Placement::Exclude(_) => false,
    }
}
