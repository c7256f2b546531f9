//! The policy that the annotations of a DaemonSet ask for, and all problems in them.

use crate::cluster::documents;
use crate::hostile;
use daemonset::Policy;
use daemonset::model::DaemonSet;
use daemonset::policy::{InvalidPolicyReason, InvalidRolloutPolicy, Permissions};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// The annotations of a DaemonSet that steer its rollout ([`Policy::from_annotations`]).
pub const POLICY: &str = "rollout.daemonset/policy";
pub const PAUSED: &str = "rollout.daemonset/paused";
pub const APPROVED: &str = "rollout.daemonset/approved";
/// Every annotation with this prefix steers; a misspelt one is a problem.
const PREFIX: &str = "rollout.daemonset/";
/// Members of the policy's text that are not the rollout's own.
const BESIDE_ROLLOUT: [&str; 11] = [
    "drive",
    "downNodes",
    "lifecycle",
    "conditions",
    "podNames",
    "turn",
    "drain",
    "pull",
    "inPlace",
    "fit",
    "priorityClassName",
];
/// Those that need a power of the namespace.
const POWERFUL: [&str; 3] = ["turn", "drain", "priorityClassName"];

/// Something in an annotation that can't be read or used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PolicyProblem {
    pub annotation: String,
    /// The field in its value, such as `waves[0].upTo`; empty for the whole.
    pub path: String,
    pub message: String,
}

impl PolicyProblem {
    fn all_of(invalid: &InvalidRolloutPolicy) -> Vec<Self> {
        invalid.all().map(PolicyProblem::of).collect()
    }

    fn of(problem: &InvalidRolloutPolicy) -> Self {
        PolicyProblem {
            annotation: problem.annotation.clone(),
            path: hostile::with_stand_ins(&problem.path),
            message: hostile::with_stand_ins(&plain(problem.message.clone())),
        }
    }
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
pub fn in_words(problems: &[PolicyProblem], file: Option<&str>) -> String {
    let mut words: Vec<String> = Vec::new();
    let mut before = None;
    for PolicyProblem { annotation, path, message } in problems {
        let place = match file {
            _ if before == Some(annotation) => String::new(),
            Some(file) if annotation == POLICY => format!("{file}: "),
            Some(_) | None => format!("annotation {annotation}: "),
        };
        let path = if path.is_empty() { String::new() } else { format!("{path}: ") };
        words.push(format!("{place}{path}{message}"));
        before = Some(annotation);
    }
    words.join("; ")
}

/// These choices with those of the annotations. As the controller does, the rollout is paused where there are problems.
pub fn with_annotations(
    policy: &Policy,
    ds: &DaemonSet,
    powers: &Permissions,
) -> (Policy, Vec<PolicyProblem>) {
    match policy.clone().with_annotations(ds, powers, yaml) {
        Ok(policy) => (policy, Vec::new()),
        Err(invalid) => (invalid.policy(policy.clone()), problems(ds, &invalid)),
    }
}

/// Whether the text of a policy may have a field that needs a power of the namespace.
pub fn may_need_powers(text: &str) -> bool {
    POWERFUL.iter().any(|field| text.contains(field))
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
    Some(policy.get("drive").is_some_and(|drive| !drive.is_null()))
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
fn problems(ds: &DaemonSet, found: &InvalidRolloutPolicy) -> Vec<PolicyProblem> {
    let problems = PolicyProblem::all_of(found);
    let text = ds.metadata.annotations.get(POLICY).filter(|text| text.len() <= Policy::MAX_ANNOTATION_BYTES);
    let value = text.and_then(|text| yaml(text).ok()).filter(Value::is_object);
    let Some(value) = value else { return problems };
    let others = problems.into_iter().filter(|problem| problem.annotation != POLICY);
    let is_permitted = |problem: &&InvalidRolloutPolicy| problem.reason == InvalidPolicyReason::Invalid;
    let not_permitted = found.all().filter(|problem| !is_permitted(problem)).map(PolicyProblem::of);
    let mut problems: Vec<PolicyProblem> =
        others.chain(not_permitted).chain(problems_of_policy(ds, value)).collect();
    problems.sort_by(|a, b| a.annotation.cmp(&b.annotation));
    problems
}

/// Every field that can't be read; then the problems of those that can be. Permissions are looked at elsewhere.
fn problems_of_policy(ds: &DaemonSet, mut value: Value) -> Vec<PolicyProblem> {
    let problems_of = |value: &Value| {
        let mut alone = ds.clone();
        alone.metadata.annotations = [(POLICY, "")].into_iter().collect();
        let read = Policy::default().with_annotations(&alone, &Permissions::all(), |_| Ok(value.clone()));
        read.err().iter().flat_map(PolicyProblem::all_of).collect::<Vec<_>>()
    };
    let unreadable = |value: &Value| match is_readable(value) {
        true => None,
        false => problems_of(value).into_iter().next(),
    };
    let unreadable = take_out_all(&mut value, unreadable, |problem| &problem.path);
    let mut others = if is_readable(&value) { problems_of(&value) } else { Vec::new() };
    // In the order in which a snapshot is checked: the strategy comes first.
    others.sort_by_key(|problem| !problem.path.starts_with("drive"));
    unreadable.into_iter().chain(others).collect()
}

/// Every field of a policy in JSON that can't be read, as `path: message`.
pub fn unreadable_fields(mut value: Value) -> Vec<String> {
    let unreadable = |value: &Value| {
        let read: Result<Policy, _> = serde_path_to_error::deserialize(value);
        read.err().map(|error| (error.path().to_string(), error.inner().to_string()))
    };
    let problems = take_out_all(&mut value, unreadable, |(path, _)| path);
    problems.into_iter().map(|(path, message)| format!("{path}: {message}")).collect()
}

/// Takes out one field after the other until there is no problem left: a reader stops at the first one.
fn take_out_all<P>(
    value: &mut Value,
    problem_of: impl Fn(&Value) -> Option<P>,
    path: impl Fn(&P) -> &str,
) -> Vec<P> {
    let mut problems = Vec::new();
    while let Some(problem) = problem_of(value) {
        let is_out = take_out(value, path(&problem));
        problems.push(problem);
        if !is_out {
            break;
        }
    }
    problems
}

/// Whether all fields of the text can be read; the check may still refuse the policy.
fn is_readable(text: &Value) -> bool {
    let Some(members) = text.as_object().cloned() else { return false };
    let (beside, rollout): (Map<String, Value>, Map<String, Value>) =
        members.into_iter().partition(|(name, _)| BESIDE_ROLLOUT.contains(&name.as_str()));
    let mut policy = beside;
    policy.insert("rollout".to_owned(), Value::Object(rollout));
    Policy::deserialize(&Value::Object(policy)).is_ok()
}

/// Takes out the member that the path names, or the nearest one around it; an entry of a list goes with its list. False if
/// there is none.
fn take_out(value: &mut Value, path: &str) -> bool {
    let Some(keys) = innermost_member(value, path) else { return false };
    let Some((last, outer)) = keys.split_last() else { return false };
    let parent = outer.iter().try_fold(value, |inner, key| match (inner, key) {
        (Value::Object(members), Key::Member(name)) => members.get_mut(name),
        (Value::Array(entries), Key::Entry(index)) => entries.get_mut(*index),
        _ => None,
    });
    match (parent, last) {
        (Some(Value::Object(members)), Key::Member(name)) => members.remove(name).is_some(),
        _ => false,
    }
}

/// A step of a path.
enum Key {
    Member(String),
    Entry(usize),
}

/// The innermost member of an object on a path such as `a.b[0].c`, as far as the path exists. Names may have dots, as those
/// of labels do.
fn innermost_member(value: &Value, path: &str) -> Option<Vec<Key>> {
    let (mut keys, mut at, mut rest) = (Vec::new(), value, path);
    loop {
        rest = rest.trim_start_matches('.');
        match at {
            Value::Object(members) => {
                let ends = |after: &str| after.is_empty() || after.starts_with(['.', '[']);
                let fits = |name: &&String| rest.strip_prefix(name.as_str()).is_some_and(ends);
                let Some(name) = members.keys().filter(fits).max_by_key(|name| name.len()) else { break };
                (at, rest) = (members.get(name)?, rest.strip_prefix(name.as_str())?);
                keys.push(Key::Member(name.clone()));
            }
            Value::Array(entries) => {
                let entry = rest.strip_prefix('[').and_then(|rest| rest.split_once(']'));
                let Some((index, after)) = entry else { break };
                let Ok(index) = index.parse::<usize>() else { break };
                let Some(inner) = entries.get(index) else { break };
                (at, rest) = (inner, after);
                keys.push(Key::Entry(index));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => break,
        }
    }
    while matches!(keys.last(), Some(Key::Entry(_))) {
        keys.pop();
    }
    Some(keys).filter(|keys| !keys.is_empty())
}

#[cfg(test)]
mod tests {
    use super::{POLICY, take_out, with_annotations};
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
            problems.into_iter().map(|problem| problem.path).collect::<Vec<_>>()
        };
        assert_eq!(policy(0), ["waves[0].upTo"]);
        assert_eq!(policy(Policy::MAX_ANNOTATION_BYTES), ["policy"]);
    }

    #[test]
    fn the_innermost_member_of_a_path_is_taken_out() {
        let policy = || json!({"waves": [{}, {"nodes": {"matchLabels": {"a.b/c": 1, "a": 2}}}]});
        for (path, left) in [
            (
                "waves[1].nodes.matchLabels.a.b/c",
                json!({"waves": [{}, {"nodes": {"matchLabels": {"a": 2}}}]}),
            ),
            ("waves[1].nodes.other", json!({"waves": [{}, {}]})),
            ("waves[0]", json!({})),
            ("waves[9].upTo", json!({})),
        ] {
            let mut value = policy();
            assert!(take_out(&mut value, path), "{path}");
            assert_eq!(value, left, "{path}");
        }
        assert!(!take_out(&mut policy(), "paused"));
        assert!(!take_out(&mut policy(), ""));
    }
}
