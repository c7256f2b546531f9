//! A life: a cluster, the things that happen to it, and its watchers.

use super::super::commands as common;
use super::beginning::{Beginning, Choices};
use super::commands::{Command, Desk, node_name, turn_key};
use super::facts::Facts;
use super::other::Other;
use super::promises::Promises;
use super::reach::situations;
use crate::random_lives::watcher::Behind;
use daemonset::{Action, ActionOutcome, Snapshot};
use daemonset_audit::audit;
use daemonset_sim::{Actor, Change, Cluster, Kind, Planner};
use jiff::{SignedDuration, Timestamp};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

pub struct Life {
    pub cluster: Cluster,
    pub facts: Facts,
    pub promises: Promises,
    pub beginning: Beginning,
    pub choices: Choices,
    pub limit: u8,
    pub other: Other,
    pub noted: Rc<RefCell<Noted>>,
    frozen_since: Option<Timestamp>,
}

/// The things that plans have said and met.
#[derive(Default)]
pub struct Noted {
    pub things: BTreeSet<String>,
    complaints: BTreeSet<String>,
    /// Pods whose change in place was refused.
    refused_in_place: BTreeSet<String>,
}

/// No cache stays frozen for longer: memory holds actions in flight for 300 s, and a cache may be behind by 90 s besides.
const LONGEST_FREEZE: SignedDuration = SignedDuration::from_secs(60);

/// How long an action may be in flight.
const IN_FLIGHT: SignedDuration = SignedDuration::from_secs(310);

const KINDS: [Kind; 4] = [Kind::Pods, Kind::Nodes, Kind::DaemonSets, Kind::Revisions];

impl Life {
    pub fn begin(beginning: Beginning) -> Self {
        let mut cluster = beginning.cluster();
        let noted = Rc::default();
        cluster.set_planner(Judged { noted: Rc::clone(&noted) });
        let key = turn_key(cluster.daemon_set().unwrap());
        let mut life = Life {
            facts: Facts::new(beginning, &cluster, key),
            promises: Promises::new(beginning),
            other: Other::new(&mut cluster),
            cluster,
            beginning,
            choices: beginning.choices,
            limit: beginning.limit,
            noted,
            frozen_since: None,
        };
        life.note_policy();
        life.pass(SignedDuration::from_secs(30));
        life
    }

    pub fn perform(&mut self, command: Command, millis: u32) {
        if let Command::Common(command) = command {
            self.note_common(command);
        }
        let Life { cluster, choices, limit, other, .. } = self;
        command.perform(Desk { cluster, choices, limit, other });
        self.note_policy();
        self.observe(false);
        self.pass(SignedDuration::from_millis(millis.into()));
    }

    fn note_common(&mut self, command: common::Command) {
        let now = self.cluster.now();
        let facts = &mut self.facts;
        match command {
            common::Command::Freeze { .. } => _ = self.frozen_since.get_or_insert(now),
            common::Command::LoseMemory => {
                self.promises.is_beyond = true;
                facts.forget();
            }
            common::Command::Refuse { percent } => {
                let refused_pulls = SignedDuration::from_hours(if percent > 0 { 1_000 } else { 1 });
                self.promises.note_refusals(now + refused_pulls);
            }
            common::Command::Cordon { node } => {
                if let Some(node) = node_name(&self.cluster, node).and_then(|name| facts.nodes.get_mut(&name))
                {
                    // A turn that says so takes it back, since it can't tell.
                    node.is_persons = !node.is_cordoned_by_a_turn();
                }
            }
            common::Command::Uncordon { node } => {
                if let Some(node) = node_name(&self.cluster, node).and_then(|name| facts.nodes.get_mut(&name))
                {
                    node.is_persons = false;
                }
            }
            _ => {}
        }
    }

    pub fn note_policy(&mut self) {
        self.facts.policy = self.choices.policy(self.limit);
        self.facts.limit = self.limit;
        self.facts.was_steered |= self.facts.policy.rollout.is_some();
    }

    /// Lets time pass, step by step.
    pub fn pass(&mut self, duration: SignedDuration) {
        let until = self.cluster.now() + duration;
        loop {
            let next = self.cluster.next_at().filter(|at| *at <= until);
            let thaws_at = self.frozen_since.map(|since| since + LONGEST_FREEZE);
            if let Some(thaws_at) = thaws_at.filter(|thaws_at| *thaws_at <= next.unwrap_or(until)) {
                // No event comes before it. What the caches have missed is due at once.
                self.cluster.run_until(thaws_at - SignedDuration::from_millis(1));
                self.thaw();
                continue;
            }
            let Some(at) = next else { break };
            // Two changes of one instant: the second one may be unseen, and seem to be of this step.
            let is_later = at > self.cluster.now();
            self.cluster.step();
            self.observe(is_later && !self.is_behind());
        }
        self.cluster.run_until(until);
    }

    pub fn thaw(&mut self) {
        for kind in 0..common::CACHES {
            common::Command::Thaw { kind }.perform(&mut self.cluster);
        }
        self.frozen_since = None;
    }

    fn is_behind(&self) -> bool {
        KINDS.into_iter().any(|kind| !self.cluster.cache_lag(kind).is_zero())
    }

    /// Judges all that has happened. `saw_all`: the plan of this step, if it had one, was behind in nothing.
    pub fn observe(&mut self, saw_all: bool) {
        let Life { cluster, facts, promises, noted, .. } = self;
        let behind = |kind| cluster.cache_lag(kind);
        facts.behind = Behind {
            pods: behind(Kind::Pods),
            nodes: behind(Kind::Nodes),
            spec: behind(Kind::DaemonSets),
            revisions: behind(Kind::Revisions),
        };
        let events = facts.new_events(cluster);
        for event in events {
            let situations = situations(facts, event).into_iter().map(str::to_owned);
            noted.borrow_mut().things.extend(situations);
            promises.judge(facts, event, events);
            facts.note(event);
        }
        facts.read(cluster);
        promises.judge_state(facts, cluster);
        let was_planned = events.last().is_some_and(|event| {
            event.by == Actor::Controller && matches!(event.change, Change::Reconciled(_))
        });
        let is_calm = facts.trouble_at.is_none_or(|at| at + IN_FLIGHT < cluster.now());
        if saw_all && was_planned && is_calm && !promises.is_beyond {
            promises.judge_rest(facts, cluster, events.len() == 1);
        }
    }

    /// All broken promises.
    pub fn broken(&self) -> Vec<String> {
        let mut broken: Vec<String> = self.noted.borrow().complaints.iter().cloned().collect();
        broken.extend(self.cluster.difference().map(|difference| format!("changes: {difference}")));
        broken.extend(self.promises.broken.iter().cloned());
        broken
    }
}

/// The planner, whose decisions are judged by their snapshots, too.
struct Judged {
    noted: Rc<RefCell<Noted>>,
}

impl Planner for Judged {
    fn plan(&mut self, snapshot: &Snapshot<'_>) -> Vec<Action> {
        let plan = daemonset::plan(snapshot);
        let mut noted = self.noted.borrow_mut();
        for violation in audit(snapshot, &plan.actions) {
            noted.complaints.insert(format!("audit: {:?}", violation.kind));
        }
        for verdict in &plan.report.nodes {
            let outcome = serde_json::to_value(&verdict.outcome).unwrap();
            noted.things.insert(format!("outcome {}", outcome["type"].as_str().unwrap()));
        }
        plan.actions
    }

    fn record(&mut self, action: &Action, outcome: &ActionOutcome) {
        let mut noted = self.noted.borrow_mut();
        match action {
            Action::UpdatePodInPlace { pod, .. } if *outcome == ActionOutcome::Rejected => {
                noted.refused_in_place.insert(pod.uid.to_string());
            }
            Action::DeletePod { pod, .. } if noted.refused_in_place.contains(pod.uid.as_str()) => {
                noted.things.insert("a change in place is refused, and the pod deleted".to_owned());
            }
            _ => {}
        }
        let is_of_turns = matches!(action, Action::PatchNode { .. } | Action::UpdatePodInPlace { .. });
        if is_of_turns || action.reason().starts_with("Pull") {
            let outcome = format!("{outcome:?}");
            let word = outcome.split('(').next().unwrap_or_default();
            noted.things.insert(format!("{} {}: {word}", action.verb(), action.reason()));
        }
    }
}
