//! The cost of one event: a pod turns not Ready, and Ready again; each time the change is applied and planned. It must not
//! grow with the fleet.
//!
//! `cargo bench -p daemonset-benches --bench changes` runs itself under valgrind, and does nothing without valgrind. Times are in
//! the bench `reconcile`.

use daemonset::Plan;
use daemonset::model::Pod;
use daemonset_benches::{Fleet, Scenario};
use daemonset_incremental::{Change, Tracker};
use std::hint::black_box;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

const SCENARIOS: [Scenario; 5] =
    [Scenario::Steady, Scenario::MidRollout, Scenario::Waves, Scenario::Turns, Scenario::Surge];
const SIZES: [usize; 2] = [1_000, 15_000];
const EVENTS: usize = 20;
/// The maximum number of instructions of an event, on average. One of a rollout in waves takes the most, but for turns.
const LIMIT: f64 = 75_000.0;
/// The same with turns and pulls. Among 15,000 nodes it is about one and a half times an event without.
const LIMIT_OF_TURNS: f64 = 85_000.0;
/// The maximum ratio of the instructions at the largest size to those at the smallest.
const LARGEST_RATIO: f64 = 1.5;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["count", scenario, nodes] => count(scenario, nodes),
        args if args.contains(&"--bench") && has_valgrind() => compare(),
        _ => ExitCode::SUCCESS,
    }
}

fn has_valgrind() -> bool {
    Command::new("valgrind").arg("--version").output().is_ok_and(|output| output.status.success())
}

fn compare() -> ExitCode {
    println!("instructions of one event, applied and planned");
    let mut good = true;
    for scenario in SCENARIOS {
        let counts = SIZES.map(|nodes| instructions(scenario, nodes));
        good &= print(scenario, &SIZES, &counts);
    }
    // The fleet takes valgrind minutes to make.
    let (small, large) = (SIZES[0], 100_000);
    let counts = [small, large].map(|nodes| instructions(Scenario::MidRollout, nodes));
    good &= print(Scenario::MidRollout, &[small, large], &counts);
    if good { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Prints a line. Returns whether an event costs little, and costs the same in a larger fleet.
fn print(scenario: Scenario, sizes: &[usize], counts: &[f64]) -> bool {
    let (Some(small), Some(large)) = (counts.first(), counts.last()) else { return true };
    let growth = large / small;
    println!("{scenario:<12} {sizes:?} nodes: {counts:.0?}, growth {growth:.2}");
    let limit = if scenario == Scenario::Turns { LIMIT_OF_TURNS } else { LIMIT };
    counts.iter().all(|count| *count <= limit) && growth <= LARGEST_RATIO
}

/// The program that runs under valgrind.
fn count(scenario: &str, nodes: &str) -> ExitCode {
    let Some(scenario) = Scenario::ALL.into_iter().find(|known| known.to_string() == scenario) else {
        return ExitCode::FAILURE;
    };
    let Ok(nodes) = nodes.parse() else { return ExitCode::FAILURE };
    let fleet = Fleet::new(scenario, nodes);
    let mut tracker = fleet.settled();
    for number in 0..EVENTS / 2 {
        let (ready, unready) = fleet.blip(number);
        drop(measured_event(&mut tracker, &fleet, &unready));
        drop(measured_event(&mut tracker, &fleet, &ready));
    }
    ExitCode::SUCCESS
}

#[inline(never)]
fn measured_event(tracker: &mut Tracker, fleet: &Fleet, pod: &Pod) -> Plan {
    let _ = tracker.apply(Change::Pod(black_box(pod).into()));
    black_box(tracker.plan(fleet.now()).unwrap())
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
    let _ = std::fs::remove_file(&file);
    if !status.is_ok_and(|status| status.success()) {
        return f64::NAN;
    }
    let total = text.lines().find_map(|line| line.strip_prefix("totals: "));
    total.and_then(|total| total.trim().parse::<f64>().ok()).map_or(f64::NAN, |total| total / EVENTS as f64)
}
