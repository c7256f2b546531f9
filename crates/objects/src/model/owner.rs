//! The kind of the object that owns the pods: a DaemonSet, or a custom kind that works like one.

use crate::model::{is_default, null_is_default};
use serde::{Deserialize, Serialize};
use serde_json::Value;

const API_VERSION: &str = "apps/v1";
const KIND: &str = "DaemonSet";

/// The kind of the object that owns the pods and revisions: `apps/v1` DaemonSet, or a custom kind that works like one.
///
/// It is a part of a [`DaemonSet`](crate::model::DaemonSet), since it is a part of the object: its `apiVersion` and `kind`. So one
/// value decides about owner references, the path of the status, the object of events and the texts. The drivers are made with it, too
/// (`daemonset::Reconciler::with_kind`), and refuse an object of another kind. `docs/custom-kind.md` of the crate `daemonset` has all that the
/// controller of a custom kind does and keeps, and its example `custom_kind` is one.
///
/// ```
/// use daemonset::model::{DaemonSet, Owner};
/// use serde_json::{from_value, json};
///
/// let set: DaemonSet = from_value(json!({"apiVersion": "agents.example.com/v1", "kind": "AgentSet"}))?;
/// assert_eq!(set.owner, Owner::new("agents.example.com/v1", "AgentSet"));
/// assert_eq!(set.owner.resource(), "agentsets.agents.example.com");
///
/// let proxies = Owner::new("mesh.example.com/v1", "Proxy").plural("proxys");
/// assert_eq!(proxies.resource(), "proxys.mesh.example.com");
/// assert_eq!(Owner::default().qualified_kind(), "DaemonSet.apps");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "OwnerForm", into = "OwnerForm")]
#[non_exhaustive]
pub struct Owner {
    /// API group and version, such as `apps/v1`.
    pub api_version: String,
    /// Kind, such as `DaemonSet`.
    pub kind: String,
    /// The resource in paths, such as `daemonsets`.
    pub plural: String,
}

impl Default for Owner {
    fn default() -> Self {
        Owner { api_version: API_VERSION.to_owned(), kind: KIND.to_owned(), plural: plural_of(KIND) }
    }
}

impl Owner {
    /// A kind whose plural follows Kubernetes' guess: `AgentSet` has `agentsets`
    /// (v1.36 `apimachinery/pkg/api/meta/restmapper.go UnsafeGuessKindToResource`).
    pub fn new(api_version: impl Into<String>, kind: impl Into<String>) -> Self {
        let kind = kind.into();
        Owner { api_version: api_version.into(), plural: plural_of(&kind), kind }
    }

    /// Sets [`plural`](field@Owner::plural), where a CustomResourceDefinition has another one than the guess.
    #[must_use]
    pub fn plural(mut self, plural: impl Into<String>) -> Self {
        self.plural = plural.into();
        self
    }

    /// The kind that an object names in `apiVersion` and `kind`. The default where both are absent, as in the items of a
    /// list, and for a DaemonSet of an older version.
    #[must_use]
    pub fn from_type_meta(api_version: &str, kind: &str) -> Self {
        match (api_version, kind) {
            ("", "" | KIND) | (API_VERSION | "apps/v1beta2" | "extensions/v1beta1", "" | KIND) => {
                Owner::default()
            }
            (api_version, kind) => Owner::new(api_version, kind),
        }
    }

    /// The kind that an object's JSON names, as [`from_type_meta`](Self::from_type_meta).
    #[must_use]
    pub fn from_object(object: &Value) -> Self {
        let text = |member: &str| object.get(member).and_then(Value::as_str).unwrap_or_default();
        Owner::from_type_meta(text("apiVersion"), text("kind"))
    }

    /// The API group; empty for the core group.
    #[must_use]
    pub fn group(&self) -> &str {
        self.api_version.split_once('/').map_or("", |(group, _)| group)
    }

    /// As messages of the API server name the kind: `DaemonSet.apps`.
    #[must_use]
    pub fn qualified_kind(&self) -> String {
        qualified(&self.kind, self.group())
    }

    /// As messages name the resource: `daemonsets.apps`.
    #[must_use]
    pub fn resource(&self) -> String {
        qualified(&self.plural, self.group())
    }

    /// Whether it is `apps/v1` DaemonSet, whose wording in messages is Kubernetes' own.
    #[must_use]
    pub fn is_daemon_set(&self) -> bool {
        self.api_version == API_VERSION && self.kind == KIND
    }

    /// The kind inside a sentence: `daemon set`, as Kubernetes writes it, or a custom kind as it is, `AgentSet`.
    #[must_use]
    pub fn kind_in_words(&self) -> &str {
        if self.is_daemon_set() { "daemon set" } else { &self.kind }
    }

    pub(crate) fn is_default(&self) -> bool {
        *self == Owner::default()
    }
}

fn qualified(name: &str, group: &str) -> String {
    if group.is_empty() { name.to_owned() } else { format!("{name}.{group}") }
}

fn plural_of(kind: &str) -> String {
    let singular = kind.to_ascii_lowercase();
    match singular.strip_suffix('y') {
        _ if singular.ends_with("endpoints") => singular,
        Some(stem) => format!("{stem}ies"),
        None if singular.ends_with('s') => format!("{singular}es"),
        None => format!("{singular}s"),
    }
}

/// The members of an object's JSON; only this crate writes `plural`, where it is not the guess.
#[derive(Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, rename = "Owner")]
pub(crate) struct OwnerForm {
    #[serde(deserialize_with = "null_is_default")]
    pub(crate) api_version: String,
    #[serde(deserialize_with = "null_is_default")]
    pub(crate) kind: String,
    #[serde(deserialize_with = "null_is_default", skip_serializing_if = "is_default")]
    pub(crate) plural: String,
}

impl From<OwnerForm> for Owner {
    fn from(form: OwnerForm) -> Self {
        let owner = Owner::from_type_meta(&form.api_version, &form.kind);
        if form.plural.is_empty() { owner } else { owner.plural(form.plural) }
    }
}

impl From<Owner> for OwnerForm {
    fn from(Owner { api_version, kind, plural }: Owner) -> Self {
        let guessed = plural == plural_of(&kind);
        OwnerForm { api_version, kind, plural: if guessed { String::new() } else { plural } }
    }
}
