//! Who makes way on a full node.

use super::finding::{Finding, Rule, Severity};
use super::manifest::{Manifest, POD};
use super::preflight::Preflight;
use serde_json::Value;

/// Every API server has these two (v1.36 `scheduling/v1 SystemPriorityClasses`).
const BUILT_IN: [&str; 2] = ["system-cluster-critical", "system-node-critical"];

fn class<'a>(manifest: &Manifest<'a>) -> Option<&'a str> {
    manifest.pod("/priorityClassName").and_then(Value::as_str).filter(|name| !name.is_empty())
}

/// The API server refuses every pod then (v1.36 `plugin/pkg/admission/priority`).
pub(super) fn class_missing(preflight: &Preflight<'_>, manifest: &Manifest<'_>) -> Option<Finding> {
    let (known, name) = (preflight.priority_classes.as_ref()?, class(manifest)?);
    let finding =
        Finding::new(Rule::PriorityClassMissing, Severity::Error, format!("{POD}.priorityClassName"))
            .why(format_args!(
                "There is no PriorityClass {name}: the API server refuses every pod that names it"
            ))
            .remedy("Create the class first, or name one that is there");
    (!known.contains(name) && !BUILT_IN.contains(&name)).then_some(finding)
}

pub(super) fn no_class(manifest: &Manifest<'_>) -> Option<Finding> {
    let finding = Finding::new(Rule::NoPriorityClass, Severity::Advice, format!("{POD}.priorityClassName"))
        .why("None is named: unless the cluster has a default class, the pod waits on a full node, and is evicted under pressure, like any other")
        .remedy("Name system-node-critical, or a class of your own, if each node needs it");
    class(manifest).is_none().then_some(finding)
}
