//! Properties of every defaulted object. The objects are generated along the paths of the rules, so that each rule
//! applies.

use daemonset_apiserver::admission::{Form, default, defaults};
use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// A path of a rule, with the value at its end.
type Branch = (String, Index, Value);

fn forms() -> impl Strategy<Value = Form> {
    select(vec![Form::AppsV1, Form::Proposal])
}

fn paths(form: Form) -> Vec<String> {
    defaults(form).map(|rule| rule.path).collect()
}

/// Absent half of the time; otherwise zero, valid, or of a wrong type.
fn end() -> impl Strategy<Value = Value> {
    let ends = [
        json!(""),
        json!(0),
        json!(false),
        json!([]),
        json!({}),
        json!("a:latest"),
        json!(7),
        json!([1]),
        json!({"cpu": "0.0001", "memory": null}),
    ];
    prop_oneof![Just(json!(null)), select(ends.to_vec())]
}

fn object(form: Form) -> impl Strategy<Value = Value> {
    let branch = (select(paths(form)), any::<Index>(), end());
    proptest::collection::vec(branch, 1..12).prop_map(|branches| {
        let mut object = json!({});
        branches.iter().for_each(|branch| grow(&mut object, branch));
        object
    })
}

/// Adds the objects of the branch that are missing, and its end if the place is free.
fn grow(object: &mut Value, (path, turn, end): &Branch) {
    let mut parts: Vec<String> = split(path);
    let last = parts.pop().unwrap();
    let mut here = object;
    for part in parts {
        let (name, kind) = match part.strip_suffix("[*]") {
            Some(list) => (choice(list, turn), json!([{}])),
            None => (choice(part.split('[').next().unwrap(), turn), json!({})),
        };
        let Value::Object(members) = here else { return };
        if let Some((_, condition)) = part.split_once("[type=") {
            let Some(inner) = members.entry(name).or_insert_with(|| json!({})).as_object_mut() else {
                return;
            };
            inner.entry("type").or_insert_with(|| json!(condition.trim_end_matches(']')));
            here = members.get_mut(choice(part.split('[').next().unwrap(), turn)).unwrap();
            continue;
        }
        here = members.entry(name).or_insert(kind);
        if let Value::Array(items) = here {
            let Some(first) = items.first_mut() else { return };
            here = first;
        }
    }
    if let (Value::Object(members), false) = (here, end.is_null()) {
        members.entry(last).or_insert_with(|| end.clone());
    }
}

/// One part for each object on the path, and one for the field.
fn split(path: &str) -> Vec<String> {
    path.split('.').map(str::to_owned).collect()
}

/// One of `{a,b}`.
fn choice<'a>(names: &'a str, turn: &Index) -> &'a str {
    let all: Vec<&str> = names.trim_matches(['{', '}']).split(',').collect();
    all[turn.index(all.len())]
}

/// Whether every earlier value is unchanged: non-zero values are equal, lists have their length.
fn keeps(before: &Value, after: &Value) -> bool {
    match (before, after) {
        (Value::Object(before), Value::Object(after)) => before.iter().all(|(key, value)| {
            super::is_zero(value)
                || ["serviceAccount", "limits", "requests", "overhead"].contains(&key.as_str())
                || after.get(key).is_some_and(|after| keeps(value, after))
        }),
        (Value::Array(before), Value::Array(after)) => {
            before.len() == after.len()
                && before.iter().zip(after).all(|(before, after)| keeps(before, after))
        }
        (before, after) => before == after,
    }
}

/// Every field of the object with its path; lists as `[*]`.
fn ways(value: &Value, way: &str, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(members) => members.iter().for_each(|(key, value)| {
            let way = format!("{way}.{key}");
            ways(value, &way, found);
            found.insert(way);
        }),
        Value::Array(items) => items.iter().for_each(|item| ways(item, &format!("{way}[*]"), found)),
        _ => {}
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn defaulting_is_idempotent_and_removes_nothing((form, before) in forms().prop_flat_map(|form| (Just(form), object(form)))) {
        let mut once = before.clone();
        default(&mut once, form);
        let mut twice = once.clone();
        default(&mut twice, form);
        prop_assert_eq!(&once, &twice);
        prop_assert!(keeps(&before, &once), "{before}\n{once}");
    }
}

#[test]
fn the_objects_reach_every_rule() {
    let mut runner = TestRunner::deterministic();
    let mut filled = BTreeSet::new();
    for _ in 0..1500 {
        let before = object(Form::AppsV1).new_tree(&mut runner).unwrap().current();
        let mut after = before.clone();
        default(&mut after, Form::AppsV1);
        let (mut had, mut has) = (BTreeSet::new(), BTreeSet::new());
        ways(&before, "", &mut had);
        ways(&after, "", &mut has);
        filled.extend(has.difference(&had).cloned());
    }
    let never: Vec<String> = paths(Form::AppsV1)
        .into_iter()
        // Every generated object has a spec.
        .filter(|path| path != "spec" && !filled.iter().any(|way| matches(path, way)))
        .collect();
    assert_eq!(never, Vec::<String>::new());
}

fn matches(path: &str, way: &str) -> bool {
    let (path, way) = (split(path), split(way.trim_start_matches('.')));
    path.len() == way.len() && path.iter().zip(&way).all(|(path, way)| is_part(path, way))
}

/// Whether the field matches this part of the rule, and is a list if the part is one.
fn is_part(path: &str, way: &str) -> bool {
    let name = |part: &str| part.split('[').next().unwrap_or_default().trim_matches(['{', '}']).to_owned();
    name(path).split(',').any(|one| one == name(way)) && path.ends_with("[*]") == way.ends_with("[*]")
}
