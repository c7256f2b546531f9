//! The difference of two revisions.

mod lines;
mod paths;

use super::controlled::StoredRevision;
use serde::Serialize;
use serde_json::Value;
use similar::TextDiff;

/// The difference of two revisions.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[must_use]
#[non_exhaustive]
pub struct Diff {
    /// Sorted by path; empty if both restore the same template.
    pub differences: Vec<FieldDifference>,
    /// Both templates as YAML, in the format of `diff -u`; empty if both restore the same template.
    pub unified: String,
}

/// One field that differs.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct FieldDifference {
    /// The field: `spec.template.spec.containers[web].image`. Items of a list are named by their name (or path, or
    /// port) if every item has a distinct one, else by index; keys that are no field names are in brackets, too.
    pub path: String,
    /// The value in the older revision; `None` if it is absent.
    pub old: Option<Value>,
    /// The value in the newer revision; `None` if it is absent.
    pub new: Option<Value>,
}

/// The changes from one ControllerRevision to another, in the templates that they restore. A null member equals an
/// absent one.
///
/// ```
/// use kubectl_daemonset::kubectl::diff;
/// use serde_json::json;
///
/// let revision = |number: i64, image: &str| json!({
///     "metadata": {"name": format!("web-{number}")}, "revision": number,
///     "data": {"spec": {"template": {"spec": {"containers": [{"name": "web", "image": image}]}}}}
/// });
/// let diff = diff(&revision(1, "web:v1"), &revision(2, "web:v2"));
/// assert_eq!(diff.differences[0].path, "spec.template.spec.containers[web].image");
/// assert!(diff.unified.contains("-  - image: web:v1\n+  - image: web:v2\n"), "{}", diff.unified);
/// ```
pub fn diff(old: &Value, new: &Value) -> Diff {
    let (old, new) = (StoredRevision::from_revision(old), StoredRevision::from_revision(new));
    let (before, after) = (restores(&old), restores(&new));
    let differences = paths::differences("spec.template", &before, &after);
    if differences.is_empty() {
        return Diff::default();
    }
    // No stored revision has number 0: it is a template that is in none yet.
    let header = |stored: &StoredRevision<'_>| match stored.number {
        0 => format!("{} (as it is)", stored.name),
        number => format!("{} (revision {number})", stored.name),
    };
    let unified = unified((&header(&old), &lines::lines(&before)), (&header(&new), &lines::lines(&after)));
    Diff { differences, unified }
}

/// The template, without the patch's own directive.
fn restores(stored: &StoredRevision<'_>) -> Value {
    let mut template = stored.data.pointer("/spec/template").cloned().unwrap_or(Value::Null);
    if let Some(members) = template.as_object_mut() {
        members.remove("$patch");
    }
    template
}

/// The number of lines around a change.
const CONTEXT: usize = 3;

/// A unified diff; each side is a title and its lines.
fn unified(old: (&str, &[String]), new: (&str, &[String])) -> String {
    let (before, after): (Vec<&str>, Vec<&str>) =
        (old.1.iter().map(String::as_str).collect(), new.1.iter().map(String::as_str).collect());
    TextDiff::from_slices(&before, &after)
        .unified_diff()
        .context_radius(CONTEXT)
        .header(old.0, new.0)
        .to_string()
}
