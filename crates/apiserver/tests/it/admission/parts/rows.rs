//! A row for each rule: the members of a part, and all messages for it.

use super::{POD, messages_of};
use serde_json::Value;

/// Strings that are too long to be readable in a row.
fn full(text: &str) -> String {
    [
        (
            "<subdomain>",
            "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
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
            "<config key>",
            "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')",
        ),
        ("<64>", &"x".repeat(64)),
        ("<254>", &"x".repeat(254)),
    ]
    .iter()
    .fold(text.to_owned(), |text, (short, long)| text.replace(short, long))
}

/// The path at which the messages of a part begin.
fn prefix(place: &str) -> &'static str {
    match place {
        "pod" => "",
        "container" => "containers[0].",
        "init container" => "initContainers[0].",
        "ephemeral container" => "ephemeralContainers[0].",
        "volume" => "volumes[0].",
        _ => panic!("{place}"),
    }
}

/// Rules by name; below each the members of the part, and its messages, with a full path if they are about another
/// part.
fn check(rows: &str) {
    let (mut place, mut count) = ("", 0);
    for row in rows.split("\n\n").map(str::trim_end).filter(|row| !row.starts_with('#')) {
        if let Some(next) = row.strip_prefix("at ") {
            place = next;
            continue;
        }
        let mut lines = row.lines().map(|line| line.strip_prefix("  ").unwrap_or(line));
        let rule = lines.next().unwrap();
        let members: Value = serde_json::from_str(&full(lines.next().unwrap())).unwrap();
        let expected: Vec<String> = lines
            .map(|line| match line.strip_prefix(POD) {
                Some(line) => full(line),
                None => format!("{}{}", prefix(place), full(line)),
            })
            .collect();
        assert_eq!(messages_of(place, &members), expected, "{rule}");
        count += 1;
    }
    assert!(count > 5, "only {count} rows");
}

macro_rules! tables {
    ($($name:ident),*) => {
        $(#[test] fn $name() { check(include_str!(concat!("rows/", stringify!($name), ".txt"))); })*
    };
}

tables!(
    containers,
    containers_env,
    containers_init,
    containers_mounts,
    containers_probes,
    containers_resources,
    containers_security,
    gated,
    volumes,
    volumes_certificates,
    volumes_claims,
    volumes_files,
    volumes_projected,
    volumes_storage
);
