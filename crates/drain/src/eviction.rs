//! One eviction, and its request to the API server.

use daemonset::model::ObjectRef;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::fmt;

/// Evict a pod: the API server deletes it, unless a PodDisruptionBudget forbids that.
///
/// ```
/// use daemonset::model::ObjectRef;
/// use daemonset_drain::EvictPod;
/// use serde_json::{json, to_value};
///
/// let pod = ObjectRef { namespace: "shop".into(), name: "web-x".into(), uid: "u1".into(), ..ObjectRef::default() };
/// let evict = EvictPod::new(pod, 30);
/// assert_eq!(evict.path(), "/api/v1/namespaces/shop/pods/web-x/eviction");
/// assert_eq!(evict.body()["deleteOptions"], json!({"gracePeriodSeconds": 30, "preconditions": {"uid": "u1"}}));
/// assert_eq!(to_value(&evict)?, json!({
///     "type": "EvictPod", "pod": {"namespace": "shop", "name": "web-x", "uid": "u1"}, "graceSeconds": 30, "reason": "Drain",
/// }));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase")]
#[non_exhaustive]
pub struct EvictPod {
    /// The pod.
    pub pod: ObjectRef,
    /// The seconds that it has to end; `None` for its own grace period.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grace_seconds: Option<u32>,
    /// Why.
    pub reason: EvictReason,
}

/// Why a pod is evicted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum EvictReason {
    /// Its node is drained.
    #[default]
    Drain,
}

impl EvictPod {
    /// An eviction for a drain.
    pub fn new(pod: ObjectRef, grace_seconds: impl Into<Option<u32>>) -> Self {
        EvictPod { pod, grace_seconds: grace_seconds.into(), reason: EvictReason::Drain }
    }

    /// The path to which [`body`](Self::body) is posted.
    #[must_use]
    pub fn path(&self) -> String {
        let ObjectRef { namespace, name, .. } = &self.pod;
        format!("/api/v1/namespaces/{namespace}/pods/{name}/eviction")
    }

    /// The `policy/v1` Eviction.
    ///
    /// The uid is its precondition, so that a new pod of the same name stays. The resource version is none: kubelets write pods all the time.
    #[must_use]
    pub fn body(&self) -> Value {
        let ObjectRef { namespace, name, uid, .. } = &self.pod;
        let mut options = json!({"preconditions": {"uid": uid}});
        if let (Some(seconds), Some(options)) = (self.grace_seconds, options.as_object_mut()) {
            options.insert("gracePeriodSeconds".to_owned(), seconds.into());
        }
        json!({
            "apiVersion": "policy/v1",
            "kind": "Eviction",
            "metadata": {"name": name, "namespace": namespace},
            "deleteOptions": options,
        })
    }
}

#[cfg(feature = "kube")]
impl EvictPod {
    /// The same as a call of the core.
    #[must_use]
    pub fn api_call(&self) -> daemonset::kube::ApiCall {
        daemonset::kube::ApiCall::evict(&self.pod, self.body())
    }
}

/// `evict shop/web-x, which has 30s to end`.
impl fmt::Display for EvictPod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "evict {}/{}", self.pod.namespace, self.pod.name)?;
        match self.grace_seconds {
            Some(seconds) => write!(f, ", which has {seconds}s to end"),
            None => Ok(()),
        }
    }
}
