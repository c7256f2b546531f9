//! `kubectl daemonset simulate`: a rollout before it happens, summed up and drawn.

pub(crate) mod args;
mod axis;
mod canvas;
mod compare;
mod curves;
#[cfg(test)]
mod fake;
mod figures;
mod files;
mod head;
mod html;
mod labels;
mod lanes;
mod layers;
mod layout;
#[cfg(test)]
mod looks;
mod marks;
mod palette;
mod panel;
#[cfg(test)]
mod pictures;
mod progress;
mod replay;
mod report;
mod revisions;
mod run;
mod scale;
mod scene;
mod setting;
mod station;
#[cfg(test)]
mod stories;
mod svg;
mod targets;
mod timeline;
mod why;
mod words;

use crate::input::{Choice, Form, Input};
use crate::shell::console::{Stop, print, print_json};
use crate::simulate::args::{Args, Format, Simulation};
use crate::simulate::progress::Progress;

/// A real cluster at rest, as `kubectl get … -o json` printed it.
const BUILT_IN: &str = include_str!("../input/steady.json");
const BUILT_IN_NAME: &str = "monitoring/node-exporter";

/// Runs the subcommand.
pub(crate) fn run(args: Args) -> Result<(), Stop> {
    simulate(args.simulation().map_err(Stop::Input)?)
}

fn simulate(mut simulation: Simulation) -> Result<(), Stop> {
    let (source, input) = read(&mut simulation)?;
    let Simulation { scene, format, .. } = &simulation;
    let settings = match simulation.compare.as_slice() {
        [] => std::slice::from_ref(&simulation.setting),
        several => several,
    };
    let grown = scene.grown(input.recording);
    let mut runs = Vec::new();
    for setting in settings {
        let mut recording = grown.clone();
        // What the options say holds for all that is compared.
        for setting in [&simulation.setting, setting] {
            setting.apply(&mut recording.daemon_set);
        }
        recording.snapshot().map_err(|error| Stop::Input(format!("{source}: {error}")))?;
        let label = if simulation.compare.is_empty() { &recording.name } else { &setting.label };
        runs.push(scene.run(&recording, label, &Progress));
    }
    files::write(&simulation, &runs)?;
    match (format, runs.as_slice()) {
        (Format::Text, [only]) => print(&report::text(only, &source, scene.seed))?,
        (Format::Text, several) => print(&(compare::table(&files::pictures(several)) + "\n"))?,
        (Format::Json, [only]) => print_json(&report::json(only, scene.seed))?,
        (Format::Json, several) => {
            let runs: Vec<_> = several.iter().map(|ran| report::json(ran, scene.seed)).collect();
            print_json(&serde_json::json!({"runs": runs}))?;
        }
    }
    Ok(())
}

/// The cluster to start from, and what it is called.
fn read(simulation: &mut Simulation) -> Result<(String, Input), Stop> {
    let name = simulation.source.as_ref().map_or("the built-in cluster".to_owned(), ToString::to_string);
    let told = |message: String| Stop::Input(format!("{name}: {message}"));
    let bytes = match &simulation.source {
        Some(source) => source.bytes().map_err(told)?,
        None => BUILT_IN.as_bytes().into(),
    };
    let built_in = simulation.source.is_none().then(|| BUILT_IN_NAME.to_owned());
    let daemon_set = simulation.choice.daemon_set.take().or(built_in);
    let choice = Choice { daemon_set, now: None, policy: None };
    let input = Form::of(&bytes).and_then(|form| Input::parse(&bytes, form, &choice)).map_err(told)?;
    input.snapshot().map_err(told)?;
    Ok((name, input))
}
