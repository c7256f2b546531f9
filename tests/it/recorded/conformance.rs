//! Recorded cases of Kubernetes' own controller, with the answers that the contract expects.
//!
//! `EXCEPTIONS` lists the cases with another answer, each with its reason.

use crate::properties::changes::{History, live};
use crate::support::round_trip;
use daemonset::policy::PodNames;
use daemonset::report::Wait;
use daemonset::{Action, CreateReason, DeleteReason, InvalidInput, Plan, Recording, plan, reconcile};
use daemonset_audit::audit;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Cases whose contract answer is wrong, each with the reason.
const EXCEPTIONS: [(&str, &str); 0] = [];

/// One line of a case file; the recording is the line itself.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Case {
    name: String,
    contract: Value,
    #[serde(default)]
    upstream: Option<Value>,
    #[serde(default)]
    differs: Vec<String>,
}

#[test]
fn cases_of_the_repository_are_answered_by_the_contract() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    check_files(
        &["small.jsonl", "extra.jsonl", "down.jsonl", "rollout.jsonl", "sunset.jsonl", "turns.jsonl"]
            .map(|name| data.join(name)),
    );
}

/// `DAEMONSET_CONFORMANCE=cases.jsonl:extra.jsonl cargo test conformance` runs files from elsewhere.
#[test]
fn cases_of_the_named_files_are_answered_by_the_contract() {
    match std::env::var("DAEMONSET_CONFORMANCE") {
        Ok(files) => check_files(&std::env::split_paths(&files).collect::<Vec<_>>()),
        Err(_) => println!("DAEMONSET_CONFORMANCE names no files: skipped"),
    }
}

fn check_files(files: &[impl AsRef<Path>]) {
    let mut failures = BTreeMap::new();
    let (mut cases, mut agreeing) = (0, 0);
    // Object by object a case takes twenty times as long: all of them do so at night.
    let one_in = if std::env::var_os("PROPTEST_CASES").is_some() { 1 } else { 20 };
    let mut differences: BTreeMap<String, u32> = BTreeMap::new();
    for file in files {
        let text = std::fs::read_to_string(file).unwrap();
        for line in text.lines() {
            let case: Case = serde_json::from_str(line).unwrap();
            cases += 1;
            let problems = check_case(&case, line, cases % one_in == 0);
            if !problems.is_empty() && !EXCEPTIONS.iter().any(|(name, _)| *name == case.name) {
                failures.insert(case.name.clone(), problems);
            }
            agreeing += u32::from(case.differs.is_empty() && case.upstream.is_some());
            for name in case.differs {
                *differences.entry(name).or_default() += 1;
            }
        }
    }
    println!("{cases} cases, {} wrong; Kubernetes agrees in {agreeing}", failures.len());
    println!("differences from Kubernetes: {differences:?}");
    for (name, argument) in EXCEPTIONS {
        println!("exception {name}: {argument}");
    }
    assert!(cases > 0);
    for (name, problems) in failures.iter().take(20) {
        println!("{name}: {problems:#?}");
    }
    assert!(failures.is_empty(), "{} of {cases} cases are answered otherwise", failures.len());
}

/// The differences between our answer and the contract.
fn check_case(case: &Case, line: &str, goes_by_objects: bool) -> Vec<String> {
    let recording = match Recording::from_json(line.as_bytes()) {
        Ok(recording) => recording,
        Err(error) => return check_error(&case.contract, &[error.path]),
    };
    match recording.snapshot() {
        Err(InvalidInput { problems, .. }) => {
            check_error(&case.contract, &problems.into_iter().map(|p| p.path).collect::<Vec<_>>())
        }
        Ok(snapshot) => {
            let plan = plan(&snapshot);
            let mut problems = check_plan(case, &recording, &plan);
            if reconcile(&snapshot) != plan.actions {
                problems.push("reconcile and plan differ".to_owned());
            }
            problems.extend(audit(&snapshot, &plan.actions).iter().map(ToString::to_string));
            if goes_by_objects {
                problems.extend(object_by_object(&recording).err());
            }
            round_trip(&plan, &recording);
            problems
        }
    }
}

/// The objects of a case come one after the other, in random order; after each the plan from changes is that of all objects.
fn object_by_object(recording: &Recording) -> Result<u32, String> {
    let mut empty = recording.clone();
    (empty.nodes, empty.pods, empty.revisions) = (vec![], vec![], vec![]);
    let seed = recording.pods.len() as u64 + 1_000 * recording.nodes.len() as u64;
    live(&History { fleets: vec![empty, recording.clone()], seed })
}

fn check_error(contract: &Value, paths: &[String]) -> Vec<String> {
    let expected = contract["error"].as_str();
    let found = paths.iter().filter_map(|path| path.rsplit('.').next());
    // Of one element of a list the list is named.
    let found = found.map(|field| field.split('[').next().unwrap_or(field));
    // A case is made with one error, and may have more of them by chance.
    if expected.is_some_and(|expected| found.clone().any(|field| field == expected)) {
        Vec::new()
    } else {
        vec![format!("expected error {expected:?}, found {paths:?}")]
    }
}

fn check_plan(case: &Case, recording: &Recording, plan: &Plan) -> Vec<String> {
    let answer = answer(recording, plan, &case.contract);
    let mut problems = Vec::new();
    let Some(contract) = case.contract.as_object() else { return vec!["no contract".to_owned()] };
    for (key, expected) in contract {
        let found = &answer[key];
        if key == "status" && expected.is_object() {
            problems.extend(different_members(expected, found));
        } else if found != expected {
            problems.push(format!("{key}: expected {expected}, found {found}"));
        }
    }
    let created = case.upstream.as_ref().map_or(&Value::Null, |upstream| &upstream["createdPod"]);
    if created.is_object() {
        problems.extend(check_manifest(created, plan));
    }
    problems
}

fn different_members(expected: &Value, found: &Value) -> Vec<String> {
    let members = expected.as_object().unwrap().iter();
    let different = members.filter(|(key, value)| found[key.as_str()] != **value);
    different.map(|(key, value)| format!("status.{key}: expected {value}, found {}", found[key])).collect()
}

/// Our plan in the form of a contract answer.
fn answer(recording: &Recording, plan: &Plan, contract: &Value) -> Value {
    let mut sets: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    let mut revisions: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    let mut renumbered = BTreeMap::new();
    let mut created = Value::Null;
    let mut events = Vec::new();
    let mut marks: BTreeMap<String, Option<String>> = BTreeMap::new();
    let stable = plan.report.rollout.as_ref().and_then(|rollout| rollout.stable.as_deref());
    let stable_hash =
        stable.and_then(|stable| recording.revisions.iter().find(|r| r.metadata.name == stable));
    let stable_hash = stable_hash.map(|stable| {
        stable.metadata.labels.get(&recording.policy.unique_label_key).unwrap_or(&stable.metadata.name)
    });
    let mut turns = Turns::default();
    for action in &plan.actions {
        if turns.takes(action) {
            continue;
        }
        match action {
            Action::AdoptPod { pod, .. } => sets.entry("adoptedPods").or_default().insert(pod.name.clone()),
            Action::ReleasePod { pod, .. } => {
                sets.entry("releasedPods").or_default().insert(pod.name.clone())
            }
            Action::LabelPod { pod, .. } => sets.entry("labelledPods").or_default().insert(pod.name.clone()),
            Action::DeletePod { pod, .. } => sets.entry("deletes").or_default().insert(pod.name.clone()),
            Action::CreatePod { node, pod, .. } => {
                if stable_hash == Some(pod.revision_hash()) {
                    sets.entry("baseCreates").or_default().insert(node.to_string());
                }
                sets.entry("creates").or_default().insert(node.to_string())
            }
            Action::AdoptRevision { revision, .. } => {
                revisions.entry("adopted").or_default().insert(revision.name.clone())
            }
            Action::ReleaseRevision { revision, .. } => {
                revisions.entry("released").or_default().insert(revision.name.clone())
            }
            Action::LabelRevision { revision, .. } => {
                revisions.entry("labelled").or_default().insert(revision.name.clone())
            }
            Action::DeleteRevision { revision, .. } => {
                revisions.entry("deleted").or_default().insert(revision.name.clone())
            }
            Action::RenumberRevision { revision, number, .. } => {
                renumbered.insert(revision.name.clone(), *number).is_none()
            }
            Action::CreateRevision { revision, .. } => {
                created = revision["revision"].clone();
                true
            }
            Action::AnnotateRevision { annotations, .. } => {
                for (key, value) in annotations {
                    let rest = value.as_deref().map(|value| value.splitn(3, ' ').nth(2).unwrap_or_default());
                    marks.insert(key.rsplit('/').next().unwrap().to_owned(), rest.map(str::to_owned));
                }
                true
            }
            Action::RecordEvent { reason, .. } => {
                events.push(format!("{reason:?}"));
                true
            }
            Action::UpdateStatus { .. }
            | Action::RestoreTemplate { .. }
            | Action::Requeue { .. }
            | Action::UpdatePodInPlace { .. }
            | Action::PatchNode { .. } => true,
        };
    }
    events.sort();
    let mut answer = json!({"status": plan.status, "events": events, "marks": marks, "base": stable});
    for key in ["creates", "baseCreates", "deletes", "adoptedPods", "releasedPods", "labelledPods"] {
        answer[key] = json!(sets.remove(key).unwrap_or_default());
    }
    answer["revisions"] = json!({"created": created, "renumbered": renumbered});
    for key in ["labelled", "deleted", "adopted", "released"] {
        answer["revisions"][key] = json!(revisions.remove(key).unwrap_or_default());
    }
    if let Some(budget) = plan.report.budget {
        answer["budget"] = json!({
            "D": budget.desired, "M": budget.max_unavailable, "S": budget.max_surge,
            "U": budget.unavailable, "NR": budget.not_ready,
        });
    }
    turns.answer(recording, plan, contract, &mut answer);
    answer
}

/// The parts of an answer about turns, pulls and changes in place.
#[derive(Default)]
struct Turns {
    patches: Vec<Value>,
    in_place: BTreeMap<String, Value>,
    pull_creates: BTreeMap<String, Value>,
    pull_deletes: BTreeSet<String>,
    names: BTreeMap<String, Value>,
}

impl Turns {
    /// Whether nothing else counts the action.
    fn takes(&mut self, action: &Action) -> bool {
        match action {
            Action::PatchNode { node, unschedulable, annotations, reason, .. } => {
                let mut patch = json!({"node": node.name, "annotations": annotations, "reason": reason});
                if let Some(unschedulable) = unschedulable {
                    patch["unschedulable"] = json!(unschedulable);
                }
                self.patches.push(patch);
            }
            Action::UpdatePodInPlace { pod, patch, .. } => {
                let mut patch = patch.clone();
                let since = &mut patch["metadata"]["annotations"]["in-place.daemonset/since"];
                *since = serde_json::from_str(since.as_str().unwrap()).unwrap();
                self.in_place.insert(pod.name.clone(), patch);
            }
            Action::CreatePod { node, pod, reason: CreateReason::PullImages, .. } => {
                let value = pod.to_value();
                let images: Vec<&Value> =
                    value["spec"]["containers"].as_array().unwrap().iter().map(|c| &c["image"]).collect();
                let pull = json!({"name": pod.name(), "revision": pod.revision_hash(), "images": images});
                self.pull_creates.insert(node.to_string(), pull);
            }
            Action::DeletePod { pod, reason: DeleteReason::PullDone, .. } => {
                self.pull_deletes.insert(pod.name.clone());
            }
            Action::CreatePod { node, pod, .. } => {
                self.names.insert(node.to_string(), json!(pod.name()));
                return false;
            }
            _ => return false,
        }
        true
    }

    fn answer(self, recording: &Recording, plan: &Plan, contract: &Value, answer: &mut Value) {
        let Turns { patches, in_place, pull_creates, pull_deletes, names } = self;
        answer["patches"] = json!(patches);
        answer["inPlace"] = json!(in_place);
        answer["pulls"] = json!({"creates": pull_creates, "deletes": pull_deletes});
        let is_named = recording.policy.pod_names == PodNames::OnePerNode;
        answer["names"] = if is_named { json!(names) } else { json!({}) };
        let mut waits = BTreeMap::new();
        for node in &plan.report.nodes {
            let outcome = serde_json::to_value(&node.outcome).unwrap();
            let kind = outcome["type"].as_str().unwrap();
            if node.outcome.wait().is_some_and(Wait::is_of_candidate) {
                let mut wait = outcome.clone();
                wait.as_object_mut().unwrap().remove("type");
                wait.as_object_mut().unwrap().remove("turn");
                wait["outcome"] = json!(kind);
                waits.insert(node.node.to_string(), wait);
            }
        }
        answer["waits"] = json!(waits);
        let mut warnings = BTreeMap::new();
        for warning in &plan.warnings {
            let warning = serde_json::to_value(warning).unwrap();
            let kind = warning["type"].as_str().unwrap();
            if ["TurnOverdue", "NameTaken", "InPlaceStuck"].contains(&kind) {
                warnings.insert(kind.to_owned(), warning["nodes"].clone());
            }
        }
        answer["warnings"] = json!(warnings);
        // Some requeue must not be later than that.
        let by: Option<jiff::Timestamp> = contract["requeueBy"].as_str().map(|at| at.parse().unwrap());
        let is_in_time = by.is_none_or(|by| plan.requeue_at().is_some_and(|at| at <= by));
        answer["requeueBy"] =
            if is_in_time { contract["requeueBy"].clone() } else { json!(plan.requeue_at()) };
    }
}

/// Our manifests equal those of Kubernetes, except for the node, the hash, and the fields that a sender adds.
fn check_manifest(expected: &Value, plan: &Plan) -> Vec<String> {
    let expected = comparable(expected.clone());
    let created = plan.actions.iter().filter_map(|action| match action {
        Action::CreatePod { node, pod, .. } => Some((node, comparable(pod.to_value()))),
        _ => None,
    });
    let different = created.filter(|(_, manifest)| *manifest != expected);
    different
        .map(|(node, manifest)| format!("manifest for {node}: expected {expected}, found {manifest}"))
        .collect()
}

fn comparable(mut pod: Value) -> Value {
    pod.sort_all_objects();
    for member in ["apiVersion", "kind", "status"] {
        pod.as_object_mut().unwrap().remove(member);
    }
    pod["metadata"].as_object_mut().unwrap().remove("namespace");
    for key in ["controller-revision-hash", "daemonset-controller-hash"] {
        if pod["metadata"]["labels"].get(key).is_some() {
            pod["metadata"]["labels"][key] = json!("HASH");
        }
    }
    let required = "/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms/0/matchFields/0/values";
    *pod.pointer_mut(required).unwrap() = json!(["NODE"]);
    let tolerations = pod["spec"]["tolerations"].as_array_mut().unwrap();
    tolerations.sort_by_key(Value::to_string);
    pod
}
