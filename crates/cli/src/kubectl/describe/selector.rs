//! A label selector in one line.

use crate::kubectl::fields::{text_entries, texts};
use daemonset_apiserver::json::{list, text};
use daemonset_apiserver::syntax::{label_key_errors, label_value_errors};
use serde_json::Value;

/// v1.36 `meta/v1` helpers.go FormatLabelSelector: sorted by key; `<none>` for an empty selector, `<error>` for an
/// invalid one.
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
    requirements.into_iter().map(|(_, requirement)| requirement).collect::<Vec<_>>().join(",")
}

/// A key with its formatted requirement; `None` if the API server would refuse it.
type SelectorRequirement<'a> = Option<(&'a str, String)>;

fn equals<'a>(key: &'a str, value: &str) -> SelectorRequirement<'a> {
    (is_key(key) && is_value(value)).then(|| (key, format!("{key}={value}")))
}

/// v1.36 `labels/selector.go` NewRequirement, Requirement.String.
fn expression(expression: &Value) -> SelectorRequirement<'_> {
    let key = text(expression, "key");
    let mut values = texts(expression, "values");
    values.sort_unstable();
    let requirement = match (text(expression, "operator"), values.is_empty()) {
        ("In", false) => format!("{key} in ({})", values.join(",")),
        ("NotIn", false) => format!("{key} notin ({})", values.join(",")),
        ("Exists", true) => key.to_owned(),
        ("DoesNotExist", true) => format!("!{key}"),
        _ => return None,
    };
    (is_key(key) && values.into_iter().all(is_value)).then_some((key, requirement))
}

fn is_key(key: &str) -> bool {
    label_key_errors(key).is_empty()
}

fn is_value(value: &str) -> bool {
    label_value_errors(value).is_empty()
}
