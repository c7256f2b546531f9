//! The memory of a decision beside the snapshot. The limit is hard, because the number of bytes is the same on every
//! run.
//!
//! `cargo bench -p daemonset-benches --bench memory` exits non-zero if a decision exceeds the limit.

use daemonset::{Action, Snapshot, reconcile};
use daemonset_benches::{Fleet, Scenario};
use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: dhat::Alloc = dhat::Alloc;

/// The maximum number of bytes per pod at the peak of `reconcile`, including the actions that exist by then.
const LIMIT: f64 = 64.0;

/// A test run (`cargo test --benches`) is not optimized, so that it uses a smaller fleet.
fn sizes() -> &'static [usize] {
    if std::env::args().any(|arg| arg == "--bench") { &[15_000, 100_000] } else { &[1_000] }
}

fn main() -> ExitCode {
    println!(
        "{:<12} {:>7} {:>7} {:>9} {:>9} {:>9}",
        "scenario", "nodes", "pods", "actions", "peak", "per pod"
    );
    let scenarios = [Scenario::Steady, Scenario::MidRollout, Scenario::Surge, Scenario::Broken];
    let cases = scenarios.into_iter().flat_map(|scenario| sizes().iter().map(move |size| (scenario, *size)));
    let exceeded = cases.filter(|(scenario, nodes)| !is_within_limit(*scenario, *nodes)).count();
    if exceeded == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Measures and prints the result.
fn is_within_limit(scenario: Scenario, nodes: usize) -> bool {
    let fleet = Fleet::new(scenario, nodes);
    let Bytes { actions, peak } = Bytes::of(&fleet.snapshot());
    let pods = fleet.pods();
    let per_pod = peak as f64 / pods as f64;
    let remark = if per_pod <= LIMIT { "" } else { "  over the limit" };
    println!("{scenario:<12} {nodes:>7} {pods:>7} {actions:>9} {peak:>9} {per_pod:>9.1}{remark}");
    per_pod <= LIMIT
}

/// The heap use of one decision in bytes.
struct Bytes {
    /// The bytes of the actions at the end.
    actions: usize,
    /// The peak, including the actions that exist by then.
    peak: usize,
}

impl Bytes {
    fn of(snapshot: &Snapshot<'_>) -> Self {
        let _profiler = dhat::Profiler::builder().testing().build();
        let actions: Vec<Action> = reconcile(snapshot);
        let stats = dhat::HeapStats::get();
        drop(actions);
        Bytes { actions: stats.curr_bytes, peak: stats.max_bytes }
    }
}
