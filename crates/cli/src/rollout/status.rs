//! `kubectl daemonset rollout status`: kubectl's answer and, where a policy steers the rollout, its waves, the evidence of a
//! failure, and the next step.

use crate::cluster::policy::AnnotationProblem;
use crate::cluster::{Choice, Chosen, Input, Needs, Objects, Source, Wanted};
use crate::rollout::args::From;
use crate::rollout::{plain_table, steered};
use crate::shell::called::plugin;
use crate::shell::console::{BAD_INPUT, Format, LOOK, Stop};
use crate::shell::response::Response;
use daemonset::report::{FailingNode, RolloutStage, WaveProgress};
use daemonset::turns::plan_with_details;
use daemonset::{Plan, RequeueReason};
use daemonset_view::plan::next;
use daemonset_view::steered::{Steered, WaveLine};
use daemonset_view::turning::{self, Details};
use jiff::Timestamp;
use kubectl_daemonset::kubectl::{self, Answer, Command, RolloutProgress, answer};
use serde::Serialize;
use std::collections::BTreeMap;

/// The data of a steered rollout's status, beside kubectl's.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct StatusData<'a> {
    #[serde(flatten)]
    progress: Option<RolloutProgress>,
    now: Timestamp,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    policy_problems: &'a [AnnotationProblem],
    rollout: Option<RolloutData<'a>>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    details: &'a Details,
    /// When time alone changes something.
    next: Option<NextSteps>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RolloutData<'a> {
    stage: &'a RolloutStage,
    #[serde(rename = "base")]
    stable: Option<&'a str>,
    nodes: u32,
    updated: u32,
    waves: Vec<WaveLine>,
    failing: &'a [FailingNode],
    /// The index of the wave.
    waits_for_approval: Option<usize>,
}

#[derive(Serialize)]
struct NextSteps {
    at: Timestamp,
    reason: RequeueReason,
}

/// Which status is asked for.
pub(crate) struct StatusQuestion {
    pub(crate) output: Format,
    /// As for kubectl; it has no effect but where it is negative.
    pub(crate) revision: i64,
    pub(crate) now: Option<Timestamp>,
}

/// How a rollout stands, for somebody who waits for its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WaitStage {
    /// Time and other nodes bring it on.
    Moving,
    /// All nodes that its policy releases have the new version.
    Done,
    /// kubectl refuses to answer.
    Refused,
    /// The new version has failed, whether it stops there or goes back.
    Failed,
    /// A person has paused it.
    Paused,
    /// Its policy can't be read, so that it counts as paused.
    Invalid,
    /// A wave waits for a person.
    WaitsForApproval,
}

/// The answer of one look.
pub(crate) struct RolloutLook {
    pub(crate) stage: WaitStage,
    /// The number of the version that is rolled out, where a policy steers it.
    pub(crate) version: Option<i64>,
    /// That of a failed version in whose place it came back.
    pub(crate) restored_for: Option<i64>,
    /// The answer with its exit code.
    pub(crate) response: Response,
    /// The same in one line.
    pub(crate) line: String,
    /// The part of the cluster that a next look reads.
    pub(crate) needs: Needs,
}

/// One answer.
pub(crate) fn status(from: &From, question: &StatusQuestion) -> Result<Response, Stop> {
    let (source, wanted) = from.resolve()?;
    let mut objects = source.objects(Needs::Rollout)?;
    let needs = RolloutLook::needs(&objects, wanted.as_ref());
    if let (Source::Kubectl(_), Needs::Plan) = (&source, needs) {
        objects = source.objects(needs)?;
    }
    let status = RolloutLook::of(&source, objects, needs, wanted.as_ref(), question)?;
    source.announce(from.output)?;
    Ok(status.response)
}

impl RolloutLook {
    /// Without a policy only the DaemonSet and its revisions are read, and kubectl's answer is all.
    pub(crate) fn needs(objects: &Objects, wanted: Option<&Wanted>) -> Needs {
        if objects.is_steered(wanted) { Needs::Plan } else { Needs::Rollout }
    }

    pub(crate) fn of(
        source: &Source,
        objects: Objects,
        needs: Needs,
        wanted: Option<&Wanted>,
        question: &StatusQuestion,
    ) -> Result<Self, Stop> {
        let stop = |message: String| source.stop(message);
        let StatusQuestion { output, revision, now } = question;
        let Chosen { daemon_set, revisions } = objects.choose(wanted).map_err(stop)?;
        let kubectl = answer(&Command::Status { revision: Some(*revision) }, &daemon_set, &revisions);
        let progress = kubectl::status(&daemon_set, Some(*revision)).ok();
        let is_steered = *revision >= 0 && objects.is_steered(wanted);
        if !is_steered || needs == Needs::Rollout {
            let stage = of_kubectl(&kubectl, progress.as_ref());
            let line = kubectl.stdout.trim_end().to_owned();
            let needs = RolloutLook::needs(&objects, wanted);
            let response = Response::answer(kubectl, *output, &progress)?;
            return Ok(RolloutLook { stage, version: None, restored_for: None, response, line, needs });
        }
        let choice = Choice { daemon_set: wanted.cloned(), now: *now, policy: None };
        let input = source.input_of(objects, &choice)?;
        let snapshot = input.snapshot().map_err(stop)?;
        let (plan, details) = plan_with_details(&snapshot);
        drop(snapshot);
        // kubectl looks at the strategy of the DaemonSet, which is OnDelete where another one is driven. Whether that is so, a policy that
        // is invalid does not tell.
        let is_driven = input.recording.policy.external_controller.is_some();
        let is_refused = kubectl.code != 0 && !input.policy_problems.is_empty();
        let kubectl = if is_driven || is_refused { Answer::default() } else { kubectl };
        let steered = Steered::of_input(&input, &plan, plugin());
        let own = of_kubectl(&kubectl, progress.as_ref().filter(|_| !is_driven));
        let stage = steered.map_or(own, |steered| of_steered(&steered, own, is_driven));
        let version = steered.and_then(|steered| steered.number());
        let restored_for = steered.and_then(|steered| steered.restored_for());
        let in_short = steered.map(|steered| steered.in_short());
        let line = [Some(kubectl.stdout.trim_end().to_owned()), in_short].into_iter().flatten();
        let line = line.filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ");
        let response = match output {
            Format::Text => text(kubectl, &input, (&plan, &details), &source.connection()),
            Format::Json => {
                let data = Response::json(&data(&input, &plan, &details, progress))?;
                Response { stderr: kubectl.stderr, ..data }
            }
        };
        let response = response.with_code(stage.code());
        Ok(RolloutLook { stage, version, restored_for, response, line, needs })
    }
}

impl WaitStage {
    /// That of a script which must not go on.
    fn code(self) -> u8 {
        match self {
            WaitStage::Moving | WaitStage::Done => 0,
            WaitStage::Refused | WaitStage::Failed | WaitStage::Paused | WaitStage::WaitsForApproval => LOOK,
            WaitStage::Invalid => BAD_INPUT,
        }
    }
}

fn of_kubectl(kubectl: &Answer, progress: Option<&RolloutProgress>) -> WaitStage {
    match progress {
        _ if kubectl.code != 0 => WaitStage::Refused,
        Some(progress) if progress.is_done() => WaitStage::Done,
        _ => WaitStage::Moving,
    }
}

/// kubectl counts the nodes, and the policy says which of them are waited for.
fn of_steered(steered: &Steered<'_>, kubectl: WaitStage, is_driven: bool) -> WaitStage {
    let mut waves = steered.report.waves.iter();
    match &steered.report.stage {
        // Also of a rollout that is over: the next one would stand still.
        _ if steered.invalid().is_some() => WaitStage::Invalid,
        _ if kubectl == WaitStage::Refused => WaitStage::Refused,
        RolloutStage::Stopped { .. } | RolloutStage::RolledBack { .. } => WaitStage::Failed,
        RolloutStage::Paused => WaitStage::Paused,
        _ if steered.goes_back_from().is_some() => WaitStage::Failed,
        // The nodes of a driven DaemonSet are counted by nobody else.
        RolloutStage::Complete if is_driven && steered.is_complete() => WaitStage::Done,
        RolloutStage::Complete if is_driven => WaitStage::Moving,
        RolloutStage::Complete => kubectl,
        _ if steered.waits_for_approval().is_some() => WaitStage::WaitsForApproval,
        // Nodes in no wave keep the old version for good.
        _ if waves.len() > 0 && waves.all(|wave| wave.progress == WaveProgress::Done) => WaitStage::Done,
        _ => WaitStage::Moving,
    }
}

fn text(kubectl: Answer, input: &Input, (plan, details): (&Plan, &Details), connection: &str) -> Response {
    let recording = &input.recording;
    let mut stdout = kubectl.stdout;
    let mut line = |label: &str, content: &str| stdout.push_str(&format!("{label:<11}{content}\n"));
    if let Some(steered) = steered(input, plan, connection) {
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
    Response { code: 0, stdout, stderr: kubectl.stderr }
}

fn table(steered: &Steered<'_>, waves: &[WaveLine]) -> String {
    let rows = waves.iter().map(|wave| {
        let &WaveLine { index, nodes, updated, available, progress, .. } = wave;
        let [updated, available] = [updated, available].map(|count| count.to_string());
        [index.to_string(), nodes.to_string(), updated, available, steered.state(index, progress)]
    });
    plain_table(["WAVE", "NODES", "UPDATED", "AVAILABLE", "STATE"], rows)
}

fn data<'a>(
    input: &'a Input,
    plan: &'a Plan,
    details: &'a Details,
    progress: Option<RolloutProgress>,
) -> StatusData<'a> {
    let recording = &input.recording;
    let rollout = Steered::of_input(input, plan, plugin()).map(|steered| RolloutData {
        stage: &steered.report.stage,
        stable: steered.report.stable.as_deref(),
        nodes: steered.report.nodes,
        updated: steered.report.updated,
        waves: steered.waves(),
        failing: &steered.report.failing,
        waits_for_approval: steered.waits_for_approval(),
    });
    let next = plan.requeue().map(|(at, reason)| NextSteps { at, reason });
    let policy_problems = &input.policy_problems;
    StatusData { progress, now: recording.now, policy_problems, rollout, details, next }
}
