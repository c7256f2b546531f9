//! The time of a decision: checking the input, deciding, explaining and auditing, each measured separately.
//!
//! `cargo bench -p daemonset-benches --bench reconcile` runs everything, `-- 'reconcile.*mid-rollout'` a part.

use daemonset::{Action, Snapshot};
use daemonset_benches::{Fleet, Scenario};
use daemonset_incremental::Change;
use divan::{Bencher, black_box};
use std::fmt;

const SIZES: [usize; 4] = [1_000, 5_000, 15_000, 100_000];

fn main() {
    divan::main();
}

/// A scenario with a size.
#[derive(Debug, Clone, Copy)]
struct Case {
    scenario: Scenario,
    nodes: usize,
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.scenario, self.nodes)
    }
}

impl Case {
    fn fleet(self) -> Fleet {
        Fleet::new(self.scenario, self.nodes)
    }
}

fn cases() -> impl Iterator<Item = Case> {
    let small = Case { scenario: Scenario::MidRollout, nodes: 5 };
    let large = Scenario::ALL.into_iter().flat_map(|scenario| SIZES.map(|nodes| Case { scenario, nodes }));
    [small].into_iter().chain(large)
}

/// Creates the views of all objects, and checks them.
#[divan::bench(args = cases(), max_time = 1)]
fn check(bencher: Bencher, case: Case) {
    let fleet = case.fleet();
    bencher.counter(fleet.nodes()).bench(|| black_box(&fleet).snapshot());
}

#[divan::bench(args = cases(), max_time = 1)]
fn reconcile(bencher: Bencher, case: Case) {
    let fleet = case.fleet();
    let snapshot = fleet.snapshot();
    expect_the_scenario(case, &snapshot);
    bencher.counter(fleet.nodes()).bench(|| daemonset::reconcile(black_box(&snapshot)));
}

#[divan::bench(args = cases(), max_time = 1)]
fn plan(bencher: Bencher, case: Case) {
    let fleet = case.fleet();
    let snapshot = fleet.snapshot();
    bencher.counter(fleet.nodes()).bench(|| daemonset::plan(black_box(&snapshot)));
}

/// Checks the actions against the safety rules.
#[divan::bench(args = cases(), max_time = 1)]
fn audit(bencher: Bencher, case: Case) {
    let fleet = case.fleet();
    let snapshot = fleet.snapshot();
    let actions = daemonset::reconcile(&snapshot);
    bencher
        .counter(fleet.nodes())
        .bench(|| daemonset_audit::audit(black_box(&snapshot), black_box(&actions)));
}

/// A pod turns not Ready, and Ready again: two changes, each applied and planned.
#[divan::bench(args = cases().filter(|case| case.scenario != Scenario::Bootstrap), max_time = 1)]
fn events(bencher: Bencher, case: Case) {
    let fleet = case.fleet();
    let mut tracker = fleet.settled();
    let blips: Vec<_> = (0..100).map(|number| fleet.blip(number)).collect();
    let mut blips = blips.iter().cycle();
    bencher.bench_local(|| {
        let (ready, unready) = blips.next().unwrap();
        [unready, ready].map(|pod| {
            let _ = tracker.apply(Change::Pod(pod.into()));
            tracker.plan(fleet.now()).unwrap()
        })
    });
}

/// A fleet without any action would be fast to plan, and a poor measurement.
fn expect_the_scenario(case: Case, snapshot: &Snapshot<'_>) {
    let actions = daemonset::reconcile(snapshot);
    let deletes = actions.iter().filter(|action| matches!(action, Action::DeletePod { .. })).count();
    let creates = actions.iter().filter(|action| matches!(action, Action::CreatePod { .. })).count();
    let as_it_should = match case.scenario {
        Scenario::Steady => actions.is_empty(),
        Scenario::MidRollout | Scenario::Waves | Scenario::Broken => {
            case.nodes < 1_000 || deletes >= case.nodes.min(5_000) / 40
        }
        Scenario::Turns => case.nodes < 1_000 || deletes > 0,
        Scenario::Surge => deletes > 0 && creates >= case.nodes.min(5_000) / 40,
        Scenario::Bootstrap => creates == case.nodes.min(250),
    };
    assert!(as_it_should, "{case}: {deletes} deletes, {creates} creates");
}
