//! The restart policy of a single container, and its rules for exit codes.

use crate::admission::error::ErrorList;
use crate::admission::path::FieldPath;
use crate::go::GoValue;
use crate::json::{list, member, text, text_if_set};
use serde_json::Value;

const UNSAID: &str = "must specify restartPolicy when restart rules are used";

/// v1.36 core/validation `validateInitContainerRestartPolicy`, with ContainerRestartRules and
/// RestartAllContainersOnContainerExits: rules without a policy are not validated further.
pub(super) fn init_policy(container: &Value, path: &FieldPath<'_>, errors: &mut ErrorList) {
    if text_if_set(container, "restartPolicy").is_some() {
        policy(container, path, errors);
    } else if !list(container, "restartPolicyRules").is_empty() {
        errors.required(&path.child("restartPolicy"), UNSAID);
    }
}

/// v1.36 core/validation `validateContainerRestartPolicy`.
pub(super) fn policy(container: &Value, path: &FieldPath<'_>, errors: &mut ErrorList) {
    let (rules, supported) = (list(container, "restartPolicyRules"), ["Always", "Never", "OnFailure"]);
    match text_if_set(container, "restartPolicy") {
        None if rules.is_empty() => {}
        None => errors.required(&path.child("restartPolicy"), UNSAID),
        Some(policy) if supported.contains(&policy) => {}
        Some(other) => errors.not_supported(&path.child("restartPolicy"), GoValue::named(other), &supported),
    }
    let path = path.child("restartPolicyRules");
    if rules.len() > 20 {
        errors.too_many(&path, rules.len(), 20);
    }
    for (position, of) in rules.iter().enumerate() {
        rule(of, &path.index(position), errors);
    }
}

fn rule(rule: &Value, path: &FieldPath<'_>, errors: &mut ErrorList) {
    let (action, actions) = (text(rule, "action"), ["Restart", "RestartAllContainers"]);
    if !actions.contains(&action) {
        errors.not_supported(&path.child("action"), GoValue::named(action), &actions);
    }
    let path = path.child("exitCodes");
    let Some(codes) = member(rule, "exitCodes") else { return errors.required(&path, "must be specified") };
    let (operator, operators) = (text(codes, "operator"), ["In", "NotIn"]);
    if !operators.contains(&operator) {
        errors.not_supported(&path.child("operator"), GoValue::named(operator), &operators);
    }
    let values = list(codes, "values").len();
    if values > 255 {
        errors.too_many(&path.child("values"), values, 255);
    }
}
