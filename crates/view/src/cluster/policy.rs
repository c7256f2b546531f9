//! The policy that the annotations of a DaemonSet ask for, and all problems in them.

use crate::cluster::documents;
use crate::hostile;
use daemonset::internal::steering::{self, PREFIX};
pub use daemonset::internal::steering::{APPROVED, PAUSED, POLICY, may_need_powers};
use daemonset::internal::take_out_all;
use daemonset::model::DaemonSet;
pub use daemonset::policy::AnnotationProblem;
use daemonset::policy::{InvalidRolloutPolicy, Permissions};
use daemonset::{Policy, Problem};
use serde_json::{Value, json};

/// The problem in words for a person.
fn in_plain_words(AnnotationProblem { annotation, problem, .. }: &AnnotationProblem) -> AnnotationProblem {
    let message = hostile::with_stand_ins(&plain(problem.kind.to_string()));
    AnnotationProblem::new(annotation, Problem::unreadable(hostile::with_stand_ins(&problem.path), message))
}

fn all_of(invalid: &InvalidRolloutPolicy) -> Vec<AnnotationProblem> {
    invalid.problems.iter().map(in_plain_words).collect()
}

/// Without the names of types, which only the library's readers know.
fn plain(message: String) -> String {
    let Some((before, expected)) = message.rsplit_once("expected ") else { return message };
    let expected = match expected {
        "u32" => format!("an integer from 0 to {}", u32::MAX),
        "i64" => "an integer".to_owned(),
        name if name.starts_with("struct ") => "an object".to_owned(),
        _ => return message,
    };
    format!("{before}expected {expected}")
}

/// The problems in one line, which names each annotation once. The policy of a file has the file's name instead.
pub fn in_words(problems: &[AnnotationProblem], file: Option<&str>) -> String {
    let mut words: Vec<String> = Vec::new();
    let mut before = None;
    for AnnotationProblem { annotation, problem, .. } in problems {
        let place = match file {
            _ if before == Some(annotation) => String::new(),
            Some(file) if annotation == POLICY => format!("{file}: "),
            Some(_) | None => format!("annotation {annotation}: "),
        };
        words.push(format!("{place}{problem}"));
        before = Some(annotation);
    }
    words.join("; ")
}

/// These choices with those of the annotations. As the controller does, the rollout is paused where there are problems.
pub fn with_annotations(
    policy: &Policy,
    ds: &DaemonSet,
    powers: &Permissions,
) -> (Policy, Vec<AnnotationProblem>) {
    match policy.clone().with_annotations(ds, powers, yaml) {
        Ok(policy) => (policy, Vec::new()),
        Err(invalid) => (invalid.policy(policy.clone()), problems(ds, &invalid)),
    }
}

/// Whether an annotation of the DaemonSet steers its rollout.
pub(super) fn is_annotated(daemon_set: &Value) -> bool {
    let annotations = daemon_set.pointer("/metadata/annotations").and_then(Value::as_object);
    annotations.is_some_and(|annotations| annotations.keys().any(|key| key.starts_with(PREFIX)))
}

/// Whether the policy that is written on a DaemonSet pauses its rollout, whatever the annotation `paused` says.
pub fn is_paused(daemon_set: &DaemonSet) -> bool {
    let policy = daemon_set.metadata.annotations.get(POLICY).and_then(|text| yaml(text).ok());
    policy.is_some_and(|policy| policy.get("paused") == Some(&Value::Bool(true)))
}

/// Whether the policy of a manifest drives updates beside another controller; `None` where the manifest has none that can be read.
pub fn drives(daemon_set: &Value) -> Option<bool> {
    let annotations = daemon_set.pointer("/metadata/annotations")?;
    let policy = yaml(annotations.get(POLICY)?.as_str()?).ok()?;
    let mut members = steering::EXTERNAL_CONTROLLER.iter().filter_map(|name| policy.get(*name));
    Some(members.any(|member| !member.is_null()))
}

/// Sets an annotation, or removes it.
pub fn set_annotation(daemon_set: &mut Value, key: &str, value: Option<&str>) {
    let Some(metadata) = daemon_set.get_mut("metadata").and_then(Value::as_object_mut) else { return };
    let annotations = metadata.entry("annotations").or_insert_with(|| json!({}));
    if annotations.is_null() {
        *annotations = json!({});
    }
    let Some(annotations) = annotations.as_object_mut() else { return };
    match value {
        Some(value) => drop(annotations.insert(key.to_owned(), value.into())),
        None => drop(annotations.remove(key)),
    }
}

/// The one document of YAML or JSON; null where there is none.
fn yaml(text: &str) -> Result<Value, String> {
    let mut documents = documents::read_policy(text.as_bytes())?.into_iter();
    match (documents.next(), documents.next()) {
        (Some(only), None) => Ok(only),
        (None, _) => Ok(Value::Null),
        (Some(_), Some(_)) => Err("must be one document".to_owned()),
    }
}

/// All problems of all annotations: of the fields of a text that can't be read, the library names the first one.
fn problems(ds: &DaemonSet, found: &InvalidRolloutPolicy) -> Vec<AnnotationProblem> {
    let problems = all_of(found);
    let text = ds.metadata.annotations.get(POLICY).filter(|text| text.len() <= Policy::MAX_ANNOTATION_BYTES);
    let value = text.and_then(|text| yaml(text).ok()).filter(Value::is_object);
    let Some(value) = value else { return problems };
    let others = problems.into_iter().filter(|problem| problem.annotation != POLICY);
    let not_permitted =
        found.problems.iter().filter(|problem| problem.is_not_permitted()).map(in_plain_words);
    let mut problems: Vec<AnnotationProblem> =
        others.chain(not_permitted).chain(problems_of_policy(ds, value)).collect();
    problems.sort_by(|a, b| a.annotation.cmp(&b.annotation));
    problems
}

/// Every field that can't be read; then the problems of those that can be. Permissions are looked at elsewhere.
fn problems_of_policy(ds: &DaemonSet, mut value: Value) -> Vec<AnnotationProblem> {
    let problems_of = |value: &Value| {
        let mut alone = ds.clone();
        alone.metadata.annotations = [(POLICY, "")].into_iter().collect();
        let read = Policy::default().with_annotations(&alone, &Permissions::all(), |_| Ok(value.clone()));
        read.err().iter().flat_map(all_of).collect::<Vec<_>>()
    };
    let unreadable = |value: &Value| match steering::is_readable(value) {
        true => None,
        false => problems_of(value).into_iter().next(),
    };
    let unreadable = take_out_all(&mut value, unreadable, |found| &found.problem.path);
    let mut others = if steering::is_readable(&value) { problems_of(&value) } else { Vec::new() };
    // In the order in which a snapshot is checked: the strategy comes first.
    others.sort_by_key(|found| {
        !steering::EXTERNAL_CONTROLLER.iter().any(|name| found.problem.path.starts_with(name))
    });
    unreadable.into_iter().chain(others).collect()
}

/// Every field of a policy in JSON that can't be read, as `path: message`.
pub fn unreadable_fields(value: Value) -> Vec<String> {
    let problems = daemonset::internal::unreadable_fields(value).into_iter();
    problems.map(|problem| problem.to_string()).collect()
}

#[cfg(test)]
mod tests {
    use super::{POLICY, with_annotations};
    use daemonset::Policy;
    use daemonset::policy::Permissions;
    use serde_json::{from_value, json};

    /// Even the reader of a text takes memory.
    #[test]
    fn a_policy_that_is_too_large_is_not_read() {
        let policy = |spaces: usize| {
            let text = format!("waves: [{{upTo: half}}]{}", " ".repeat(spaces));
            let ds = from_value(json!({"metadata": {"annotations": {POLICY: text}}})).unwrap();
            let (_, problems) = with_annotations(&Policy::default(), &ds, &Permissions::default());
            problems.into_iter().map(|found| found.problem.path).collect::<Vec<_>>()
        };
        assert_eq!(policy(0), ["waves[0].upTo"]);
        assert_eq!(policy(Policy::MAX_ANNOTATION_BYTES), ["policy"]);
    }
}
