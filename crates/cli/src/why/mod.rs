//! `kubectl daemonset why`: which rule holds a node, a pod or a rollout, since when, and what comes next.

use crate::cluster::{MIDROLLOUT, Needs, TargetArgs};
use crate::shell::called::plugin;
use crate::shell::console::{Format, Stop, print, print_json};
use crate::stuck::{AnswerForm, Look, Patience};
use anstyle::Style;
use daemonset_view::case::View;
use daemonset_view::plan::{Planned, planned};
use daemonset_view::why::{Subject, WhyAnswer, about_node, about_pod};
use daemonset_view::words;
use jiff::Timestamp;

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

/// Runs the subcommand.
pub(crate) fn run(args: &Args) -> Result<u8, Stop> {
    let target = args.target.resolve(MIDROLLOUT)?;
    let source = &target.source;
    let objects = source.objects(Needs::Plan)?;
    if let Some(wanted) = target.wanted.as_ref().filter(|wanted| wanted.name.is_some()) {
        objects.choose(Some(wanted)).map_err(|message| source.stop(message))?;
    }
    source.check(&objects, target.wanted.as_ref())?;
    let (now, as_of) = (source.instant(args.now, &objects)?, source.as_of(args.now, &objects));
    let mut models = objects.models().map_err(|message| source.stop(message))?;
    let all = models.daemon_sets.clone();
    if let Some(wanted) = &target.wanted {
        models.daemon_sets.retain(|ds| wanted.is(ds));
    }
    let connection = args.target.cluster.connection();
    let planned = planned(&models, now);
    source.learn_events(&mut models, &planned, now);
    let subject = Subject::find(&args.subject, &models).map_err(|message| source.stop(message))?;
    if let [Planned { plan: Err(error), .. }] = planned.as_slice() {
        return Err(source.stop(error));
    }
    let view = View { models: &models, now, plugin: plugin(), connection: &connection };
    let answer = match subject {
        Subject::Node(node) => about_node(node, &planned, &all, &view),
        Subject::Pod(pod) => about_pod(pod, &planned, &view),
        Subject::DaemonSet(ds) => {
            let (as_of, patience) = (&as_of, Patience::DEFAULT);
            let look = Look { source, models: &models, now, as_of, connection: &connection, patience };
            let only: Vec<&Planned> = planned.iter().filter(|it| it.daemon_set == *ds).collect();
            source.announce(args.output)?;
            return look.respond(&only, args.output, AnswerForm::One)?.response.with_code(0).print();
        }
    };
    source.announce(args.output)?;
    match args.output {
        Format::Json => print_json(&answer)?,
        Format::Text => print(&text(&answer))?,
    }
    Ok(0)
}

/// A paragraph for each DaemonSet.
fn text(answer: &WhyAnswer<'_>) -> String {
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
