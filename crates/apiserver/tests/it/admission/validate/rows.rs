//! A row for each rule: a change of a valid DaemonSet, and all messages for it.

use super::{good_with, messages};
use daemonset_apiserver::admission::{FieldError, Rules, validate};
use serde_json::Value;

/// Texts that many messages contain.
const SHARED: [(&str, &str); 8] = [
    ("<required>", "requiredDuringSchedulingIgnoredDuringExecution"),
    ("<preferred>", "preferredDuringSchedulingIgnoredDuringExecution"),
    (
        "<subdomain>",
        "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
    ),
    (
        "<search>",
        "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?(\\._?[a-z0-9]([-_a-z0-9]*[a-z0-9])?)*')",
    ),
    (
        "<label>",
        "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
    ),
    (
        "<value>",
        "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
    ),
    (
        "<key>",
        "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
    ),
    (
        "<percent>",
        "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')",
    ),
];

fn full(text: &str) -> String {
    SHARED.iter().fold(text.to_owned(), |text, (short, long)| text.replace(short, long))
}

/// Rules by name; below each its patch, and its messages with paths below the patched place.
fn check(rows: &str) {
    let (mut place, mut count) = (String::new(), 0);
    for row in rows.split("\n\n").map(str::trim_end).filter(|row| !row.starts_with('#')) {
        if let Some(new_place) = row.strip_prefix("at ") {
            new_place.clone_into(&mut place);
            continue;
        }
        let mut lines = row.lines().map(str::trim_start);
        let rule = lines.next().unwrap();
        let patch: Value = serde_json::from_str(&full(lines.next().unwrap())).unwrap();
        let prefix: String =
            place.split('/').filter(|name| !name.is_empty()).map(|name| format!("{name}.")).collect();
        let expected: Vec<String> = lines.map(|line| format!("{prefix}{}", full(line))).collect();
        let errors = validate(&good_with(&place, &patch), &Rules::default());
        assert_eq!(messages(&errors), expected, "{rule}");
        errors.iter().for_each(is_in_three_parts);
        count += 1;
    }
    assert!(count > 5, "only {count} rows");
}

/// A message consists of the field, the reason and the detail.
fn is_in_three_parts(error: &FieldError) {
    let FieldError { kind, path, value, detail, .. } = error;
    let parts = [path.clone(), kind.to_string()].into_iter().chain(value.clone());
    let parts: Vec<String> = parts.chain(Some(detail.clone()).filter(|detail| !detail.is_empty())).collect();
    assert_eq!(error.to_string(), parts.join(": "));
    assert!(kind.cause().starts_with("FieldValue"), "{kind:?}");
}

macro_rules! tables {
    ($($name:ident),*) => {
        $(#[test] fn $name() { check(include_str!(concat!("rows/", stringify!($name), ".txt"))); })*
    };
}

tables!(metadata, spec, annotations, pod, security, scheduling);
