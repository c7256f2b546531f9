//! The number of instructions of a decision, which is the same on every run. The benchmark checks that the number grows
//! linearly with the fleet, and that an audit and the building of a kept state are cheap compared with the decision.
//!
//! `cargo bench -p daemonset-benches --bench instructions` runs itself under valgrind, and does nothing without valgrind.

use daemonset::{Action, Plan, Snapshot};
use daemonset_audit::Violation;
use daemonset_benches::{Fleet, Scenario};
use daemonset_incremental::Tracker;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

const SIZES: [usize; 3] = [1_000, 5_000, 15_000];
/// The maximum ratio of the instructions per node at the largest size to those at the smallest size: sorting is not
/// quite linear.
const LARGEST_RATIO: f64 = 1.5;
/// The maximum ratio of an audit's instructions to the decision's. The audit finds the waves of a rollout a second time, in sums that
/// an audit of changes keeps.
const DEAREST_AUDIT: f64 = 3.0;
/// The maximum ratio of the instructions of the first plan of a tracker, which keeps its state, to those of check and plan.
const DEAREST_BUILD: f64 = 1.6;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["decide", scenario, nodes] => decide(scenario, nodes),
        args if args.contains(&"--bench") && has_valgrind() => compare(),
        _ => println_and_succeed("run by `cargo bench`, and with valgrind: nothing measured"),
    }
}

fn println_and_succeed(text: &str) -> ExitCode {
    println!("{text}");
    ExitCode::SUCCESS
}

fn has_valgrind() -> bool {
    Command::new("valgrind").arg("--version").output().is_ok_and(|output| output.status.success())
}

/// The program that runs under valgrind.
fn decide(scenario: &str, nodes: &str) -> ExitCode {
    let Some(scenario) = Scenario::ALL.into_iter().find(|known| known.to_string() == scenario) else {
        return ExitCode::FAILURE;
    };
    let Ok(nodes) = nodes.parse() else { return ExitCode::FAILURE };
    let fleet = Fleet::new(scenario, nodes);
    // The allocator sorts the blocks that the generator has freed here, so that the measurement does not include it.
    drop(fleet.snapshot());
    let snapshot = measured_check(&fleet);
    let actions = measured_reconcile(&snapshot);
    let plan = measured_plan(&snapshot);
    let violations = measured_audit(&snapshot, &actions);
    let (_, kept) = measured_build(&fleet);
    let is_good = plan.actions == actions && kept.actions == actions && violations.is_empty();
    if is_good { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

#[inline(never)]
fn measured_check(fleet: &Fleet) -> Snapshot<'_> {
    black_box(fleet.snapshot())
}

#[inline(never)]
fn measured_reconcile(snapshot: &Snapshot<'_>) -> Vec<Action> {
    black_box(daemonset::reconcile(snapshot))
}

#[inline(never)]
fn measured_plan(snapshot: &Snapshot<'_>) -> Plan {
    black_box(daemonset::plan(snapshot))
}

#[inline(never)]
fn measured_audit(snapshot: &Snapshot<'_>, actions: &[Action]) -> Vec<Violation> {
    black_box(daemonset_audit::audit(snapshot, actions))
}

#[inline(never)]
fn measured_build(fleet: &Fleet) -> (Tracker, Plan) {
    black_box(fleet.first_plan())
}

/// The measured functions, in the order in which they are called.
const STEPS: [&str; 5] = ["check", "reconcile", "plan", "audit", "build"];

fn compare() -> ExitCode {
    let [small, medium, large] = SIZES;
    println!("instructions per node, and how they grow from {small} to {large} nodes");
    println!("{:<12} {:<10} {small:>9} {medium:>9} {large:>9} {:>7}", "scenario", "step", "growth");
    let mut good = true;
    for (scenario, counts) in Scenario::ALL.into_iter().zip(count_all()) {
        for (step, name) in STEPS.into_iter().enumerate() {
            good &= print(scenario, name, counts.each_ref().map(|steps| steps[step]));
        }
        good &= is_cheap(
            scenario,
            "audit/rec.",
            DEAREST_AUDIT,
            counts.map(|[_, reconcile, _, audit, _]| audit / reconcile),
        );
        good &= is_cheap(
            scenario,
            "build/c.+p.",
            DEAREST_BUILD,
            counts.map(|[check, _, plan, _, build]| build / (check + plan)),
        );
    }
    if good { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

type Counts = [[f64; STEPS.len()]; SIZES.len()];

/// Runs all scenarios at once, because the counts do not depend on the load.
fn count_all() -> [Counts; Scenario::ALL.len()] {
    std::thread::scope(|scope| {
        let running =
            Scenario::ALL.map(|scenario| scope.spawn(move || SIZES.map(|nodes| per_node(scenario, nodes))));
        running.map(|counts| counts.join().expect("a count of each step"))
    })
}

/// Prints a line. Returns whether the growth is close to linear.
fn print(scenario: Scenario, step: &str, [small, medium, large]: [f64; 3]) -> bool {
    let growth = large / small;
    let remark = if growth <= LARGEST_RATIO { "" } else { "  more than linear" };
    println!("{scenario:<12} {step:<10} {small:>9.0} {medium:>9.0} {large:>9.0} {growth:>7.2}{remark}");
    growth <= LARGEST_RATIO
}

/// Prints the ratio of one step to others at each size. Returns whether it is within the limit everywhere.
fn is_cheap(scenario: Scenario, name: &str, limit: f64, ratios: [f64; SIZES.len()]) -> bool {
    let cheap = ratios.into_iter().all(|ratio| ratio <= limit);
    let remark = if cheap { "" } else { "  too dear" };
    let [small, medium, large] = ratios;
    println!("{scenario:<12} {name:<11}{small:>9.2} {medium:>9.2} {large:>9.2}{remark}");
    cheap
}

/// Counts the instructions of each step by running this program under callgrind, which writes one file for each
/// measured function.
fn per_node(scenario: Scenario, nodes: usize) -> [f64; STEPS.len()] {
    let files = Files::new(scenario, nodes);
    let status = Command::new("valgrind")
        // The same functions in two patterns, because callgrind ignores an option for a pattern that it already has.
        .args(["-q", "--tool=callgrind", "--collect-atstart=no", "--toggle-collect=*::measured_*"])
        .arg("--dump-after=instructions::measured_*")
        .arg(format!("--callgrind-out-file={}", files.base.display()))
        .arg(std::env::current_exe().unwrap())
        .args(["decide", &scenario.to_string(), &nodes.to_string()])
        .status();
    assert!(status.is_ok_and(|status| status.success()), "valgrind failed on {scenario} {nodes}");
    [1, 2, 3, 4, 5].map(|part| files.total(part) as f64 / nodes as f64)
}

/// The files of one run, which are deleted on drop.
struct Files {
    base: PathBuf,
}

impl Files {
    fn new(scenario: Scenario, nodes: usize) -> Self {
        let name = format!("instructions-{}-{scenario}-{nodes}", std::process::id());
        Files { base: std::env::temp_dir().join(name) }
    }

    fn part(&self, number: u32) -> PathBuf {
        self.base.with_extension(number.to_string())
    }

    fn total(&self, number: u32) -> u64 {
        total(&self.part(number)).unwrap_or_else(|| panic!("no total in part {number}"))
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        for file in (1..=5).map(|number| self.part(number)).chain([self.base.clone()]) {
            // The last parts are optional.
            let _ = std::fs::remove_file(file);
        }
    }
}

fn total(file: &Path) -> Option<u64> {
    let text = std::fs::read_to_string(file).ok()?;
    text.lines().find_map(|line| line.strip_prefix("totals: "))?.trim().parse().ok()
}
