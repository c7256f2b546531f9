//! The opt-in rules, each with a value that switches it on.

use daemonset::policy::Rule;
use serde_json::{Value, from_str};
use std::hash::{DefaultHasher, Hash, Hasher};

/// A policy and a node with every field.
pub fn whole() -> Value {
    from_str(include_str!("../../data/whole.json")).unwrap()
}

/// A value of the rule's member that switches it on.
pub fn on(rule: Rule) -> Value {
    let value = whole()["policy"][rule.member()].clone();
    assert!(!value.is_null(), "tests/data/whole.json switches {rule:?} on");
    value
}

/// The rules that the random fleets, walks and lives draw by themselves, and the drain, which no plan reads.
const DRAWN: [Rule; 8] = [
    Rule::PodNames,
    Rule::DownNodes,
    Rule::Lifecycle,
    Rule::Turn,
    Rule::Drain,
    Rule::Pull,
    Rule::InPlace,
    Rule::Fit,
];

/// Switches every second of the other rules on, chosen by the rest of the policy.
pub fn add_rules(policy: &mut Value) {
    let text = policy.to_string();
    for rule in Rule::ALL.iter().filter(|rule| !DRAWN.contains(rule)) {
        let mut hasher = DefaultHasher::new();
        (&text, rule.member()).hash(&mut hasher);
        if hasher.finish() % 2 == 0 {
            policy[rule.member()] = on(*rule);
        }
    }
}
