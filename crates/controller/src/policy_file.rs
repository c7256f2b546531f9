//! The policy of `--policy FILE`, and the flags that win over it.
//!
//! The file has the serde form of the library's [`Policy`]. Its fields are named only in the text of `--help`, so that a new
//! field of the library works here at once.

use crate::yaml;
use daemonset::internal::unreadable_fields;
use daemonset::model::{ControllerRevision, DaemonSet, Node, Pod};
use daemonset::{Observed, Policy, Snapshot};
use jiff::Timestamp;
use serde_json::{Map, Value};
use std::path::Path;

/// A field of the policy that a flag sets.
pub(crate) struct Override {
    pub(crate) flag: &'static str,
    /// As in the file.
    pub(crate) field: &'static str,
    pub(crate) value: Value,
}

/// The policy of this file with these fields instead of its own; the default without both.
///
/// # Errors
/// Every problem, each with its file or flag and its path.
pub(crate) fn policy(file: Option<&Path>, overrides: Vec<Override>) -> Result<Policy, Vec<String>> {
    let mut problems = Vec::new();
    let mut fields = Map::new();
    if let Some(file) = file {
        let source = format!("--policy {}", file.display());
        match read(file) {
            Ok(object) => add_readable(&mut fields, &source, object, &mut problems),
            Err(problem) => problems.push(format!("{source}: {problem}")),
        }
    }
    for Override { flag, field, value } in overrides {
        add_readable(&mut fields, flag, Map::from_iter([(field.to_owned(), value)]), &mut problems);
    }
    let policy: Policy = match serde_json::from_value(Value::Object(fields)) {
        Ok(policy) => policy,
        // A field whose name is no path, such as a dot, ends the search for others.
        Err(error) => {
            problems.push(error.to_string());
            return Err(problems);
        }
    };
    problems.extend(value_problems(&policy));
    if problems.is_empty() { Ok(policy) } else { Err(problems) }
}

fn read(file: &Path) -> Result<Map<String, Value>, String> {
    let text = std::fs::read_to_string(file).map_err(|error| error.to_string())?;
    match yaml::read(&text)? {
        Value::Object(fields) => Ok(fields),
        Value::Null => Ok(Map::new()),
        _ => Err("must be an object with the fields of a policy".to_owned()),
    }
}

/// Adds the fields that can be read, and the problems of the others.
fn add_readable(
    fields: &mut Map<String, Value>,
    source: &str,
    new: Map<String, Value>,
    problems: &mut Vec<String>,
) {
    let unreadable = unreadable_fields(Value::Object(new.clone()));
    let is_of = |path: &str, field: &str| {
        path.strip_prefix(field).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
    };
    let is_readable = |field: &str| !unreadable.iter().any(|problem| is_of(&problem.path, field));
    fields.extend(new.into_iter().filter(|(field, _)| is_readable(field)));
    problems.extend(unreadable.iter().map(|problem| format!("{source}: {problem}")));
}

/// The values that the library refuses, which it checks with each snapshot.
fn value_problems(policy: &Policy) -> Vec<String> {
    let (nodes, pods, revisions): (&[Node], &[Pod], &[ControllerRevision]) = (&[], &[], &[]);
    let observed = Observed { daemon_set: &DaemonSet::default(), nodes, pods, revisions };
    let Err(invalid) = Snapshot::builder(observed, Timestamp::UNIX_EPOCH).policy(policy).check() else {
        return Vec::new();
    };
    let problems = invalid.problems.iter().map(ToString::to_string);
    problems.filter(|problem| problem.starts_with("policy.")).collect()
}
