//! Admission of any input: nothing panics, defaulting is idempotent, a stored object is accepted again unchanged, and
//! generations rise by at most one, together with the part that they count.
//!
//! An input is text: its first line is a DaemonSet to create, its second a patch of the stored object. A missing line is
//! `{}`, and further lines are ignored.

#![no_main]

use daemonset_apiserver::admission::{
    Form, Patch, Rules, SurgeWithHostPort, create, default, default_pod, default_template, equivalent_spellings, patch,
    patch_status, template_change, update, update_status, validate, validate_status_update, validate_update,
};
use libfuzzer_sys::fuzz_target;
use serde_json::{Value, json};

fuzz_target!(|text: &str| {
    let mut lines = text.lines().map(serde_json::from_str::<Value>);
    let Some(Ok(object)) = lines.next() else { return };
    let change = lines.next().and_then(Result::ok).unwrap_or_else(|| json!({}));
    once(&object, default_template);
    once(&object, default_pod);
    for form in [Form::AppsV1, Form::Proposal] {
        for surge_with_host_port in [SurgeWithHostPort::Allowed, SurgeWithHostPort::Refused] {
            let rules = Rules::new().form(form).surge_with_host_port(surge_with_host_port);
            answers_anything(&object, &change, &rules);
            generations_count(&object, &change, &rules);
        }
    }
});

/// Calls everything with objects that no server would store; only panics are errors.
fn answers_anything(object: &Value, change: &Value, rules: &Rules) {
    let [old, new] = [object, change].map(|object| once(object, |object| default(object, rules.form)));
    let _ = validate(&old, rules).to_string();
    let _ = validate_update(&old, &new, rules).to_string();
    let _ = validate_status_update(&old, &new).to_string();
    print(update(object, change, rules));
    print(update_status(object, change));
    print(patch(object, Patch::Merge(change), rules));
    print(patch(object, Patch::Strategic(change), rules));
    let _ = template_change(object, change).map(|diff| diff.map(|diff| diff.to_string()));
    let _ = equivalent_spellings(object, change).map(|diff| diff.to_string());
}

fn print(answer: Result<Value, impl std::fmt::Display>) {
    let _ = answer.map_err(|refusal| refusal.to_string());
}

/// Creates an object, patches it, and sends the result again unchanged.
fn generations_count(object: &Value, change: &Value, rules: &Rules) {
    let Ok(stored) = create(object, rules) else { return };
    assert_eq!(generation(&stored), 1);
    assert!(template_generation(&stored) >= 1);
    if stored["metadata"].get("name").is_none() {
        // The store generates the name.
        return;
    }
    stays(&stored, rules);
    for change in [Patch::Merge(change), Patch::Strategic(change)] {
        if let Ok(after) = patch(&stored, change, rules) {
            grows(&stored, &after);
            assert_eq!(stored.get("status"), after.get("status"));
            stays(&after, rules);
        }
        if let Ok(after) = patch_status(&stored, change) {
            assert_eq!(stored["spec"], after["spec"]);
            assert_eq!(generation(&stored), generation(&after));
        }
    }
}

/// A stored object is valid, and an update with it changes nothing.
fn stays(stored: &Value, rules: &Rules) {
    assert!(validate(stored, rules).is_empty());
    assert_eq!(update(stored, stored, rules).as_ref(), Ok(stored));
}

fn grows(before: &Value, after: &Value) {
    let spec = generation(after) - generation(before);
    let template = template_generation(after) - template_generation(before);
    assert!((0..=1).contains(&template) && (template..=1).contains(&spec), "{spec} {template}");
    assert!(spec == 0 || before["spec"] != after["spec"], "{after}");
    assert!(template == 0 || before["spec"]["template"] != after["spec"]["template"], "{after}");
}

fn generation(object: &Value) -> i64 {
    object["metadata"]["generation"].as_i64().unwrap()
}

fn template_generation(object: &Value) -> i64 {
    let text = &object["metadata"]["annotations"]["deprecated.daemonset.template.generation"];
    text.as_str().unwrap().parse().unwrap()
}

/// The filled-in object; filling it in again must not change it.
fn once(object: &Value, fill: impl Fn(&mut Value)) -> Value {
    let mut first = object.clone();
    fill(&mut first);
    let mut second = first.clone();
    fill(&mut second);
    assert_eq!(first, second);
    first
}
