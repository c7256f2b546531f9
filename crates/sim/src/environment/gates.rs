//! The gates of turns: their answers, and those who give them.

use crate::environment::Environment;
use crate::event::{Actor, Change};
use crate::event_queue::{Timer, later};
use crate::random::Purpose;
use daemonset::model::{NodeName, Uid};
use daemonset::turns;
use jiff::Timestamp;

impl Environment {
    /// Writes the request of a turn as the answer of a gate.
    pub(crate) fn open_gate(
        &mut self,
        by: Actor,
        name: &NodeName,
        (turn, request): (&str, &str),
        gate: &str,
    ) {
        let annotation = turns::gate_annotation(gate, turn);
        self.change_node(name, |node| {
            node.metadata.annotations = node.metadata.annotations.with(&annotation, request);
        });
        let (node, turn) = (name.clone(), turn.to_owned());
        self.record(by, Change::GateOpened { node, turn, gate: gate.to_owned() });
    }

    /// Something opens each gate that has an opener and is closed, some time after the turn began.
    pub(crate) fn answer_turn(&mut self, name: &NodeName, turn: &str, began: Timestamp) {
        let Some(node) = self.objects.nodes.get(name).cloned() else { return };
        let Some(request) = turns::request(&node, turn).map(str::to_owned) else { return };
        let is_closed = |gate: &str| {
            let answer = node.metadata.annotations.get(&turns::gate_annotation(gate, turn));
            answer != Some(request.as_str())
        };
        for (gate, takes) in self.settings.gates.iter().filter(|(gate, _)| is_closed(gate)) {
            let rng = &mut self.random.stream(Purpose::Gate, [name.as_str(), gate], 0);
            let (node, gate, turn) = (name.clone(), gate.clone(), turn.to_owned());
            let at = later(began, takes.sample(rng)).max(self.now);
            self.queue.push(at, Timer::OpenGate { node, gate, turn, request: request.clone() });
        }
    }

    /// The answer is for this turn alone.
    pub(crate) fn gate_answered(&mut self, name: &NodeName, gate: &str, (turn, request): (&str, &str)) {
        let node = self.objects.nodes.get(name);
        if node.and_then(|node| turns::request(node, turn)) == Some(request) {
            self.open_gate(Actor::Environment, name, (turn, request), gate);
        }
    }

    /// A pod of a node has changed: a drain of the node looks at it soon.
    pub(crate) fn tell_drain(&mut self, uid: &Uid) {
        if self.drained.is_empty() {
            return;
        }
        let Some(node) = self.runtimes.get(uid).map(|runtime| runtime.node.clone()) else { return };
        if self.drained.contains(&node) {
            let rng = &mut self.random.stream(Purpose::Watch, [node.as_str(), "drain"], self.serial);
            let at = later(self.now, self.settings.controller.watch_lag.sample(rng));
            self.queue.push(at, Timer::Drain(node));
        }
    }
}
