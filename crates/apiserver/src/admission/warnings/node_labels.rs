//! Node labels that are deprecated, and selectors that match nothing.

use crate::admission::path::FieldPath;
use crate::json::{at, entries, list, member, text, texts};
use crate::syntax::label_value_errors;
use serde_json::Value;

/// v1.36 `pkg/api/node` util.go `GetNodeLabelDeprecatedMessage`.
const DEPRECATED: [(&str, &str); 8] = [
    ("beta.kubernetes.io/arch", "deprecated since v1.14; use \"kubernetes.io/arch\" instead"),
    ("beta.kubernetes.io/os", "deprecated since v1.14; use \"kubernetes.io/os\" instead"),
    (
        "failure-domain.beta.kubernetes.io/region",
        "deprecated since v1.17; use \"topology.kubernetes.io/region\" instead",
    ),
    (
        "failure-domain.beta.kubernetes.io/zone",
        "deprecated since v1.17; use \"topology.kubernetes.io/zone\" instead",
    ),
    (
        "beta.kubernetes.io/instance-type",
        "deprecated since v1.17; use \"node.kubernetes.io/instance-type\" instead",
    ),
    ("app.kubernetes.io/created-by", "deprecated since v1.9"),
    (
        "scheduler.alpha.kubernetes.io/preferAvoidPods",
        "deprecated since v1.22; use Taints and Tolerations instead",
    ),
    ("node-role.kubernetes.io/master", "use \"node-role.kubernetes.io/control-plane\" instead"),
];

const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
const PREFERRED: &str = "preferredDuringSchedulingIgnoredDuringExecution";

fn deprecated(label: &str) -> Option<&'static str> {
    DEPRECATED.iter().find(|(deprecated, _)| *deprecated == label).map(|(_, message)| *message)
}

/// The node selector and the node affinity.
pub(super) fn selectors(pod: &Value, path: &FieldPath<'_>, found: &mut Vec<String>) {
    let (selector, affinity) = (path.child("nodeSelector"), path.child("affinity"));
    for (label, _) in entries(pod, "nodeSelector") {
        found.extend(deprecated(label).map(|message| format!("{}: {message}", selector.key(label))));
    }
    let (node, path) = (at(pod, &["affinity", "nodeAffinity"]), affinity.child("nodeAffinity"));
    let (required, preferred) = (path.child(REQUIRED), path.child(PREFERRED));
    let terms = required.child("nodeSelectorTerms");
    for (position, item) in list(at(node, &[REQUIRED]), "nodeSelectorTerms").iter().enumerate() {
        term(item, Values::Validated, &terms.index(position), found);
    }
    for (position, item) in list(node, PREFERRED).iter().enumerate() {
        let path = preferred.index(position);
        term(at(item, &["preference"]), Values::AsWritten, &path.child("preference"), found);
    }
}

/// Whether validation has refused invalid label values; it accepts them in preferences.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Values {
    Validated,
    AsWritten,
}

/// v1.36 `pkg/api/node` util.go `GetWarningsForNodeSelectorTerm`.
fn term(term: &Value, values: Values, path: &FieldPath<'_>, found: &mut Vec<String>) {
    let path = path.child("matchExpressions");
    for (position, expression) in list(term, "matchExpressions").iter().enumerate() {
        let path = path.index(position);
        deprecated_key(text(expression, "key"), &path.child("key"), found);
        let path = path.child("values");
        for (position, value) in
            texts(expression, "values").enumerate().filter(|_| values == Values::AsWritten)
        {
            let path = path.index(position);
            let messages = label_value_errors(value).into_iter();
            found.extend(messages.map(|message| format!("{path}: {value} is invalid, {message}")));
        }
    }
}

fn deprecated_key(label: &str, path: &FieldPath<'_>, found: &mut Vec<String>) {
    found.extend(deprecated(label).map(|message| format!("{path}: {label} is {message}")));
}

/// Topology keys, and constraints that count no pod.
pub(super) fn spread(pod: &Value, path: &FieldPath<'_>, found: &mut Vec<String>) {
    let path = path.child("topologySpreadConstraints");
    for (position, constraint) in list(pod, "topologySpreadConstraints").iter().enumerate() {
        let path = path.index(position);
        deprecated_key(text(constraint, "topologyKey"), &path.child("topologyKey"), found);
        without_selector(constraint, &path, found);
    }
}

/// v1.36 `pkg/api/pod` warnings.go `warningsForPodAffinityTerms`, `warningsForWeightedPodAffinityTerms`.
pub(super) fn pod_affinity(pod: &Value, path: &FieldPath<'_>, found: &mut Vec<String>) {
    let path = path.child("affinity");
    for field in ["podAffinity", "podAntiAffinity"] {
        let (affinity, path) = (at(pod, &["affinity", field]), path.child(field));
        let (required, preferred) = (path.child(REQUIRED), path.child(PREFERRED));
        for (position, term) in list(affinity, REQUIRED).iter().enumerate() {
            without_selector(term, &required.index(position), found);
        }
        for (position, term) in list(affinity, PREFERRED).iter().enumerate() {
            let path = preferred.index(position);
            without_selector(at(term, &["podAffinityTerm"]), &path.child("podAffinityTerm"), found);
        }
    }
}

/// An absent selector matches no pod, an empty one all.
fn without_selector(of: &Value, path: &FieldPath<'_>, found: &mut Vec<String>) {
    let field = "labelSelector";
    if member(of, field).is_none() {
        found.push(format!("{}: a null labelSelector results in matching no pod", path.child(field)));
    }
}
