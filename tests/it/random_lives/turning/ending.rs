//! The end of a life: once all disturbances stop and the version is a good one, each turn ends within a bound, and nothing is left.

use super::super::commands as common;
use super::beginning::Choices;
use super::commands::{Command, Desk, add_node_named, open_gate, release, remove_lonely_pods, write_policy};
use super::facts::is_pull_pod;
use super::life::Life;
use super::other;
use daemonset::model::{Node, Pod};
use daemonset_sim::Probability;
use jiff::SignedDuration;

/// How often somebody answers gates.
const ROUND: SignedDuration = SignedDuration::from_secs(10);

/// The good version at the end.
const GOOD: u8 = 9;

impl Life {
    /// Ends all disturbances, and lets the cluster come to rest.
    pub fn settle(&mut self) -> Result<(), String> {
        self.end_disturbances();
        release(&mut self.cluster, GOOD);
        self.observe(false);
        let last = self.cluster.now() + self.bound();
        while !self.is_settled() {
            if self.cluster.now() > last {
                return Err(self.unsettled());
            }
            self.pass(ROUND);
            self.answer_gates();
        }
        // Nothing begins again.
        self.pass(SignedDuration::from_mins(2));
        if self.is_settled() { Ok(()) } else { Err(self.unsettled()) }
    }

    fn end_disturbances(&mut self) {
        self.thaw();
        for kind in 0..common::CACHES {
            common::Command::Lag { kind, seconds: 0 }.perform(&mut self.cluster);
        }
        self.cluster.configure_controller(|controller| {
            controller.refused = Probability::NEVER;
            controller.answer_lost = Probability::NEVER;
        });
        for node in 0..u8::try_from(self.cluster.nodes().count()).unwrap() {
            common::Command::BringUp { node }.perform(&mut self.cluster);
            common::Command::Untaint { node }.perform(&mut self.cluster);
            for kind in (0..).take(common::CONDITIONS.len()) {
                common::Command::Condition { node, kind, is_true: false }.perform(&mut self.cluster);
            }
        }
        remove_lonely_pods(&mut self.cluster);
        // The others' pods may go there, whatever is cordoned: of two nodes both may be, as an excused one has a limit of its own.
        for name in ["spare-0", "spare-1", "spare-2"] {
            add_node_named(&mut self.cluster, name);
        }
        if self.beginning.workload.is_some() {
            // Else all of them may be emptied at once, and a disruption budget lets the last pods go nowhere.
            let Life { cluster, choices, limit, other, .. } = self;
            Command::Limit { nodes: 1 }.perform(Desk { cluster, choices, limit, other });
        }
        other::end(&mut self.cluster, |_| true);
        self.choices = Choices { rollout: None, ..self.beginning.choices };
        write_policy(&mut self.cluster, self.choices, self.limit);
        self.note_policy();
        self.observe(false);
    }

    fn answer_gates(&mut self) {
        let in_turn = self.facts.nodes.iter().filter(|(_, node)| node.turn.is_some());
        let names: Vec<String> = in_turn.map(|(name, _)| name.clone()).collect();
        for name in names {
            open_gate(&mut self.cluster, &name);
        }
        self.observe(false);
    }

    /// Before the first round a back-off, an action in flight and a restart may have to end. Each round drains a node, stops its pod,
    /// pulls, starts and waits until the new one is available.
    fn bound(&self) -> SignedDuration {
        let min_ready = i64::from(self.cluster.daemon_set().unwrap().spec.min_ready_seconds);
        let before = 15 * 60 + 300 + 300 + 60;
        let round = 10 + 120 + 60 + 10 + 15 + 10 + min_ready + 10;
        let rounds = self.cluster.nodes().count() as i64 + 2;
        SignedDuration::from_secs(before + rounds * round)
    }

    /// Whether each node has one Ready pod of the good version, and nothing is left of turns and pulls.
    fn is_settled(&self) -> bool {
        let own = format!("turn.daemonset/{}", self.facts.key);
        let is_free = |node: &Node| !node.metadata.annotations.contains_key(&own);
        let is_served = |node: &Node| {
            let name = &node.metadata.name;
            let mut daemons = self.daemons().filter(|pod| pod.target() == Some(name));
            let is_good = |pod: &Pod| {
                pod.spec.containers[0].image == format!("agent:v{GOOD}")
                    && self.facts.is_ready(pod.metadata.uid.as_str())
            };
            daemons.next().is_some_and(is_good) && daemons.next().is_none()
        };
        self.cluster.nodes().all(|node| is_free(node) && is_served(node))
            && !self.cluster.pods().any(is_pull_pod)
    }

    fn daemons(&self) -> impl Iterator<Item = &Pod> {
        self.cluster.pods().filter(|pod| pod.metadata.labels.get("app") == Some("agent"))
    }

    fn unsettled(&self) -> String {
        let facts = &self.facts;
        let nodes: Vec<String> =
            facts.nodes.iter().map(|(name, node)| format!("{name} {:?}", node.annotations)).collect();
        let plan = self.cluster.plan().and_then(Result::ok);
        let verdicts = plan.iter().flat_map(|plan| &plan.report.nodes);
        let outcomes: Vec<String> =
            verdicts.map(|verdict| format!("{} {}", verdict.node, verdict.outcome)).collect();
        let pods: Vec<String> = self
            .cluster
            .pods()
            .map(|pod| format!("{} on {}", pod.metadata.name, pod.spec.node_name))
            .collect();
        format!("at {}: {nodes:#?} {outcomes:#?} {pods:#?}", self.cluster.now())
    }
}
