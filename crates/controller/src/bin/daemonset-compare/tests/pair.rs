//! A pair of controllers on a small cluster: another one that acts, and ours that compares. The clock moves only when a story
//! advances it.

use crate::daemon_set::{DaemonSetComparison, Timeouts};
use crate::observed;
use crate::verdict::{ComparisonFinding, Verdict};
use daemonset::model::{ControllerRevision, DaemonSet, Node, Pod, Uid};
use daemonset::{Observed, Plan, Snapshot, plan};
use daemonset_controller::comparison::Reverted;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, from_value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

const TIMEOUTS: Timeouts = Timeouts {
    window: Duration::from_secs(5),
    grace: Duration::from_secs(30),
    quiet: Duration::from_secs(5),
};

pub(crate) struct Pair {
    ds: DaemonSet,
    nodes: Vec<Node>,
    pods: BTreeMap<Uid, Arc<Pod>>,
    revisions: BTreeMap<Uid, Arc<ControllerRevision>>,
    comparison: DaemonSetComparison,
    now: Duration,
    uids: u32,
    findings: Vec<ComparisonFinding>,
}

fn template(version: u32) -> Value {
    json!({"metadata": {"labels": {"app": "web"}},
        "spec": {"containers": [{"name": "web", "image": format!("web:v{version}")}]}})
}

fn owner() -> Value {
    json!([{"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "web", "uid": "ds", "controller": true}])
}

impl Pair {
    /// A cluster with these nodes, each with an available pod of the first version, and without findings so far.
    pub(crate) fn with_fleet(nodes: usize, max_unavailable: Value) -> Self {
        let mut pair = Pair::without_pods(nodes, max_unavailable);
        pair.they_create_revision(1);
        for node in 1..=nodes {
            pair.they_create(node, 1);
        }
        pair.we_reconcile();
        pair.findings.clear();
        pair
    }

    /// A cluster with these nodes and a DaemonSet that has just been created.
    pub(crate) fn without_pods(nodes: usize, max_unavailable: Value) -> Self {
        let ds = json!({
            "metadata": {"name": "web", "namespace": "default", "uid": "ds", "generation": 1},
            "spec": {
                "selector": {"matchLabels": {"app": "web"}}, "template": template(1),
                "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": max_unavailable}}
            }
        });
        let node = |n: usize| {
            json!({"metadata": {"name": format!("node-{n}")},
            "status": {"conditions": [{"type": "Ready", "status": "True"}]}})
        };
        Pair {
            ds: from_value(ds).unwrap(),
            nodes: (1..=nodes).map(|n| from_value(node(n)).unwrap()).collect(),
            pods: BTreeMap::new(),
            revisions: BTreeMap::new(),
            comparison: DaemonSetComparison::new("default/web".to_owned(), TIMEOUTS, Duration::ZERO),
            now: Duration::ZERO,
            uids: 0,
            findings: Vec::new(),
        }
    }

    pub(crate) fn set_version(&mut self, version: u32) {
        self.ds.spec.template = template(version);
        self.ds.metadata.generation += 1;
    }

    pub(crate) fn set_min_ready_seconds(&mut self, seconds: i32) {
        self.ds.spec.min_ready_seconds = seconds;
    }

    pub(crate) fn delete_daemon_set(&mut self) {
        self.ds.metadata.deletion_timestamp = Some(self.wall_clock());
    }

    pub(crate) fn remove_node(&mut self, node: usize) {
        self.nodes.retain(|other| other.metadata.name.as_str() != format!("node-{node}"));
    }

    /// Taints a node with NoSchedule: its pod may stay.
    pub(crate) fn taint_node(&mut self, node: usize) {
        let taint = from_value(json!({"key": "mine", "effect": "NoSchedule"})).unwrap();
        self.nodes[node - 1].spec.taints.push(taint);
    }

    /// They sync the DaemonSet, as a status update shows.
    pub(crate) fn they_sync(&mut self) {
        self.comparison.synced(self.now);
    }

    pub(crate) fn they_create_revision(&mut self, version: u32) {
        let mut data = json!({"spec": {"template": template(version)}});
        data["spec"]["template"]["$patch"] = json!("replace");
        let revision = json!({
            "metadata": {"name": format!("web-their{version}"), "namespace": "default", "uid": self.uid(),
                "labels": {"app": "web", "controller-revision-hash": format!("their{version}")},
                "ownerReferences": owner()},
            "data": data, "revision": version
        });
        let revision: ControllerRevision = from_value(revision).unwrap();
        for (_, action) in observed::revision_actions(None, Some(&revision)) {
            self.comparison.observe(action, self.now);
        }
        self.revisions.insert(revision.metadata.uid.clone(), Arc::new(revision));
    }

    /// An available pod of this version.
    pub(crate) fn they_create(&mut self, node: usize, version: u32) {
        let uid = self.uid();
        self.they_create_pod(node, version, &uid, "True");
    }

    pub(crate) fn they_create_not_ready(&mut self, node: usize, version: u32) {
        let uid = self.uid();
        self.they_create_pod(node, version, &uid, "False");
    }

    /// The kubelet makes a pod Ready, which is no action of a controller.
    pub(crate) fn becomes_ready(&mut self, node: usize) {
        let pod = Arc::make_mut(self.pods.get_mut(&self.live_pod(node)).unwrap());
        pod.status.conditions[0].status = "True".into();
    }

    fn they_create_pod(&mut self, node: usize, version: u32, uid: &str, ready: &str) {
        let pod = json!({
            "metadata": {"name": format!("web-{uid}"), "namespace": "default", "uid": uid,
                "labels": {"app": "web", "controller-revision-hash": format!("their{version}")},
                "ownerReferences": owner(), "creationTimestamp": self.wall_clock().to_string()},
            "spec": {"nodeName": format!("node-{node}")},
            "status": {"phase": "Running", "conditions": [
                {"type": "Ready", "status": ready, "lastTransitionTime": self.wall_clock().to_string()}]}
        });
        self.change_pod(None, Some(from_value(pod).unwrap()));
    }

    /// They delete a pod: it gets a deletionTimestamp.
    pub(crate) fn they_delete(&mut self, node: usize) {
        let uid = self.live_pod(node);
        let before = self.pods.get(&uid).cloned();
        let mut pod = before.as_deref().unwrap().clone();
        pod.metadata.deletion_timestamp = Some(self.wall_clock() + SignedDuration::from_secs(30));
        self.change_pod(before, Some(pod));
    }

    /// The terminating pod of this node is removed.
    pub(crate) fn is_removed(&mut self, node: usize) {
        let terminating = |pod: &Pod| {
            pod.spec.node_name.as_str() == format!("node-{node}") && pod.metadata.deletion_timestamp.is_some()
        };
        let pod = self.pods.values().find(|pod| terminating(pod)).cloned();
        self.change_pod(Some(pod.unwrap()), None);
    }

    fn change_pod(&mut self, before: Option<Arc<Pod>>, after: Option<Pod>) {
        for (_, action) in observed::pod_actions(before.as_ref(), after.as_ref()) {
            self.comparison.observe(action, self.now);
        }
        if let Some(pod) = before {
            self.pods.remove(&pod.metadata.uid);
        }
        if let Some(pod) = after {
            self.pods.insert(pod.metadata.uid.clone(), Arc::new(pod));
        }
    }

    fn live_pod(&self, node: usize) -> Uid {
        let is_live = |pod: &&Arc<Pod>| {
            pod.spec.node_name.as_str() == format!("node-{node}") && pod.metadata.deletion_timestamp.is_none()
        };
        self.pods.values().find(is_live).unwrap().metadata.uid.clone()
    }

    fn uid(&mut self) -> String {
        self.uids += 1;
        format!("u{}", self.uids)
    }

    fn wall_clock(&self) -> Timestamp {
        let start: Timestamp = "2026-01-01T12:00:00Z".parse().unwrap();
        start + self.now
    }

    /// Our controller reconciles.
    pub(crate) fn we_reconcile(&mut self) {
        let Pair { ds, nodes, pods, revisions, .. } = self;
        let now = "2026-01-01T12:00:00Z".parse::<Timestamp>().unwrap() + self.now;
        let plan_reverted = |reverted: &Reverted| -> Option<Plan> {
            let pods = reverted.pods(pods.values().cloned().collect());
            let revisions = reverted.revisions(revisions.values().cloned().collect());
            let observed =
                Observed { daemon_set: ds, nodes: nodes.iter(), pods: &pods, revisions: &revisions };
            Some(plan(&Snapshot::builder(observed, now).check().unwrap()))
        };
        let findings = self.comparison.reconcile(self.now, plan_reverted);
        self.findings.extend(findings);
    }

    /// Advances the clock second by second, and looks for overdue actions.
    pub(crate) fn advance(&mut self, seconds: u64) {
        for _ in 0..seconds {
            self.now += Duration::from_secs(1);
            self.findings.extend(self.comparison.take_overdue_theirs(self.now));
            self.findings.extend(self.comparison.report_overdue_ours(self.now));
        }
    }

    /// They write this status.
    pub(crate) fn they_write_status(&mut self, status: Value) {
        self.ds.status = from_value(status).unwrap();
        self.findings.extend(self.comparison.report_status(&self.ds, self.now));
    }

    /// Takes the findings; counts them by verdict, in the order of the verdicts.
    pub(crate) fn verdicts(&mut self) -> Vec<(Verdict, usize)> {
        let mut counts = BTreeMap::new();
        for finding in self.findings.drain(..) {
            *counts.entry(finding.verdict).or_insert(0) += 1;
        }
        counts.into_iter().collect()
    }

    /// Takes the findings as lines.
    pub(crate) fn lines(&mut self) -> Vec<String> {
        self.findings.drain(..).map(|finding| finding.line()).collect()
    }
}
