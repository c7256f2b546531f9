//! Availability, computed from histories made by hand.

use super::{seconds, start};
use daemonset::DeleteReason;
use daemonset::model::{Labels, Taint};
use daemonset_sim::{Actor, Change, Event, NodeState, PodIdentity, PodTrouble, availability};
use serde_json::json;
use std::sync::Arc;

#[derive(Default)]
struct History(Vec<Event>);

impl History {
    fn event(mut self, second: i64, by: Actor, change: Change) -> Self {
        self.0.push(Event { t: start() + seconds(second), by, change });
        self
    }

    fn spec(self, second: i64, min_ready: i32, selector: &serde_json::Value) -> Self {
        let mut template = super::template("v1");
        template["spec"]["nodeSelector"] = selector.clone();
        let mut spec = super::agent(template).spec;
        spec.min_ready_seconds = min_ready;
        let change = Change::DaemonSetChanged { generation: 1, template_changed: true, spec: Box::new(spec) };
        self.event(second, Actor::User, change)
    }

    fn ready(self, second: i64, node: &str, pod: &str) -> Self {
        self.event(second, Actor::Environment, Change::PodReady(identity(node, pod)))
    }

    fn created(self, second: i64, node: &str, pod: &str) -> Self {
        self.event(second, Actor::Controller, Change::PodCreated(identity(node, pod)))
    }

    fn unready(self, second: i64, node: &str, pod: &str) -> Self {
        let change = Change::PodUnready { pod: identity(node, pod), reason: PodTrouble::Crashed };
        self.event(second, Actor::Environment, change)
    }

    fn deleted(self, second: i64, by: Actor, node: &str, pod: &str) -> Self {
        let reason = (by == Actor::Controller).then_some(DeleteReason::OutdatedAvailable);
        self.event(second, by, Change::PodTerminating { pod: identity(node, pod), reason })
    }

    /// Each point as first instant, D, nodes without an available pod, and nodes taken down. Points that hold for no
    /// time are left out.
    fn curve(&self) -> Vec<(i64, u32, u32, u32)> {
        let mut curve: Vec<(i64, u32, u32, u32)> = Vec::new();
        for point in availability(&self.0) {
            let second = point.t.duration_since(start()).as_secs();
            if curve.last().is_some_and(|(last, ..)| *last == second) {
                curve.pop();
            }
            curve.push((second, point.desired, point.unavailable, point.taken_down));
        }
        curve
    }
}

fn identity(node: &str, pod: &str) -> Arc<PodIdentity> {
    Arc::new(PodIdentity {
        node: node.into(),
        pod: pod.to_owned(),
        uid: pod.into(),
        revision: "v1".to_owned(),
    })
}

fn state(node: &str, labels: &[(&str, &str)], taints: &[&str]) -> NodeState {
    let taint =
        |key: &&str| Taint { key: (*key).to_owned(), value: String::new(), effect: "NoSchedule".to_owned() };
    let labels: Labels = labels.iter().copied().collect();
    NodeState { node: node.into(), ready: true, labels, taints: taints.iter().map(taint).collect() }
}

/// Nodes a and b, each with a pod that is available after 20 s.
fn two(min_ready: i32) -> History {
    let history = History::default()
        .spec(0, min_ready, &json!({}))
        .event(0, Actor::Environment, Change::NodeAdded(state("a", &[("disk", "ssd")], &[])))
        .event(0, Actor::Environment, Change::NodeAdded(state("b", &[], &[])));
    history.created(1, "a", "a1").created(1, "b", "b1").ready(5, "a", "a1").ready(7, "b", "b1")
}

#[test]
fn a_node_is_available_with_its_first_available_pod() {
    assert_eq!(two(0).curve(), [(0, 2, 2, 0), (5, 2, 1, 0), (7, 2, 0, 0)]);
    let crash = two(0).unready(30, "a", "a1").ready(40, "a", "a1");
    assert_eq!(crash.curve()[2..], [(7, 2, 0, 0), (30, 2, 1, 0), (40, 2, 0, 0)]);
    let pair = two(0).created(30, "a", "a2").ready(31, "a", "a2").unready(32, "a", "a1");
    assert_eq!(pair.curve()[2..], [(7, 2, 0, 0)], "another one is available");
}

#[test]
fn pods_become_available_by_time_alone() {
    assert_eq!(two(10).curve(), [(0, 2, 2, 0), (15, 2, 1, 0), (17, 2, 0, 0)]);
    let early = two(10).unready(16, "b", "b1").ready(30, "b", "b1");
    assert_eq!(early.curve(), [(0, 2, 2, 0), (15, 2, 1, 0), (40, 2, 0, 0)], "it begins anew");
    let just_in_time = two(10).unready(17, "b", "b1");
    assert_eq!(just_in_time.curve().last(), Some(&(17, 2, 1, 0)));
    let points = availability(&two(10).unready(17, "b", "b1").0);
    let at_17: Vec<u32> = points
        .iter()
        .filter(|point| point.t == start() + seconds(17))
        .map(|point| point.unavailable)
        .collect();
    assert_eq!(at_17, [0, 1], "for a moment both were available");
}

#[test]
fn a_node_is_taken_down_from_the_controllers_deletion_until_a_pod_is_available() {
    let rolled = two(0)
        .deleted(30, Actor::Controller, "a", "a1")
        .event(32, Actor::Environment, Change::PodGone(identity("a", "a1")))
        .created(32, "a", "a2")
        .ready(40, "a", "a2");
    assert_eq!(rolled.curve()[2..], [(7, 2, 0, 0), (30, 2, 1, 1), (40, 2, 0, 0)]);
    let by_a_person = two(0).deleted(30, Actor::User, "a", "a1");
    assert_eq!(by_a_person.curve()[2..], [(7, 2, 0, 0), (30, 2, 1, 0)]);
    let down_already = two(0).unready(29, "a", "a1").deleted(30, Actor::Controller, "a", "a1");
    assert_eq!(down_already.curve()[2..], [(7, 2, 0, 0), (29, 2, 1, 0)]);
    let beside = two(0).created(30, "a", "a2").ready(31, "a", "a2").deleted(32, Actor::Controller, "a", "a1");
    assert_eq!(beside.curve()[2..], [(7, 2, 0, 0)]);
    let then_another = two(0).deleted(30, Actor::Controller, "a", "a1").deleted(31, Actor::User, "b", "b1");
    assert_eq!(then_another.curve()[2..], [(7, 2, 0, 0), (30, 2, 1, 1), (31, 2, 2, 1)]);
}

#[test]
fn nodes_count_while_they_are_target_nodes() {
    let gone = two(0).unready(30, "a", "a1").event(31, Actor::User, Change::NodeGone { node: "a".into() });
    assert_eq!(gone.curve()[2..], [(7, 2, 0, 0), (30, 2, 1, 0), (31, 1, 0, 0)]);
    let tainted = two(0).event(30, Actor::User, Change::NodeTainted(state("a", &[], &["x"]))).event(
        40,
        Actor::User,
        Change::NodeTainted(state("a", &[], &[])),
    );
    assert_eq!(tainted.curve()[2..], [(7, 2, 0, 0), (30, 1, 0, 0), (40, 2, 0, 0)]);
    let down = state("a", &[], &["node.kubernetes.io/unreachable"]);
    let down = two(0).event(30, Actor::Environment, Change::NodeUnready(NodeState { ready: false, ..down }));
    assert_eq!(down.unready(30, "a", "a1").curve()[2..], [(7, 2, 0, 0), (30, 1, 0, 0)]);
}

#[test]
fn a_changed_spec_changes_the_target_nodes() {
    let selected = two(0).spec(30, 0, &json!({"disk": "ssd"})).spec(40, 0, &json!({}));
    assert_eq!(selected.curve()[2..], [(7, 2, 0, 0), (30, 1, 0, 0), (40, 2, 0, 0)]);
    let longer = two(0).spec(12, 10, &json!({}));
    assert_eq!(longer.curve()[2..], [(7, 2, 0, 0), (12, 2, 2, 0), (15, 2, 1, 0), (17, 2, 0, 0)]);
    let shorter = two(60).spec(20, 14, &json!({}));
    assert_eq!(shorter.curve(), [(0, 2, 2, 0), (20, 2, 1, 0), (21, 2, 0, 0)]);
}

#[test]
fn an_empty_history_has_no_curve() {
    assert_eq!(availability(&[]), []);
}
