//! A rollout that annotations of the DaemonSet steer, as a user calls it.

mod plan;
mod policy;
mod status;
mod steer;
mod why;

use crate::plan::{daemon_set, file, list, node, with};
use crate::program::{Ran, run};
use serde_json::{Value, json};

const NOW: &str = "2026-01-01T01:00:00Z";

/// DaemonSet logging/agent in the middle of a rollout: nodes a to e, each with an available pod of the old version.
struct Fleet {
    daemon_set: Value,
    nodes: Vec<Value>,
    pods: Vec<Value>,
    /// The old one, and the current one.
    revisions: Vec<Value>,
}

/// One node first, two more after ten minutes, d once it is approved; e is in no wave.
const WAVES: &str = "
waves:
- {upTo: 1, bakeSeconds: 600}
- {upTo: 3}
- {upTo: 4, needsApproval: true}
";

fn template(image: &str) -> Value {
    json!({"metadata": {"labels": {"app": "agent"}}, "spec": {"containers": [{"name": "agent", "image": image}]}})
}

fn revision(name: &str, number: i64, image: &str) -> Value {
    let mut template = template(image);
    template["$patch"] = json!("replace");
    json!({
        "apiVersion": "apps/v1",
        "kind": "ControllerRevision",
        "metadata": {
            "name": name, "namespace": "logging", "uid": name, "creationTimestamp": "2026-01-01T00:00:00Z",
            "labels": {"app": "agent", "controller-revision-hash": name}, "annotations": {},
            "ownerReferences": [{"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "agent", "uid": "uid-of-agent", "controller": true}],
        },
        "data": {"spec": {"template": template}},
        "revision": number,
    })
}

/// Ready since so many seconds.
fn pod(node: &str, revision: &str, ready_for: i64) -> Value {
    let now: jiff::Timestamp = NOW.parse().unwrap();
    let since = now.checked_sub(jiff::SignedDuration::from_secs(ready_for)).unwrap().to_string();
    json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": format!("{revision}-{node}"), "namespace": "logging", "uid": format!("{revision}-{node}"),
            "creationTimestamp": "2026-01-01T00:30:00Z",
            "labels": {"app": "agent", "controller-revision-hash": revision},
            "ownerReferences": [{"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "agent", "uid": "uid-of-agent", "controller": true}],
        },
        "spec": {"nodeName": node},
        "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": since}]},
    })
}

impl Fleet {
    /// With this policy; none where it is empty.
    fn with_policy(policy: &str) -> Self {
        let status = json!({
            "observedGeneration": 1, "desiredNumberScheduled": 5, "currentNumberScheduled": 5, "numberReady": 5,
            "numberAvailable": 5,
        });
        let agent = with(with(daemon_set("agent"), "/spec/template", template("agent:2")), "/status", status);
        let nodes = ["a", "b", "c", "d", "e"];
        let fleet = Fleet {
            daemon_set: with(agent, "/metadata/annotations", json!({})),
            nodes: nodes.map(node).into(),
            pods: nodes.map(|node| pod(node, "old", 1800)).into(),
            revisions: vec![revision("old", 1, "agent:1"), revision("new", 2, "agent:2")],
        };
        if policy.is_empty() { fleet } else { fleet.annotated("policy", policy) }
    }

    fn annotated(mut self, name: &str, value: &str) -> Self {
        self.daemon_set["metadata"]["annotations"][format!("rollout.daemonset/{name}")] = json!(value);
        self
    }

    /// Its pod is of the new version, and Ready since so many seconds.
    fn updated(mut self, node: &str, ready_for: i64) -> Self {
        self.pods.retain(|pod| pod["spec"]["nodeName"] != node);
        self.pods.push(pod(node, "new", ready_for));
        self
    }

    /// The new pod of the node has this instead of its status.
    fn troubled(self, node: &str, status: Value) -> Self {
        let mut fleet = self.updated(node, 0);
        fleet.pods.last_mut().unwrap()["status"] = status;
        fleet
    }

    /// A container of the new pod can't pull its image.
    fn pulling(self, node: &str) -> Self {
        let waiting = json!([{"name": "agent", "restartCount": 0, "state": {"waiting": {"reason": "ImagePullBackOff"}}}]);
        let ready =
            json!([{"type": "Ready", "status": "False", "lastTransitionTime": "2026-01-01T00:40:00Z"}]);
        self.troubled(node, json!({"phase": "Pending", "containerStatuses": waiting, "conditions": ready}))
    }

    /// The current revision has this mark.
    fn marked(mut self, mark: &str, value: &str) -> Self {
        self.revisions[1]["metadata"]["annotations"][format!("rollout.daemonset/{mark}")] = json!(value);
        self
    }

    /// A file that kubectl could have printed.
    fn file(&self, name: &str) -> String {
        let all =
            [vec![self.daemon_set.clone()], self.nodes.clone(), self.pods.clone(), self.revisions.clone()];
        file(&format!("rollout-{name}.json"), list(all.concat()))
    }

    /// Calls a command about it, at [`NOW`].
    fn call(&self, name: &str, command: &str) -> Ran {
        let file = self.file(name);
        let words: Vec<&str> = command.split(' ').collect();
        let (first, rest) = words.split_first().unwrap();
        let mut ran = run(first, &[rest, &[&file, "--now", NOW]].concat(), b"");
        (ran.out, ran.err) = (ran.out.replace(&file, "agent.json"), ran.err.replace(&file, "agent.json"));
        ran
    }

    /// Its stdout, where all is well.
    fn printed(&self, name: &str, command: &str) -> String {
        self.printed_with_code(0, name, command)
    }

    /// Its stdout, beside this exit code.
    fn printed_with_code(&self, code: i32, name: &str, command: &str) -> String {
        let ran = self.call(name, command);
        assert_eq!((ran.code, ran.err.as_str()), (Some(code), ""), "{command}");
        ran.out
    }
}
