//! The caller's choices about the drain of a node.

use crate::input::pod_selector::PodSelector;
use daemonset_objects::{InvalidInput, Problem};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The choices of the caller, which setters change one by one. The default evicts the pods of controllers alone, none of them with local
/// storage, and waits for terminating pods: `kubectl drain --ignore-daemonsets`.
///
/// In JSON each field is optional, null is an absent one, and an unknown field is refused.
///
/// ```
/// use daemonset::policy::DrainPolicy;
/// use serde_json::{from_value, json};
///
/// let policy: DrainPolicy = from_value(json!({"deleteEmptyDirData": true, "graceSeconds": 30}))?;
/// assert_eq!(policy, DrainPolicy::default().delete_empty_dir_data(true).grace_seconds(30));
/// # Ok::<(), serde_json::Error>(())
/// ```
///
/// All problems of a policy are found at once, each with the path of its field:
///
/// ```
/// use daemonset::policy::DrainPolicy;
/// use serde_json::json;
///
/// let policy = json!({"graceSeconds": -1, "podSelector": {"matchExpressions": [{"operator": "Exists"}]}, "force": true});
/// let invalid = DrainPolicy::try_from(policy).unwrap_err();
/// let paths: Vec<&str> = invalid.problems.iter().map(|problem| problem.path.as_str()).collect();
/// assert_eq!(paths, ["force", "graceSeconds", "podSelector.matchExpressions[0].key"]);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schemars", schemars(!try_from, default, deny_unknown_fields))]
#[serde(rename_all = "camelCase", try_from = "Value")]
#[non_exhaustive]
pub struct DrainPolicy {
    /// The pods that are touched and waited for. Default: all (`kubectl drain --pod-selector`).
    #[serde(skip_serializing_if = "PodSelector::is_empty")]
    #[cfg_attr(feature = "schemars", schemars(with = "crate::input::schema::Selector"))]
    pub pod_selector: PodSelector,
    /// Whether a pod is evicted that no controller makes again, and a pod of a DaemonSet that does not exist. Default false
    /// (`kubectl drain --force`).
    pub evict_without_controller: bool,
    /// Whether a pod is evicted whose emptyDir volumes lose their data then. Default false (`kubectl drain --delete-emptydir-data`).
    pub delete_empty_dir_data: bool,
    /// The seconds that an evicted pod has to end. Default `None`: the pod's own grace period (`kubectl drain --grace-period`). With 0 the API
    /// server forgets a pod that may still run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grace_seconds: Option<u32>,
    /// Seconds after its deletionTimestamp from which a terminating pod is no longer waited for. Default 0: it is waited for until it
    /// is gone (`kubectl drain --skip-wait-for-delete-timeout`).
    pub skip_wait_for_delete_seconds: u32,
}

crate::setters! {
    DrainPolicy {
        pod_selector: PodSelector,
        evict_without_controller: bool,
        delete_empty_dir_data: bool,
        grace_seconds: impl Into<Option<u32>>,
        skip_wait_for_delete_seconds: u32,
    }
}

impl TryFrom<Value> for DrainPolicy {
    type Error = InvalidInput;

    fn try_from(value: Value) -> Result<Self, InvalidInput> {
        let members = match value {
            Value::Null => return Ok(DrainPolicy::default()),
            Value::Object(members) => members,
            Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                return Err(Problem::unreadable("", "must be an object").into());
            }
        };
        let (mut policy, mut problems) = (DrainPolicy::default(), Vec::new());
        for (name, value) in &members {
            problems.extend(policy.read(name, value).err().into_iter().flat_map(|invalid| invalid.problems));
        }
        // A map of serde_json may keep the order of the text: the same policy has the same problems.
        problems.sort_by(|a, b| a.path.cmp(&b.path));
        InvalidInput::if_any(problems)?;
        Ok(policy)
    }
}

impl DrainPolicy {
    /// Sets one field.
    fn read(&mut self, name: &str, value: &Value) -> Result<(), InvalidInput> {
        match name {
            "podSelector" if value.is_null() => {}
            "podSelector" => self.pod_selector = PodSelector::read(value)?,
            "evictWithoutController" => self.evict_without_controller = field(name, value)?,
            "deleteEmptyDirData" => self.delete_empty_dir_data = field(name, value)?,
            "graceSeconds" => self.grace_seconds = field(name, value)?,
            "skipWaitForDeleteSeconds" => self.skip_wait_for_delete_seconds = field(name, value)?,
            _ => return Err(Problem::unreadable(name, "unknown field").into()),
        }
        Ok(())
    }
}

/// A value of one field; null is its default.
fn field<T: Default + DeserializeOwned>(name: &str, value: &Value) -> Result<T, Problem> {
    let read: Result<Option<T>, _> = serde_path_to_error::deserialize(value);
    read.map(Option::unwrap_or_default).map_err(|error| unreadable(name, &error))
}

/// A value of another type than the field.
pub(crate) fn unreadable(field: &str, error: &serde_path_to_error::Error<serde_json::Error>) -> Problem {
    let path = match error.path().to_string().as_str() {
        // The field's own value; `?` is that of an option.
        "." | "?" => field.to_owned(),
        inner => format!("{field}.{inner}"),
    };
    Problem::unreadable(path, error.inner())
}
