//! A label selector in one line.

use crate::fields::{text_entries, texts};
use daemonset_apiserver::json::{list, text};
use daemonset_apiserver::syntax::{label_key_errors, label_value_errors};
use serde_json::Value;

/// v1.36 `meta/v1` helpers.go FormatLabelSelector: by key, `<none>` for an empty one, `<error>` for one that can't be
/// used.
pub(super) fn formatted(selector: &Value) -> String {
    let labels = text_entries(selector, "matchLabels");
    let labels = labels.into_iter().map(|(key, value)| equals(key, value));
    let expressions = list(selector, "matchExpressions").iter().map(expression);
    let Some(mut requirements) = labels.chain(expressions).collect::<Option<Vec<_>>>() else {
        return "<error>".to_owned();
    };
    requirements.sort_by_key(|(key, _)| *key);
    if requirements.is_empty() {
        return "<none>".to_owned();
    }
    requirements.into_iter().map(|(_, told)| told).collect::<Vec<_>>().join(",")
}

/// A key with what is said of it; nothing if the API server would not take it.
type Requirement<'a> = Option<(&'a str, String)>;

fn equals<'a>(key: &'a str, value: &str) -> Requirement<'a> {
    (is_key(key) && is_value(value)).then(|| (key, format!("{key}={value}")))
}

/// v1.36 `labels/selector.go` NewRequirement, Requirement.String.
fn expression(expression: &Value) -> Requirement<'_> {
    let key = text(expression, "key");
    let mut values = texts(expression, "values");
    values.sort_unstable();
    let told = match (text(expression, "operator"), values.is_empty()) {
        ("In", false) => format!("{key} in ({})", values.join(",")),
        ("NotIn", false) => format!("{key} notin ({})", values.join(",")),
        ("Exists", true) => key.to_owned(),
        ("DoesNotExist", true) => format!("!{key}"),
        _ => return None,
    };
    (is_key(key) && values.into_iter().all(is_value)).then_some((key, told))
}

fn is_key(key: &str) -> bool {
    label_key_errors(key).is_empty()
}

fn is_value(value: &str) -> bool {
    label_value_errors(value).is_empty()
}
