//! The memory of a decision beside the snapshot, and of the state that is kept between plans. The limits are hard, because the number of bytes is the same on every
//! run.
//!
//! `cargo bench -p daemonset-benches --bench memory` exits non-zero if a decision exceeds the limit.

use daemonset::{Action, Snapshot, reconcile};
use daemonset_benches::{Fleet, Scenario};
use daemonset_incremental::Change;
use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: dhat::Alloc = dhat::Alloc;

/// The maximum number of bytes per pod at the peak of `reconcile`, including the actions that exist by then.
const LIMIT: f64 = 76.0;

/// The maximum number of bytes that are kept for a node with its pod, beyond their names, uids and versions; the calls in
/// flight of a rollout are among them.
const KEPT_LIMIT: f64 = 260.0;

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
    println!("\nkept between plans: bytes per node with its pod, beyond their names");
    // Of a broken fleet every delete is in flight: the memory of these is not the state's.
    let scenarios = [Scenario::Steady, Scenario::MidRollout, Scenario::Surge];
    let cases = scenarios.into_iter().flat_map(|scenario| sizes().iter().map(move |size| (scenario, *size)));
    let kept = cases.filter(|(scenario, nodes)| !is_kept_small(*scenario, *nodes)).count();
    if exceeded + kept == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Measures a state as it is built, and after many changes: nothing may pile up.
fn is_kept_small(scenario: Scenario, nodes: usize) -> bool {
    let fleet = Fleet::new(scenario, nodes);
    let _profiler = dhat::Profiler::builder().testing().build();
    let held = || dhat::HeapStats::get().curr_bytes;
    let mut tracker = fleet.settled();
    let fresh = held() as f64;
    let changes = if nodes > 15_000 { 10_000 } else { 100_000 };
    for number in 0..changes / 2 {
        let (ready, unready) = fleet.blip(number % 1_000);
        for pod in [&unready, &ready] {
            let _ = tracker.apply(Change::Pod(pod.into()));
            drop(tracker.plan(fleet.now()));
        }
    }
    let later = held() as f64;
    let per_node = (fresh - fleet.bytes_of_names() as f64) / nodes as f64;
    let is_good = per_node <= KEPT_LIMIT && later <= fresh * 1.01;
    let remark = if is_good { "" } else { "  over the limit" };
    println!(
        "{scenario:<12} {nodes:>7} {per_node:>9.1}   after {changes} changes {:.3} of that{remark}",
        later / fresh
    );
    is_good
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
