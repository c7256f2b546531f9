//! Small random fleets, with their own simple reading of pods and limits.

use crate::support::{at, given, node, old, pod, rolling, surging};
use daemonset::Plan;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};
use std::cmp::Reverse;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
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
pub(super) struct SmallPod {
    pub(super) version: &'static str,
    pub(super) state: State,
    pub(super) delete_in_flight: bool,
}

#[derive(Debug, Clone)]
pub(super) struct SmallNode {
    pub(super) pods: Vec<SmallPod>,
    pub(super) tainted: bool,
    pub(super) create_in_flight: bool,
    /// Its failed pod waits for the back-off.
    pub(super) failed_lately: bool,
}

#[derive(Debug, Clone)]
pub(super) struct SmallFleet {
    pub(super) nodes: Vec<SmallNode>,
    pub(super) limit: Value,
    pub(super) surges: bool,
    pub(super) within_budget: bool,
}

pub(super) fn small_fleet() -> impl Strategy<Value = SmallFleet> {
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
    pub(super) fn plan(&self) -> Plan {
        let strategy = if self.surges { surging(self.limit.clone()) } else { rolling(self.limit.clone()) };
        let unready = if self.within_budget { "WithinBudget" } else { "AtOnce" };
        let older = crate::support::revision("older", 0);
        let mut story = given(strategy).min_ready(60).policy(json!({"unready": unready}));
        story.json["revisions"].as_array_mut().unwrap().push(older);
        let mut memory = json!({"creates": {}, "deletes": {}, "failures": {}});
        for (index, small) in self.nodes.iter().enumerate() {
            let name = name_of(index);
            let mut node_story = node(&name);
            if small.tainted {
                node_story = node_story.taint("dedicated", "NoSchedule");
            }
            for (serial, pod) in small.pods.iter().enumerate() {
                node_story = node_story.has(pod.story());
                if pod.delete_in_flight {
                    memory["deletes"][format!("uid-{name}-{}", serial + 1)] = json!(at(-1));
                }
            }
            story = story.node(node_story);
            if small.create_in_flight {
                memory["creates"][&name] = json!({"uid": "uid-unseen", "revision": "new", "at": at(-1)});
            }
            if small.failed_lately {
                memory["failures"][&name] = json!({"generation": 2, "count": 9, "at": at(-1)});
            }
        }
        story.with("/memory", memory).plan()
    }

    pub(super) fn targets(&self) -> Vec<usize> {
        (0..self.nodes.len()).filter(|index| !self.nodes[*index].tainted).collect()
    }

    /// Rounded up.
    pub(super) fn limit(&self) -> usize {
        let targets = self.targets().len();
        match self.limit.as_str() {
            None => usize::try_from(self.limit.as_u64().unwrap()).unwrap(),
            Some(percent) => {
                let percent: usize = percent.trim_end_matches('%').parse().unwrap();
                (0..100).find(|n| n * 100 >= percent * targets).unwrap()
            }
        }
    }
}

impl SmallNode {
    /// The live pods that node sync leaves: the best one; under surge the best of each side.
    pub(super) fn kept(&self, surges: bool) -> Vec<&SmallPod> {
        let mut live: Vec<(usize, &SmallPod)> =
            self.pods.iter().enumerate().filter(|(_, pod)| pod.is_live()).collect();
        let worth = |pod: &SmallPod, serial: usize| {
            (Reverse(pod.is_available()), Reverse(pod.is_ready()), Reverse(pod.is_updated()), serial)
        };
        live.sort_by_key(|(serial, pod)| worth(pod, *serial));
        let best = |updated: bool| live.iter().map(|(_, pod)| *pod).find(|pod| pod.is_updated() == updated);
        match (surges, best(true), best(false)) {
            (false, ..) => live.iter().take(1).map(|(_, pod)| *pod).collect(),
            // The outdated pod is superfluous.
            (true, Some(updated), Some(outdated)) if !outdated.is_ready() || updated.is_available() => {
                vec![updated]
            }
            (true, updated, outdated) => updated.into_iter().chain(outdated).collect(),
        }
    }

    /// A failed pod of the current version waits for its back-off.
    pub(super) fn is_held(&self) -> bool {
        let waits = |pod: &SmallPod| pod.state == State::Failed && pod.is_updated() && !pod.delete_in_flight;
        self.failed_lately && self.pods.iter().any(waits)
    }
}

impl SmallPod {
    pub(super) fn story(&self) -> crate::support::PodStory {
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

    pub(super) fn is_updated(&self) -> bool {
        self.version == "new"
    }

    /// Not finished as far as the snapshot shows.
    pub(super) fn runs(&self) -> bool {
        self.state != State::Failed
    }

    pub(super) fn is_live(&self) -> bool {
        let alive = [State::Available, State::Young, State::NotReady, State::Pending];
        alive.contains(&self.state) && !self.delete_in_flight
    }

    pub(super) fn is_ready(&self) -> bool {
        self.is_live() && matches!(self.state, State::Available | State::Young)
    }

    pub(super) fn is_available(&self) -> bool {
        self.is_live() && self.state == State::Available
    }
}

pub(super) fn name_of(index: usize) -> String {
    format!("n{index}")
}
