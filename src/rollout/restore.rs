//! A revision's data as a patch of the DaemonSet, and whether it changes anything.

use super::fields::template;
use crate::schema::{self, Refused};
use serde_json::{Value, json};

/// The DaemonSet with a revision's data applied (v1.36 kubectl `history.go applyDaemonSetHistory`).
///
/// # Errors
/// What is wrong with the data, in the words of the decoder.
pub(super) fn restored(daemon_set: &Value, data: &Value) -> Result<Value, String> {
    decoded(&patched(daemon_set, data)?)
}

fn decoded(daemon_set: &Value) -> Result<Value, String> {
    schema::decode(daemon_set).map_err(|refused| refused.first().map_or(String::new(), Refused::to_string))
}

fn patched(daemon_set: &Value, data: &Value) -> Result<Value, String> {
    let Some(Value::Object(stored)) = data.pointer("/spec/template") else {
        return Err("spec.template: Required value".to_owned());
    };
    let mut template = stored.clone();
    template.remove("$patch");
    let mut restored = daemon_set.clone();
    match restored.get_mut("spec").and_then(Value::as_object_mut) {
        Some(spec) => _ = spec.insert("template".to_owned(), Value::Object(template)),
        None => return Err("spec: Required value".to_owned()),
    }
    Ok(restored)
}

/// The DaemonSet as the API server stores it after an update.
pub(super) fn accepted(_stored: &Value, patched: Value) -> Result<Value, String> {
    Ok(patched)
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
