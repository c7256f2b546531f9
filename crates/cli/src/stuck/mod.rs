//! `kubectl daemonset stuck`: whether rollouts move, which nodes hold them and why, and the commands to run next.

use crate::cluster::{MIDROLLOUT, Models, Needs, Source, Target, TargetArgs};
use crate::shell::called::plugin;
use crate::shell::console::{Format, LOOK, Stop, duration};
use crate::shell::response::Response;
use daemonset_view::case::Case;
use daemonset_view::plan::{Planned, planned};
use daemonset_view::stuck::{PATIENCE, StuckAnswer};
use daemonset_view::words;
use jiff::{SignedDuration, Timestamp};
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
    pub(crate) const DEFAULT: SignedDuration = PATIENCE;
}

/// DaemonSets to look at.
pub(crate) struct Look<'l> {
    pub(crate) source: &'l Source,
    pub(crate) models: &'l Models,
    pub(crate) now: Timestamp,
    /// The last line of a text: [`Source::as_of`].
    pub(crate) as_of: &'l str,
    /// The flags by which kubectl finds the cluster, each after a space.
    pub(crate) connection: &'l str,
    pub(crate) patience: SignedDuration,
}

/// The form of the answer's data.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum AnswerForm {
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
    let (now, as_of) = (source.instant(args.now, &objects)?, source.as_of(args.now, &objects));
    let mut models = objects.models().map_err(|message| source.stop(message))?;
    models.daemon_sets.retain(|ds| wanted.is_none_or(|wanted| wanted.is(ds)));
    let is_one = number == 1 && !args.target.cluster.chooses_several();
    let (patience, connection) = (args.patience.patience, args.target.cluster.connection());
    let planned = planned(&models, now);
    source.learn_events(&mut models, &planned, now);
    let look = Look { source, models: &models, now, as_of: &as_of, connection: &connection, patience };
    let all: Vec<&Planned> = planned.iter().collect();
    look.respond(&all, args.output, if is_one { AnswerForm::One } else { AnswerForm::Several })
}

impl Look<'_> {
    /// The answers about these DaemonSets; as a text those first that need somebody.
    pub(crate) fn respond(
        &self,
        planned: &[&Planned],
        format: Format,
        shown: AnswerForm,
    ) -> Result<Looked, Stop> {
        let Look { source, models, now, as_of, connection, patience } = *self;
        let answers = planned.iter().map(|planned| {
            let plan = planned.plan.as_ref().map_err(|message| source.stop(message))?;
            let case = Case { planned, plan, models, now, plugin: plugin(), connection };
            let answer = StuckAnswer::new(&case, patience).map_err(|message| source.stop(message))?;
            Ok((case, answer))
        });
        let answers: Vec<(Case<'_>, StuckAnswer<'_>)> = answers.collect::<Result<_, Stop>>()?;
        let response = match (format, answers.as_slice()) {
            (Format::Json, [(_, only)]) if shown == AnswerForm::One => Response::json(only)?,
            (Format::Json, several) => {
                let several: Vec<&StuckAnswer<'_>> = several.iter().map(|(_, answer)| answer).collect();
                Response::json(&json!({"daemonSets": several}))?
            }
            (Format::Text, answers) => Response::text(text(answers) + as_of),
        };
        let is_stuck = answers.iter().any(|(_, answer)| answer.is_stuck());
        let is_idle = answers.iter().any(|(_, answer)| answer.is_idle());
        Ok(Looked { response: response.with_code(if is_stuck { LOOK } else { 0 }), is_idle })
    }
}

/// Rollouts that are stuck, then those that move, then the names of those that are complete: they need nobody.
fn text(answers: &[(Case<'_>, StuckAnswer<'_>)]) -> String {
    let (complete, rest): (Vec<_>, Vec<_>) =
        answers.iter().partition(|(_, answer)| answer.is_complete() && answer.findings.is_empty());
    let (stuck, moving): (Vec<_>, Vec<_>) = rest.into_iter().partition(|(_, answer)| answer.is_stuck());
    let mut text: String = stuck.into_iter().chain(moving).map(|(case, answer)| answer.text(case)).collect();
    // A selector with a slip completes a rollout, too.
    let (nowhere, complete): (Vec<_>, Vec<_>) =
        complete.into_iter().partition(|(case, _)| !case.has_targets());
    for (state, answers) in [("for no node", nowhere), ("complete", complete)] {
        match answers.as_slice() {
            [(case, only)] => text.push_str(&only.text(case)),
            [] => {}
            several => {
                let names = words::names(several.iter().map(|(_, answer)| answer.name), MOST_NAMES);
                text.push_str(&format!("{state}: {}: {names}\n", words::count(several.len(), "DaemonSet")));
            }
        }
    }
    text
}

/// Names at most so many DaemonSets that are complete.
const MOST_NAMES: usize = 10;
