//! The update strategy of a DaemonSet, with its limits.

use crate::model::{IntOrString, is_default, null_is_default};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// `spec.updateStrategy`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Written", into = "Written")]
pub struct UpdateStrategy {
    /// `OnDelete` (also when absent, as in the proposal), `RollingUpdate` or the proposal's
    /// `SurgingRollingUpdate`.
    pub kind: String,
    /// Limits of `RollingUpdate`.
    pub rolling_update: Option<RollingUpdate>,
    /// Limit of `SurgingRollingUpdate`.
    pub surging_rolling_update: Option<SurgingRollingUpdate>,
    /// Values in the place of a limit that are not limits, by path from here, such as `rollingUpdate.maxUnavailable`.
    ///
    /// When another strategy is in force, the API server stores any value there (v1.36
    /// `ValidateDaemonSetUpdateStrategy`), and one such object must not make a list of all DaemonSets unreadable.
    /// The check of a snapshot refuses it if the limit is in force.
    pub unreadable: BTreeMap<String, Value>,
}

/// Limits of the `RollingUpdate` strategy.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RollingUpdate {
    /// How many target nodes may be without an available pod during the update; percentages of the target nodes
    /// round up. 1 when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_unavailable: Option<IntOrString>,
    /// How many target nodes may have an updated pod beside the outdated one during the update; percentages of the
    /// target nodes round up. 0 when absent.
    ///
    /// Above 0, two pods of the DaemonSet run on one node at the same time. That fails, or does harm, where they
    /// share something that only one can hold: a host port (the new pod then stays Pending), a lock on a host path,
    /// an exclusive device. Such a workload must be replaced, not surged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_surge: Option<IntOrString>,
}

/// Limit of the proposal's `SurgingRollingUpdate` strategy.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SurgingRollingUpdate {
    /// As [`RollingUpdate::max_surge`], with the same warning about shared host ports, locks on host paths and
    /// exclusive devices; 1 when absent, never 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_surge: Option<IntOrString>,
}

/// The JSON form, with limits of any value.
#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Written {
    #[serde(rename = "type", deserialize_with = "null_is_default", skip_serializing_if = "is_default")]
    kind: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    rolling_update: Option<Map<String, Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    surging_rolling_update: Option<Map<String, Value>>,
}

const ROLLING: &str = "rollingUpdate";
const SURGING: &str = "surgingRollingUpdate";
const MAX_UNAVAILABLE: &str = "maxUnavailable";
const MAX_SURGE: &str = "maxSurge";

impl From<Written> for UpdateStrategy {
    fn from(written: Written) -> Self {
        let mut unreadable = BTreeMap::new();
        let mut limit = |strategy: &str, members: &Map<String, Value>, name: &str| {
            let value = members.get(name).filter(|value| !value.is_null())?;
            let read = IntOrString::from_json(value).ok();
            if read.is_none() {
                unreadable.insert(format!("{strategy}.{name}"), value.clone());
            }
            read
        };
        let rolling_update = written.rolling_update.map(|members| RollingUpdate {
            max_unavailable: limit(ROLLING, &members, MAX_UNAVAILABLE),
            max_surge: limit(ROLLING, &members, MAX_SURGE),
        });
        let surging_rolling_update = written
            .surging_rolling_update
            .map(|members| SurgingRollingUpdate { max_surge: limit(SURGING, &members, MAX_SURGE) });
        UpdateStrategy { kind: written.kind, rolling_update, surging_rolling_update, unreadable }
    }
}

impl From<UpdateStrategy> for Written {
    fn from(strategy: UpdateStrategy) -> Self {
        let UpdateStrategy { kind, rolling_update, surging_rolling_update, unreadable } = strategy;
        Written {
            kind,
            rolling_update: written(ROLLING, rolling_update, &unreadable),
            surging_rolling_update: written(SURGING, surging_rolling_update, &unreadable),
        }
    }
}

/// Limits in JSON. An unreadable value is written in its place again, unless a limit was set there since.
fn written(
    strategy: &str,
    limits: Option<impl Serialize>,
    unreadable: &BTreeMap<String, Value>,
) -> Option<Map<String, Value>> {
    let Ok(Value::Object(mut members)) = serde_json::to_value(limits?) else { return None };
    for (path, value) in unreadable {
        if let Some(name) = path.strip_prefix(strategy).and_then(|rest| rest.strip_prefix('.')) {
            members.entry(name).or_insert_with(|| value.clone());
        }
    }
    Some(members)
}
