//! Turns of nodes: gates, drains, pulls, changes in place, and all that goes wrong meanwhile.

mod at_most_one;
mod changes;
mod drains;
mod driver;
mod fit;
mod gates;
mod in_place;
mod leftovers;
mod powers;
mod pulls;
mod random;
mod two_processes;

use crate::api_server::{ApiServer, NAMESPACE};
use crate::cluster::Cluster;
use crate::kubelet::TENANT;
use crate::objects::{rolling, tenant};
use crate::pods::{controller_uid, is_deleting, is_pull_pod, node_of};
use crate::rights::Rights;
use crate::rollouts::POLICY;
use crate::store::{Actor, Id, Kind, id, text};
use serde_json::{Value, from_value, json};
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::time::sleep;

const MINUTE: Duration = Duration::from_secs(60);
const TURN: &str = "turn.daemonset/";
pub const ALL_POWERS: &str = "turn,evict,priority";

/// The rules of turns, checked at each change, by the annotations alone.
#[derive(Debug, Default)]
pub struct TurnRules {
    /// The key of the DaemonSet's turns, and its uid.
    pub key: String,
    pub uid: String,
    /// The gates that must be open before a pod is taken.
    pub gates: Vec<String>,
    /// The most nodes in turn.
    pub most: usize,
    /// The most pull pods that are under way.
    pub parallel: Option<usize>,
    /// The most that was reached, and how many pods were taken.
    pub worst: usize,
    pub worst_pulls: usize,
    pub taken: usize,
}

impl TurnRules {
    /// The violations of this change.
    pub fn check(&mut self, objects: &BTreeMap<Id, Value>, actor: Actor, changed: &Id) -> Vec<String> {
        let mut broken = Vec::new();
        if changed.kind == Kind::Node {
            let nodes = objects.iter().filter(|(id, _)| id.kind == Kind::Node);
            let in_turn = nodes.filter(|(_, node)| self.request(node).is_some()).count();
            self.worst = self.worst.max(in_turn);
            if in_turn > self.most {
                broken.push(format!("{in_turn} nodes are in turn after a change of {}", changed.name));
            }
            broken.extend(objects.get(changed).and_then(|node| self.check_drained(objects, actor, node)));
        }
        if changed.kind != Kind::Pod {
            return broken;
        }
        let pods = || objects.iter().filter(|(id, _)| id.kind == Kind::Pod).map(|(_, pod)| pod);
        let pulling =
            pods().filter(|pod| is_pull_pod(pod) && text(&pod["status"]["phase"]) == "Pending").count();
        self.worst_pulls = self.worst_pulls.max(pulling);
        if self.parallel.is_some_and(|parallel| pulling > parallel) {
            broken.push(format!("{pulling} pull pods are under way"));
        }
        let Some(pod) = objects.get(changed) else { return broken };
        if actor == Actor::Controller && is_taken(pod) && controller_uid(pod) == self.uid {
            self.taken += 1;
            let node = &objects[&id(Kind::Node, node_of(pod))];
            let request = self.request(node);
            for gate in &self.gates {
                let gate = format!("{gate}.gate.daemonset/{}", self.key);
                if request.is_none() || annotation(node, &gate) != request {
                    broken.push(format!(
                        "{} is taken, and {gate} is closed: {}",
                        changed.name, node["metadata"]
                    ));
                }
            }
            let is_pulled = pods().any(|pull| {
                is_pull_pod(pull)
                    && node_of(pull) == node_of(pod)
                    && text(&pull["status"]["phase"]) == "Failed"
            });
            if self.parallel.is_some() && !is_pulled {
                broken.push(format!("{} is taken before its images are there", changed.name));
            }
        }
        broken
    }

    /// The gate `drained` is opened once no tenant is left.
    fn check_drained(&self, objects: &BTreeMap<Id, Value>, actor: Actor, node: &Value) -> Option<String> {
        let name = text(&node["metadata"]["name"]);
        let request = self.request(node)?;
        let gate = annotation(node, &format!("drained.gate.daemonset/{}", self.key));
        let is_tenant = |pod: &Value| !pod["metadata"]["labels"][TENANT].is_null() && node_of(pod) == name;
        let tenant = objects.iter().find(|(id, pod)| id.kind == Kind::Pod && is_tenant(pod))?.0;
        let is_open = actor == Actor::Controller && gate == Some(request);
        is_open.then(|| format!("{name} is drained, and has {}", tenant.name))
    }

    /// The request of the node's turn.
    fn request(&self, node: &Value) -> Option<String> {
        let turn = annotation(node, &format!("{TURN}{}", self.key))?;
        Some(turn.trim_end_matches(" cordoned").to_owned())
    }
}

fn is_taken(pod: &Value) -> bool {
    is_deleting(pod) || !pod["metadata"]["annotations"]["in-place.daemonset/since"].is_null()
}

fn annotation(object: &Value, key: &str) -> Option<String> {
    object["metadata"]["annotations"][key].as_str().map(ToOwned::to_owned)
}

/// A settled fleet with this policy in its annotation, all powers, and all rights.
pub async fn fleet(nodes: usize, max_unavailable: usize, policy: &str) -> Cluster {
    let cluster = Cluster::steady(nodes, rolling(max_unavailable)).await;
    give_rights(&cluster, &["turns", "drain", "powers"]);
    empower(&cluster, Some(ALL_POWERS));
    cluster.annotate(POLICY, Some(policy));
    sleep(MINUTE).await;
    keep_rules(&cluster, &[], max_unavailable);
    cluster
}

/// Gives all processes the rights of these parts of deploy/.
pub fn give_rights(cluster: &Cluster, parts: &[&str]) {
    let rights = parts.iter().fold(Rights::none(), |rights, part| rights.with(Rights::of_part(part)));
    cluster.api.state().further_rights = rights;
}

/// Sets the powers of the namespace.
pub fn empower(cluster: &Cluster, powers: Option<&str>) {
    cluster.api.state().store.change(Actor::Others, &id(Kind::Namespace, NAMESPACE), |namespace| {
        namespace["metadata"]["annotations"] = match powers {
            Some(powers) => json!({"rollout.daemonset/powers": powers}),
            None => json!({}),
        };
    });
}

/// Checks from now on that no more nodes than these are in turn, and that no pod is taken before these gates are open.
pub fn keep_rules(cluster: &Cluster, gates: &[&str], most: usize) {
    let ds = cluster.daemon_set();
    let uid = text(&ds["metadata"]["uid"]).to_owned();
    let key = turn_key(&ds);
    let gates = gates.iter().map(|gate| (*gate).to_owned()).collect();
    let rules = TurnRules { key, uid, gates, most, ..TurnRules::default() };
    cluster.api.state().store.invariants.turns = Some(rules);
}

pub fn turn_key(ds: &Value) -> String {
    daemonset::turns::key(&from_value(ds.clone()).expect("a DaemonSet"))
}

/// The pods of a ReplicaSet, one on each node.
pub fn add_tenants(cluster: &Cluster) {
    let store = &mut cluster.api.state().store;
    let nodes: Vec<String> =
        store.list(Kind::Node).map(|node| text(&node["metadata"]["name"]).to_owned()).collect();
    for node in nodes {
        store.create(Actor::Others, Kind::Pod, tenant(&format!("web-{node}"), &node));
    }
}

pub fn node(cluster: &Cluster, name: &str) -> Value {
    cluster.api.state().store.get(&id(Kind::Node, name)).cloned().expect("a node")
}

pub fn cordon(cluster: &Cluster, name: &str, unschedulable: bool) {
    cluster.api.state().store.change(Actor::Others, &id(Kind::Node, name), |node| {
        node["spec"]["unschedulable"] = json!(unschedulable);
    });
}

pub fn is_cordoned(node: &Value) -> bool {
    node["spec"]["unschedulable"] == true
}

/// The names of the nodes that are cordoned, or have an annotation of a turn or a gate.
pub fn not_as_before(cluster: &Cluster) -> Vec<String> {
    let state = cluster.api.state();
    let is_one = |node: &&Value| {
        let annotations = node["metadata"]["annotations"].as_object();
        let mut keys = annotations.into_iter().flat_map(|annotations| annotations.keys());
        is_cordoned(node) || keys.any(|key| key.starts_with(TURN) || key.contains(".gate.daemonset/"))
    };
    let nodes = state.store.list(Kind::Node).filter(is_one);
    nodes.map(|node| text(&node["metadata"]["name"]).to_owned()).collect()
}

/// Waits until every node has the new version, and no turn is left.
pub async fn ends(cluster: &Cluster) {
    cluster.done(crate::cluster::HOUR).await;
    sleep(MINUTE).await;
    cluster.check_invariants();
    assert_eq!(not_as_before(cluster), [""; 0]);
}

/// Opens this gate of each turn of this DaemonSet, so long after the turn has begun; a backup takes its time.
pub fn open_gates(api: &ApiServer, gate: &'static str, key: &str, after: Duration) {
    let (api, key) = (api.clone(), key.to_owned());
    tokio::spawn(async move {
        let mut seen: BTreeMap<String, tokio::time::Instant> = BTreeMap::new();
        let gate = format!("{gate}.gate.daemonset/{key}");
        loop {
            sleep(Duration::from_millis(100)).await;
            let nodes: Vec<Value> = api.state().store.list(Kind::Node).cloned().collect();
            for node in nodes {
                let Some(turn) = annotation(&node, &format!("{TURN}{key}")) else { continue };
                let request = turn.trim_end_matches(" cordoned").to_owned();
                let name = text(&node["metadata"]["name"]);
                let since =
                    *seen.entry(format!("{name} {request}")).or_insert_with(tokio::time::Instant::now);
                if since.elapsed() >= after && annotation(&node, &gate).as_ref() != Some(&request) {
                    api.state().store.change(Actor::Others, &id(Kind::Node, name), |node| {
                        node["metadata"]["annotations"][&gate] = json!(request);
                    });
                }
            }
        }
    });
}

/// How many events with this reason were recorded, repeated ones counted.
pub fn events(cluster: &Cluster, reason: &str) -> usize {
    cluster.api.state().events.iter().filter(|one| *one == reason).count()
}

/// The messages of the events with this reason.
pub fn messages(cluster: &Cluster, reason: &str) -> Vec<String> {
    let state = cluster.api.state();
    let events = state.stored_events.values().filter(|event| event["reason"] == reason);
    events.map(|event| text(&event["message"]).to_owned()).collect()
}

pub fn taken(cluster: &Cluster) -> usize {
    cluster.api.state().store.invariants.turns.as_ref().map_or(0, |rules| rules.taken)
}
