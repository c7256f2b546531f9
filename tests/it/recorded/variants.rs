//! The recorded cases under another kind of owner, another binding, and a caller's manifests: only the named parts of a plan
//! change, and each plan breaks no rule.

use daemonset::manifests::{Manifests, NewPod};
use daemonset::model::Owner;
use daemonset::policy::{Binding, DaemonTolerations};
use daemonset::{Action, Recording, reconcile};
use daemonset_audit::audit;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;

/// The cases that have a plan.
fn cases() -> Vec<Recording> {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let files = ["small.jsonl", "extra.jsonl"].map(|file| std::fs::read_to_string(data.join(file)).unwrap());
    let lines = files.iter().flat_map(|file| file.lines());
    let cases = lines.filter_map(|line| Recording::from_json(line.as_bytes()).ok());
    cases.filter(|case| case.snapshot().is_ok()).collect()
}

/// The plan's JSON; it breaks no rule.
fn planned(case: &Recording) -> String {
    let snapshot = case.snapshot().unwrap();
    let actions = reconcile(&snapshot);
    assert_eq!(audit(&snapshot, &actions), [], "{}", case.name);
    serde_json::to_string(&actions).unwrap()
}

fn creates(actions: &[Action]) -> usize {
    actions.iter().filter(|action| matches!(action, Action::CreatePod { .. })).count()
}

#[test]
fn another_kind_changes_its_name_and_nothing_else() {
    let mut named = 0;
    for mut case in cases() {
        let plain = planned(&case);
        case.daemon_set.owner = Owner::new("agents.example.com/v1", "AgentSet");
        let custom = planned(&case);
        named += usize::from(custom != plain);
        let renamed = custom
            .replace(r#""apiVersion":"agents.example.com/v1""#, r#""apiVersion":"apps/v1""#)
            .replace(r#""kind":"AgentSet""#, r#""kind":"DaemonSet""#)
            .replace("This AgentSet is selecting", "This daemon set is selecting");
        assert_eq!(renamed, plain, "{}", case.name);
        let text = serde_json::to_vec(&case).unwrap();
        assert_eq!(planned(&Recording::from_json(&text).unwrap()), custom, "a recording keeps the kind");
    }
    assert!(named > 100, "{named} plans name the kind");
}

#[test]
fn another_binding_changes_only_the_bodies() {
    let mut bound = 0;
    for mut case in cases() {
        let lines = |case: &Recording| -> Vec<String> {
            reconcile(&case.snapshot().unwrap()).iter().map(ToString::to_string).collect()
        };
        let plain = lines(&case);
        case.policy = case.policy.binding(Binding::NodeName);
        assert_eq!(lines(&case), plain, "{}", case.name);
        bound += planned(&case).matches(r#""nodeName":"#).count();
    }
    assert!(bound > 100, "{bound} pods are bound");
}

/// Without the tolerations of every daemon pod, placement and manifests still agree: the audit compares them.
#[test]
fn no_daemon_tolerations_break_no_rule() {
    for mut case in cases() {
        case.policy = case.policy.daemon_tolerations(DaemonTolerations::None);
        assert!(!planned(&case).contains("node.kubernetes.io/disk-pressure"), "{}", case.name);
    }
}

/// The template's pods, made from something else, too; exactly these without inputs.
#[derive(Debug)]
struct Made(Value);

impl Manifests for Made {
    fn inputs(&self) -> Value {
        self.0.clone()
    }

    fn manifest(&self, new: &NewPod<'_>) -> Value {
        let mut pod = new.pod.to_value();
        if !self.0.is_null() {
            pod["metadata"]["annotations"] = json!({"node": new.node.name()});
        }
        pod
    }
}

#[test]
fn manifests_of_the_caller_break_no_rule() {
    let mut created = 0;
    for case in cases() {
        let snapshot =
            |case, inputs| Recording::builder(case).manifests(Arc::new(Made(inputs))).check().unwrap();
        let default = snapshot(&case, Value::Null);
        let actions = reconcile(&default);
        assert_eq!(audit(&default, &actions), [], "{}", case.name);
        assert_eq!(serde_json::to_string(&actions).unwrap(), planned(&case), "{}", case.name);

        let inputs = json!({"file": "b", "more": [null, 1]});
        let made = snapshot(&case, inputs.clone());
        let actions = reconcile(&made);
        assert_eq!(audit(&made, &actions), [], "{}", case.name);
        created += creates(&actions);
        let replay = Recording::from_json(&serde_json::to_vec(&Recording::from(&made)).unwrap()).unwrap();
        assert_eq!(reconcile(&snapshot(&replay, inputs)), actions, "{}", case.name);
    }
    assert!(created > 100, "{created} objects are made");
}
