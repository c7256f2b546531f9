//! The JSON Schema of the annotation `rollout.daemonset/policy`: for editors, and for admission before a controller reads it.

use crate::Policy;
use crate::input::policy::TurnPolicy;
use crate::rollout::annotations::PolicyAnnotation;
use schemars::transform::{RecursiveTransform, Transform};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Value, json};
use std::borrow::Cow;

impl Policy {
    /// The JSON Schema (2020-12) of the annotation `rollout.daemonset/policy`, with the docs of each field.
    ///
    /// It accepts no member that [`from_annotations`](Self::from_annotations) refuses to know, and no value of another form. Rules that
    /// need the DaemonSet, or two fields, are beyond a schema.
    ///
    /// ```
    /// let schema = daemonset::Policy::annotation_schema();
    /// assert_eq!(schema.pointer("/properties/waves/items/$ref"), Some(&"#/$defs/Wave".into()));
    /// ```
    #[must_use]
    pub fn annotation_schema() -> Schema {
        let mut schema = schemars::schema_for!(PolicyAnnotation);
        schema.insert("title".to_owned(), json!("rollout.daemonset/policy"));
        RecursiveTransform(|schema: &mut Schema| {
            if let Some(Value::String(text)) = schema.get_mut("description") {
                *text = without_links(text);
            }
        })
        .transform(&mut schema);
        schema
    }
}

/// The text of a doc comment without the targets of its links, and without its examples.
fn without_links(text: &str) -> String {
    let text = text.split("```").next().unwrap_or_default();
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('[') {
        plain.push_str(before);
        let Some((label, after)) = after.split_once(']') else {
            plain.push('[');
            rest = after;
            continue;
        };
        plain.push_str(label);
        let target = after.strip_prefix('(').and_then(|target| target.split_once(')'));
        rest = target.map_or(after, |(_, after)| after);
    }
    plain.push_str(rest);
    plain.trim().to_owned()
}

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
pub(crate) struct Drive;

impl JsonSchema for Drive {
    fn schema_name() -> Cow<'static, str> {
        "Drive".into()
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

/// The turn of a node, or the word that leaves turns as they are.
pub(crate) struct Turn;

impl JsonSchema for Turn {
    fn schema_name() -> Cow<'static, str> {
        "Turn".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let turn = generator.subschema_for::<TurnPolicy>();
        json_schema!({"oneOf": [{"const": "Keep"}, turn]})
    }
}
