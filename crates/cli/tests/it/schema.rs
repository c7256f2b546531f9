//! The schema of the policy annotation says the same as its reader.

use crate::program::run;
use daemonset::Policy;
use daemonset::model::DaemonSet;
use daemonset::policy::Permissions;
use serde_json::{Map, Value, from_str, from_value, json};

/// The schema that the program prints.
struct Schema(Value);

fn schema() -> Schema {
    Schema(serde_json::from_str(&run("schema", &[], b"").out).unwrap())
}

impl Schema {
    fn is_valid(&self, value: &Value) -> bool {
        self.accepts(&self.0, value)
    }

    /// Whether a value fits a schema. A keyword that is not known here ends the test: it would hide a difference.
    fn accepts(&self, schema: &Value, value: &Value) -> bool {
        let Some(keywords) = schema.as_object() else { return schema.as_bool().unwrap() };
        keywords.iter().all(|(keyword, argument)| match keyword.as_str() {
            "$schema" | "$defs" | "title" | "description" | "default" | "format" => true,
            "$ref" => self.accepts(
                self.0.pointer(argument.as_str().unwrap().strip_prefix('#').unwrap()).unwrap(),
                value,
            ),
            "type" => match argument {
                Value::Array(types) => types.iter().any(|one| is_of_type(one, value)),
                one => is_of_type(one, value),
            },
            "const" => value == argument,
            "enum" => argument.as_array().unwrap().contains(value),
            "deprecated" => true,
            "not" => !self.accepts(argument, value),
            "allOf" => argument.as_array().unwrap().iter().all(|one| self.accepts(one, value)),
            "anyOf" => argument.as_array().unwrap().iter().any(|one| self.accepts(one, value)),
            "oneOf" => {
                argument.as_array().unwrap().iter().filter(|one| self.accepts(one, value)).count() == 1
            }
            "minimum" => value.as_f64().is_none_or(|number| number >= argument.as_f64().unwrap()),
            "maximum" => value.as_f64().is_none_or(|number| number <= argument.as_f64().unwrap()),
            "pattern" => value.as_str().is_none_or(|text| matches(argument, text)),
            "items" => {
                value.as_array().is_none_or(|items| items.iter().all(|item| self.accepts(argument, item)))
            }
            "required" => {
                let has = |members: &Map<String, Value>| {
                    argument
                        .as_array()
                        .unwrap()
                        .iter()
                        .all(|name| members.contains_key(name.as_str().unwrap()))
                };
                value.as_object().is_none_or(has)
            }
            "properties" | "patternProperties" | "additionalProperties" => value
                .as_object()
                .is_none_or(|members| members.iter().all(|(name, value)| self.has(keywords, name, value))),
            unknown => panic!("the keyword {unknown}"),
        })
    }

    /// Whether an object may have this member.
    fn has(&self, keywords: &Map<String, Value>, name: &str, value: &Value) -> bool {
        let known = keywords.get("properties").and_then(|properties| properties.get(name));
        let patterns = keywords.get("patternProperties").and_then(Value::as_object).into_iter().flatten();
        let by_pattern =
            patterns.filter(|(pattern, _)| matches(&json!(pattern), name)).map(|(_, schema)| schema);
        let named: Vec<&Value> = known.into_iter().chain(by_pattern).collect();
        let other = || keywords.get("additionalProperties").is_none_or(|schema| self.accepts(schema, value));
        if named.is_empty() { other() } else { named.iter().all(|schema| self.accepts(schema, value)) }
    }
}

fn is_of_type(name: &Value, value: &Value) -> bool {
    match name.as_str().unwrap() {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        unknown => panic!("the type {unknown}"),
    }
}

/// The patterns of the schema.
fn matches(pattern: &Value, text: &str) -> bool {
    let digits = match pattern.as_str().unwrap() {
        "^[0-9]+%$" => text.strip_suffix('%'),
        r"^-?\d+$" => Some(text.strip_prefix('-').unwrap_or(text)),
        unknown => panic!("the pattern {unknown}"),
    };
    digits.is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Every field of a policy.
fn whole() -> Value {
    let whole: Value = from_str(include_str!("../../../../tests/data/whole.json")).unwrap();
    whole["policy"].clone()
}

fn is_read(policy: &Value) -> bool {
    let daemon_set: DaemonSet = from_value(json!({
        "metadata": {"annotations": {"rollout.daemonset/policy": policy.to_string()}},
        "spec": {"updateStrategy": {"type": "OnDelete"}},
    }))
    .unwrap();
    Policy::from_annotations(&daemon_set, &Permissions::parse("turn,evict,priority")).is_ok()
}

/// The pointer of each value in it.
fn pointers(value: &Value, here: &str, all: &mut Vec<String>) {
    all.push(here.to_owned());
    match value {
        Value::Object(members) => {
            members.iter().for_each(|(key, member)| pointers(member, &format!("{here}/{key}"), all));
        }
        Value::Array(elements) => {
            elements
                .iter()
                .enumerate()
                .for_each(|(i, element)| pointers(element, &format!("{here}/{i}"), all));
        }
        _ => {}
    }
}

#[test]
fn the_schema_knows_each_field_and_refuses_each_unknown_one() {
    let (schema, whole) = (schema(), whole());
    assert!(is_read(&whole));
    assert!(schema.is_valid(&whole));
    let mut all = Vec::new();
    pointers(&whole, "", &mut all);
    let mut refused = 0;
    for pointer in &all {
        let mut policy = whole.clone();
        let Some(Value::Object(members)) = policy.pointer_mut(pointer) else { continue };
        members.insert("misspelt".to_owned(), json!(1));
        let is_open = ["/approved", "/waves/0/nodes/matchLabels", "/drain/podSelector/matchLabels"]
            .contains(&&**pointer);
        if !is_open {
            assert!(!is_read(&policy), "{pointer}");
            assert!(!schema.is_valid(&policy), "{pointer}");
            refused += 1;
        }
    }
    assert!(refused >= 12, "{refused}");
}

#[test]
fn the_schema_knows_both_names_of_the_external_controller() {
    let (schema, strategy) = (schema(), json!({"type": "RollingUpdate"}));
    let both = json!({"drive": strategy, "externalController": strategy});
    for (policy, is_right) in [
        (json!({"drive": strategy}), true),
        (json!({"externalController": strategy}), true),
        (json!({"drive": {"type": "OnDelete"}}), false),
        (both, false),
    ] {
        assert_eq!((schema.is_valid(&policy), is_read(&policy)), (is_right, is_right), "{policy}");
    }
}

#[test]
fn the_schema_accepts_each_value_that_the_reader_accepts() {
    let (schema, whole) = (schema(), whole());
    let mut all = Vec::new();
    pointers(&whole, "", &mut all);
    let (mut accepted, mut refused) = (0, 0);
    let values = json!([
        true,
        0,
        1,
        -1,
        1.5,
        70_000,
        "1",
        "25%",
        "x",
        "Keep",
        "Wait",
        "Never",
        "Pause",
        "RollBack",
        [],
        {},
        ["a"]
    ]);
    for pointer in &all {
        for value in values.as_array().unwrap() {
            let mut policy = whole.clone();
            *policy.pointer_mut(pointer).unwrap() = value.clone();
            match is_read(&policy) {
                true => {
                    assert!(schema.is_valid(&policy), "{pointer}: {value}");
                    accepted += 1;
                }
                false => refused += usize::from(!schema.is_valid(&policy)),
            }
        }
    }
    assert!(accepted > 130 && refused > 900, "{accepted} are accepted, {refused} refused by both");
}
