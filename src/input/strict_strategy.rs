//! An update strategy that a person writes in a policy, without members that a strategy does not have.

use daemonset_objects::internal::{null_is_default, some_object};
use daemonset_objects::model::UpdateStrategy;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

/// A type of its own: the model's strategy skips unknown members, which stored objects may have. A `partition` of another controller would
/// be no partition here, and a misspelt limit the default one.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct StrictStrategy {
    #[serde(rename = "type", default, deserialize_with = "null_is_default")]
    kind: String,
    #[serde(default, deserialize_with = "some_object")]
    rolling_update: Option<StrictRollingUpdate>,
    #[serde(default, deserialize_with = "some_object")]
    surging_rolling_update: Option<StrictSurgingRollingUpdate>,
}

/// With limits of any value, as the model has them: the check of the policy names their paths.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct StrictRollingUpdate {
    #[serde(default)]
    max_unavailable: Value,
    #[serde(default)]
    max_surge: Value,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct StrictSurgingRollingUpdate {
    #[serde(default)]
    max_surge: Value,
}

/// A strategy, or `null`.
pub(crate) fn strict_strategy<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<UpdateStrategy>, D::Error> {
    let strict: Option<StrictStrategy> = some_object(deserializer)?;
    let read = |strict| serde_json::from_value(serde_json::to_value(strict)?);
    strict.map(|strict: StrictStrategy| read(strict)).transpose().map_err(D::Error::custom)
}
