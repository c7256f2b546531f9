//! Simulates a rollout before it happens, sums it up and draws it.
//!
//! `cargo run --release --features sim --example simulate -- --help` tells the ways to call it. Bad input is one line on
//! stderr, and exit code 2.
#![deny(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::string_slice,
    clippy::todo,
    clippy::unimplemented,
    clippy::unreachable,
    clippy::unwrap_used
)]

mod args;
mod axis;
mod canvas;
mod compare;
#[path = "../shell/console.rs"]
mod console;
mod curves;
#[cfg(test)]
mod fake;
mod figures;
mod files;
mod head;
mod html;
#[path = "../plan/input.rs"]
#[allow(dead_code, reason = "another cluster is built in here, and its clock is not told")]
mod input;
mod labels;
mod lanes;
mod layers;
mod layout;
#[path = "../plan/list.rs"]
mod list;
#[cfg(test)]
mod looks;
mod marks;
mod palette;
mod panel;
#[cfg(test)]
mod pictures;
#[path = "../plan/places.rs"]
mod places;
mod progress;
#[path = "../shell/reasons.rs"]
mod reasons;
mod replay;
mod report;
mod revisions;
mod run;
mod scale;
mod scene;
mod setting;
#[path = "../shell/source.rs"]
#[allow(dead_code, reason = "shared with the other examples, which read line by line as well")]
mod source;
mod station;
#[cfg(test)]
mod stories;
mod svg;
mod targets;
mod timeline;
mod why;
mod words;

use crate::args::{Args, Format, Job, Simulation};
use crate::console::{Stop, finish, print, print_json};
use crate::input::{Choice, Form, Input};
use crate::progress::Progress;
use std::process::ExitCode;

/// A real cluster at rest, as `kubectl get … -o json` printed it.
const BUILT_IN: &str = include_str!("steady.json");
const BUILT_IN_NAME: &str = "monitoring/node-exporter";

fn main() -> ExitCode {
    let done = Args::read().and_then(|job| match job {
        Job::Help(text) => Ok(print(&text)?),
        Job::Simulate(simulation) => simulate(*simulation),
    });
    finish("simulate", "output", done)
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
