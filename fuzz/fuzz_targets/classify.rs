//! For any labels, generations and revisions: a pod is updated or outdated on the evidence that the rules name.

#![no_main]

use arbitrary::Arbitrary;
use daemonset::{Recording, plan};
use daemonset::report::Evidence;
use libfuzzer_sys::fuzz_target;
use serde_json::{Value, json};

/// A fleet in which every pod has its own node.
#[derive(Debug, Arbitrary)]
struct Input {
    generation: Generation,
    field: Option<i64>,
    hash_first: bool,
    proposal_key: bool,
    revisions: Vec<Revision>,
    pods: Vec<Pod>,
}

#[derive(Debug, Arbitrary)]
struct Revision {
    hash: Option<Hash>,
    current: bool,
    number: i8,
}

#[derive(Debug, Arbitrary)]
struct Pod {
    hash: Option<Hash>,
    other_key: Option<Hash>,
    generation: Generation,
    live: bool,
}

/// Few values, so that they often coincide.
#[derive(Debug, Clone, Copy, PartialEq, Arbitrary)]
enum Hash {
    A,
    B,
    C,
    Empty,
    /// The name of a revision, which counts as its hash if it has no label.
    Name(u8),
}

#[derive(Debug, Clone, PartialEq, Arbitrary)]
enum Generation {
    Absent,
    Small(u8),
    Signed(i64),
    Junk(String),
}

const MOST: usize = 8;

impl Hash {
    fn text(self) -> String {
        match self {
            Hash::A => "a".to_owned(),
            Hash::B => "b".to_owned(),
            Hash::C => "c".to_owned(),
            Hash::Empty => String::new(),
            Hash::Name(n) => format!("ds-{}", n as usize % MOST),
        }
    }
}

impl Generation {
    fn text(&self) -> Option<String> {
        match self {
            Generation::Absent => None,
            Generation::Small(n) => Some((n % 4).to_string()),
            Generation::Signed(n) => Some(n.to_string()),
            Generation::Junk(text) => Some(text.clone()),
        }
    }
}

impl Input {
    fn key(&self) -> &'static str {
        if self.proposal_key { "daemonset-controller-hash" } else { "controller-revision-hash" }
    }

    fn recording(&self) -> Value {
        let owner = json!([{"kind": "DaemonSet", "name": "ds", "uid": "u", "controller": true}]);
        let template = |version: &str| {
            let containers = json!([{"name": "c", "image": version}]);
            json!({"metadata": {"labels": {"app": "x"}}, "spec": {"containers": containers}})
        };
        let revisions: Vec<Value> = (0..).zip(self.revisions.iter().take(MOST)).map(|(index, revision)| {
            let mut labels = json!({"app": "x"});
            if let Some(hash) = revision.hash {
                labels[self.key()] = json!(hash.text());
            }
            let mut stored = template(if revision.current { "now" } else { "then" });
            stored["$patch"] = json!("replace");
            json!({
                "metadata": {"name": format!("ds-{index}"), "namespace": "n", "uid": format!("r{index}"),
                    "labels": labels, "ownerReferences": owner},
                "data": {"spec": {"template": stored}},
                "revision": revision.number,
            })
        }).collect();
        let pods: Vec<Value> = (0..).zip(self.pods.iter().take(MOST)).map(|(index, pod)| {
            let mut labels = json!({"app": "x"});
            if let Some(hash) = pod.hash {
                labels[self.key()] = json!(hash.text());
            }
            if let Some(hash) = pod.other_key {
                labels["another-hash"] = json!(hash.text());
            }
            if let Some(generation) = pod.generation.text() {
                labels["pod-template-generation"] = json!(generation);
            }
            json!({
                "metadata": {"name": format!("p{index}"), "namespace": "n", "uid": format!("p{index}"),
                    "labels": labels, "ownerReferences": owner},
                "spec": {"nodeName": format!("n{index}")},
                "status": {"phase": if pod.live { "Running" } else { "Failed" }},
            })
        }).collect();
        let nodes: Vec<Value> = (0..MOST).map(|i| json!({"metadata": {"name": format!("n{i}")}})).collect();
        let mut ds = json!({
            "metadata": {"name": "ds", "namespace": "n", "uid": "u"},
            "spec": {"selector": {"matchLabels": {"app": "x"}}, "template": template("now"),
                "templateGeneration": self.field},
        });
        if let Some(generation) = self.generation.text() {
            ds["metadata"]["annotations"] = json!({"deprecated.daemonset.template.generation": generation});
        }
        let policy = json!({
            "classification": if self.hash_first { "HashFirst" } else { "TemplateGenerationFirst" },
            "uniqueLabelKey": self.key(),
        });
        json!({"now": "2026-01-01T00:00:00Z", "daemonSet": ds, "nodes": nodes, "pods": pods,
            "revisions": revisions, "policy": policy})
    }

    /// The template generation: the annotation, or without one the field; `None` if it is not a number.
    fn wanted(&self) -> Option<i64> {
        match self.generation.text() {
            Some(text) => text.parse().ok(),
            None => self.field,
        }
    }

    /// For each revision, its hash and whether it holds the template.
    fn known(&self) -> Vec<(String, bool)> {
        let revisions = (0..).zip(self.revisions.iter().take(MOST));
        revisions.map(|(i, r)| (r.hash.map_or(format!("ds-{i}"), Hash::text), r.current)).collect()
    }

    /// A second implementation of the rules.
    fn expected(&self, pod: &Pod) -> Evidence {
        let same = self.wanted().is_some_and(|wanted| pod.generation.text() == Some(wanted.to_string()));
        let by_hash = match pod.hash.map(Hash::text) {
            None => Evidence::NoHash,
            Some(hash) => {
                let named: Vec<bool> =
                    self.known().into_iter().filter(|(known, _)| *known == hash).map(|(_, current)| current).collect();
                match (named.contains(&true), named.is_empty()) {
                    (true, _) => Evidence::CurrentRevision,
                    (false, true) => Evidence::UnknownRevision,
                    (false, false) => Evidence::OldRevision,
                }
            }
        };
        if same && (!self.hash_first || pod.hash.is_none()) { Evidence::TemplateGeneration } else { by_hash }
    }
}

fuzz_target!(|input: Input| {
    let recording: Recording = serde_json::from_value(input.recording()).unwrap();
    let plan = plan(&recording.snapshot().unwrap());
    for (index, pod) in input.pods.iter().take(MOST).enumerate() {
        let verdict = &plan.report.nodes[index].pods[0];
        let expected = input.expected(pod);
        assert_eq!(verdict.evidence, expected, "{pod:?}");
        let updated = matches!(expected, Evidence::TemplateGeneration | Evidence::CurrentRevision);
        assert_eq!(verdict.updated, updated, "{pod:?}");
    }
});
