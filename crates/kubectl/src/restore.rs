//! A revision's data as a patch of the DaemonSet, and whether it changes anything.

use super::fields::template;
use daemonset_apiserver::admission::{self, Form, Patch, Refusal, Rules};
use daemonset_apiserver::go::quoted;
use serde_json::{Value, json};

/// The DaemonSet with a revision's data applied (v1.36 kubectl `history.go applyDaemonSetHistory`).
///
/// # Errors
/// What is wrong with the data, in the words of the decoder.
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
    let rules = Rules::new().form(Form::from_daemon_set(stored));
    admission::patch(stored, Patch::Strategic(patch), &rules).map_err(|refusal| message(&refusal))
}

/// The message of the API server's answer, which kubectl puts behind words of its own
/// (v1.36 apimachinery `api/errors` StatusError).
fn message(refusal: &Refusal) -> String {
    match refusal {
        Refusal::Invalid(invalid) => invalid.message(),
        Refusal::UnreadablePatch { patch, messages, .. } => {
            let reason = messages.first().map_or("", String::as_str);
            format!(" \"\" is invalid: patch: Invalid value: {}: {reason}", quoted(patch))
        }
        other => {
            let told = other.to_string();
            let (prefix, message) = told.split_once(": ").unwrap_or(("", &told));
            if prefix.starts_with("Error from server") { message.to_owned() } else { told }
        }
    }
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
