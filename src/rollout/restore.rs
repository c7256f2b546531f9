//! A revision's data as a patch of the DaemonSet, and whether it changes anything.

use super::fields::{name, template};
use crate::admission::go::quoted;
use crate::admission::{self, Form, Rules};
use crate::patch::strategic_merge;
use crate::schema::{self, Refused};
use serde_json::{Value, json};

const GENERATION: &str = "deprecated.daemonset.template.generation";

/// The DaemonSet with a revision's data applied (v1.36 kubectl `history.go applyDaemonSetHistory`).
///
/// # Errors
/// What is wrong with the data, in the words of the decoder.
pub(super) fn restored(daemon_set: &Value, data: &Value) -> Result<Value, String> {
    let patched = strategic_merge(&decoded(daemon_set)?, data).map_err(|error| error.to_string())?;
    decoded(&patched)
}

/// Of the proposal's form only the template: the API's table of fields does not know the rest.
fn decoded(daemon_set: &Value) -> Result<Value, String> {
    let decoded = schema::decode(daemon_set)
        .map_err(|refused| refused.first().map_or(String::new(), Refused::to_string))?;
    Ok(match rules(daemon_set).form {
        Form::AppsV1 => decoded,
        Form::Proposal => with_template(daemon_set, template(&decoded)),
    })
}

/// The DaemonSet with another template.
pub(super) fn with_template(daemon_set: &Value, template: &Value) -> Value {
    let mut other = daemon_set.clone();
    if let Some(spec) = other.get_mut("spec").and_then(Value::as_object_mut) {
        spec.insert("template".to_owned(), template.clone());
    }
    other
}

/// The DaemonSet as the API server stores it after an update.
///
/// # Errors
/// The API server's message.
pub(super) fn accepted(stored: &Value, patched: &Value) -> Result<Value, String> {
    let mut after = decoded(patched)?;
    let rules = rules(stored);
    admission::default(&mut after, rules.form);
    let before = decoded(stored)?;
    count(&before, &mut after);
    let errors = admission::validate_update(&before, &after, &rules);
    if errors.is_empty() {
        return Ok(after);
    }
    Err(format!("DaemonSet.apps {} is invalid: {errors}", quoted(name(stored))))
}

/// A changed spec is a new generation, a changed template a new template generation; neither is the client's to set.
fn count(before: &Value, after: &mut Value) {
    let step = |changed: bool| i64::from(changed);
    let generation = before.pointer("/metadata/generation").and_then(Value::as_i64).unwrap_or(0);
    let generation = generation.saturating_add(step(before.get("spec") != after.get("spec")));
    let annotation = before.get("metadata").and_then(|metadata| metadata.get("annotations")?.get(GENERATION));
    let counted: i64 = annotation.and_then(Value::as_str).and_then(|text| text.parse().ok()).unwrap_or(0);
    let counted = counted.saturating_add(step(template(before) != template(after)));
    let Some(Value::Object(metadata)) = after.get_mut("metadata") else { return };
    metadata.insert("generation".to_owned(), Value::from(generation));
    let annotations = metadata.entry("annotations").or_insert(Value::Null);
    if !annotations.is_object() {
        *annotations = json!({});
    }
    if let Some(annotations) = annotations.as_object_mut() {
        annotations.insert(GENERATION.to_owned(), Value::from(counted.to_string()));
    }
}

/// A strategy of the proposal's tells that the API is its own.
fn rules(daemon_set: &Value) -> Rules {
    let strategy = daemon_set.pointer("/spec/updateStrategy/type").and_then(Value::as_str);
    let form = if strategy == Some("SurgingRollingUpdate") { Form::Proposal } else { Form::AppsV1 };
    Rules { form, ..Rules::default() }
}

/// Whether the revision's data is what the controller would store for the template that is there, to the byte
/// (v1.36 kubectl `rollback.go daemonSetMatch`): a member that is null is not an absent one here, and a quantity has one
/// spelling. kubectl compares the order of members, too; revisions have theirs sorted by whoever stores them.
pub(super) fn matches(daemon_set: &Value, data: &Value) -> bool {
    let stores = |daemon_set: &Value| {
        let mut template = template(daemon_set).as_object().cloned().unwrap_or_default();
        template.insert("$patch".to_owned(), Value::from("replace"));
        json!({"spec": {"template": template}}) == *data
    };
    stores(daemon_set) || decoded(daemon_set).is_ok_and(|decoded| stores(&decoded))
}
