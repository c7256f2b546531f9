//! Whatever is sent: nothing panics, defaulting twice is defaulting once, what is stored is taken again as it is, and
//! generations only grow, by one and with what they count.
//!
//! An input is text: on the first line a DaemonSet to create, on the second a patch of what is stored then. What is
//! missing is `{}`, and what is left over is ignored.

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
            keeps_count(&object, &change, &rules);
        }
    }
});

/// Objects that no server would hold are no reason to panic either.
fn answers_anything(object: &Value, change: &Value, rules: &Rules) {
    let [old, new] = [object, change].map(|object| once(object, |object| default(object, rules.form)));
    let _ = validate(&old, rules).to_string();
    let _ = validate_update(&old, &new, rules).to_string();
    let _ = validate_status_update(&old, &new).to_string();
    told(update(object, change, rules));
    told(update_status(object, change));
    told(patch(object, Patch::Merge(change), rules));
    told(patch(object, Patch::Strategic(change), rules));
    let _ = template_change(object, change).map(|diff| diff.map(|diff| diff.to_string()));
    let _ = equivalent_spellings(object, change).map(|diff| diff.to_string());
}

fn told(answer: Result<Value, impl std::fmt::Display>) {
    let _ = answer.map_err(|refusal| refusal.to_string());
}

/// A life of one object: created, patched, and sent again as it is.
fn keeps_count(object: &Value, change: &Value, rules: &Rules) {
    let Ok(stored) = create(object, rules) else { return };
    assert_eq!(generation(&stored), 1);
    assert!(template_generation(&stored) >= 1);
    if stored["metadata"].get("name").is_none() {
        // The store makes it from generateName.
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

/// What is stored is taken as it is, and no news.
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

/// What comes of it, which is the same when it is done again.
fn once(object: &Value, fill: impl Fn(&mut Value)) -> Value {
    let mut first = object.clone();
    fill(&mut first);
    let mut second = first.clone();
    fill(&mut second);
    assert_eq!(first, second);
    first
}
