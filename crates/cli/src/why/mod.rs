//! `kubectl daemonset why`: which rule holds a node, a pod or a rollout, since when, and what comes next.

mod node;
mod placement;
mod pod;
mod pods;
mod rollout;
mod rule;
mod subject;
mod turn;

use crate::case::Case;
use crate::cluster::{MIDROLLOUT, Models, Needs, TargetArgs};
use crate::plan::{Planned, planned};
use crate::shell::console::{Format, Stop, print, print_json};
use crate::stuck::{Look, Patience, Shown};
use crate::why::subject::Subject;
use crate::words;
use anstyle::Style;
use daemonset::model::DaemonSet;
use daemonset::report::{NodeDetail, NodeVerdict, PodVerdict};
use jiff::Timestamp;
use serde::Serialize;

const LABEL: Style = Style::new().bold();

/// Explains a node, a pod, or the rollout of a DaemonSet.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// A node, a pod or a DaemonSet, by its name; node/NAME, pod/NAME or ds/NAME where several have it
    #[arg(value_name = "NODE|POD|DAEMONSET")]
    subject: String,
    #[command(flatten)]
    target: TargetArgs,
    /// The instant to look at. Default: as for plan
    #[arg(long, value_name = "RFC3339")]
    now: Option<Timestamp>,
    /// The format of the answer
    #[arg(short, long, value_enum, default_value_t)]
    output: Format,
}

/// The answer as JSON.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Answer<'a> {
    /// `Node` or `Pod`.
    kind: &'static str,
    name: &'a str,
    now: Timestamp,
    /// For a pod of no DaemonSet, and for a node with a turn of none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    sentences: Vec<String>,
    daemon_sets: Vec<AboutDaemonSet<'a>>,
}

/// The part of a DaemonSet in it.
#[derive(Serialize)]
struct AboutDaemonSet<'a> {
    name: &'a str,
    verdict: Option<&'a NodeVerdict>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pod: Option<&'a PodVerdict>,
    /// Of its turn, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<&'a NodeDetail>,
    sentences: Vec<String>,
    /// The commands to run next.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    commands: Vec<String>,
}

/// Runs the subcommand.
pub(crate) fn run(args: &Args) -> Result<u8, Stop> {
    let target = args.target.resolve(MIDROLLOUT)?;
    let source = &target.source;
    let objects = source.objects(Needs::Plan)?;
    if let Some(wanted) = target.wanted.as_ref().filter(|wanted| wanted.name.is_some()) {
        objects.choose(Some(wanted)).map_err(|message| source.stop(message))?;
    }
    source.check(&objects, target.wanted.as_ref())?;
    let now = source.instant(args.now, &objects)?;
    let mut models = objects.models().map_err(|message| source.stop(message))?;
    let all = models.daemon_sets.clone();
    if let Some(wanted) = &target.wanted {
        models.daemon_sets.retain(|ds| wanted.is(ds));
    }
    let connection = args.target.cluster.connection();
    let subject = Subject::find(&args.subject, &models).map_err(|message| source.stop(message))?;
    let planned = planned(&models, now);
    if let [Planned { plan: Err(error), .. }] = planned.as_slice() {
        return Err(source.stop(error));
    }
    let answer = match subject {
        Subject::Node(node) => about_node(node, &planned, &models, (&all, now), &connection),
        Subject::Pod(pod) => pod::about(pod, &planned, &models, now, &connection),
        Subject::DaemonSet(ds) => {
            let look =
                Look { source, models: &models, now, connection: &connection, patience: Patience::DEFAULT };
            let only: Vec<&Planned> = planned.iter().filter(|it| it.daemon_set == *ds).collect();
            source.announce(args.output)?;
            return look.respond(&only, args.output, Shown::One)?.response.with_code(0).print();
        }
    };
    source.announce(args.output)?;
    match args.output {
        Format::Json => print_json(&answer)?,
        Format::Text => print(&text(&answer))?,
    }
    Ok(0)
}

fn about_node<'a>(
    node: &'a daemonset::model::Node,
    planned: &'a [Planned],
    models: &'a Models,
    (all, now): (&[DaemonSet], Timestamp),
    connection: &str,
) -> Answer<'a> {
    let name = node.metadata.name.as_str();
    let about = planned.iter().map(|planned| match &planned.plan {
        Err(error) => AboutDaemonSet {
            name: &planned.name,
            verdict: None,
            pod: None,
            detail: None,
            sentences: vec![format!("There is no plan: {error}")],
            commands: Vec::new(),
        },
        Ok(plan) => {
            let case = Case { planned, plan, models, now, connection };
            let verdict = plan.report.node(name);
            let sentences = match verdict {
                Some(verdict) => case.sentences(verdict),
                None => vec![case.situation()],
            };
            let detail = planned.details.get(name);
            let commands = verdict.map(|verdict| case.look(verdict)).unwrap_or_default();
            AboutDaemonSet { name: &planned.name, verdict, pod: None, detail, sentences, commands }
        }
    });
    let daemon_sets: Vec<AboutDaemonSet<'a>> = about.collect();
    let mut sentences = turn::of_nobody(node, all, now);
    if daemon_sets.is_empty() {
        sentences.push("There is no DaemonSet here.".to_owned());
    }
    Answer { kind: "Node", name, now, sentences, daemon_sets }
}

/// A paragraph for each DaemonSet.
fn text(answer: &Answer<'_>) -> String {
    let mut text = String::new();
    for about in &answer.daemon_sets {
        text.push_str(&format!(
            "{LABEL}{} {}, DaemonSet {}{LABEL:#}\n",
            answer.kind, answer.name, about.name
        ));
        about.sentences.iter().for_each(|sentence| text.push_str(&format!("{sentence}\n")));
        for (label, command) in words::labelled("Run", about.commands.iter().cloned()) {
            text.push_str(&format!("{LABEL}{label:<11}{LABEL:#}{command}\n"));
        }
        text.push('\n');
    }
    answer.sentences.iter().for_each(|sentence| text.push_str(&format!("{sentence}\n")));
    text.trim_end().to_owned() + "\n"
}
