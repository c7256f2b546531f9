//! Walks with turns, pulls and changes in place: policies that ask for them, and nodes, gates and pods that change on the way.

use super::{Choices, Event, Walk};
use crate::support::add_rules;
use daemonset::model::{Node, Pod};
use serde_json::{Value, from_value, json};

/// The name of `ns/agent` with the uid `u` in annotations of nodes.
const TURN_KEY: &str = "agent.0bfe935e";

/// The annotation of a turn of the DaemonSet.
fn own_turn() -> String {
    format!("turn.daemonset/{TURN_KEY}")
}

/// The fields of a policy with turns. Surge refuses some of them.
pub fn policy(choices: &mut Choices) -> Value {
    let mut policy = json!({});
    if !choices.one_in(3) {
        policy["turn"] = rules(choices);
    }
    if choices.one_in(2) {
        let parallel = [json!(1), json!(2), json!("30%")];
        let seconds = [600, 20][choices.below(2)];
        policy["pull"] = json!({"parallel": parallel[choices.below(3)], "timeoutSeconds": seconds});
    }
    policy["inPlace"] = json!(["Never", "IfPossible", "IfPossible"][choices.below(3)]);
    policy["fit"] = json!(["Ignore", "Hold"][choices.below(2)]);
    if choices.one_in(3) {
        policy["podNames"] = json!("OnePerNode");
    }
    if choices.one_in(3) {
        add_rules(&mut policy);
    }
    policy
}

fn rules(choices: &mut Choices) -> Value {
    let gates = [json!([]), json!([]), json!(["drained"]), json!(["drained", "backup"])];
    let mut rules = json!({"cordon": choices.one_in(2), "gates": gates[choices.below(4)]});
    if choices.one_in(2) {
        rules["timeoutSeconds"] = json!([15, 200][choices.below(2)]);
        rules["onTimeout"] = json!(["Wait", "Proceed"][choices.below(2)]);
    }
    rules
}

impl Walk {
    /// A person or another program writes a node, or the kubelet its images.
    pub(super) fn change_turn(&mut self) {
        let nodes = self.pair.cache.nodes.len();
        let chosen = self.choose(nodes);
        let Some(mut node) = self.pair.cache.nodes.values().nth(chosen).cloned() else { return };
        let (ago, number) = (self.choose(20) as i64, self.choose(3));
        let since = self.pair.now - jiff::SignedDuration::from_secs(ago);
        let word = ["", " cordoned"][self.choose(2)];
        let turn = format!("{number} {since}{word}");
        match self.choose(9) {
            0 => set(&mut node, &own_turn(), Some(&turn)),
            1 => set(&mut node, &own_turn(), Some("2 yesterday")),
            2 => set(&mut node, &own_turn(), None),
            3 => set(&mut node, "turn.daemonset/logger.01234567", Some(&turn)),
            4 => set(&mut node, "turn.daemonset/logger.01234567", None),
            5 => set(&mut node, &gate(["drained", "backup"][number % 2]), Some("0 2026-01-01T00:00:00Z")),
            6 => {
                let image = format!("agent:{}", 1 + self.choose(4));
                node.status.images = from_value(json!([{"names": [image]}])).unwrap();
            }
            _ => node.spec.unschedulable = !node.spec.unschedulable,
        }
        self.put_node(node);
    }

    /// Opens the gates of a node in turn.
    pub(super) fn open_gates(&mut self) {
        let request = |node: &Node| {
            let turn = node.metadata.annotations.get(&own_turn())?;
            Some(turn.strip_suffix(" cordoned").unwrap_or(turn).to_owned())
        };
        let nodes = self.pair.cache.nodes.values();
        let in_turn: Vec<(Node, String)> =
            nodes.filter_map(|node| Some((node.clone(), request(node)?))).collect();
        let chosen = self.choose(in_turn.len());
        let Some((mut node, request)) = in_turn.into_iter().nth(chosen) else { return };
        let gate = gate(["drained", "backup"][self.choose(2)]);
        set(&mut node, &gate, Some(&request));
        self.put_node(node);
    }

    fn put_node(&mut self, mut node: Node) {
        node.metadata.resource_version = self.next_serial().to_string();
        self.pair.change(&Event::Node(node.metadata.name.to_string(), Some(Box::new(node))));
    }

    /// The kubelet starts the containers of a pod anew, as they are in its spec.
    pub(super) fn start_containers(&mut self, pod: &mut Pod) {
        let serial = self.next_serial();
        let is_pull = pod.metadata.labels.get("pull.daemonset/owner").is_some();
        let now = self.pair.now;
        let status = |name: &str, image: &str| match is_pull {
            true => json!({"name": name, "state": {"terminated": {"reason": "StartError"}}}),
            false => json!({
                "name": name, "containerID": format!("runtime://{serial}"), "imageID": format!("sha256:{image}"),
                "state": {"running": {"startedAt": now}},
            }),
        };
        let containers =
            pod.spec.containers.iter().map(|container| status(&container.name, &container.image));
        pod.status.container_statuses = from_value(containers.collect()).unwrap();
    }

    /// Pods that wait for the kubelet: changed in their place, or pulling.
    pub(super) fn waits_for_kubelet(&self, pod: &Pod) -> bool {
        let statuses = &pod.status.container_statuses;
        let since = pod.metadata.annotations.get("in-place.daemonset/since");
        let runs_as_before = |since: &str| {
            statuses
                .iter()
                .any(|status| !status.container_id.is_empty() && since.contains(&status.container_id))
        };
        self.has_turns && (statuses.is_empty() || since.is_some_and(runs_as_before))
    }

    /// A person writes the policy: a word that nobody can read, other rules, or none.
    pub(super) fn change_policy_of_turns(&mut self) {
        let mut policy = serde_json::to_value(self.pair.policy()).unwrap();
        match self.choose(6) {
            0 => policy["turn"] = json!("Keep"),
            1 => policy["turn"] = Value::Null,
            2 => policy["pull"] = Value::Null,
            3 => policy["inPlace"] = json!(["Never", "IfPossible"][self.choose(2)]),
            4 => {
                for field in ["turn", "pull"] {
                    policy[field] = Value::Null;
                }
                (policy["inPlace"], policy["fit"], policy["podNames"]) =
                    (json!("Never"), json!("Ignore"), json!("Generated"));
            }
            _ => policy["turn"] = rules(&mut self.pair.choices),
        }
        self.pair.set_policy(from_value(policy).unwrap());
    }
}

fn gate(name: &str) -> String {
    format!("{name}.gate.daemonset/{TURN_KEY}")
}

fn set(node: &mut Node, key: &str, value: Option<&str>) {
    let kept = node.metadata.annotations.iter().filter(|(own, _)| *own != key);
    let all: Vec<(String, String)> = kept.map(|(key, value)| (key.to_owned(), value.to_owned())).collect();
    let all = all.iter().map(|(key, value)| (key.as_str(), value.as_str()));
    node.metadata.annotations = all.chain(value.map(|value| (key, value))).collect();
}
