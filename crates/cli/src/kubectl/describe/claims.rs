//! The template of a claim for an ephemeral volume.

use super::metadata::{annotations, labels};
use crate::kubectl::fields::text_entries;
use crate::kubectl::text::Page;
use daemonset_apiserver::json::{member, text};
use serde_json::Value;

/// The annotation for the storage class before there was a field.
const BETA_STORAGE_CLASS: &str = "volume.beta.kubernetes.io/storage-class";

/// v1.36 kubectl `describe.go printPersistentVolumeClaim`, for a claim that does not exist yet.
pub(super) fn claim(page: &mut Page, template: &Value) {
    let metadata = template.get("metadata").unwrap_or(&Value::Null);
    let spec = template.get("spec").unwrap_or(&Value::Null);
    page.write(0, &format!("StorageClass:\t{}\n", storage_class(metadata, spec)));
    page.write(0, &format!("Volume:\t{}\n", text(spec, "volumeName")));
    labels(page, "Labels", &text_entries(metadata, "labels"));
    annotations(page, "Annotations", &text_entries(metadata, "annotations"));
    // Capacity and access modes come from the status of the claim, which a template does not have.
    let capacity = if text(spec, "volumeName").is_empty() { "" } else { "0" };
    page.write(0, &format!("Capacity:\t{capacity}\n"));
    page.write(0, "Access Modes:\t\n");
    if member(spec, "volumeMode").is_some() {
        page.write(0, &format!("VolumeMode:\t{}\n", text(spec, "volumeMode")));
    }
    if let Some(source) = member(spec, "dataSource") {
        data_source(page, source);
    }
}

/// `storage.go GetPersistentVolumeClaimClass`.
fn storage_class<'a>(metadata: &'a Value, spec: &'a Value) -> &'a str {
    let annotation = member(metadata, "annotations").and_then(|all| all.get(BETA_STORAGE_CLASS));
    annotation.and_then(Value::as_str).unwrap_or_else(|| text(spec, "storageClassName"))
}

fn data_source(page: &mut Page, source: &Value) {
    page.write(0, "DataSource:\n");
    if member(source, "apiGroup").is_some() {
        page.write(1, &format!("APIGroup:\t{}\n", text(source, "apiGroup")));
    }
    page.write(1, &format!("Kind:\t{}\n", text(source, "kind")));
    page.write(1, &format!("Name:\t{}\n", text(source, "name")));
}
