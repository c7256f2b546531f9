//! A revision's data as a patch of the DaemonSet, and whether it changes anything.

use super::fields::template;
use crate::admission::go::quoted;
use crate::admission::{self, Form, Patch, Refusal, Rules};
use crate::patch::strategic_merge;
use crate::schema::{self, Refused};
use serde_json::{Value, json};

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

/// The DaemonSet as the API server stores it after a strategic merge patch.
///
/// # Errors
/// The API server's message.
pub(super) fn accepted(stored: &Value, patch: &Value) -> Result<Value, String> {
    let rules = rules(stored);
    let after = admission::patch(stored, Patch::Strategic(patch), &rules);
    let mut after = after.map_err(|refusal| message(&refusal))?;
    let strategy = stored.pointer("/spec/updateStrategy");
    if let (Form::Proposal, Some(strategy)) = (rules.form, strategy) {
        // The API's table of fields does not know it; nothing that is sent here changes it.
        if let Some(spec) = after.get_mut("spec").and_then(Value::as_object_mut) {
            spec.insert("updateStrategy".to_owned(), strategy.clone());
        }
    }
    Ok(after)
}

/// The message of the API server's answer, which kubectl puts behind words of its own
/// (v1.36 apimachinery `api/errors` StatusError).
fn message(refusal: &Refusal) -> String {
    match refusal {
        Refusal::Invalid(invalid) => invalid.message(),
        Refusal::UnreadablePatch { patch, messages } => {
            let reason = messages.first().map_or("", String::as_str);
            format!(" \"\" is invalid: patch: Invalid value: {}: {reason}", quoted(patch))
        }
        Refusal::Undecodable { .. }
        | Refusal::OtherKind { .. }
        | Refusal::Unconvertible { .. }
        | Refusal::Patch(_)
        | Refusal::OtherName { .. }
        | Refusal::OtherNamespace
        | Refusal::Conflict { .. } => {
            let told = refusal.to_string();
            let (prefix, message) = told.split_once(": ").unwrap_or(("", &told));
            if prefix.starts_with("Error from server") { message.to_owned() } else { told }
        }
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
