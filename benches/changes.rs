//! The cost of one event: a pod turns not Ready, and Ready again; each time the change is applied and planned. It must not
//! grow with the fleet.
//!
//! `cargo bench -p daemonset-benches --bench changes` counts instructions under valgrind, and takes times without it.

use daemonset::model::Pod;
use daemonset::{Change, Plan, Reconciler};
use daemonset_benches::{Fleet, Scenario};
use std::hint::black_box;
use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::time::Instant;

const SCENARIOS: [Scenario; 3] = [Scenario::Steady, Scenario::MidRollout, Scenario::Surge];
const SIZES: [usize; 3] = [1_000, 15_000, 100_000];
const EVENTS: usize = 20;
/// The maximum number of instructions of an event, on average.
const LIMIT: f64 = 50_000.0;
/// The maximum ratio of the instructions at the largest size to those at the smallest.
const LARGEST_RATIO: f64 = 1.5;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["count", scenario, nodes] => count(scenario, nodes),
        args if args.contains(&"--bench") => compare(),
        _ => ExitCode::SUCCESS,
    }
}

fn compare() -> ExitCode {
    let [small, medium, large] = SIZES;
    println!("one event: instructions and median time, at {small}, {medium} and {large} nodes");
    let mut good = true;
    for scenario in SCENARIOS {
        let times = SIZES.map(|nodes| median_microseconds(scenario, nodes));
        let counts = SIZES.map(|nodes| instructions(scenario, nodes));
        let growth = counts[2] / counts[0];
        good &= growth.is_nan() || (growth <= LARGEST_RATIO && counts[1] <= LIMIT);
        println!("{scenario:<12} {counts:>9.0?} growth {growth:.2}   {times:.1?} µs");
    }
    if good { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn median_microseconds(scenario: Scenario, nodes: usize) -> f64 {
    let fleet = Fleet::new(scenario, nodes);
    let mut reconciler = fleet.settled();
    let mut samples = Vec::new();
    for number in 0..500 {
        let (ready, unready) = fleet.blip(number);
        for pod in [&unready, &ready] {
            let start = Instant::now();
            let plan = measured_event(&mut reconciler, &fleet, pod);
            samples.push(start.elapsed().as_nanos() as f64 / 1000.0);
            drop(plan);
        }
    }
    samples.sort_by(f64::total_cmp);
    samples[samples.len() / 2]
}

/// The program that runs under valgrind.
fn count(scenario: &str, nodes: &str) -> ExitCode {
    let Some(scenario) = SCENARIOS.into_iter().find(|known| known.to_string() == scenario) else {
        return ExitCode::FAILURE;
    };
    let Ok(nodes) = nodes.parse() else { return ExitCode::FAILURE };
    let fleet = Fleet::new(scenario, nodes);
    let mut reconciler = fleet.settled();
    for number in 0..EVENTS / 2 {
        let (ready, unready) = fleet.blip(number);
        drop(measured_event(&mut reconciler, &fleet, &unready));
        drop(measured_event(&mut reconciler, &fleet, &ready));
    }
    ExitCode::SUCCESS
}

#[inline(never)]
fn measured_event(reconciler: &mut Reconciler, fleet: &Fleet, pod: &Pod) -> Plan {
    reconciler.apply(Change::Pod(black_box(pod).into()));
    black_box(reconciler.plan_changes(|| fleet.observed(), fleet.now()).unwrap())
}

/// Instructions of one event; not a number without valgrind.
fn instructions(scenario: Scenario, nodes: usize) -> f64 {
    let name = format!("changes-{}-{scenario}-{nodes}", std::process::id());
    let file: PathBuf = std::env::temp_dir().join(name);
    let status = Command::new("valgrind")
        .args(["-q", "--tool=callgrind", "--collect-atstart=no", "--toggle-collect=*::measured_event"])
        .arg(format!("--callgrind-out-file={}", file.display()))
        .arg(std::env::current_exe().unwrap())
        .args(["count", &scenario.to_string(), &nodes.to_string()])
        .status();
    let text = std::fs::read_to_string(&file).unwrap_or_default();
    if std::env::var_os("KEEP").is_none() {
        let _ = std::fs::remove_file(&file);
    }
    if !status.is_ok_and(|status| status.success()) {
        return f64::NAN;
    }
    let total = text.lines().find_map(|line| line.strip_prefix("totals: "));
    total.and_then(|total| total.trim().parse::<f64>().ok()).map_or(f64::NAN, |total| total / EVENTS as f64)
}
