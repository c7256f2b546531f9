//! The caller's choices about a node before and after its pod is replaced: turns, pulls, updates in place, fit.

use daemonset_objects::internal::{is_default, null_is_default};
use daemonset_objects::model::IntOrString;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// See [`Policy::turn`](field@crate::Policy::turn).
///
/// ```
/// use daemonset::Policy;
/// use daemonset::policy::{TurnMode, TurnPolicy};
/// use serde_json::{from_value, json};
///
/// let policy: Policy = from_value(json!({"turn": {"cordon": true, "gates": ["drained"]}}))?;
/// let turn = TurnPolicy::default().cordon(true).gates(["drained"]);
/// assert_eq!(policy, Policy::default().turn(TurnMode::Take(turn)));
/// let keep: Policy = from_value(json!({"turn": "Keep"}))?;
/// assert_eq!(keep.turn, Some(TurnMode::Keep));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum TurnMode {
    /// No turn begins or ends, and no pod is taken; nodes in turn stay counted: for a policy that can't be read. A typing error must
    /// not uncordon a node whose daemon is away.
    Keep,
    /// Each node takes its turn by these rules.
    Take(TurnPolicy),
}

/// The turn of a node: it begins before the update takes the node's pod, and ends when the new one is available.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
#[non_exhaustive]
pub struct TurnPolicy {
    /// The turn sets `spec.unschedulable`, and takes it back.
    #[serde(deserialize_with = "null_is_default", skip_serializing_if = "is_default")]
    pub cordon: bool,
    /// Gates that must be open on the node before its pod is taken; others open them. Each name matches
    /// `[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?` and is there once.
    #[serde(deserialize_with = "null_is_default", skip_serializing_if = "Vec::is_empty")]
    pub gates: Vec<String>,
    /// Seconds from the beginning of the turn after which closed gates are overdue; `None`: never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_seconds: Option<u32>,
    /// The effect of closed gates that are overdue.
    #[serde(deserialize_with = "null_is_default", skip_serializing_if = "is_default")]
    pub on_timeout: OnTimeout,
}

crate::setters! {
    TurnPolicy {
        cordon: bool,
        timeout_seconds: impl Into<Option<u32>>,
        on_timeout: OnTimeout,
    }
}

impl TurnPolicy {
    /// Sets [`gates`](field@Self::gates).
    #[must_use]
    pub fn gates<G: Into<String>>(self, gates: impl IntoIterator<Item = G>) -> Self {
        TurnPolicy { gates: gates.into_iter().map(Into::into).collect(), ..self }
    }
}

/// See [`TurnPolicy::on_timeout`](field@TurnPolicy::on_timeout).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub enum OnTimeout {
    /// The node goes on waiting; a warning tells of it.
    #[default]
    Wait,
    /// The pod is taken all the same. It needs [`TurnPolicy::timeout_seconds`](field@TurnPolicy::timeout_seconds).
    Proceed,
}

#[cfg(feature = "schemars")]
impl schemars::JsonSchema for TurnMode {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Turn".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let turn = generator.subschema_for::<TurnPolicy>();
        schemars::json_schema!({"oneOf": [{"const": "Keep"}, turn]})
    }
}

impl Serialize for TurnMode {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            TurnMode::Keep => serializer.serialize_str("Keep"),
            TurnMode::Take(turn) => turn.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for TurnMode {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct WordOrObject;

        impl<'de> Visitor<'de> for WordOrObject {
            type Value = TurnMode;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("Keep or an object")
            }

            fn visit_str<E: Error>(self, word: &str) -> Result<TurnMode, E> {
                if word == "Keep" { Ok(TurnMode::Keep) } else { Err(E::unknown_variant(word, &["Keep"])) }
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<TurnMode, A::Error> {
                // The path of a field in an error goes on below this object.
                TurnPolicy::deserialize(MapAccessDeserializer::new(map)).map(TurnMode::Take)
            }
        }

        deserializer.deserialize_any(WordOrObject)
    }
}

/// See [`Policy::pull`](field@crate::Policy::pull).
///
/// ```
/// use daemonset::Policy;
/// use daemonset::policy::PullPolicy;
/// use daemonset::model::IntOrString;
/// use serde_json::{from_value, json};
///
/// let policy: Policy = from_value(json!({"pull": {}}))?;
/// assert_eq!(policy, Policy::default().pull(PullPolicy::default()));
/// assert_eq!(PullPolicy::default().parallel, IntOrString::Percent(10));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
#[non_exhaustive]
pub struct PullPolicy {
    /// How many nodes pull at a time; a percentage of the target nodes rounds up. Default `10%`, and not 0.
    #[cfg_attr(feature = "schemars", schemars(with = "crate::input::schema::Limit"))]
    #[serde(deserialize_with = "parallel")]
    pub parallel: IntOrString,
    /// Seconds after which a pull is waited for no longer. Default 600; 0: at once.
    #[serde(deserialize_with = "timeout_seconds")]
    pub timeout_seconds: u32,
}

/// Null is no value, as in the other parts of a policy.
fn parallel<'de, D: Deserializer<'de>>(deserializer: D) -> Result<IntOrString, D::Error> {
    let parallel = Option::deserialize(deserializer)?;
    Ok(parallel.unwrap_or_else(|| PullPolicy::default().parallel))
}

fn timeout_seconds<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    let seconds = Option::deserialize(deserializer)?;
    Ok(seconds.unwrap_or_else(|| PullPolicy::default().timeout_seconds))
}

impl Default for PullPolicy {
    fn default() -> Self {
        PullPolicy { parallel: IntOrString::Percent(10), timeout_seconds: 600 }
    }
}

crate::setters! {
    PullPolicy {
        parallel: IntOrString,
        timeout_seconds: u32,
    }
}

/// See [`Policy::in_place`](field@crate::Policy::in_place).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub enum InPlacePolicy {
    /// Each update deletes the pod (v1.36).
    #[default]
    Never,
    /// A pod whose new template differs in images, labels and annotations alone is changed in its place.
    IfPossible,
}

/// See [`Policy::fit`](field@crate::Policy::fit).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub enum FitPolicy {
    /// The scheduler finds out (v1.36).
    #[default]
    Ignore,
    /// A Ready pod whose successor would not fit on its node stays.
    Hold,
}
