//! Applying a revision's data to the DaemonSet, and whether that changes anything.

use super::fields::template;
use daemonset::model::Owner;
use daemonset_apiserver::admission::{self, Form, Patch, Refusal, Rules};
use daemonset_apiserver::go::quoted;
use serde_json::{Value, json};

/// The DaemonSet with a revision's data applied (v1.36 kubectl `history.go applyDaemonSetHistory`).
///
/// # Errors
/// The decoder's message if the data is invalid.
pub(super) fn restored(daemon_set: &Value, data: &Value) -> Result<Value, String> {
    let form = Form::from_daemon_set(daemon_set);
    let patched = form.strategic_merge(&decoded(daemon_set)?, data).map_err(|error| error.to_string())?;
    decoded(&patched)
}

fn decoded(daemon_set: &Value) -> Result<Value, String> {
    Form::from_daemon_set(daemon_set).decode(daemon_set)
}

/// The DaemonSet with another template.
pub(super) fn with_template(daemon_set: &Value, template: &Value) -> Value {
    let mut other = daemon_set.clone();
    if let Some(spec) = other.get_mut("spec").and_then(Value::as_object_mut) {
        spec.insert("template".to_owned(), template.clone());
    }
    other
}

/// The DaemonSet as the API server stores it after a strategic merge patch.
///
/// # Errors
/// The API server's message.
pub(super) fn accepted(stored: &Value, patch: &Value) -> Result<Value, String> {
    let rules = Rules::new().form(Form::from_daemon_set(stored)).owner(Owner::from_object(stored));
    admission::patch(stored, Patch::Strategic(patch), &rules).map_err(|refusal| message(&refusal))
}

/// The message of the API server's answer, which kubectl appends to words of its own (v1.36 apimachinery `api/errors`
/// StatusError).
fn message(refusal: &Refusal) -> String {
    match refusal {
        Refusal::Invalid(invalid) => invalid.message(),
        Refusal::UnreadablePatch { patch, messages, .. } => {
            let reason = messages.first().map_or("", String::as_str);
            format!(" \"\" is invalid: patch: Invalid value: {}: {reason}", quoted(patch))
        }
        other => {
            let text = other.to_string();
            let (prefix, message) = text.split_once(": ").unwrap_or(("", &text));
            if prefix.starts_with("Error from server") { message.to_owned() } else { text }
        }
    }
}

/// Whether the revision's data equals the data that the controller would store for the current template (v1.36
/// kubectl `rollback.go daemonSetMatch`). The comparison is exact: a null member differs from an absent one, and two
/// spellings of a quantity differ. kubectl compares bytes and therefore the order of members, too; controllers store
/// them sorted.
pub(super) fn matches(daemon_set: &Value, data: &Value) -> bool {
    let stores = |daemon_set: &Value| {
        let mut template = template(daemon_set).as_object().cloned().unwrap_or_default();
        template.insert("$patch".to_owned(), Value::from("replace"));
        json!({"spec": {"template": template}}) == *data
    };
    stores(daemon_set) || decoded(daemon_set).is_ok_and(|decoded| stores(&decoded))
}
