//! A second decision on the budget by exhaustive search: the largest safe set of deletions. It parses small fleets with
//! its own code, shares no arithmetic with the crate, and is slow.

mod small_fleet;

use crate::support::Reach;
use daemonset::{Action, CreateReason, DeleteReason, Plan};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use small_fleet::{SmallFleet, SmallPod, State, name_of, small_fleet};
use std::collections::BTreeSet;

impl SmallFleet {
    /// The target nodes without a pod that satisfies the condition, after the pods of these nodes are deleted.
    fn without(&self, deleted: &BTreeSet<usize>, good: fn(&SmallPod) -> bool) -> usize {
        let has_one = |index: &usize| {
            !deleted.contains(index) && self.nodes[*index].kept(self.surges).into_iter().any(good)
        };
        self.targets().iter().filter(|index| !has_one(index)).count()
    }

    /// The nodes whose only pod is outdated and live.
    fn candidates(&self) -> Vec<usize> {
        let only_outdated = |index: &usize| {
            let node = &self.nodes[*index];
            let kept = node.kept(self.surges);
            kept.len() == 1 && !kept[0].is_updated() && !node.create_in_flight
        };
        self.targets().into_iter().filter(only_outdated).collect()
    }

    fn group(&self, index: usize) -> usize {
        match self.nodes[index].kept(self.surges)[0].state {
            State::NotReady | State::Pending => 1,
            State::Young => 2,
            State::Available => 3,
            State::Terminating | State::Overdue | State::Failed => unreachable!("not live"),
        }
    }

    fn of_group(&self, set: &BTreeSet<usize>, group: usize) -> BTreeSet<usize> {
        set.iter().copied().filter(|index| self.group(*index) == group).collect()
    }

    /// The number of deletions in each group, in order.
    fn sizes(&self, set: &BTreeSet<usize>) -> [usize; 3] {
        [1, 2, 3].map(|group| self.of_group(set, group).len())
    }

    /// Whether the pods of these nodes may be deleted at the same time.
    fn is_safe(&self, set: &BTreeSet<usize>) -> bool {
        let limit = self.limit().max(1);
        let [unready, young, available] = self.sizes(set);
        let ready: BTreeSet<usize> = set.iter().copied().filter(|index| self.group(*index) > 1).collect();
        let held = ready.iter().any(|index| self.nodes[*index].is_held());
        let not_ready_after = self.without(&ready, SmallPod::is_ready);
        let unavailable_after = self.without(&self.of_group(set, 3), SmallPod::is_available);
        let replaced_after = self.being_replaced(&self.of_group(set, 1));
        !held
            && (young + available == 0 || not_ready_after <= limit)
            && (available == 0 || unavailable_after <= limit)
            && (unready == 0 || !self.within_budget || replaced_after <= limit)
    }

    /// The target nodes with neither an available pod nor an outdated one.
    fn being_replaced(&self, deleted: &BTreeSet<usize>) -> usize {
        self.without(deleted, |pod| pod.is_available() || !pod.is_updated())
    }

    fn largest_safe(&self) -> BTreeSet<usize> {
        subsets(&self.candidates())
            .into_iter()
            .filter(|set| self.is_safe(set))
            .max_by_key(|set| self.sizes(set))
            .unwrap()
    }

    /// Whether these nodes may get a second pod at the same time.
    fn may_double(&self, set: &BTreeSet<usize>) -> bool {
        let surging = |index: &usize| {
            let node = &self.nodes[*index];
            let missing = node.kept(true).is_empty() && !node.is_held() && !node.create_in_flight;
            let created = usize::from(missing) + usize::from(set.contains(index));
            let there = node.pods.iter().filter(|pod| pod.runs() && pod.state != State::Overdue).count();
            there + usize::from(node.create_in_flight) + created >= 2
        };
        let alone = |index: &usize| self.nodes[*index].pods.iter().filter(|pod| pod.runs()).count() == 1;
        let can = |index: &usize| self.group(*index) > 1 && alone(index) && !self.nodes[*index].is_held();
        set.iter().all(can)
            && (set.is_empty() || self.targets().iter().filter(|i| surging(i)).count() <= self.limit())
    }

    fn largest_surge(&self) -> usize {
        let sets = subsets(&self.candidates());
        sets.iter().filter(|set| self.may_double(set)).map(BTreeSet::len).max().unwrap()
    }

    /// The furthest behind first, then by name.
    fn turn(&self, index: usize) -> (usize, String) {
        let behind = ["unknown", "older", "old"];
        let version = self.nodes[index].kept(self.surges)[0].version;
        (behind.iter().position(|known| *known == version).unwrap(), name_of(index))
    }
}

fn subsets(of: &[usize]) -> Vec<BTreeSet<usize>> {
    (0..1_usize << of.len())
        .map(|bits| {
            of.iter().enumerate().filter(|(place, _)| bits >> place & 1 == 1).map(|(_, node)| *node).collect()
        })
        .collect()
}

/// The nodes whose pod the update deletes.
fn deleted(plan: &Plan) -> BTreeSet<usize> {
    let update = [
        DeleteReason::OutdatedPending,
        DeleteReason::OutdatedNotReady,
        DeleteReason::OutdatedNotYetAvailable,
        DeleteReason::OutdatedAvailable,
    ];
    let deletes = plan.actions.iter().filter_map(|action| match action {
        Action::DeletePod { node, reason, .. } if update.contains(reason) => Some(number(node.as_str())),
        _ => None,
    });
    deletes.collect()
}

/// The nodes that get a second pod.
fn surging(plan: &Plan) -> BTreeSet<usize> {
    let creates = plan.actions.iter().filter_map(|action| match action {
        Action::CreatePod { node, reason: CreateReason::Surge, .. } => Some(number(node.as_str())),
        _ => None,
    });
    creates.collect()
}

fn number(node: &str) -> usize {
    node.trim_start_matches('n').parse().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: crate::support::cases(600), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_plan_deletes_as_many_as_the_largest_safe_set(fleet in small_fleet()) {
        let plan = fleet.plan();
        let ours = deleted(&plan);
        let candidates = fleet.candidates();
        prop_assert!(ours.iter().all(|index| candidates.contains(index)), "{ours:?} of {candidates:?}");
        if fleet.surges {
            let unready: BTreeSet<usize> = candidates.into_iter().filter(|i| fleet.group(*i) == 1).collect();
            prop_assert_eq!(ours, unready);
            let second = surging(&plan);
            prop_assert!(fleet.may_double(&second), "{second:?} get a second pod");
            prop_assert_eq!(second.len(), fleet.largest_surge());
            return Ok(());
        }
        prop_assert!(surging(&plan).is_empty());
        prop_assert!(fleet.is_safe(&ours), "{ours:?} are deleted at once");
        prop_assert_eq!(fleet.sizes(&ours), fleet.sizes(&fleet.largest_safe()));
    }

    #[test]
    fn a_plan_deletes_the_pods_furthest_behind_first(fleet in small_fleet()) {
        let plan = fleet.plan();
        let chosen = if fleet.surges { surging(&plan) } else { deleted(&plan) };
        let could = |index: &usize| {
            let set = BTreeSet::from([*index]);
            let may = if fleet.surges { fleet.may_double(&set) } else { fleet.is_safe(&set) };
            may && !chosen.contains(index)
        };
        for waits in fleet.candidates().into_iter().filter(could) {
            for goes in chosen.iter().copied().filter(|goes| fleet.group(*goes) == fleet.group(waits)) {
                // Within group 1 pending pods come first.
                let pending = |index: usize| fleet.nodes[index].kept(fleet.surges)[0].state == State::Pending;
                if pending(goes) == pending(waits) {
                    prop_assert!(fleet.turn(goes) < fleet.turn(waits), "{goes} before {waits}");
                } else {
                    prop_assert!(pending(goes), "{goes} before {waits}");
                }
            }
        }
    }
}

/// The cases that a fleet covers.
fn cases(fleet: &SmallFleet) -> [(&'static str, bool); 16] {
    let plan = fleet.plan();
    let candidates: BTreeSet<usize> = fleet.candidates().into_iter().collect();
    let chosen = if fleet.surges { surging(&plan) } else { deleted(&plan) };
    let ready: BTreeSet<usize> = candidates.iter().copied().filter(|index| fleet.group(*index) > 1).collect();
    let taken = ready.intersection(&chosen).count();
    let exhausted = !ready.is_empty() && taken == 0;
    let partly_used = taken > 0 && taken < ready.len();
    let free = !ready.is_empty() && taken == ready.len();
    let waits = |group: usize| fleet.of_group(&candidates, group).iter().any(|i| !chosen.contains(i));
    let replaces = !fleet.surges;
    let [unready, young, available] = if replaces { fleet.sizes(&chosen) } else { [0; 3] };
    let held = candidates.iter().any(|index| fleet.nodes[*index].is_held());
    let creates = fleet.nodes.iter().any(|node| node.create_in_flight);
    let deletes = fleet.nodes.iter().flat_map(|node| &node.pods).any(|pod| pod.delete_in_flight);
    let excess =
        |action: &Action| matches!(action, Action::DeletePod { reason: DeleteReason::ExcessPod, .. });
    [
        ("budget exhausted", replaces && exhausted),
        ("budget partly used", replaces && partly_used),
        ("budget free", replaces && free),
        ("surge exhausted", fleet.surges && exhausted),
        ("surge partly used", fleet.surges && partly_used),
        ("surge free", fleet.surges && free),
        ("a young pod goes", young > 0),
        ("a young pod waits", replaces && waits(2)),
        ("a young pod and an available one go", young > 0 && available > 0),
        ("a pod that is not Ready waits", replaces && fleet.within_budget && waits(1)),
        ("pods that are not Ready go within the budget", fleet.within_budget && unready > 1),
        ("a held node", held),
        ("a create in flight", creates),
        ("a delete in flight", deletes),
        ("an excess pod", plan.actions.iter().any(excess)),
        ("six candidates", candidates.len() == 6),
    ]
}

#[test]
fn the_small_fleets_reach_every_case() {
    const FLEETS: u32 = 2000;
    let config = Config { failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let mut reached = Reach::default();
    let mut every_case = Vec::new();
    for _ in 0..FLEETS {
        let fleet = small_fleet().new_tree(&mut runner).unwrap().current();
        let cases = cases(&fleet);
        cases.into_iter().filter(|(_, is_one)| *is_one).for_each(|(case, _)| reached.see(case));
        every_case = cases.map(|(case, _)| case).to_vec();
    }
    println!("in {FLEETS} fleets: {reached:#?}");
    let generator = "tests/it/properties/brute_force/small_fleet.rs";
    reached.assert_has(&every_case, &format!("{FLEETS} fleets"), generator);
}
