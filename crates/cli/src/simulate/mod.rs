//! `kubectl daemonset simulate`: a rollout before it happens, summed up and drawn.

pub(crate) mod args;
mod canvas;
mod compare;
mod curves;
mod downtime;
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
mod note;
mod palette;
mod panel;
mod phases;
#[cfg(test)]
mod pictures;
mod pod_now;
pub(crate) mod policy;
mod replay;
mod replayed_node;
mod report;
mod ribbon;
mod row;
mod run;
mod scale;
mod scene;
mod setting;
#[cfg(test)]
mod stories;
mod svg;
mod timeline;
mod turn_lanes;
mod words;

use crate::cluster::{Choice, Input, Needs, Source, Wanted};
use crate::shell::console::{Format, LOOK, Stop, print, print_json};
use crate::simulate::args::{Args, Simulation};
use crate::simulate::run::Run;
use crate::simulate::scene::Progress;
use crate::simulate::setting::Setting;
use daemonset::policy::Powers;
use daemonset::{Policy, Recording};
use daemonset_sim::{RolloutEnd, Runtime};
use std::collections::BTreeSet;
use std::io::Write;

/// The DaemonSet of the built-in cluster that is simulated by default.
const EXAMPLE: (&str, &str) = ("monitoring", "node-exporter");

/// Runs the subcommand.
pub(crate) fn run(args: Args) -> Result<u8, Stop> {
    simulate(&args.simulation()?)
}

fn simulate(simulation: &Simulation) -> Result<u8, Stop> {
    let input = read(simulation)?;
    let Simulation { source, scene, format, .. } = simulation;
    let settings = match simulation.compare.as_slice() {
        [] => std::slice::from_ref(&simulation.setting),
        several => several,
    };
    // All runs are in one world: the same nodes are as fast in each of them.
    let mut knows_images = simulation.downtime;
    for setting in settings {
        knows_images |= policy::asks_for_turns(&policy_of(simulation, setting, &input)?);
    }
    let mut runs = Vec::new();
    for setting in settings {
        let mut recording = scene.grown(&input.recording);
        // The other options hold for every setting that is compared.
        for setting in [&simulation.setting, setting] {
            setting.apply(&mut recording);
        }
        let policy = normalized(simulation, setting, &mut recording, &input)?;
        recording.snapshot().map_err(|error| source.stop(error))?;
        let label =
            if simulation.compare.is_empty() { recording.name.clone() } else { setting.label.clone() };
        let runtime = knows_images.then_some(Runtime::Containerd);
        runs.push(scene.run(recording, (&label, runtime), policy::words(&policy), &Progress));
    }
    files::write(simulation, &runs)?;
    source.announce(*format)?;
    if let Some(note) = note::note(&input, scene.release) {
        std::io::stderr().write_all(note.as_bytes())?;
    }
    match (format, runs.as_slice()) {
        (Format::Text, [only]) => print(&report::text(only, &source.to_string(), scene.seed))?,
        (Format::Text, several) => print(&(table(simulation, &files::pictures(several)) + "\n"))?,
        (Format::Json, [only]) => print_json(&report::json(only, &runs, scene.seed))?,
        (Format::Json, several) => {
            let runs: Vec<_> = several.iter().map(|ran| report::json(ran, several, scene.seed)).collect();
            print_json(&serde_json::json!({"runs": runs}))?;
        }
    }
    Ok(if runs.iter().all(|ran| ends_well(ran.summary.end)) { 0 } else { LOOK })
}

/// The figures of several runs.
fn table(simulation: &Simulation, runs: &[Run<'_>]) -> String {
    if simulation.downtime { downtime::table(runs) } else { compare::table(runs) }
}

/// The policy that a run has.
fn policy_of(simulation: &Simulation, setting: &Setting, input: &Input) -> Result<Policy, Stop> {
    let recorded = &input.recording;
    let mut recording = Recording::new(recorded.daemon_set.clone(), recorded.now);
    recording.policy = recorded.policy.clone();
    for setting in [&simulation.setting, setting] {
        setting.apply(&mut recording);
    }
    normalized(simulation, setting, &mut recording, input)
}

fn normalized(
    simulation: &Simulation,
    setting: &Setting,
    recording: &mut Recording,
    input: &Input,
) -> Result<Policy, Stop> {
    let policy = policy::normalize(&mut recording.daemon_set, &recording.policy, &input.powers);
    policy.map_err(|error| {
        let file = [setting, &simulation.setting].into_iter().find_map(Setting::policy_file);
        Stop::Input(policy::message(&error, file))
    })
}

/// Whether nothing has to be looked at: all nodes have the new version, or those that the policy releases.
fn ends_well(end: RolloutEnd) -> bool {
    matches!(end, RolloutEnd::Complete | RolloutEnd::Held)
}

/// The cluster to start from.
fn read(simulation: &Simulation) -> Result<Input, Stop> {
    let Simulation { source, daemon_set, .. } = simulation;
    let example = || {
        let (namespace, name) = EXAMPLE;
        Some(Wanted::named(Some(namespace), name))
    };
    let daemon_set = match (daemon_set, source) {
        (None, Source::Example { .. }) => example(),
        (wanted, _) => wanted.clone(),
    };
    let choice = Choice { daemon_set, now: None, policy: None };
    let mut input = match source {
        Source::Kubectl(_) => {
            let mut objects = source.objects(Needs::Plan)?;
            // The policy of a file may need them, too.
            let namespaces =
                if simulation.has_policy_file() { objects.namespaces() } else { BTreeSet::new() };
            source.learn_powers(&mut objects, namespaces);
            source.input_of(objects, &choice)?
        }
        Source::Example { .. } | Source::Stdin | Source::File(_) => source.input(&choice)?,
    };
    input.snapshot().map_err(|message| source.stop(message))?;
    if matches!(source, Source::Example { .. }) {
        // Its policies are tried, and nobody owns its namespace.
        input.powers = Powers::all();
    }
    Ok(input)
}
