//! The owners whose pods are daemons.

use daemonset::internal::null_is_default;
use daemonset::model::{DaemonSet, OwnerReference};
use serde::{Deserialize, Serialize};

/// The kind of an owner that names none.
const DAEMON_SET: &str = "DaemonSet";

/// An owner whose pods are daemons, which a drain leaves alone: a DaemonSet, or an object of a kind that works like one.
///
/// Kind, namespace and name identify it. The API group and the uid do not count: the pods of a DaemonSet that was deleted and created
/// again are daemons.
///
/// In JSON it is the object itself, or its `kind` and `metadata`. Without a kind it is a DaemonSet.
///
/// ```
/// use daemonset::model::DaemonSet;
/// use daemonset_drain::DaemonOwner;
/// use serde_json::{from_value, json};
///
/// let agent = json!({"metadata": {"name": "agent", "namespace": "ns"}});
/// assert_eq!(from_value::<DaemonOwner>(agent.clone())?, DaemonOwner::daemon_set("ns", "agent"));
/// assert_eq!(DaemonOwner::from(&from_value::<DaemonSet>(agent)?), DaemonOwner::daemon_set("ns", "agent"));
/// let custom: DaemonSet = from_value(json!({
///     "apiVersion": "agents.example.com/v1", "kind": "AgentSet", "metadata": {"name": "agent", "namespace": "ns"},
/// }))?;
/// assert_eq!(DaemonOwner::from(&custom), DaemonOwner::new("AgentSet", "ns", "agent"));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(from = "OwnerJson", into = "OwnerJson")]
#[non_exhaustive]
pub struct DaemonOwner {
    /// The kind, such as `DaemonSet`.
    pub kind: String,
    /// `metadata.namespace`.
    pub namespace: String,
    /// `metadata.name`.
    pub name: String,
}

impl DaemonOwner {
    /// An owner of any kind.
    pub fn new(kind: impl Into<String>, namespace: impl Into<String>, name: impl Into<String>) -> Self {
        DaemonOwner { kind: kind.into(), namespace: namespace.into(), name: name.into() }
    }

    /// A DaemonSet.
    pub fn daemon_set(namespace: impl Into<String>, name: impl Into<String>) -> Self {
        DaemonOwner::new(DAEMON_SET, namespace, name)
    }
}

/// A custom kind that works like a DaemonSet keeps its kind.
impl From<&DaemonSet> for DaemonOwner {
    fn from(ds: &DaemonSet) -> Self {
        DaemonOwner::new(ds.owner.kind.as_str(), ds.metadata.namespace.as_str(), ds.metadata.name.as_str())
    }
}

/// Whether the owner is a DaemonSet of Kubernetes, which exists or not (v1.36 `kubectl/pkg/drain/filters.go isControllerRefDaemonSet`).
/// Other groups have that kind, too. No API server stores an owner without a version.
pub(crate) fn is_daemon_set(owner: &OwnerReference) -> bool {
    owner.kind == DAEMON_SET && matches!(owner.api_version.as_str(), "apps/v1" | "")
}

/// The JSON form.
#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct OwnerJson {
    #[serde(deserialize_with = "null_is_default")]
    kind: String,
    #[serde(deserialize_with = "null_is_default")]
    metadata: Metadata,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct Metadata {
    #[serde(deserialize_with = "null_is_default")]
    namespace: String,
    #[serde(deserialize_with = "null_is_default")]
    name: String,
}

impl From<OwnerJson> for DaemonOwner {
    fn from(OwnerJson { kind, metadata: Metadata { namespace, name } }: OwnerJson) -> Self {
        let kind = if kind.is_empty() { DAEMON_SET.to_owned() } else { kind };
        DaemonOwner { kind, namespace, name }
    }
}

impl From<DaemonOwner> for OwnerJson {
    fn from(DaemonOwner { kind, namespace, name }: DaemonOwner) -> Self {
        OwnerJson { kind, metadata: Metadata { namespace, name } }
    }
}
