//! A controller of a custom kind that works like a DaemonSet: `agents.example.com/v1` AgentSet, in a cluster in memory whose webhook
//! protects a pod for a while. `docs/custom-kind.md` tells its duties in words. Run it with `cargo run --example custom_kind`.
#![allow(clippy::restriction)]

use daemonset::model::{ControllerRevision, DaemonSet, Node, ObjectRef, Owner, Pod};
use daemonset::{Action, ActionOutcome, Observed, Policy, Reconciler};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, from_value, json, to_value};

/// The kind in owner references, paths and events. The driver is made with it, too.
fn agent_set() -> Owner {
    Owner::new("agents.example.com/v1", "AgentSet")
}

/// An AgentSet as the library sees it. Metadata and status are its own, whole; the rest follows from its spec.
fn daemon_set(set: &Value) -> serde_json::Result<DaemonSet> {
    let labels = json!({"agent-set": set["metadata"]["name"]});
    let container = json!({"name": "agent", "image": set["spec"]["image"]});
    let spec = json!({
        "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": {"containers": [container]}},
        "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": set["spec"]["atOnce"]}},
    });
    let form = json!({"metadata": set["metadata"], "spec": spec, "status": set["status"]});
    Ok(DaemonSet { owner: agent_set(), ..from_value(form)? })
}

/// A cluster in memory, whose pods are Ready at once.
struct Cluster {
    set: Value,
    nodes: Vec<Node>,
    pods: Vec<Pod>,
    revisions: Vec<ControllerRevision>,
    /// The node whose pod a webhook does not let go.
    protected: &'static str,
}

impl Cluster {
    /// Plans once and executes the plan. Returns when to plan again, unless an object changes before.
    fn sync(&mut self, driver: &mut Reconciler, now: Timestamp) -> serde_json::Result<Option<Timestamp>> {
        let (daemon_set, Cluster { nodes, pods, revisions, .. }) = (daemon_set(&self.set)?, &*self);
        let plan = driver.plan(Observed { daemon_set: &daemon_set, nodes, pods, revisions }, now);
        let plan = plan.expect("an error names the problems, such as a kind that is not the driver's");
        for batch in plan.batches() {
            let mut ended_by = None;
            for action in batch {
                let outcome = self.execute(action, now)?;
                if driver.record(action, &outcome, now).ends_plan() {
                    ended_by = ended_by.or(Some(action));
                }
            }
            if let Some(action) = ended_by {
                for action in plan.independent_after(action) {
                    let _ = driver.record(action, &self.execute(action, now)?, now);
                }
                return Ok(driver.memory().retry_at());
            }
        }
        Ok(plan.requeue_at())
    }

    /// Stands for the calls of a client. With the feature `kube` an action becomes an HTTP request.
    fn execute(&mut self, action: &Action, now: Timestamp) -> serde_json::Result<ActionOutcome> {
        println!("{now} {action}");
        match action {
            Action::CreateRevision { revision, .. } => {
                let mut revision = revision.clone();
                revision["metadata"]["uid"] = revision["metadata"]["name"].clone();
                self.revisions.push(from_value(revision)?);
            }
            Action::CreatePod { node, pod, .. } => {
                let mut pod = pod.to_value();
                let name = json!(format!("edge-{node}-{}", now.as_second()));
                (pod["metadata"]["name"], pod["metadata"]["uid"]) = (name.clone(), name);
                pod["spec"]["nodeName"] = json!(node);
                let ready = json!({"type": "Ready", "status": "True", "lastTransitionTime": now});
                pod["status"] = json!({"phase": "Running", "conditions": [ready]});
                let pod: Pod = from_value(pod)?;
                let created = ObjectRef::from(&pod.metadata);
                self.pods.push(pod);
                return Ok(ActionOutcome::Created(created));
            }
            Action::DeletePod { node, .. } if node.as_str() == self.protected => {
                return Ok(ActionOutcome::Rejected);
            }
            Action::DeletePod { pod, .. } => self.pods.retain(|other| other.metadata.uid != pod.uid),
            Action::UpdateStatus { status, .. } => self.set["status"] = to_value(status)?,
            Action::RecordEvent { .. } | Action::Requeue { .. } => {}
            other => panic!("nothing in this cluster leads to {other}"),
        }
        Ok(ActionOutcome::Done)
    }
}

fn main() -> serde_json::Result<()> {
    let metadata = json!({"name": "edge", "namespace": "agents", "uid": "u1", "generation": 1});
    let set = json!({"metadata": metadata, "spec": {"image": "agent:1", "atOnce": 1}});
    let nodes = from_value(json!([{"metadata": {"name": "a"}}, {"metadata": {"name": "b"}}]))?;
    let mut cluster = Cluster { set, nodes, pods: vec![], revisions: vec![], protected: "" };
    let at = |second| Timestamp::UNIX_EPOCH + SignedDuration::from_secs(second);
    let mut driver = Reconciler::new("u1", Policy::default()).with_kind(agent_set());
    cluster.sync(&mut driver, at(0))?;
    assert!(cluster.pods.iter().all(|pod| pod.metadata.owner_references[0].kind == "AgentSet"));
    // A new version, while the pod of node a is protected: the other node is updated, and the status says so.
    (cluster.set["spec"]["image"], cluster.set["metadata"]["generation"]) = (json!("agent:2"), json!(2));
    cluster.protected = "a";
    let next = (1..10).map(|second| cluster.sync(&mut driver, at(second)));
    let retry_at = next.last().transpose()?.flatten().expect("the delete is still refused");
    assert_eq!(cluster.set["status"]["updatedNumberScheduled"], 1);
    // The next process goes on with the stored memory, and tries again when it is time.
    let memory = from_value(to_value(driver.memory())?)?;
    let mut driver = Reconciler::with_memory("u1", Policy::default(), memory).with_kind(agent_set());
    cluster.protected = "";
    (0..3).try_for_each(|_| cluster.sync(&mut driver, retry_at).map(drop))?;
    assert_eq!(cluster.set["status"]["updatedNumberScheduled"], 2);
    Ok(())
}

#[test]
fn the_example_runs() {
    main().unwrap();
}
