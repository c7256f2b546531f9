//! Timelines of a few events.

use crate::curves::Point;
use crate::fake::{self, at, run};
use crate::figures::Figures;
use crate::marks::{Mark, MarkKind};
use crate::row::State;
use crate::timeline::Timeline;
use crate::turn_lanes::{self, LanePart, Stretch};
use daemonset::DeleteReason;
use daemonset::model::{Labels, NodeName, Taint};
use daemonset::report::Budget;
use daemonset_sim::{Actor, Change, Event, NodeState, PodIdentity, PodTrouble, Reconciled};
use serde_json::json;
use std::sync::Arc;

/// A trace, built second by second.
#[derive(Default)]
struct Trace {
    events: Vec<Event>,
    now: i64,
}

/// Name and revision; the node is called like the first letter.
fn pod(name: &str, revision: &str) -> Arc<PodIdentity> {
    let node = NodeName::from(name.get(..1).unwrap());
    Arc::new(PodIdentity { node, pod: name.to_owned(), uid: name.into(), revision: revision.to_owned() })
}

fn node(name: &str, ready: bool) -> NodeState {
    NodeState { node: name.into(), ready, labels: Labels::default(), taints: Vec::new() }
}

fn spec(min_ready: i64, max_unavailable: u32) -> Change {
    let spec = Box::new(fake::spec(min_ready, json!({"maxUnavailable": max_unavailable})));
    Change::DaemonSetChanged { generation: 1, template_changed: false, spec }
}

fn reconciled(revision: &str, max_unavailable: u32) -> Change {
    let mut budget = Budget::default();
    budget.max_unavailable = max_unavailable;
    Change::Reconciled(Box::new(Reconciled {
        number: 1,
        revision: revision.to_owned(),
        budget,
        created: 0,
        deleted: 0,
        planned: 0,
        refused: 0,
        requeue: None,
    }))
}

fn terminating(pod: Arc<PodIdentity>, reason: DeleteReason) -> Change {
    Change::PodTerminating { pod, reason: Some(reason) }
}

impl Trace {
    /// Node `a` runs `a1` of revision `old`, available for long.
    fn steady() -> Self {
        let trace = Trace::default()
            .at(-100)
            .by(Actor::Environment, spec(0, 1))
            .then(Change::NodeAdded(node("a", true)));
        trace.then(Change::PodCreated(pod("a1", "old"))).at(-90).then(Change::PodReady(pod("a1", "old")))
    }

    fn at(mut self, second: i64) -> Self {
        self.now = second;
        self
    }

    fn by(mut self, by: Actor, change: Change) -> Self {
        self.events.push(Event { t: at(self.now), by, change });
        self
    }

    fn then(self, change: Change) -> Self {
        self.by(Actor::Environment, change)
    }

    /// The timeline of a minute and a half.
    fn timeline(&self) -> Timeline {
        Timeline::of(&run("test", &self.events, 90))
    }

    /// State and second of its start, and the end of the last one, of the first row.
    fn spans(&self) -> Vec<(State, i64, i64)> {
        let timeline = self.timeline();
        let spans = timeline.rows[0].spans.iter();
        spans.map(|span| (span.state, span.from / 1000, span.to / 1000)).collect()
    }
}

#[test]
fn a_replaced_pod_goes_through_every_state() {
    let trace = Trace::steady().at(0).then(spec(10, 1)).then(reconciled("old", 1));
    let trace = trace.at(5).then(reconciled("new", 1));
    let trace = trace.by(Actor::Controller, terminating(pod("a1", "old"), DeleteReason::OutdatedAvailable));
    let trace = trace.at(8).then(Change::PodGone(pod("a1", "old")));
    let trace = trace.at(9).then(Change::PodCreated(pod("a2", "new")));
    let trace = trace.at(20).then(Change::PodReady(pod("a2", "new")));
    let states = [
        (State::Available(0), 0, 5),
        (State::Terminating, 5, 8),
        (State::NoPod, 8, 9),
        (State::Starting, 9, 20),
        (State::Settling, 20, 30),
        (State::Available(1), 30, 90),
    ];
    assert_eq!(trace.spans(), states);
    let timeline = trace.timeline();
    assert_eq!(timeline.revisions, ["old", "new"]);
    assert_eq!(timeline.rows[0].spans[1].words, "terminating: outdated, within the budget");
    let figures = Figures::of(&run("test", &trace.events, 90), &timeline);
    assert_eq!((figures.settled, figures.lost, figures.worst.unavailable), (Some(30_000), 25_000, 1));
    assert_eq!(figures.outcome(90_000), "1 node updated in 30s");
    assert_eq!(figures.price(), "at worst 1 unavailable at once (budget 1), 25s of downtime over all nodes");
}

#[test]
fn a_surged_node_is_never_down() {
    let trace = Trace::steady().at(5).then(reconciled("new", 1)).then(Change::PodCreated(pod("a2", "new")));
    let trace = trace.at(15).then(Change::PodReady(pod("a2", "new")));
    let trace = trace.at(16).then(terminating(pod("a1", "old"), DeleteReason::SuccessorAvailable));
    let trace = trace.at(40).then(Change::PodGone(pod("a1", "old")));
    let mut states: Vec<State> = trace.spans().into_iter().map(|(state, _, _)| state).collect();
    states.dedup();
    assert_eq!(states, [State::Available(0), State::Surging, State::Available(1)]);
    let words: Vec<_> = trace.timeline().rows[0].spans.iter().map(|span| span.words.clone()).collect();
    let side_by_side =
        ["available; starting", "available; available", "terminating: its successor is available; available"];
    assert_eq!(words[1..4], side_by_side);
    let curves = trace.timeline().curves;
    assert_eq!(curves.peak(|point| point.unavailable).unavailable, 0);
    assert_eq!(
        curves.peak(|point| point.surging),
        Point { t: 5000, nodes: 1, surging: 1, max_unavailable: 1, ..Point::default() }
    );
}

#[test]
fn trouble_has_its_own_states() {
    let crashed = Change::PodUnready { pod: pod("a1", "old"), reason: PodTrouble::Crashed };
    let probe = Change::PodUnready { pod: pod("a1", "old"), reason: PodTrouble::ProbeFailed };
    let trace = Trace::steady().at(5).then(crashed).at(10).then(Change::PodReady(pod("a1", "old")));
    let trace = trace.at(20).then(probe).at(30).then(Change::NodeUnready(node("a", false)));
    let states = [
        (State::Available(0), 0, 5),
        (State::Failed, 5, 10),
        (State::Available(0), 10, 20),
        (State::Starting, 20, 30),
        (State::NodeUnready, 30, 90),
    ];
    assert_eq!(trace.spans(), states);
    let figures = Figures::of(&run("test", &trace.events, 90), &trace.timeline());
    let price =
        "at worst 1 unavailable at once, at most 0 by the rollout itself, 1m15s of downtime over all nodes";
    assert_eq!(figures.price(), price);
}

#[test]
fn nodes_come_and_go() {
    let trace = Trace::steady().at(10).then(Change::NodeAdded(node("b", true)));
    let trace =
        trace.at(12).then(Change::PodCreated(pod("b1", "old"))).then(Change::PodReady(pod("b1", "old")));
    let trace = trace.at(50).then(Change::NodeGone { node: "b".into() });
    let timeline = trace.timeline();
    let names: Vec<&str> = timeline.rows.iter().map(|row| row.node.as_str()).collect();
    assert_eq!(names, ["b", "a"], "what changed first is first");
    let spans: Vec<_> = timeline.rows[0].spans.iter().map(|span| (span.state, span.from, span.to)).collect();
    assert_eq!(spans, [(State::NoPod, 10_000, 12_000), (State::Available(0), 12_000, 50_000)]);
    let nodes: Vec<_> =
        timeline.curves.points.iter().map(|it| (it.t / 1000, it.nodes, it.unavailable)).collect();
    assert_eq!(nodes, [(0, 1, 0), (10, 2, 1), (12, 2, 0), (50, 1, 0)]);
}

#[test]
fn a_node_that_needs_no_pod_is_not_held_against_the_rollout() {
    let taint = Taint { key: "maintenance".to_owned(), effect: "NoExecute".to_owned(), ..Taint::default() };
    let tainted = |name| NodeState { taints: vec![taint.clone()], ..node(name, true) };
    let trace = Trace::steady().then(Change::NodeAdded(tainted("c")));
    let trace = trace.at(10).then(Change::NodeTainted(tainted("a")));
    let trace = trace.then(terminating(pod("a1", "old"), DeleteReason::NodeExcluded));
    let timeline = trace.at(20).then(Change::PodGone(pod("a1", "old"))).timeline();
    assert_eq!(timeline.rows.len(), 1, "c never had a pod");
    let states: Vec<State> = timeline.rows[0].spans.iter().map(|span| span.state).collect();
    assert_eq!(states, [State::Available(0), State::Terminating, State::Idle]);
    assert_eq!(timeline.curves.peak(|point| point.unavailable).unavailable, 0);
}

#[test]
fn marks_say_what_a_person_changed() {
    let trace = Trace::steady().at(5).by(Actor::User, spec(10, 3));
    let crash = Change::ControllerCrashed { after_actions: 2, memory_kept: false };
    let trace = trace.at(9).then(crash);
    let changed = MarkKind::SpecChanged("maxUnavailable 3, minReadySeconds 10".to_owned());
    let marks = [Mark { t: 5000, kind: changed }, Mark { t: 9000, kind: MarkKind::Crashed }];
    assert_eq!(trace.timeline().marks, marks);
}

#[test]
fn a_lane_tells_turns_drains_and_pulls() {
    let began = Change::TurnBegan { node: "a".into(), turn: "agent".to_owned(), cordons: true };
    let opened =
        |gate: &str| Change::GateOpened { node: "a".into(), turn: "agent".to_owned(), gate: gate.to_owned() };
    let pulled = Change::ImagePulled { node: "a".into(), image: "v2".to_owned(), since: at(2) };
    let ended = Change::TurnEnded { node: "a".into(), turn: "agent".to_owned(), uncordons: true };
    let trace = Trace::steady().at(6).then(pulled).at(10).then(began.clone()).at(20).then(opened("drained"));
    let trace = trace.at(25).then(opened("backup")).at(40).then(ended).at(80).then(began);
    let stretch = |from: i64, to: i64, kind| Stretch { from: from * 1000, to: to * 1000, kind };
    let lane = [
        stretch(2, 6, LanePart::Pull),
        stretch(10, 40, LanePart::Cordon),
        stretch(10, 20, LanePart::Drain),
        stretch(80, 90, LanePart::Cordon),
    ];
    let lanes = trace.timeline().lanes;
    assert_eq!(lanes["a"], lane);
    assert_eq!(turn_lanes::kinds(&lanes), [LanePart::Cordon, LanePart::Drain, LanePart::Pull]);
}

#[test]
fn a_pod_that_is_changed_in_its_place_is_down_until_it_is_ready() {
    let changed = Change::PodChanged { pod: pod("a1", "new"), reason: Some(DeleteReason::OutdatedAvailable) };
    let trace = Trace::steady().at(5).then(reconciled("new", 1)).by(Actor::Controller, changed);
    let trace = trace.at(12).then(Change::PodReady(pod("a1", "new")));
    let states = [(State::Available(0), 0, 5), (State::Starting, 5, 12), (State::Available(1), 12, 90)];
    assert_eq!(trace.spans(), states);
    let timeline = trace.timeline();
    assert_eq!(timeline.rows[0].spans[1].words, "changed in its place: outdated, within the budget");
    let figures = Figures::of(&run("test", &trace.events, 90), &timeline);
    assert_eq!((figures.reached, figures.lost, figures.created), (1, 7000, 0));
}

#[test]
fn the_budget_is_a_step_function() {
    let trace = Trace::steady().at(3).then(reconciled("old", 1)).at(40).then(reconciled("old", 5));
    let steps: Vec<_> = trace.timeline().curves.points.iter().map(|it| (it.t, it.max_unavailable)).collect();
    assert_eq!(steps, [(0, 1), (40_000, 5)]);
}
