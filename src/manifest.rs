//! The manifests of created pods: the template, and what makes it a daemon pod of one node.

use crate::canonical;
use crate::history::History;
use crate::model::{NodeName, Toleration};
use crate::snapshot::Snapshot;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};
use std::fmt;
use std::sync::Arc;

/// The full manifest of a pod to create.
///
/// All creates of a plan share one body; [`to_value`](PodManifest::to_value) and the JSON form have the whole
/// manifest.
#[derive(Clone, PartialEq)]
pub struct PodManifest {
    shared: Arc<Shared>,
    node: NodeName,
    /// Given by this crate; else the API server makes one from `generateName`.
    name: Option<String>,
}

/// The manifest in the parts between which a node's name goes.
#[derive(PartialEq)]
struct Shared {
    metadata: Map<String, Value>,
    /// Without affinity.
    spec: Map<String, Value>,
    /// Without node affinity.
    affinity: Map<String, Value>,
    /// Without what is required.
    node_affinity: Map<String, Value>,
    revision_hash: String,
}

impl PodManifest {
    /// The node that it is for.
    pub fn node(&self) -> &NodeName {
        &self.node
    }

    /// The hash of the revision that it is made from.
    pub fn revision_hash(&self) -> &str {
        &self.shared.revision_hash
    }

    /// The whole manifest.
    pub fn to_value(&self) -> Value {
        let mut metadata = self.shared.metadata.clone();
        if let Some(name) = &self.name {
            metadata.remove("generateName");
            metadata.insert("name".to_owned(), Value::from(name.as_str()));
        }
        let required = json!({"nodeSelectorTerms": [
            {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [self.node.as_str()]}]}
        ]});
        let mut node_affinity = self.shared.node_affinity.clone();
        node_affinity.insert("requiredDuringSchedulingIgnoredDuringExecution".to_owned(), required);
        let mut affinity = self.shared.affinity.clone();
        affinity.insert("nodeAffinity".to_owned(), Value::Object(node_affinity));
        let mut spec = self.shared.spec.clone();
        spec.insert("affinity".to_owned(), Value::Object(affinity));
        let mut pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec});
        pod.sort_all_objects();
        pod
    }
}

impl Serialize for PodManifest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_value().serialize(serializer)
    }
}

impl fmt::Debug for PodManifest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PodManifest({} of {})", self.node, self.shared.revision_hash)
    }
}

/// Makes the manifests of one plan.
pub(crate) struct Blueprint {
    shared: Arc<Shared>,
}

impl Blueprint {
    /// The template's metadata and spec with labels, owner, name prefix and tolerations
    /// (v1.36 `util.CreatePodTemplate`, `controller.GetPodFromTemplate`).
    pub(crate) fn new(snapshot: &Snapshot<'_>, history: &History<'_>) -> Self {
        let template = canonical::normalized(&snapshot.daemon_set.spec.template);
        let mut parts = into_map(Some(template));
        let hash = history.current_hash();
        let metadata = pod_metadata(into_map(parts.remove("metadata")), snapshot, hash);
        let mut spec = into_map(parts.remove("spec"));
        let mut affinity = into_map(spec.remove("affinity"));
        let node_affinity = into_map(affinity.remove("nodeAffinity"));
        let tolerations = spec.remove("tolerations");
        let tolerations = daemon_pod_tolerations(tolerations, snapshot.template.spec.host_network);
        spec.insert("tolerations".to_owned(), Value::Array(tolerations));
        let revision_hash = hash.to_owned();
        Blueprint { shared: Arc::new(Shared { metadata, spec, affinity, node_affinity, revision_hash }) }
    }

    pub(crate) fn pod(&self, node: &str, name: Option<String>) -> PodManifest {
        PodManifest { shared: Arc::clone(&self.shared), node: node.into(), name }
    }
}

fn pod_metadata(mut metadata: Map<String, Value>, snapshot: &Snapshot<'_>, hash: &str) -> Map<String, Value> {
    let ds = &snapshot.daemon_set.metadata;
    // The API server's, not the template's: older servers stored a null here.
    for field in ["name", "creationTimestamp"] {
        metadata.remove(field);
    }
    let mut labels = into_map(metadata.remove("labels"));
    labels.insert(snapshot.policy.unique_label_key.clone(), Value::from(hash));
    if let Some(generation) = &snapshot.template_generation {
        labels.insert(TEMPLATE_GENERATION_LABEL.to_owned(), Value::from(generation.as_str()));
    }
    metadata.insert("labels".to_owned(), Value::Object(labels));
    metadata.insert("namespace".to_owned(), Value::from(ds.namespace.as_str()));
    metadata.insert("generateName".to_owned(), Value::from(name_prefix(&ds.name)));
    metadata.insert("ownerReferences".to_owned(), json!([owner_reference(snapshot)]));
    metadata
}

/// The label with the template generation that a pod was created at.
pub(crate) const TEMPLATE_GENERATION_LABEL: &str = "pod-template-generation";

/// The reference that makes the DaemonSet an object's controller.
pub(crate) fn owner_reference(snapshot: &Snapshot<'_>) -> Value {
    let ds = &snapshot.daemon_set.metadata;
    json!({
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "name": ds.name,
        "uid": ds.uid,
        "controller": true,
        "blockOwnerDeletion": true,
    })
}

/// `<ds>-`, or `<ds>` where that is no valid prefix of a pod name
/// (v1.36 `controller_utils.go getPodsPrefix`: `ValidatePodName(prefix, true)`).
fn name_prefix(ds: &str) -> String {
    let prefix = format!("{ds}-");
    // As upstream: a name that ends in the dash is judged as if the random suffix stood there.
    let masked: String = ds.chars().take(ds.chars().count().saturating_sub(1)).chain(['a']).collect();
    if prefix.len() <= 253 && masked.split('.').all(is_dns_label) { prefix } else { ds.to_owned() }
}

fn is_dns_label(label: &str) -> bool {
    let inner = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
    !label.is_empty() && label.bytes().all(inner) && !label.starts_with('-') && !label.ends_with('-')
}

/// A name for the node's pod that is the same whenever the same snapshot is planned, and that no pod has.
pub(crate) fn deterministic_name(snapshot: &Snapshot<'_>, node: &str, hash: &str) -> String {
    /// As the API server cuts a `generateName`: 63 less the hash and its dash.
    const LONGEST_PREFIX: usize = 52;
    let ds = &snapshot.daemon_set.metadata;
    let prefix: String = ds.name.chars().take(LONGEST_PREFIX).collect();
    let taken = |name: &str| snapshot.pods.iter().any(|p| p.namespace == ds.namespace && p.name == name);
    (0_u32..)
        .map(|attempt| {
            let attempt = attempt.to_string();
            format!("{prefix}-{}", canonical::name_hash([ds.uid.as_str(), node, hash, &attempt]))
        })
        .find(|name| !taken(name))
        .unwrap_or(prefix)
}

/// The template's tolerations and those of every daemon pod, each replacing one of the same key, operator, value and
/// effect (v1.36 `util.AddOrUpdateDaemonPodTolerations`).
fn daemon_pod_tolerations(template: Option<Value>, host_network: bool) -> Vec<Value> {
    let mut list = match template {
        Some(Value::Array(list)) => list,
        _ => Vec::new(),
    };
    for (key, effect) in daemon_tolerations(host_network) {
        let added = json!({"key": key, "operator": "Exists", "effect": effect});
        match list.iter_mut().find(|one| is_same_toleration(one, key, effect)) {
            Some(one) => *one = added,
            None => list.push(added),
        }
    }
    list
}

fn is_same_toleration(one: &Value, key: &str, effect: &str) -> bool {
    let field = |name| one.get(name).and_then(Value::as_str).unwrap_or_default();
    field("key") == key
        && field("effect") == effect
        && field("operator") == "Exists"
        && field("value").is_empty()
}

/// Key and effect of the taints that every daemon pod tolerates, whatever their value
/// (v1.36 `util.AddOrUpdateDaemonPodTolerations`).
pub(crate) fn daemon_tolerations(host_network: bool) -> impl Iterator<Item = (&'static str, &'static str)> {
    const ALWAYS: [(&str, &str); 6] = [
        ("node.kubernetes.io/not-ready", "NoExecute"),
        ("node.kubernetes.io/unreachable", "NoExecute"),
        ("node.kubernetes.io/disk-pressure", "NoSchedule"),
        ("node.kubernetes.io/memory-pressure", "NoSchedule"),
        ("node.kubernetes.io/pid-pressure", "NoSchedule"),
        ("node.kubernetes.io/unschedulable", "NoSchedule"),
    ];
    const WITH_HOST_NETWORK: (&str, &str) = ("node.kubernetes.io/network-unavailable", "NoSchedule");
    ALWAYS.into_iter().chain(host_network.then_some(WITH_HOST_NETWORK))
}

/// The same as [`daemon_tolerations`], as the model's type.
pub(crate) fn daemon_toleration_list(host_network: bool) -> impl Iterator<Item = Toleration> {
    daemon_tolerations(host_network).map(|(key, effect)| Toleration {
        key: key.to_owned(),
        operator: "Exists".to_owned(),
        value: String::new(),
        effect: effect.to_owned(),
    })
}

/// The members of an object; none where there is no object (an absent or null part of a checked template).
fn into_map(value: Option<Value>) -> Map<String, Value> {
    match value {
        Some(Value::Object(map)) => map,
        _ => Map::new(),
    }
}
