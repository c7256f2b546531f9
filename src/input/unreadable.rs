//! Every field of a policy that can't be read, where a reader stops at the first one.

use crate::input::Policy;
use daemonset_objects::Problem;
use serde_json::Value;

/// Every field of a policy in JSON that can't be read.
pub fn unreadable_fields(mut policy: Value) -> Vec<Problem> {
    let unreadable = |policy: &Value| {
        let read: Result<Policy, _> = serde_path_to_error::deserialize(policy);
        read.err().map(|error| Problem::unreadable(error.path().to_string(), error.inner()))
    };
    take_out_all(&mut policy, unreadable, |problem| &problem.path)
}

/// Takes out one field after the other until there is no problem left: a reader stops at the first one.
pub fn take_out_all<P>(
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
    use super::take_out;
    use serde_json::json;

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
