//! What differs between two revisions.

mod lines;
mod paths;

use super::controlled::Stored;
use serde::Serialize;
use serde_json::Value;
use similar::TextDiff;

/// What differs between two revisions.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[must_use]
#[non_exhaustive]
pub struct Diff {
    /// By path; empty when both restore the same.
    pub differences: Vec<Difference>,
    /// Both templates as YAML, in the form of `diff -u`; empty when both restore the same.
    pub unified: String,
}

/// One field that differs.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Difference {
    /// The field: `spec.template.spec.containers[web].image`. Items of a list are told by name (or path, or port) where
    /// every one has its own, else by index; keys that are no field names are in brackets, too.
    pub path: String,
    /// What the older one has; none when it is not there.
    pub old: Option<Value>,
    /// What the newer one has; none when it is not there.
    pub new: Option<Value>,
}

/// What changes from one ControllerRevision to another, in what they restore. A member that is null is the same as an
/// absent one.
pub fn diff(old: &Value, new: &Value) -> Diff {
    let (old, new) = (Stored::from_revision(old), Stored::from_revision(new));
    let (before, after) = (restores(&old), restores(&new));
    let differences = paths::differences("spec.template", &before, &after);
    if differences.is_empty() {
        return Diff::default();
    }
    let header = |stored: &Stored<'_>| format!("{} (revision {})", stored.name, stored.number);
    let unified = unified((&header(&old), &lines::lines(&before)), (&header(&new), &lines::lines(&after)));
    Diff { differences, unified }
}

/// The template, without the patch's own directive.
fn restores(stored: &Stored<'_>) -> Value {
    let mut template = stored.data.pointer("/spec/template").cloned().unwrap_or(Value::Null);
    if let Some(members) = template.as_object_mut() {
        members.remove("$patch");
    }
    template
}

/// Lines that are shown around a change.
const CONTEXT: usize = 3;

/// Each side is its title and its lines.
fn unified(old: (&str, &[String]), new: (&str, &[String])) -> String {
    let (before, after): (Vec<&str>, Vec<&str>) =
        (old.1.iter().map(String::as_str).collect(), new.1.iter().map(String::as_str).collect());
    TextDiff::from_slices(&before, &after)
        .unified_diff()
        .context_radius(CONTEXT)
        .header(old.0, new.0)
        .to_string()
}
