//! DaemonSets of a cluster, each with its plan, its JSON form and its fingerprint.

use crate::cluster::Models;
use crate::cluster::policy::{AnnotationProblem, with_annotations};
use crate::plan::actions;
use crate::steered::Steered;
use crate::turning::Details;
use daemonset::model::{ControllerRevision, DaemonSet, DaemonSetStatus, Node, Pod};
use daemonset::turns::details;
use daemonset::{NodeView, Observed, Plan, Policy, Snapshot, plan};
use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// A DaemonSet, and its plan.
pub struct Planned {
    /// `NAMESPACE/NAME`.
    pub name: String,
    pub daemon_set: DaemonSet,
    pub policy: Policy,
    /// Why the rollout counts as paused, where its policy can't be read.
    pub policy_problems: Vec<AnnotationProblem>,
    /// Or the reason why there is none.
    pub plan: Result<Plan, String>,
    /// Of the nodes that have any.
    pub details: Details,
}

impl Planned {
    /// Its rollout, if the policy steers it.
    pub fn steered<'a>(&'a self, plan: &'a Plan, now: Timestamp, plugin: &'a str) -> Option<Steered<'a>> {
        Steered::new(&self.daemon_set, &self.policy, &self.policy_problems, plan, now, plugin)
    }
}

/// The objects of a namespace.
#[derive(Default)]
struct Beside<'m> {
    pods: Vec<&'m Pod>,
    revisions: Vec<&'m ControllerRevision>,
}

/// By name.
pub fn planned(models: &Models, now: Timestamp) -> Vec<Planned> {
    let mut namespaces: BTreeMap<&str, Beside<'_>> = BTreeMap::new();
    for pod in &models.pods {
        namespaces.entry(&pod.metadata.namespace).or_default().pods.push(pod);
    }
    for revision in &models.revisions {
        namespaces.entry(&revision.metadata.namespace).or_default().revisions.push(revision);
    }
    let nothing = Beside::default();
    let nodes: Vec<NodeView<'_>> = models.nodes.iter().map(|node| viewed(node, models)).collect();
    let rows = models.daemon_sets.iter().map(|daemon_set| {
        let beside = namespaces.get(daemon_set.metadata.namespace.as_str()).unwrap_or(&nothing);
        let observed = Observed {
            daemon_set,
            nodes: nodes.iter().copied(),
            pods: beside.pods.iter().copied(),
            revisions: beside.revisions.iter().copied(),
        };
        let (policy, policy_problems) = match &models.policy {
            Some(policy) => (policy.clone(), Vec::new()),
            None => {
                let powers = models.powers.of(&daemon_set.metadata.namespace);
                with_annotations(&Policy::default(), daemon_set, &powers)
            }
        };
        let decided = |snapshot: Snapshot<'_>| (plan(&snapshot), details(&snapshot));
        let checked = if models.inputs.is_null() {
            let mut snapshot = Snapshot::builder(observed, models.observed_at(now)).policy(&policy);
            if let Some(memory) = &models.memory {
                snapshot = snapshot.memory(memory);
            }
            snapshot.check().map(decided)
        } else {
            models.recording(daemon_set, &policy, now).snapshot().map(decided)
        };
        let (plan, details) = match checked {
            Ok((plan, details)) => (Ok(plan), details),
            Err(error) => (Err(error.to_string()), Details::new()),
        };
        let name = format!("{}/{}", daemon_set.metadata.namespace, daemon_set.metadata.name);
        Planned { name, daemon_set: daemon_set.clone(), policy, policy_problems, plan, details }
    });
    let mut rows: Vec<Planned> = rows.collect();
    rows.sort_by(|a, b| a.name.cmp(&b.name));
    rows
}

/// With its free resources, where they are known.
fn viewed<'m>(node: &'m Node, models: &'m Models) -> NodeView<'m> {
    let view = NodeView::from(node);
    models.free.get(&node.metadata.name).map_or(view, |free| view.free(free))
}

/// Without the versions of objects, which grow where nothing else changes, without the time of the next look, and without the
/// times of conditions that the plan would write.
pub fn fingerprint(plan: &Plan, before: &DaemonSetStatus) -> Value {
    let (mut report, mut status) = (json!(plan.report), json!(plan.status));
    forget(&mut report, "resourceVersion");
    forget(&mut status, "lastTransitionTime");
    json!([report, status, plan.warnings, actions::lines(&plan.actions, before, None)])
}

fn forget(value: &mut Value, name: &str) {
    match value {
        Value::Object(members) => {
            members.remove(name);
            members.values_mut().for_each(|member| forget(member, name));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| forget(item, name)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// A plan, and the decision that it is.
#[derive(Serialize)]
pub struct Named<'a> {
    pub name: &'a str,
    pub now: Timestamp,
    #[serde(rename = "policyProblems", skip_serializing_if = "<[_]>::is_empty")]
    pub policy_problems: &'a [AnnotationProblem],
    #[serde(flatten)]
    pub plan: &'a Plan,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub details: &'a Details,
}
