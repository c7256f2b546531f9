//! The budget, decided a second time by trying everything: of all sets of deletions the largest one that is safe. It
//! reads small fleets of its own, knows nothing of how the crate counts, and is as slow as it looks.

use crate::support::{at, given, node, old, pod, rolling, surging};
use daemonset::{Action, CreateReason, DeleteReason, Plan};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::{Value, json};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Available,
    /// Ready for 10 of 60 seconds.
    Young,
    NotReady,
    Pending,
    Terminating,
    /// Its deletionTimestamp has passed.
    Overdue,
    Failed,
}

#[derive(Debug, Clone)]
struct SmallPod {
    version: &'static str,
    state: State,
    delete_in_flight: bool,
}

#[derive(Debug, Clone)]
struct SmallNode {
    pods: Vec<SmallPod>,
    tainted: bool,
    create_in_flight: bool,
    /// Its failed pods wait for their back-off.
    failed_lately: bool,
}

#[derive(Debug, Clone)]
struct SmallFleet {
    nodes: Vec<SmallNode>,
    limit: Value,
    surges: bool,
    within_budget: bool,
}

fn small_fleet() -> impl Strategy<Value = SmallFleet> {
    let state = prop_oneof![
        8 => Just(State::Available), 3 => Just(State::Young), 2 => Just(State::NotReady), 1 => Just(State::Pending),
        1 => Just(State::Terminating), 1 => Just(State::Overdue), 1 => Just(State::Failed),
    ];
    let version = prop_oneof![3 => Just("new"), 5 => Just("old"), 2 => Just("older"), 1 => Just("unknown")];
    let pod = (version, state, prop::bool::weighted(0.05))
        .prop_map(|(version, state, delete_in_flight)| SmallPod { version, state, delete_in_flight });
    let count = prop_oneof![1 => Just(0_usize), 8 => Just(1_usize), 2 => Just(2_usize), 1 => Just(3_usize)];
    let pods = count.prop_flat_map(move |count| prop::collection::vec(pod.clone(), count));
    let rare = || prop::bool::weighted(0.08);
    let node =
        (pods, rare(), rare(), prop::bool::weighted(0.3)).prop_map(|(pods, tainted, create, failed)| {
            SmallNode { pods, tainted, create_in_flight: create, failed_lately: failed }
        });
    let limit = select(vec![
        json!(1),
        json!(2),
        json!(3),
        json!(4),
        json!(6),
        json!("1%"),
        json!("34%"),
        json!("50%"),
        json!("100%"),
    ]);
    (prop::collection::vec(node, 0..=6), limit, prop::bool::weighted(0.3), any::<bool>())
        .prop_map(|(nodes, limit, surges, within_budget)| SmallFleet { nodes, limit, surges, within_budget })
}

impl SmallFleet {
    fn plan(&self) -> Plan {
        let strategy = if self.surges { surging(self.limit.clone()) } else { rolling(self.limit.clone()) };
        let unready = if self.within_budget { "WithinBudget" } else { "AtOnce" };
        let older = crate::support::revision("older", 0);
        let mut story = given(strategy).min_ready(60).policy(json!({"unready": unready}));
        story.json["revisions"].as_array_mut().unwrap().push(older);
        let mut memory = json!({"creates": {}, "deletes": {}, "failures": {}});
        for (index, small) in self.nodes.iter().enumerate() {
            let name = name_of(index);
            let mut told = node(&name);
            if small.tainted {
                told = told.taint("dedicated", "NoSchedule");
            }
            for (serial, pod) in small.pods.iter().enumerate() {
                told = told.has(pod.story());
                if pod.delete_in_flight {
                    memory["deletes"][format!("uid-{name}-{}", serial + 1)] = json!(at(-1));
                }
            }
            story = story.node(told);
            if small.create_in_flight {
                memory["creates"][&name] = json!({"uid": "uid-unseen", "revision": "new", "at": at(-1)});
            }
            if small.failed_lately {
                memory["failures"][&name] = json!({"generation": 2, "count": 9, "at": at(-1)});
            }
        }
        story.with("/memory", memory).plan()
    }

    fn targets(&self) -> Vec<usize> {
        (0..self.nodes.len()).filter(|index| !self.nodes[*index].tainted).collect()
    }

    /// Rounded up.
    fn limit(&self) -> usize {
        let targets = self.targets().len();
        match self.limit.as_str() {
            None => usize::try_from(self.limit.as_u64().unwrap()).unwrap(),
            Some(percent) => {
                let percent: usize = percent.trim_end_matches('%').parse().unwrap();
                (0..100).find(|n| n * 100 >= percent * targets).unwrap()
            }
        }
    }

    /// The target nodes without a pod that is good in this sense, once the pods of these nodes are deleted.
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

    /// How many of each group, the first one first.
    fn sizes(&self, set: &BTreeSet<usize>) -> [usize; 3] {
        [1, 2, 3].map(|group| self.of_group(set, group).len())
    }

    /// Whether the pods of these nodes may go at the same time.
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
        let doubled = |index: &usize| {
            let node = &self.nodes[*index];
            let missing = node.kept(true).is_empty() && !node.is_held() && !node.create_in_flight;
            let created = usize::from(missing) + usize::from(set.contains(index));
            let there = node.pods.iter().filter(|pod| pod.runs() && pod.state != State::Overdue).count();
            there + usize::from(node.create_in_flight) + created >= 2
        };
        let alone = |index: &usize| self.nodes[*index].pods.iter().filter(|pod| pod.runs()).count() == 1;
        let can = |index: &usize| self.group(*index) > 1 && alone(index) && !self.nodes[*index].is_held();
        set.iter().all(can)
            && (set.is_empty() || self.targets().iter().filter(|i| doubled(i)).count() <= self.limit())
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

impl SmallNode {
    /// The live pods that node sync leaves: the best one; under surge the best of each side.
    fn kept(&self, surges: bool) -> Vec<&SmallPod> {
        let mut live: Vec<(usize, &SmallPod)> =
            self.pods.iter().enumerate().filter(|(_, pod)| pod.is_live()).collect();
        let worth = |pod: &SmallPod, serial: usize| {
            (Reverse(pod.is_available()), Reverse(pod.is_ready()), Reverse(pod.is_updated()), serial)
        };
        live.sort_by_key(|(serial, pod)| worth(pod, *serial));
        let best = |updated: bool| live.iter().map(|(_, pod)| *pod).find(|pod| pod.is_updated() == updated);
        match (surges, best(true), best(false)) {
            (false, ..) => live.iter().take(1).map(|(_, pod)| *pod).collect(),
            // The outdated one is of no use any more.
            (true, Some(updated), Some(outdated)) if !outdated.is_ready() || updated.is_available() => {
                vec![updated]
            }
            (true, updated, outdated) => updated.into_iter().chain(outdated).collect(),
        }
    }

    /// A failed pod of the current version waits for its back-off.
    fn is_held(&self) -> bool {
        let waits = |pod: &SmallPod| pod.state == State::Failed && pod.is_updated() && !pod.delete_in_flight;
        self.failed_lately && self.pods.iter().any(waits)
    }
}

impl SmallPod {
    fn story(&self) -> crate::support::PodStory {
        let story = if self.version == "old" { old() } else { pod(self.version) };
        match self.state {
            State::Available => story,
            State::Young => story.ready_for(10),
            State::NotReady => story.not_ready(),
            State::Pending => story.pending(),
            State::Terminating => story.terminating(30),
            State::Overdue => story.terminating(-30),
            State::Failed => story.failed(),
        }
    }

    fn is_updated(&self) -> bool {
        self.version == "new"
    }

    /// Not ended, as far as one can see.
    fn runs(&self) -> bool {
        self.state != State::Failed
    }

    fn is_live(&self) -> bool {
        let alive = [State::Available, State::Young, State::NotReady, State::Pending];
        alive.contains(&self.state) && !self.delete_in_flight
    }

    fn is_ready(&self) -> bool {
        self.is_live() && matches!(self.state, State::Available | State::Young)
    }

    fn is_available(&self) -> bool {
        self.is_live() && self.state == State::Available
    }
}

fn name_of(index: usize) -> String {
    format!("n{index}")
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
fn doubled(plan: &Plan) -> BTreeSet<usize> {
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
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_plan_deletes_as_many_as_the_largest_safe_set(fleet in small_fleet()) {
        let plan = fleet.plan();
        let ours = deleted(&plan);
        let candidates = fleet.candidates();
        prop_assert!(ours.iter().all(|index| candidates.contains(index)), "{ours:?} of {candidates:?}");
        if fleet.surges {
            let unready: BTreeSet<usize> = candidates.into_iter().filter(|i| fleet.group(*i) == 1).collect();
            prop_assert_eq!(ours, unready);
            let second = doubled(&plan);
            prop_assert!(fleet.may_double(&second), "{second:?} get a second pod");
            prop_assert_eq!(second.len(), fleet.largest_surge());
            return Ok(());
        }
        prop_assert!(doubled(&plan).is_empty());
        prop_assert!(fleet.is_safe(&ours), "{ours:?} go at once");
        prop_assert_eq!(fleet.sizes(&ours), fleet.sizes(&fleet.largest_safe()));
    }

    #[test]
    fn those_furthest_behind_go_first(fleet in small_fleet()) {
        let plan = fleet.plan();
        let chosen = if fleet.surges { doubled(&plan) } else { deleted(&plan) };
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

/// Which cases a fleet is one of.
fn cases(fleet: &SmallFleet) -> [(&'static str, bool); 16] {
    let plan = fleet.plan();
    let candidates: BTreeSet<usize> = fleet.candidates().into_iter().collect();
    let chosen = if fleet.surges { doubled(&plan) } else { deleted(&plan) };
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
    let mut reached: BTreeMap<&str, u32> = BTreeMap::new();
    for _ in 0..FLEETS {
        let fleet = small_fleet().new_tree(&mut runner).unwrap().current();
        for (case, is_one) in cases(&fleet) {
            *reached.entry(case).or_default() += u32::from(is_one);
        }
    }
    println!("in {FLEETS} fleets: {reached:#?}");
    assert!(reached.values().all(|count| *count > 0), "{reached:#?}");
}
