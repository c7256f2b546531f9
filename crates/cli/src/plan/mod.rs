//! `kubectl daemonset plan`: the pods of each node, the actions that come next, and their reasons.

use crate::drain;
use crate::plan::args::{Args, PlanJob};
use crate::plan::view::PlanView;
use crate::shell::console::{Format, Stop, print};
use crate::shell::lines::{self, RefusedLine, at_column, name};
use daemonset::model::{DaemonSetStatus, NodeName};
use daemonset::{Action, Plan, Recording, plan};
pub(crate) mod args;
mod events;
mod overview;
mod table;
mod text;
mod timing;
mod view;
mod watch;

use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// Runs the subcommand.
pub(crate) fn run(args: Args) -> Result<u8, Stop> {
    match args.job()? {
        PlanJob::Batch(source) => lines::run(&source, answer_line),
        PlanJob::Time { source, choice, times } => timing::run(&source, &choice, times),
        PlanJob::TimeEvents { source, choice, times } => events::run(&source, &choice, times),
        PlanJob::Watch { asked, interval } => watch::run(asked, interval),
        PlanJob::Plan { asked, format } => {
            let view = PlanView::read(&asked)?;
            asked.source.announce(format)?;
            match format {
                Format::Text => print(&view.text(&asked.source))?,
                Format::Json => view.print_json()?,
            }
            Ok(0)
        }
    }
}

/// One line of a batch.
#[derive(Serialize)]
struct PlanLine {
    name: String,
    actions: Vec<Action>,
    /// After this plan; null where it is left alone.
    status: Option<DaemonSetStatus>,
    /// Only where the policy steers a rollout.
    #[serde(flatten)]
    rollout: Option<RolloutAnswer>,
    /// The candidates that wait for something else than the budget: each node with its outcome.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    waits: BTreeMap<NodeName, Value>,
    /// The nodes of warnings about turns, names and changes in place, by the name of the warning.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    warnings: BTreeMap<String, Value>,
}

/// Each node with the members of its outcome, whose type is the member `outcome`.
fn waits(plan: &Plan) -> BTreeMap<NodeName, Value> {
    let waits = plan.report.nodes.iter().filter_map(|node| {
        let wait = node.outcome.wait().filter(|wait| wait.is_of_candidate())?;
        let Value::Object(mut outcome) = serde_json::to_value(wait).ok()? else { return None };
        let kind = outcome.remove("type")?;
        outcome.insert("outcome".to_owned(), kind);
        // A line has the gates alone.
        outcome.remove("turn");
        // The same text, whatever order serde_json keeps.
        outcome.sort_keys();
        Some((node.node.clone(), Value::Object(outcome)))
    });
    waits.collect()
}

/// The nodes of each warning that names them one by one.
fn warnings(plan: &Plan) -> BTreeMap<String, Value> {
    let warnings = plan.warnings.iter().filter_map(|warning| {
        let mut warning = serde_json::to_value(warning).ok()?;
        let nodes = warning.get_mut("nodes").filter(|nodes| nodes.is_object())?.take();
        Some((warning.get("type")?.as_str()?.to_owned(), nodes))
    });
    warnings.collect()
}

/// The rollout in a line of a batch.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RolloutAnswer {
    /// The marks that this plan sets, with the text after number and instant; null for a removed one.
    marks: BTreeMap<String, Option<String>>,
    /// The name of the stable revision.
    #[serde(rename = "base")]
    stable: Option<String>,
    /// The nodes whose new pod is the stable revision's, by name.
    #[serde(rename = "baseCreates")]
    stable_creates: Vec<NodeName>,
}

impl RolloutAnswer {
    fn new(plan: &Plan) -> Self {
        let rollout = plan.report.rollout.as_ref();
        let stable_hash = rollout.and_then(|rollout| rollout.stable_hash.as_deref());
        let mut answer = RolloutAnswer {
            marks: BTreeMap::new(),
            stable: rollout.and_then(|rollout| rollout.stable.clone()),
            stable_creates: Vec::new(),
        };
        for action in &plan.actions {
            match action {
                Action::AnnotateRevision { annotations, .. } => {
                    answer.marks.extend(annotations.iter().map(|(key, value)| {
                        let name = key.rsplit_once('/').map_or(key.as_str(), |(_, name)| name);
                        let rest =
                            |value: &String| value.splitn(3, ' ').nth(2).unwrap_or_default().to_owned();
                        (name.to_owned(), value.as_ref().map(rest))
                    }));
                }
                Action::CreatePod { node, pod, .. } if stable_hash == Some(pod.revision_hash()) => {
                    answer.stable_creates.push(node.clone());
                }
                _ => {}
            }
        }
        answer
    }
}

/// The answer to a line, whose form is that of its question.
#[derive(Serialize)]
#[serde(untagged)]
enum PlanAnswer {
    Plan(Box<PlanLine>),
    Drain(drain::LineAnswer),
}

fn answer_line(line: &str) -> Result<PlanAnswer, RefusedLine> {
    if drain::is_drain(line) {
        return drain::answer_line(line).map(PlanAnswer::Drain);
    }
    plan_line(line).map(|answer| PlanAnswer::Plan(Box::new(answer)))
}

fn plan_line(line: &str) -> Result<PlanLine, RefusedLine> {
    let refused = |error: String| RefusedLine { name: name(line), error };
    let recording = Recording::from_json(line.as_bytes()).map_err(|error| refused(at_column(&error)))?;
    let snapshot = recording.snapshot().map_err(|error| refused(error.to_string()))?;
    let plan = plan(&snapshot);
    let rollout = recording.policy.rollout.is_some().then(|| RolloutAnswer::new(&plan));
    let (waits, warnings) = (waits(&plan), warnings(&plan));
    let name = recording.name.clone();
    Ok(PlanLine { name, actions: plan.actions, status: plan.status, rollout, waits, warnings })
}
