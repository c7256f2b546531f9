//! The JSON Schema of the annotation `rollout.daemonset/policy`: for editors, and for admission before a controller reads it.

use crate::Policy;
use crate::input::policy::PolicyAnnotation;
use crate::input::rollout::steering::EXTERNAL_CONTROLLER;
use schemars::Schema;
use schemars::transform::{RecursiveTransform, Transform};
use serde_json::{Value, json};

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
        // serde's alias is unknown to schemars.
        let [name, older] = EXTERNAL_CONTROLLER;
        if let Some(Value::Object(properties)) = schema.get_mut("properties") {
            let of_older = properties.get(name).map(|field| json!({"allOf": [field], "deprecated": true}));
            properties.extend(of_older.map(|field| (older.to_owned(), field)));
        }
        schema.insert("not".to_owned(), json!({"required": EXTERNAL_CONTROLLER}));
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
