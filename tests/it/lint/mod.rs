//! Each rule of the linter has a story with a finding, and a similar story without one.

mod dumps;
mod forms;
mod history;
mod limits;
mod loss;
mod placement;
mod pods;
mod rollout;
mod selector;
mod surge;
mod turns;

use crate::support::{Given, given, new, revision, rolling};
use daemonset::model::{DaemonSet, ResourceList};
use daemonset_view::lint::{Finding, Preflight, lint};
use serde_json::{Value, json};

/// Three nodes that run version 2 of a DaemonSet without any finding.
fn calm() -> Given {
    calm_without_nodes().nodes(["a", "b", "c"], new())
}

fn calm_without_nodes() -> Given {
    given(rolling(1))
        .min_ready(10)
        .with("/daemonSet/spec/template", template())
        .revisions([revision("old", 1), current_revision()])
}

fn template() -> Value {
    json!({"metadata": {"labels": {"app": "agent"}}, "spec": {
        "priorityClassName": "system-node-critical",
        "containers": [{"name": "c", "image": "agent:2", "readinessProbe": {"httpGet": {"port": 8080}}}],
    }})
}

/// The revision of the DaemonSet without findings.
fn current_revision() -> Value {
    let mut current = revision("new", 2);
    current["data"]["spec"]["template"] = template();
    current["data"]["spec"]["template"]["$patch"] = json!("replace");
    current
}

/// A field of the pod's spec.
fn pod_field(given: Given, field: &str, value: Value) -> Given {
    given.with(&format!("/daemonSet/spec/template/spec/{field}"), value)
}

/// Objects beside nodes, pods and revisions.
#[derive(Default)]
struct Beside {
    stored: Option<DaemonSet>,
    others: Vec<DaemonSet>,
    priority_classes: Option<Vec<&'static str>>,
    gate_openers: Option<Vec<&'static str>>,
    allocatable: Vec<(&'static str, ResourceList)>,
}

fn found(given: &Given) -> Vec<Finding> {
    found_beside(given, &Beside::default())
}

fn found_beside(given: &Given, beside: &Beside) -> Vec<Finding> {
    let recording = given.recording();
    let mut preflight = Preflight::new(&recording.daemon_set, recording.now)
        .nodes(&recording.nodes)
        .pods(&recording.pods)
        .revisions(&recording.revisions)
        .policy(&recording.policy)
        .daemon_sets(&beside.others);
    if let Some(stored) = &beside.stored {
        preflight = preflight.stored(stored);
    }
    if let Some(names) = &beside.priority_classes {
        preflight = preflight.priority_classes(names.iter().copied());
    }
    if let Some(gates) = &beside.gate_openers {
        preflight = preflight.gate_openers(gates.iter().copied());
    }
    lint(&preflight.allocatable(beside.allocatable.iter().map(|(node, resources)| (*node, resources))))
}

/// One line for each finding, without the remedy.
fn says(given: &Given) -> Vec<String> {
    found(given).iter().map(line).collect()
}

fn line(finding: &Finding) -> String {
    format!("{} {} {}: {}", finding.severity, finding.rule, finding.path, finding.why)
}

/// The lines as one text, for a snapshot.
fn text(given: &Given) -> String {
    says(given).join("\n")
}
