//! The manifests of pull pods, made a second time from the rules of [`Policy::pull`](field@daemonset::Policy::pull).

use crate::facts::names;
use crate::facts::pulls;
use crate::fleet::context::{Context, Goal};
use crate::rules::manifests::{has_tolerations, is_in_namespace, tied_by};
use daemonset::PodManifest;
use daemonset::internal::{NodeIx, Shared};
use daemonset::kubernetes::canonical_json;
use daemonset::model::{DaemonSet, NodeName};
use daemonset::policy::Binding;
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// The members of the pod spec but for tolerations, each with its name in a violation.
const SPEC: [(&str, &str); 15] = [
    ("containers", "spec.containers"),
    ("restartPolicy", "spec.restartPolicy"),
    ("terminationGracePeriodSeconds", "spec.terminationGracePeriodSeconds"),
    ("activeDeadlineSeconds", "spec.activeDeadlineSeconds"),
    ("automountServiceAccountToken", "spec.automountServiceAccountToken"),
    ("enableServiceLinks", "spec.enableServiceLinks"),
    ("nodeName", "spec.nodeName"),
    ("affinity", "spec.affinity"),
    ("imagePullSecrets", "spec.imagePullSecrets"),
    ("serviceAccountName", "spec.serviceAccountName"),
    ("hostNetwork", "spec.hostNetwork"),
    ("os", "spec.os"),
    ("runtimeClassName", "spec.runtimeClassName"),
    ("priorityClassName", "spec.priorityClassName"),
    ("tolerations", "spec.tolerations"),
];

/// The members that a pull pod has from the template.
const OF_TEMPLATE: [&str; 6] =
    ["imagePullSecrets", "serviceAccountName", "hostNetwork", "os", "runtimeClassName", "priorityClassName"];

/// A part that the pull pods of a plan share, whether it is of the stable revision, and its wrong field.
pub(crate) type Seen<'a> = Option<(&'a Arc<Shared>, bool, Option<&'static str>)>;

/// The first wrong field of the manifest of a pull pod. The part that the pull pods of a plan share is checked once, at the first node.
pub(crate) fn wrong_field<'a>(
    context: &Context<'_>,
    node: &NodeName,
    pod: &'a PodManifest,
    seen: &mut Seen<'a>,
) -> Option<&'static str> {
    let snapshot = context.snapshot;
    let position = snapshot.index().node(node.as_str())?;
    let goal = context.goal_of(position);
    if pod.name() != Some(&names::of_pull(snapshot, node.as_str(), goal.hash)) {
        return Some("metadata.name");
    }
    let is_stable = context.goals.stable_of(position).is_some();
    match *seen {
        Some((shared, of_stable, field))
            if pod.body.is_none() && Arc::ptr_eq(shared, &pod.shared) && of_stable == is_stable =>
        {
            field.or((pod.node() != node).then(|| tied_by(snapshot)))
        }
        _ => {
            let field = wrong_shared_field(context, position, pod, &goal);
            // A pod for another node than the action's tells nothing of the others.
            let is_of_all = pod.body.is_none() && pod.node() == node;
            *seen = is_of_all.then_some((&pod.shared, is_stable, field));
            field
        }
    }
}

fn wrong_shared_field(
    context: &Context<'_>,
    position: NodeIx,
    pod: &PodManifest,
    goal: &Goal<'_>,
) -> Option<&'static str> {
    let snapshot = context.snapshot;
    let value = pod.to_value();
    let nothing = Map::new();
    let part = |name| value.get(name).and_then(Value::as_object).unwrap_or(&nothing);
    let (metadata, spec) = (part("metadata"), part("spec"));
    let is =
        |name, expected: Value| metadata.get(name).is_some_and(|own| canonical_json::equal(own, &expected));
    let uid = &snapshot.spec().daemon_set.metadata.uid;
    if !is_in_namespace(snapshot, metadata) {
        Some("metadata.namespace")
    } else if !is("labels", json!({"pull.daemonset/owner": uid, "pull.daemonset/revision": goal.hash})) {
        Some("metadata.labels")
    } else if !is("annotations", json!({"cluster-autoscaler.kubernetes.io/safe-to-evict": "true"})) {
        Some("metadata.annotations")
    } else if !is_owned_alone(&snapshot.spec().daemon_set, metadata) {
        Some("metadata.ownerReferences")
    } else if !has_tolerations(context.goals.tolerations(position), spec) {
        Some("spec.tolerations")
    } else {
        wrong_member(&expected_spec(context, position, goal), spec)
    }
}

/// Whether it goes with the DaemonSet, and is no pod of it.
fn is_owned_alone(daemon_set: &DaemonSet, metadata: &Map<String, Value>) -> bool {
    let owners = metadata.get("ownerReferences").and_then(Value::as_array).map(Vec::as_slice);
    let Some([owner]) = owners else { return false };
    let is = |member, expected: &str| owner.get(member).and_then(Value::as_str) == Some(expected);
    let DaemonSet { owner: kind, metadata: own, .. } = daemon_set;
    is("apiVersion", &kind.api_version)
        && is("kind", &kind.kind)
        && is("name", &own.name)
        && is("uid", own.uid.as_str())
        && owner.get("controller").and_then(Value::as_bool) != Some(true)
}

fn wrong_member(expected: &Map<String, Value>, spec: &Map<String, Value>) -> Option<&'static str> {
    if spec.keys().any(|key| SPEC.iter().all(|(known, _)| known != key)) {
        return Some("spec: a field that a pull pod lacks");
    }
    let value = |map: &Map<String, Value>, member: &str| map.get(member).cloned().unwrap_or(Value::Null);
    let differs = |member: &str| !canonical_json::equal(&value(expected, member), &value(spec, member));
    let mut wrong = SPEC.iter().filter(|(member, _)| *member != "tolerations" && differs(member));
    wrong.next().map(|(_, field)| *field)
}

fn expected_spec(context: &Context<'_>, node: NodeIx, goal: &Goal<'_>) -> Map<String, Value> {
    let snapshot = context.snapshot;
    let nothing = Map::new();
    let template = goal.template.get("spec").and_then(Value::as_object).unwrap_or(&nothing);
    let is_windows = goal.template.pointer("/spec/os/name").and_then(Value::as_str) == Some("windows");
    let images = pulls::images(goal.template).into_iter().enumerate();
    let containers: Vec<Value> =
        images.map(|(index, (image, policy))| container(index, &image, &policy, is_windows)).collect();
    let mut spec = Map::new();
    for member in OF_TEMPLATE {
        spec.extend(template.get(member).map(|value| (member.to_owned(), value.clone())));
    }
    let seconds = pulls::rules(snapshot).map_or(0, |rules| rules.timeout_seconds);
    let name = snapshot.node(node).name;
    let is_bound = snapshot.spec().policy.binding == Binding::NodeName;
    let term = json!({"matchFields": [{"key": "metadata.name", "operator": "In", "values": [name]}]});
    let required = json!({"nodeSelectorTerms": [term]});
    let affinity = json!({"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}});
    for (member, value) in [
        ("containers", Value::Array(containers)),
        ("restartPolicy", json!("Never")),
        ("terminationGracePeriodSeconds", json!(0)),
        ("activeDeadlineSeconds", if seconds > 0 { json!(seconds) } else { Value::Null }),
        ("automountServiceAccountToken", json!(false)),
        ("enableServiceLinks", json!(false)),
        ("nodeName", if is_bound { json!(name) } else { Value::Null }),
        ("affinity", if is_bound { Value::Null } else { affinity }),
    ] {
        spec.insert(member.to_owned(), value);
    }
    spec
}

/// It pulls an image, and can't run anything of it.
fn container(index: usize, image: &str, pull_policy: &str, is_windows: bool) -> Value {
    let mut container = json!({"name": format!("image-{index}"), "image": image, "command": ["/pull-only"]});
    let unprivileged = json!({
        "allowPrivilegeEscalation": false,
        "capabilities": {"drop": ["ALL"]},
        "runAsNonRoot": true,
        "runAsUser": 65532,
        "seccompProfile": {"type": "RuntimeDefault"},
    });
    let members = [
        ("imagePullPolicy", (!pull_policy.is_empty()).then(|| json!(pull_policy))),
        ("securityContext", (!is_windows).then_some(unprivileged)),
    ];
    if let Some(container) = container.as_object_mut() {
        let given = members.into_iter().filter_map(|(member, value)| Some((member.to_owned(), value?)));
        container.extend(given);
    }
    container
}
