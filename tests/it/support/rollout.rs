//! A cluster with one of two controllers, and actions of users and nodes.

use super::{Given, apply, steps, template, upstream};
use daemonset::model::{PodCondition, Taint};
use daemonset::{Plan, Recording, plan};
use jiff::SignedDuration;
use serde_json::json;

/// The controller that decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Controller {
    /// This crate.
    Ours,
    /// The model of v1.36.
    Upstream,
}

/// A cluster in which each action takes effect at once, and the caches show it.
pub struct Rollout {
    pub recording: Recording,
    controller: Controller,
}

impl Rollout {
    pub fn of(given: &Given, controller: Controller) -> Self {
        Rollout { recording: given.recording(), controller }
    }

    /// Decides and executes. Returns the executed actions without the status.
    pub fn sync(&mut self) -> Vec<String> {
        let mut plan: Plan = plan(&self.recording.snapshot().unwrap());
        if self.controller == Controller::Upstream {
            plan.actions = upstream(&self.recording, None);
        }
        apply(&mut self.recording, &plan);
        steps(&plan)
    }

    /// Syncs this often; new pods are bound and run, but are not Ready.
    pub fn sync_and_run(&mut self, times: u32) {
        for _ in 0..times {
            self.sync();
            self.run("False");
        }
    }

    /// From now on new pods run and are Ready.
    pub fn become_ready(&mut self) {
        self.run("True");
    }

    pub fn wait(&mut self, seconds: i64) {
        self.recording.now += SignedDuration::from_secs(seconds);
    }

    /// A user changes the image.
    pub fn edit(&mut self, version: &str) {
        self.recording.daemon_set.spec.template = template(version);
        self.recording.daemon_set.metadata.generation += 1;
    }

    /// Stops a node whose pod was created in this story. The node lifecycle controller taints it, and marks its pods as
    /// not Ready.
    pub fn take_nodes_of_new_pods_down(&mut self) {
        let created = |name: &str| name.starts_with("created-");
        let pods = self.recording.pods.iter_mut().filter(|pod| created(&pod.metadata.name));
        let down: Vec<_> = pods.map(|pod| pod.spec.node_name.clone()).collect();
        for pod in self.recording.pods.iter_mut().filter(|pod| down.contains(&pod.spec.node_name)) {
            pod.status.conditions.iter_mut().for_each(|ready| ready.status = "False".into());
        }
        for node in self.recording.nodes.iter_mut().filter(|node| down.contains(&node.metadata.name)) {
            let taint = |effect: &str| Taint {
                key: "node.kubernetes.io/not-ready".to_owned(),
                effect: effect.to_owned(),
                ..Taint::default()
            };
            node.spec.taints = ["NoSchedule", "NoExecute"].map(taint).to_vec();
            node.status =
                serde_json::from_value(json!({"conditions": [{"type": "Ready", "status": "False"}]}))
                    .unwrap();
        }
    }

    /// Pods that are Ready.
    pub fn serving(&self) -> usize {
        let ready = |c: &PodCondition| c.kind == "Ready" && c.status == "True";
        self.recording.pods.iter().filter(|pod| pod.status.conditions.iter().any(ready)).count()
    }

    fn run(&mut self, ready: &str) {
        let now = self.recording.now;
        for pod in self.recording.pods.iter_mut().filter(|pod| pod.status.phase == "Pending") {
            pod.spec.node_name = pod.spec.affinity_node.clone().unwrap();
            pod.status.phase = "Running".into();
            pod.status.conditions = vec![PodCondition {
                kind: "Ready".into(),
                status: ready.to_owned().into(),
                last_transition_time: Some(now),
            }];
        }
    }
}
