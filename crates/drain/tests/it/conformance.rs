//! The contract's own answers, a line each.

use daemonset::model::Node;
use daemonset_drain::{DaemonOwner, Drain, DrainPolicy, Pod, drain};
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Case {
    name: String,
    now: Timestamp,
    node: Node,
    pods: Vec<Pod>,
    daemon_sets: Vec<DaemonOwner>,
    drain: DrainPolicy,
    contract: Value,
}

#[test]
fn cases_of_the_repository_are_answered_by_the_contract() {
    check(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/drain.jsonl"));
}

/// `DRAIN_CONFORMANCE=drain.jsonl cargo test -p daemonset-drain` runs a file from elsewhere.
#[test]
#[expect(clippy::disallowed_methods, reason = "a test has an environment, the library has none")]
fn cases_of_the_named_file_are_answered_by_the_contract() {
    match std::env::var_os("DRAIN_CONFORMANCE") {
        Some(file) => check(Path::new(&file)),
        None => println!("DRAIN_CONFORMANCE names no file: skipped"),
    }
}

fn check(file: &Path) {
    let text = std::fs::read_to_string(file).unwrap();
    let mut states: BTreeMap<String, u32> = BTreeMap::new();
    for line in text.lines() {
        let case: Case = serde_json::from_str(line).unwrap();
        let decided = drain(&case.node, &case.pods, &case.daemon_sets, &case.drain, case.now);
        assert_eq!(answer(&decided), case.contract, "{}", case.name);
        *states.entry(case.contract["state"].to_string()).or_default() += 1;
    }
    println!("{states:?}");
    // All three states are there.
    assert_eq!(states.len(), 3);
}

fn answer(decided: &Drain) -> Value {
    let name = |pod: &daemonset::model::ObjectRef| format!("{}/{}", pod.namespace, pod.name);
    let evict: Vec<String> = decided.evict.iter().map(|evict| name(&evict.pod)).collect();
    let (state, left) = (decided.state.as_str(), decided.state.left());
    let blocked_by: Vec<Value> = decided
        .state
        .blocked_by()
        .iter()
        .map(|pod| json!({"pod": name(&pod.pod), "reason": pod.reason}))
        .collect();
    json!({"state": state, "evict": evict, "left": left, "blockedBy": blocked_by, "lookAgain": decided.look_again})
}
