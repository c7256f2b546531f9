//! `kubectl daemonset stuck`: whether rollouts move, which nodes hold them and why, and the commands to run next.

mod change;
mod finding;
mod text;
mod words;

use crate::case::Case;
use crate::cause::Outage;
use crate::cluster::{MIDROLLOUT, Models, Needs, Source, Target, TargetArgs};
use crate::plan::{Planned, planned};
use crate::shell::console::{Format, LOOK, Stop, duration};
use crate::shell::response::Response;
use crate::stuck::change::last_change;
use crate::stuck::finding::{Finding, findings};
use daemonset::outlook::{ObstacleKind, Outlook, RolloutState, Signs};
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;
use serde_json::json;
use std::time::Duration;

/// Whether rollouts move.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) target: TargetArgs,
    #[command(flatten)]
    pub(crate) patience: Patience,
    /// The instant to look at. Default: as for plan
    #[arg(long, value_name = "RFC3339")]
    pub(crate) now: Option<Timestamp>,
    /// The format of the answer
    #[arg(short, long, value_enum, default_value_t)]
    pub(crate) output: Format,
}

/// How long things may take.
#[derive(clap::Args, Clone, Copy)]
pub(crate) struct Patience {
    /// How long a pod may take to become Ready, a node may be silent, and a controller may do nothing
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = duration)]
    pub(crate) patience: SignedDuration,
}

impl Patience {
    /// As for a Deployment's `progressDeadlineSeconds`.
    pub(crate) const DEFAULT: SignedDuration = SignedDuration::from_mins(10);
}

/// The answer about one DaemonSet.
#[derive(Serialize)]
pub(crate) struct Answer<'a> {
    pub(crate) name: &'a str,
    now: Timestamp,
    #[serde(flatten)]
    pub(crate) outlook: Outlook,
    /// The things that nodes wait for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) findings: Vec<Finding>,
    /// The commands to run next, each once.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) commands: Vec<String>,
}

/// DaemonSets to look at.
pub(crate) struct Look<'l> {
    pub(crate) source: &'l Source,
    pub(crate) models: &'l Models,
    pub(crate) now: Timestamp,
    /// The flags by which kubectl finds the cluster, each after a space.
    pub(crate) connection: &'l str,
    pub(crate) patience: SignedDuration,
}

/// The form of the answer's data.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shown {
    One,
    /// A list, even of one.
    Several,
}

/// A controller that runs has done something by then.
const SECOND_LOOK: Duration = Duration::from_secs(3);

/// Exit code 1 where nothing moves until somebody does something.
pub(crate) fn run(args: &Args) -> Result<Response, Stop> {
    let target = args.target.resolve(MIDROLLOUT)?;
    let first = look(args, &target)?;
    // Objects do not tell when the DaemonSet was changed, or a pod was deleted: perhaps a moment ago.
    let is_over = first.is_idle && matches!(target.source, Source::Kubectl(_));
    if !is_over {
        target.source.announce(args.output)?;
        return Ok(first.response);
    }
    std::thread::sleep(SECOND_LOOK);
    Ok(look(args, &target)?.response)
}

/// An answer about a cluster.
pub(crate) struct Looked {
    pub(crate) response: Response,
    /// Something is due, and nobody does it.
    is_idle: bool,
}

fn look(args: &Args, target: &Target) -> Result<Looked, Stop> {
    let (source, wanted) = (&target.source, target.wanted.as_ref());
    let objects = source.objects(Needs::Plan)?;
    let number = objects.number_of(wanted);
    if number == 0 {
        objects.choose(wanted).map_err(|message| source.stop(message))?;
    }
    source.check(&objects, wanted)?;
    let now = source.instant(args.now, &objects)?;
    let mut models = objects.models().map_err(|message| source.stop(message))?;
    models.daemon_sets.retain(|ds| wanted.is_none_or(|wanted| wanted.is(ds)));
    let is_one = number == 1 && !args.target.cluster.chooses_several();
    let (patience, connection) = (args.patience.patience, args.target.cluster.connection());
    let look = Look { source, models: &models, now, connection: &connection, patience };
    let planned = planned(&models, now);
    let all: Vec<&Planned> = planned.iter().collect();
    look.respond(&all, args.output, if is_one { Shown::One } else { Shown::Several })
}

impl Look<'_> {
    /// The answers about these DaemonSets.
    pub(crate) fn respond(&self, planned: &[&Planned], format: Format, shown: Shown) -> Result<Looked, Stop> {
        let Look { source, models, now, connection, patience } = *self;
        let answers = planned.iter().map(|planned| {
            let plan = planned.plan.as_ref().map_err(|message| source.stop(message))?;
            let case = Case { planned, plan, models, now, connection };
            Ok((case, Answer::new(&case, patience, source)?))
        });
        let answers: Vec<(Case<'_>, Answer<'_>)> = answers.collect::<Result<_, Stop>>()?;
        let response = match (format, answers.as_slice()) {
            (Format::Json, [(_, only)]) if shown == Shown::One => Response::json(only)?,
            (Format::Json, several) => {
                let several: Vec<&Answer<'_>> = several.iter().map(|(_, answer)| answer).collect();
                Response::json(&json!({"daemonSets": several}))?
            }
            (Format::Text, answers) => {
                Response::text(answers.iter().map(|(case, answer)| answer.text(case)).collect())
            }
        };
        let is_stuck = answers.iter().any(|(_, answer)| answer.is_stuck());
        let is_idle = answers.iter().any(|(_, answer)| answer.is_idle());
        Ok(Looked { response: response.with_code(if is_stuck { LOOK } else { 0 }), is_idle })
    }
}

impl<'a> Answer<'a> {
    pub(crate) fn new(case: &Case<'a>, patience: SignedDuration, source: &Source) -> Result<Self, Stop> {
        let Planned { name, .. } = case.planned;
        let outlook = Outlook::with_signs(case.plan, case.now, patience, &signs(case));
        let outlook = outlook.map_err(|partial| source.stop(partial.to_string()))?;
        let findings = findings(case, &outlook, patience);
        let mut commands: Vec<String> = Vec::new();
        for command in findings.iter().flat_map(|finding| &finding.commands) {
            if !commands.contains(command) {
                commands.push(command.clone());
            }
        }
        Ok(Answer { name, now: case.now, outlook, findings, commands })
    }

    pub(crate) fn is_stuck(&self) -> bool {
        matches!(self.outlook.state, RolloutState::Stuck { .. })
    }

    fn is_idle(&self) -> bool {
        self.outlook.obstacles.iter().any(|obstacle| obstacle.kind == ObstacleKind::NotDone)
    }
}

/// The facts beside the plan by which it is stuck.
fn signs(case: &Case<'_>) -> Signs {
    let nodes = case.models.nodes.iter();
    let silent = nodes.filter_map(|node| Some((node, Outage::of(node).filter(|outage| outage.silent)?)));
    let signs = silent.fold(Signs::default(), |signs, (node, outage)| {
        signs.silent_node(node.metadata.name.clone(), outage.since)
    });
    match last_change(case) {
        Some(at) => signs.last_change(at),
        None => signs,
    }
}
