//! The responders that a pod names for its eviction.

use super::values;
use crate::admission::error::ErrorList;
use crate::admission::path::FieldPath;
use crate::go::GoValue;
use crate::json::{list, number_if_set, text};
use crate::syntax::label_key_errors;
use serde_json::Value;

const MOST: usize = 10;
/// Lower priorities are those of Kubernetes' own responders.
const LOWEST: i64 = 1000;
const HIGHEST: i64 = 100_000;

/// `old` is the stored pod spec, null for a create. An unchanged responder is valid (v1.37 core/v1
/// zz_generated.validations.go `Validate_PodSpec`).
pub(super) fn responders(old: &Value, new: &Value, path: &FieldPath<'_>, errors: &mut ErrorList) {
    let path = path.child("evictionResponders");
    let [old, new] = [old, new].map(|spec| list(spec, "evictionResponders"));
    if old == new {
        return;
    }
    if new.len() > MOST {
        return errors.too_many(&path, new.len(), MOST);
    }
    let is_same = |a: &Value, b: &Value| text(a, "name") == text(b, "name");
    for (position, responder) in new.iter().enumerate() {
        if new.iter().take(position).any(|before| is_same(before, responder)) {
            errors.duplicate(&path.index(position), GoValue::json(responder));
        }
    }
    for (position, responder) in new.iter().enumerate() {
        let at = path.index(position);
        let stored = old.iter().find(|stored| is_same(stored, responder));
        if stored.is_none() {
            name(text(responder, "name"), &at.child("name"), errors);
        }
        let number = number_if_set(responder, "priority");
        if stored.is_none_or(|stored| number_if_set(stored, "priority") != number) {
            priority(number, &at.child("priority"), errors);
        }
    }
}

/// `example.com/responder`, of no domain of Kubernetes (v1.37 core/v1 validation.go
/// `ValidateCustom_EvictionResponder_Name`, content `IsPrefixedLabelKey`).
fn name(name: &str, path: &FieldPath<'_>, errors: &mut ErrorList) {
    if name.is_empty() {
        return errors.required(path, "");
    }
    let domain = name.split_once('/').map_or(name, |(domain, _)| domain).to_lowercase();
    let domain = domain.trim().trim_end_matches('.');
    if ["k8s.io", "kubernetes.io"].iter().any(|own| is_in_domain(domain, own)) {
        errors.invalid(path, name, "domain names *.k8s.io, *.kubernetes.io are reserved");
    }
    let messages = label_key_errors(name);
    if messages.is_empty() && !name.contains('/') {
        errors.invalid(path, name, "must include a prefix (e.g. 'example.com/key')");
    }
    values::each(messages, name, path, errors);
}

fn is_in_domain(domain: &str, of: &str) -> bool {
    domain.strip_suffix(of).is_some_and(|before| before.is_empty() || before.ends_with('.'))
}

/// v1.37 core/v1 validation.go `ValidateCustom_EvictionResponder_Priority`.
fn priority(priority: Option<i64>, path: &FieldPath<'_>, errors: &mut ErrorList) {
    let Some(number) = priority else { return errors.required(path, "") };
    if (0..LOWEST).contains(&number) {
        errors.invalid(path, number, "priorities 0-999 are reserved for responders with *.k8s.io suffix");
    }
    if number > HIGHEST {
        errors.invalid(path, number, format!("must be less than or equal to {HIGHEST}"));
    }
    errors.negative(path, number);
}
