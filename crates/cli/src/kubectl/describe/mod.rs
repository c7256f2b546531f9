//! A pod template as `kubectl describe` and `kubectl rollout history --revision` print it.
//!
//! The selection of fields and their order follow v1.36 kubectl `describe.go DescribePodTemplate`. Tabs separate
//! values from their names; `rollout history` prints the tabs as they are.

mod claims;
mod containers;
mod environment;
mod metadata;
mod probes;
mod scheduling;
mod selector;
mod volume_kinds;
mod volumes;

use super::fields::text_entries;
use super::text::Page;
use containers::containers;
use daemonset_apiserver::json::{list, member, text};
use serde_json::Value;

/// The description of a pod template, from `Pod Template:` to the tolerations.
#[must_use]
pub fn describe_template(template: &Value) -> String {
    let mut page = Page::default();
    let spec = template.get("spec").unwrap_or(&Value::Null);
    page.write(0, "Pod Template:\n");
    object_meta(&mut page, template.get("metadata").unwrap_or(&Value::Null));
    if !text(spec, "serviceAccountName").is_empty() {
        page.write(1, &format!("Service Account:\t{}\n", text(spec, "serviceAccountName")));
    }
    if !list(spec, "initContainers").is_empty() {
        containers(&mut page, "Init Containers", list(spec, "initContainers"));
    }
    containers(&mut page, "Containers", list(spec, "containers"));
    volumes::volumes(&mut page, list(spec, "volumes"));
    placement(&mut page, spec);
    page.into_text()
}

fn object_meta(page: &mut Page, metadata: &Value) {
    metadata::labels(page, "  Labels", &text_entries(metadata, "labels"));
    let annotations = text_entries(metadata, "annotations");
    if !annotations.is_empty() {
        metadata::annotations(page, "  Annotations", &annotations);
    }
}

/// Placement and priority of the pods.
fn placement(page: &mut Page, spec: &Value) {
    scheduling::topology_spread(page, list(spec, "topologySpreadConstraints"));
    if !text(spec, "priorityClassName").is_empty() {
        page.write(1, &format!("Priority Class Name:\t{}\n", text(spec, "priorityClassName")));
    }
    metadata::labels(page, "  Node-Selectors", &text_entries(spec, "nodeSelector"));
    scheduling::tolerations(page, list(spec, "tolerations"));
    if let Some(group) = member(spec, "schedulingGroup") {
        page.write(0, "  SchedulingGroup:\n");
        page.write(1, &format!("PodGroupName:\t{}\n", text(group, "podGroupName")));
    }
}
