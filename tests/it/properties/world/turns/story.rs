//! The objects of a fleet with turns, in the form of the API server.

use super::{Answer, RandomContainer, RandomPull, RandomTurn, RandomTurnMemory, RandomTurns, TurningNode};
use crate::support::{Given, PodStory, TURN_KEY, add_rules, at, pod};
use daemonset_objects::internal::name_hash;
use serde_json::{Value, json};

/// The turn key of another DaemonSet.
const OTHER_KEY: &str = "logger.01234567";

/// The one name of the pods of a node.
fn the_name(node: &str) -> String {
    format!("agent-{}", name_hash(["uid-agent", node]))
}

/// The name of a pull pod of `ns/agent`.
pub fn pull_name(node: &str, hash: &str) -> String {
    format!("agent-pull-{}", name_hash([hash, node]))
}

impl RandomTurns {
    pub(in super::super) fn add_to(&self, mut given: Given) -> Given {
        self.add_policy(&mut given.json);
        let nodes = given.json["nodes"].as_array().unwrap().len();
        for (number, turning) in self.nodes.iter().take(nodes).enumerate() {
            let name = format!("n{number}");
            turning.add_to(&mut given.json["nodes"][number]);
            if let Some(free) = turning.free_pods {
                given.json["free"][&name] = json!({"pods": free});
            }
            if let Some(first) = first_pod(&mut given.json, &name) {
                turning.change_pod(first, &name);
            }
            if let Some(pull) = &turning.pull {
                given = given.stray(&name, pull.story(&name));
            }
        }
        if let Some(pull) = &self.stray_pull {
            given = given.stray("gone", pull.story("gone"));
        }
        if let Some(policy) = self.image_pull_policy {
            set_pull_policy(&mut given.json, policy);
        }
        if let Some(version) = self.nodes_version {
            given.json["nodesVersion"] = json!(version);
        }
        let turns = self.memory.json(&given);
        if turns != json!({}) {
            given.json["memory"]["turns"] = turns;
        }
        given
    }

    /// A policy that is not refused.
    fn add_policy(&self, json: &mut Value) {
        let surges = json["daemonSet"]["spec"]["updateStrategy"].clone();
        let max_surge = &surges["rollingUpdate"]["maxSurge"];
        let surges = surges["type"] == "SurgingRollingUpdate"
            || !["null", "0", "\"0%\""].contains(&max_surge.to_string().as_str());
        for (field, value) in self.policy.as_object().unwrap() {
            let is_refused = match field.as_str() {
                "podNames" => surges,
                "turn" => surges && value.is_object(),
                _ => false,
            };
            if !is_refused {
                json["policy"][field] = value.clone();
            }
        }
        add_rules(&mut json["policy"]);
    }
}

impl TurningNode {
    fn add_to(&self, node: &mut Value) {
        let mut annotations = json!({});
        for (key, turn) in [(TURN_KEY, self.own), (OTHER_KEY, self.other)] {
            if let Some(turn) = turn {
                annotations[format!("turn.daemonset/{key}")] = json!(turn.value());
            }
        }
        for (gate, answer) in &self.gates {
            let request = match (answer, self.own) {
                (Answer::ToThisTurn, Some(turn)) => turn.request(),
                (Answer::ToThisTurn | Answer::ToAnother, _) => format!("1 {}", at(-7)),
            };
            annotations[format!("{gate}.gate.daemonset/{TURN_KEY}")] = json!(request);
        }
        node["metadata"]["annotations"] = annotations;
        if self.unschedulable {
            node["spec"]["unschedulable"] = json!(true);
        }
        if let Some(image) = self.image {
            node["status"]["images"] = json!([{"names": [image]}]);
        }
    }

    fn change_pod(&self, pod: &mut Value, node: &str) {
        if let Some(container) = &self.runs {
            container.add_to(pod);
        }
        if self.has_the_name {
            let name = the_name(node);
            pod["metadata"]["uid"] = json!(format!("uid-{name}"));
            pod["metadata"]["name"] = json!(name);
        }
    }
}

impl RandomTurn {
    fn request(self) -> String {
        match self {
            RandomTurn::Since(ago, _) => format!("2 {}", at(-ago)),
            RandomTurn::Garbage(text) => text.to_owned(),
        }
    }

    fn value(self) -> String {
        let is_cordoned = matches!(self, RandomTurn::Since(_, true));
        self.request() + if is_cordoned { " cordoned" } else { "" }
    }
}

impl RandomPull {
    fn story(&self, node: &str) -> PodStory {
        let labels = json!({"pull.daemonset/owner": "uid-agent", "pull.daemonset/revision": self.revision});
        let mut story = pod("x").named(&pull_name(node, self.revision)).created_ago(self.created).pending();
        story = story.phase(self.phase).with("/metadata/labels", labels);
        story = story.with(
            "/metadata/ownerReferences",
            json!([{"kind": "DaemonSet", "name": "agent", "uid": "uid-agent"}]),
        );
        story = story.with("/spec/containers", json!([{"name": "image-0", "image": self.revision}]));
        if let Some(status) = &self.status {
            let mut status = status.clone();
            status["name"] = json!("image-0");
            story = story.with("/status/containerStatuses", json!([status]));
        }
        if self.terminating { story.terminating(5) } else { story }
    }
}

impl RandomContainer {
    fn add_to(&self, pod: &mut Value) {
        let version =
            pod["metadata"]["labels"]["controller-revision-hash"].as_str().unwrap_or("old").to_owned();
        let image = self.image.unwrap_or(&version);
        pod["spec"]["containers"] = json!([{"name": "c", "image": image}]);
        let mut status = json!({"name": "c", "containerID": self.id, "imageID": format!("sha256:{image}"), "restartCount": self.restarts});
        if let Some(ago) = self.started {
            status["state"] = json!({"running": {"startedAt": at(-ago)}});
        }
        pod["status"]["containerStatuses"] = json!([status]);
        if let Some(changed) = self.changed {
            let was = json!({"c": {"id": "runtime://1", "imageID": "sha256:old"}});
            let since =
                |ago: i64| json!({"at": at(-ago), "containers": was, "restarts": {"c": 1}}).to_string();
            let annotation = changed.map_or_else(str::to_owned, since);
            pod["metadata"]["annotations"]["in-place.daemonset/since"] = json!(annotation);
        }
    }
}

impl RandomTurnMemory {
    fn json(&self, given: &Given) -> Value {
        let mut json = json!({});
        for (node, ago, version) in &self.patches {
            json["patches"][format!("n{node}")] = json!({"at": at(-ago), "version": version});
        }
        for (node, ago) in &self.pulls {
            json["pulls"][pull_name(&format!("n{node}"), "new")] = json!({"at": at(-ago)});
        }
        for (node, ago) in &self.pull_deletes {
            let uid = format!("uid-{}", pull_name(&format!("n{node}"), "new"));
            json["pullDeletes"][uid] = json!({"at": at(-ago)});
        }
        for (node, ago) in &self.refused_pulls {
            json["refusedPulls"][pull_name(&format!("n{node}"), "new")] = json!(at(-ago));
        }
        let uid = |pod: &usize| given.json["pods"][*pod]["metadata"]["uid"].as_str();
        for (pod, ago, changed) in &self.changes {
            if let Some(uid) = uid(pod) {
                json["inPlace"][uid] = json!({"at": at(-ago), "changedAt": at(-changed)});
            }
        }
        for (pod, ago) in &self.refused_changes {
            if let Some(uid) = uid(pod) {
                json["refusedInPlace"][uid] = json!(at(-ago));
            }
        }
        json
    }
}

fn first_pod<'g>(json: &'g mut Value, node: &str) -> Option<&'g mut Value> {
    let name = format!("{node}-1");
    json["pods"].as_array_mut().unwrap().iter_mut().find(|pod| pod["metadata"]["name"] == name.as_str())
}

/// Sets it in the template and in all revisions, whose templates differ in nothing more than before.
fn set_pull_policy(json: &mut Value, policy: &str) {
    json["daemonSet"]["spec"]["template"]["spec"]["containers"][0]["imagePullPolicy"] = json!(policy);
    for revision in json["revisions"].as_array_mut().unwrap() {
        revision["data"]["spec"]["template"]["spec"]["containers"][0]["imagePullPolicy"] = json!(policy);
    }
}
