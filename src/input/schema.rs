//! The forms of fields that are not read as their types are written: for the JSON Schema of a policy.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::json;
use std::borrow::Cow;

/// A number of nodes, or a percentage of them.
pub(crate) struct Limit;

impl JsonSchema for Limit {
    fn schema_name() -> Cow<'static, str> {
        "Limit".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A number of nodes, or a percentage of them.",
            "oneOf": [{"type": "integer", "minimum": 0, "maximum": u32::MAX}, {"type": "string", "pattern": "^[0-9]+%$"}],
        })
    }
}

/// A label selector, as people write it.
pub(crate) struct Selector;

impl JsonSchema for Selector {
    fn schema_name() -> Cow<'static, str> {
        "LabelSelector".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let requirement = json!({
            "type": "object",
            "properties": {
                "key": {"type": "string"},
                "operator": {"enum": ["In", "NotIn", "Exists", "DoesNotExist"]},
                "values": {"type": "array", "items": {"type": "string"}},
            },
            "required": ["key", "operator"],
            "additionalProperties": false,
        });
        json_schema!({
            "description": "Selects objects by their labels: every entry and every expression must hold.",
            "type": "object",
            "properties": {
                "matchLabels": {"type": "object", "additionalProperties": {"type": "string"}},
                "matchExpressions": {"type": "array", "items": requirement},
            },
            "additionalProperties": false,
        })
    }
}

/// The strategy of a driven update.
pub(crate) struct ExternalController;

impl JsonSchema for ExternalController {
    fn schema_name() -> Cow<'static, str> {
        "ExternalController".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let limit = generator.subschema_for::<Limit>();
        json_schema!({
            "description": "The update of a DaemonSet with OnDelete, beside a controller that creates its pods.",
            "type": "object",
            "properties": {
                "type": {"const": "RollingUpdate"},
                "rollingUpdate": {"type": "object", "properties": {"maxUnavailable": limit}, "additionalProperties": false},
            },
            "required": ["type"],
            "additionalProperties": false,
        })
    }
}
