//! `kubectl daemonset simulate`: a rollout before it happens, summed up and drawn.

pub(crate) mod args;
mod files;
mod progress;

use crate::cluster::{Choice, Input, InputForm, Needs, Objects, Read, STEADY, Source, Wanted};
use crate::manifest::requests;
use crate::shell::console::{Format, LOOK, Stop, print, print_json};
use crate::simulate::args::{Args, Simulation};
use crate::simulate::progress::Bar;
use comfy_table::{Attribute, Cell, CellAlignment, Table, presets};
use daemonset::policy::Permissions;
use daemonset_apiserver::admission::FieldValidation;
use daemonset_pictures::rehearsal::{Refused, Rehearsal};
use daemonset_pictures::run::Run;
use daemonset_pictures::{compare, downtime, note, report};
use daemonset_sim::RolloutEnd;
use daemonset_view::policy::PolicyChoice;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::Path;

/// How many nodes of the built-in cluster a rollout is simulated on by default.
pub(crate) const BUILT_IN_NODES: u32 = 60;

/// The DaemonSet of the built-in cluster that is simulated by default.
const EXAMPLE: (&str, &str) = ("monitoring", "node-exporter");

/// Runs the subcommand.
pub(crate) fn run(args: Args) -> Result<u8, Stop> {
    let mut simulation = args.simulation()?;
    let input = read(&simulation)?;
    if matches!(input, SimulationStart::Manifest(_)) {
        simulation.scene.nodes.get_or_insert(BUILT_IN_NODES);
    }
    simulate(&simulation, &input)
}

/// The things that a rollout starts from.
enum SimulationStart {
    Cluster(Input),
    /// A DaemonSet without a cluster: on nodes of the built-in one.
    Manifest(Input),
}

fn simulate(simulation: &Simulation, start: &SimulationStart) -> Result<u8, Stop> {
    let (SimulationStart::Cluster(input) | SimulationStart::Manifest(input)) = start;
    let Simulation { source, scene, setting, compare, downtime, format, .. } = simulation;
    let rehearsal = Rehearsal { input, scene, setting, compare, downtime: *downtime };
    let refused = |refused: Refused| match refused {
        Refused::Setting(message) => Stop::Input(message),
        Refused::Cluster(message) => source.stop(message),
    };
    rehearsal.check_people().map_err(refused)?;
    let knows_images = rehearsal.knows_images().map_err(refused)?;
    let mut runs = Vec::new();
    for setting in rehearsal.settings() {
        let bar = Bar::begin(rehearsal.label(setting));
        let ran = rehearsal.run(setting, knows_images, |cluster| bar.show(cluster));
        bar.end();
        runs.push(ran.map_err(refused)?);
    }
    files::write(simulation, &runs)?;
    source.announce(*format)?;
    if let SimulationStart::Manifest(_) = start {
        writeln!(std::io::stderr(), "note: {source} has no nodes: these are nodes of the built-in cluster")?;
    }
    if let Some(note) = note::note(input, scene.release) {
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

/// A policy to try: `none`, or the path of a file in YAML or JSON.
pub(crate) fn policy_file(text: &str) -> Result<PolicyChoice, String> {
    if text == "none" {
        return Ok(PolicyChoice::None);
    }
    let bytes = fs::read(text).map_err(|error| format!("{text}: {error}"))?;
    let name = Path::new(text).file_name().map_or(text.into(), |name| name.to_string_lossy());
    PolicyChoice::named(&name, &bytes).map_err(|message| format!("{text}: {message}"))
}

/// The figures of several runs.
fn table(simulation: &Simulation, runs: &[Run<'_>]) -> String {
    aligned(&if simulation.downtime { downtime::table(runs) } else { compare::table(runs) })
}

/// With its styles.
fn aligned(figures: &compare::Table) -> String {
    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        .enforce_styling()
        .set_header(figures.titles.iter().map(|title| Cell::new(title).add_attribute(Attribute::Bold)))
        .add_rows(&figures.rows);
    for (position, column) in table.column_iter_mut().enumerate() {
        let last = position + 1 == figures.titles.len();
        column.set_padding((0, if last { 0 } else { 2 }));
        column.set_cell_alignment(if position == 0 { CellAlignment::Left } else { CellAlignment::Right });
    }
    table.to_string()
}

/// Whether nothing has to be looked at: all nodes have the new version, or those that the policy releases.
fn ends_well(end: RolloutEnd) -> bool {
    matches!(end, RolloutEnd::Complete | RolloutEnd::Held)
}

/// The DaemonSet of a manifest, as the API server would store it, on nodes of the built-in cluster; `None` where the source is no manifest.
fn manifest(objects: &Objects, choice: &Choice, source: &Source) -> Result<Option<Input>, Stop> {
    let stop = |message: String| source.stop(message);
    if objects.is_cluster() || !objects.has(choice.daemon_set.as_ref()) {
        return Ok(None);
    }
    let manifest = objects.choose(choice.daemon_set.as_ref()).map_err(stop)?.daemon_set;
    if manifest.pointer("/metadata/uid").is_some() {
        // It is stored: its nodes are somewhere.
        return Ok(None);
    }
    let requests::Answered { result, .. } = requests::create(&manifest, FieldValidation::Ignore);
    let mut stored = result.map_err(|refused| source.stop(refused.text(None)))?;
    // The API server would make one up.
    if let Some(metadata) = stored.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.insert("uid".to_owned(), "uid-of-the-manifest".into());
    }
    let mut objects = Objects::of_documents(vec![stored]).map_err(stop)?;
    objects.take_nodes(Source::example(STEADY).objects(Needs::Nodes)?);
    let choice = Choice { daemon_set: None, now: None, policy: None };
    let mut input = Input::from_list(objects, &choice).map_err(stop)?;
    // Nobody owns its namespace.
    input.powers = Permissions::all();
    Ok(Some(input))
}

/// The cluster to start from.
fn read(simulation: &Simulation) -> Result<SimulationStart, Stop> {
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
            source.learn_powers(&mut objects, namespaces).map_err(|message| source.stop(message))?;
            source.input_of(objects, &choice)?
        }
        Source::Stdin | Source::File(_) => {
            let bytes = source.bytes().map_err(|message| source.stop(message))?;
            match InputForm::of(&bytes).and_then(|form| Read::parse(&bytes, form, &choice)) {
                Ok(Read::Recording(input)) => *input,
                Ok(Read::Objects(objects)) => match manifest(&objects, &choice, source)? {
                    Some(input) => return Ok(SimulationStart::Manifest(input)),
                    None => source.input_of(*objects, &choice)?,
                },
                // An object alone is no List.
                Err(message) => {
                    let alone = Objects::read(&bytes).ok();
                    let input = alone.map_or(Ok(None), |objects| manifest(&objects, &choice, source))?;
                    return input.map(SimulationStart::Manifest).ok_or_else(|| source.stop(message));
                }
            }
        }
        Source::Example { .. } => source.input(&choice)?,
    };
    input.snapshot().map_err(|message| source.stop(message))?;
    if matches!(source, Source::Example { .. }) {
        // Its policies are tried, and nobody owns its namespace.
        input.powers = Permissions::all();
    }
    Ok(SimulationStart::Cluster(input))
}
