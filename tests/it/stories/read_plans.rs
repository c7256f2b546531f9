//! Plans that are read from JSON: those that hold other objects than pods, those of other versions, and hostile ones.

use crate::support::{Given, given, new, node, old, rolling, round_trip, template};
use daemonset::manifests::{Manifests, NewPod};
use daemonset::{Action, ActionOutcome, Memory, Plan, plan};
use daemonset_audit::audit;
use serde_json::{Value, json, to_value};
use std::sync::Arc;

/// A fleet whose plan deletes and creates pods, and writes the status.
fn busy() -> Given {
    let failed = node("c").has(new().failed());
    given(rolling(1)).node(node("a").has(old())).node(node("b")).node(node("d")).node(failed)
}

fn text(plan: &Plan) -> String {
    serde_json::to_string(plan).unwrap()
}

/// The error, with the path at which it was found.
fn refused(text: &str) -> String {
    let mut json = serde_json::Deserializer::from_str(text);
    serde_path_to_error::deserialize::<_, Plan>(&mut json).unwrap_err().to_string()
}

#[test]
fn an_action_or_a_reason_of_a_newer_version_is_an_error_with_its_path() {
    let plan = text(&busy().plan());
    let error = refused(&plan.replacen("CreatePod", "PullImage", 1));
    assert!(
        error.starts_with("actions[1].type: unknown variant `PullImage`, expected one of `AdoptPod`"),
        "{error}"
    );
    let error = refused(&plan.replacen("MissingPod", "Boredom", 1));
    assert!(error.starts_with("actions[1]: unknown variant `Boredom`"), "{error}");
    let error = refused(&plan.replacen("HeldByMaxUnavailable", "Levitates", 1));
    assert!(error.starts_with("report.nodes[0].outcome: unknown variant `Levitates`"), "{error}");
    let mut form = to_value(busy().plan()).unwrap();
    form["report"].as_object_mut().unwrap().remove("situation");
    assert!(refused(&form.to_string()).contains("missing field `situation`"));
}

#[test]
fn a_member_of_a_newer_version_is_ignored() {
    let plan = busy().plan();
    let mut form = to_value(&plan).unwrap();
    form["signature"] = json!("…");
    form["actions"][0]["deadline"] = json!("2026-01-01T12:00:00Z");
    form["report"]["nodes"][0]["zone"] = json!("eu");
    let read: Plan = serde_json::from_value(form).unwrap();
    assert_eq!((text(&read), read.actions), (text(&plan), plan.actions));
}

/// A create of a small plan in its form, and the manifest in it.
fn create() -> (Value, Value) {
    let plan = given(rolling(1)).node(node("a")).plan();
    let form = to_value(&plan.actions[0]).unwrap();
    let manifest = form["pod"].clone();
    (form, manifest)
}

#[test]
fn a_manifest_without_a_node_is_an_error() {
    let (mut form, manifest) = create();
    form["pod"]["spec"].as_object_mut().unwrap().remove("affinity");
    for pod in [form["pod"].clone(), json!({}), json!(null), json!("pod"), json!([manifest["metadata"]])] {
        form["pod"] = pod;
        let error = serde_json::from_value::<Action>(form.clone()).unwrap_err().to_string();
        assert_eq!(error, "no pod spec of this object names its node");
    }
}

/// The node of a pod is its manifest's, also where the action says another: the audit compares them.
#[test]
fn a_manifest_of_another_node_is_not_hidden() {
    let given = given(rolling(1)).node(node("a"));
    let recording = given.recording();
    let mut form = to_value(given.plan()).unwrap();
    let term = "/actions/0/pod/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms/0";
    *form.pointer_mut(&format!("{term}/matchFields/0/values/0")).unwrap() = json!("b");
    let read: Plan = serde_json::from_value(form).unwrap();
    let found = audit(&recording.snapshot().unwrap(), &read.actions);
    assert_eq!(found[0].kind.to_string(), "the manifest's spec.affinity is wrong");
}

/// Makes an object that holds the pod's spec at some place.
#[derive(Debug)]
struct Holder {
    object: fn(metadata: Value, spec: Value) -> Value,
    place: &'static str,
}

impl Manifests for Holder {
    fn inputs(&self) -> Value {
        json!(1)
    }

    fn manifest(&self, new: &NewPod<'_>) -> Value {
        let pod = new.pod.to_value();
        (self.object)(pod["metadata"].clone(), pod["spec"].clone())
    }

    fn pod_spec(&self) -> &'static str {
        self.place
    }
}

#[test]
fn objects_of_other_kinds_are_read() {
    let job = Holder {
        object: |metadata, spec| json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": {"template": {"spec": spec}}}),
        place: "/spec/template/spec",
    };
    let own_kind = Holder {
        object: |metadata, spec| json!({"kind": "Agent", "metadata": metadata, "spec": {"parts": [{"pod": spec}]}}),
        place: "/spec/parts/0/pod",
    };
    for (manifests, is_known) in [(job, true), (own_kind, false)] {
        let recording = busy().recording();
        let snapshot = recording.builder().manifests(Arc::new(manifests)).check().unwrap();
        let plan = plan(&snapshot);
        let read: Plan = serde_json::from_str(&text(&plan)).unwrap();
        assert_eq!((text(&read), &read.actions), (text(&plan), &plan.actions));
        let created = |plan: &Plan| {
            let pods = plan.actions.iter().filter_map(|action| match action {
                Action::CreatePod { pod, .. } => Some((pod.node().clone(), pod.revision_hash().to_owned())),
                _ => None,
            });
            pods.collect::<Vec<_>>()
        };
        assert_eq!(created(&read), created(&plan));
        assert_eq!(
            audit(&snapshot, &read.actions).is_empty(),
            is_known,
            "the audit looks for the pod spec of a Job"
        );
    }
}

/// A plan tells the hash of its revisions, whatever the key of their label is; an action alone has two keys to look at.
#[test]
fn the_hash_is_found_under_each_key() {
    // A template that was copied from a pod has the label of the other key.
    let mut copied = template("new");
    copied["metadata"]["labels"]["controller-revision-hash"] = json!("copied");
    for (key, template, alone) in [
        ("controller-revision-hash", template("new"), true),
        ("daemonset-controller-hash", template("new"), true),
        ("example.com/hash", template("new"), false),
        ("daemonset-controller-hash", copied, false),
    ] {
        let given = given(rolling(1)).policy(json!({"uniqueLabelKey": key})).revisions([]).node(node("a"));
        let given = given.with("/daemonSet/spec/template", template);
        let plan = given.plan();
        round_trip(&plan, &given.recording());
        let hash = |action: &Action| match action {
            Action::CreatePod { pod, .. } => pod.revision_hash().to_owned(),
            _ => panic!("it is a create"),
        };
        let form = to_value(&plan.actions[1]).unwrap();
        let read: Action = serde_json::from_value(form).unwrap();
        assert_eq!(read, plan.actions[1]);
        assert_eq!(hash(&read) == hash(&plan.actions[1]), alone, "{key}");
    }
}

#[test]
fn too_deep_a_form_is_an_error() {
    let plan = text(&busy().plan());
    for (open, close) in [("[", "]"), (r#"{"spec":"#, "}")] {
        let deep = format!("{}1{}", open.repeat(100_000), close.repeat(100_000));
        let hostile = plan.replacen(r#""app":"agent""#, &format!(r#""app":{deep}"#), 1);
        assert_ne!(hostile, plan);
        assert!(refused(&hostile).contains("recursion limit exceeded"));
    }
}

/// Puts hostile values in every place of a plan's form.
#[test]
fn hostile_forms_give_errors_or_plans_and_no_panic() {
    let given = busy();
    let recording = given.recording();
    let form = to_value(given.plan()).unwrap();
    let mut places = Vec::new();
    collect(&form, String::new(), &mut places);
    assert!(places.len() > 200, "{}", places.len());
    let hostile = [
        json!(null),
        json!(-1),
        json!(u64::MAX),
        json!(1e300),
        json!(""),
        json!("9999-12-31T23:59:59Z"),
        json!("x".repeat(10_000)),
        json!([]),
        json!({}),
        json!([[], {}, null]),
        json!({"": {"": null}, "nodeName": "a"}),
    ];
    let (mut read, mut refused) = (0, 0);
    for place in &places {
        for value in &hostile {
            let mut form = form.clone();
            *form.pointer_mut(place).unwrap() = value.clone();
            match serde_json::from_value::<Plan>(form) {
                Ok(plan) => {
                    read += 1;
                    use_it(&plan, &recording);
                }
                Err(error) => {
                    refused += 1;
                    assert!(!error.to_string().is_empty());
                }
            }
        }
    }
    assert!(read > 500 && refused > 500, "{read} read, {refused} refused");
}

fn collect(value: &Value, place: String, places: &mut Vec<String>) {
    let escaped = |key: &String| key.replace('~', "~0").replace('/', "~1");
    match value {
        Value::Object(members) => {
            members
                .iter()
                .for_each(|(key, value)| collect(value, format!("{place}/{}", escaped(key)), places));
        }
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(i, value)| collect(value, format!("{place}/{i}"), places));
        }
        _ => {}
    }
    places.push(place);
}

/// All that an executor does with a plan.
fn use_it(plan: &Plan, recording: &daemonset::Recording) {
    let written = text(plan);
    let again: Plan = serde_json::from_str(&written).unwrap();
    assert_eq!(text(&again), written);
    let snapshot = recording.snapshot().unwrap();
    let _ = audit(&snapshot, &plan.actions);
    let mut memory = Memory::default();
    for action in plan.batches().flatten() {
        let _ = (action.to_string(), plan.independent_after(action).count());
        memory.record(action, &ActionOutcome::Unknown, recording.now);
        #[cfg(feature = "kube")]
        {
            let caller = daemonset::kube::Caller {
                daemon_set: &recording.daemon_set,
                component: "test",
                now: recording.now,
            };
            let call = daemonset::kube::ApiCall::new(action, &caller);
            call.iter().for_each(|call| drop((call.body_bytes(), call.to_request())));
        }
    }
    memory.observe(&snapshot);
    plan.warnings.iter().for_each(|warning| assert!(!warning.to_string().is_empty()));
    plan.report.nodes.iter().for_each(|node| assert!(!node.outcome.to_string().is_empty()));
    let _ = daemonset::outlook::Outlook::new(plan, recording.now, jiff::SignedDuration::from_mins(10));
    let _ = plan.conditions(&[], recording.now);
}

#[test]
fn the_creates_of_a_plan_share_their_body() {
    let empty = ["a", "b", "c"].into_iter().fold(given(rolling(1)), |given, name| given.node(node(name)));
    let read: Plan = serde_json::from_str(&text(&empty.plan())).unwrap();
    let pods = read.actions.iter().filter_map(|action| match action {
        Action::CreatePod { pod, .. } => Some(&pod.shared),
        _ => None,
    });
    let bodies: Vec<_> = pods.collect();
    assert_eq!(bodies.len(), 3);
    assert!(bodies.iter().all(|body| Arc::ptr_eq(body, bodies[0])));
}
