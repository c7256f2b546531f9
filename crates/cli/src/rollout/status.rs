//! `kubectl daemonset rollout status`: kubectl's answer and, where a policy steers the rollout, its waves, the evidence of a
//! failure, and the next step.

use crate::cluster::policy::PolicyProblem;
use crate::cluster::{Choice, Chosen, Input, Needs, Source};
use crate::plan::next;
use crate::rollout::args::From;
use crate::rollout::plain_table;
use crate::shell::console::{Format, Stop};
use crate::shell::response::Response;
use crate::steered::{Steered, WaveFigures};
use crate::turning::{self, Details};
use daemonset::report::{FailingNode, RolloutStage};
use daemonset::turns::details;
use daemonset::{Plan, RequeueReason, plan};
use daemonset_kubectl::{Answer, Command, Progress, answer};
use jiff::Timestamp;
use serde::Serialize;
use std::collections::BTreeMap;

/// The data of a steered rollout's status, beside kubectl's.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Data<'a> {
    #[serde(flatten)]
    progress: Option<Progress>,
    now: Timestamp,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    policy_problems: &'a [PolicyProblem],
    rollout: Option<RolloutData<'a>>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    details: &'a Details,
    /// When time alone changes something.
    next: Option<Next>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RolloutData<'a> {
    stage: &'a RolloutStage,
    base: Option<&'a str>,
    nodes: u32,
    updated: u32,
    waves: Vec<WaveFigures>,
    failing: &'a [FailingNode],
    /// The index of the wave.
    waits_for_approval: Option<usize>,
}

#[derive(Serialize)]
struct Next {
    at: Timestamp,
    reason: RequeueReason,
}

/// Without a policy only the DaemonSet and its revisions are read, and kubectl's answer is all.
pub(crate) fn status(from: &From, revision: i64, now: Option<Timestamp>) -> Result<Response, Stop> {
    let (source, wanted) = from.resolve()?;
    let objects = source.objects(Needs::Rollout)?;
    let stop = |message: String| source.stop(message);
    let Chosen { daemon_set, revisions } = objects.choose(wanted.as_ref()).map_err(stop)?;
    source.announce(from.output)?;
    let kubectl = answer(&Command::Status { revision: Some(revision) }, &daemon_set, &revisions);
    let progress = daemonset_kubectl::status(&daemon_set, Some(revision)).ok();
    if revision < 0 || !objects.is_steered(wanted.as_ref()) {
        return Response::answer(kubectl, from.output, &progress);
    }
    let choice = Choice { daemon_set: wanted, now, policy: None };
    let input = match source {
        Source::Kubectl(_) => source.input(&choice)?,
        Source::Example { .. } | Source::Stdin | Source::File(_) => source.input_of(objects, &choice)?,
    };
    let snapshot = input.snapshot().map_err(|message| source.stop(message))?;
    let (plan, details) = (plan(&snapshot), details(&snapshot));
    // kubectl looks at the strategy of the DaemonSet, which is OnDelete where another one is driven.
    let kubectl = if input.recording.policy.drive.is_some() { Answer::default() } else { kubectl };
    match from.output {
        Format::Text => Ok(text(kubectl, &input, &plan, &details)),
        Format::Json => {
            let data = Response::json(&data(&input, &plan, &details, progress))?;
            Ok(Response { code: code(&kubectl, &plan), stderr: kubectl.stderr, ..data })
        }
    }
}

/// 1 for a rollout that has failed, so that a script does not go on: kubectl does the same for a Deployment that exceeded its
/// progress deadline.
fn code(kubectl: &Answer, plan: &Plan) -> u8 {
    let stage = plan.report.rollout.as_ref().map(|rollout| &rollout.stage);
    match stage {
        Some(RolloutStage::Stopped { .. } | RolloutStage::RolledBack { .. }) => 1,
        _ => u8::try_from(kubectl.code).unwrap_or(1),
    }
}

fn text(kubectl: Answer, input: &Input, plan: &Plan, details: &Details) -> Response {
    let recording = &input.recording;
    let code = code(&kubectl, plan);
    let mut stdout = kubectl.stdout;
    let mut line = |label: &str, content: &str| stdout.push_str(&format!("{label:<11}{content}\n"));
    if let Some(steered) = Steered::of_input(input, plan) {
        if let Some(problems) = steered.invalid() {
            line("Invalid", &problems);
        }
        line("Rollout", &steered.summary());
        let waves = steered.waves();
        if !waves.is_empty() {
            stdout.push_str(&format!("\n{}\n\n", table(&steered, &waves)));
        }
        let held = steered.held_for_good().map(|text| ("Held", text));
        let more = steered.failing(usize::MAX).into_iter().chain(held).chain(steered.steps());
        more.for_each(|(label, content)| stdout.push_str(&format!("{label:<11}{content}\n")));
    }
    for (label, content) in turning::lines(details, recording.now) {
        stdout.push_str(&format!("{label:<11}{content}\n"));
    }
    stdout.push_str(&format!("{:<11}{}\n", "Next", next(plan, recording.now)));
    Response { code, stdout, stderr: kubectl.stderr }
}

fn table(steered: &Steered<'_>, waves: &[WaveFigures]) -> String {
    let rows = waves.iter().map(|wave| {
        let &WaveFigures { index, nodes, updated, available, progress, .. } = wave;
        let [updated, available] = [updated, available].map(|count| count.to_string());
        [index.to_string(), nodes.to_string(), updated, available, steered.state(index, progress)]
    });
    plain_table(["WAVE", "NODES", "UPDATED", "AVAILABLE", "STATE"], rows)
}

fn data<'a>(input: &'a Input, plan: &'a Plan, details: &'a Details, progress: Option<Progress>) -> Data<'a> {
    let recording = &input.recording;
    let rollout = Steered::of_input(input, plan).map(|steered| RolloutData {
        stage: &steered.report.stage,
        base: steered.report.base.as_deref(),
        nodes: steered.report.nodes,
        updated: steered.report.updated,
        waves: steered.waves(),
        failing: &steered.report.failing,
        waits_for_approval: steered.waits_for_approval(),
    });
    let next = plan.requeue().map(|(at, reason)| Next { at, reason });
    let policy_problems = &input.policy_problems;
    Data { progress, now: recording.now, policy_problems, rollout, details, next }
}
