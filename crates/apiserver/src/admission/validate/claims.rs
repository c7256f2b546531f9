//! Resource claims of a pod.

use super::pod::Pod;
use super::values;
use crate::admission::error::ErrorList;
use crate::admission::path::FieldPath;
use crate::go::GoValue;
use crate::json::{list, text, text_if_set};
use serde_json::Value;

/// v1.36 core/validation `validatePodResourceClaims`.
pub(super) fn pod_resource_claims(pod: &Pod<'_>, path: &FieldPath<'_>, errors: &mut ErrorList) {
    let claims = list(pod.spec, "resourceClaims");
    for (position, claim) in claims.iter().enumerate() {
        let (name, path) = (text(claim, "name"), path.index(position));
        if name.is_empty() {
            errors.required(&path.child("name"), "");
        } else if claims.iter().take(position).any(|before| text(before, "name") == name) {
            errors.duplicate(&path.child("name"), name);
        } else {
            values::dns_label(name, &path.child("name"), errors);
        }
        source(claim, &path, errors);
    }
}

/// A claim, or a template for one: v1.36 core/validation `validatePodResourceClaim`.
fn source(claim: &Value, path: &FieldPath<'_>, errors: &mut ErrorList) {
    let sources = ["resourceClaimName", "resourceClaimTemplateName"];
    let set = sources.map(|source| text_if_set(claim, source));
    match set {
        [Some(_), Some(_)] => {
            let detail = "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified";
            errors.invalid(path, printed(claim), detail);
        }
        [None, None] => {
            let detail = "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`";
            errors.invalid(path, printed(claim), detail);
        }
        [Some(_), None] | [None, Some(_)] => {}
    }
    for (source, name) in sources.into_iter().zip(set) {
        if let Some(name) = name {
            values::dns_subdomain(name, &path.child(source), errors);
        }
    }
}

fn printed(claim: &Value) -> GoValue {
    let source = |name| text_if_set(claim, name).map_or_else(GoValue::null, GoValue::named);
    GoValue::record([
        ("Name", GoValue::named(text(claim, "name"))),
        ("ResourceClaimName", source("resourceClaimName")),
        ("ResourceClaimTemplateName", source("resourceClaimTemplateName")),
    ])
}
