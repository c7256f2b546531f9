//! Objects that the caller makes: bodies per node, inputs in the revision, and refused ones.

use crate::support::{Given, given, new, node, old, on_delete, revision, rolling};
use daemonset::manifests::{InvalidManifest, ManifestProblem, Manifests, NewPod};
use daemonset::policy::Permissions;
use daemonset::report::Warning;
use daemonset::{Action, Observed, PlanError, Policy, Reconciler, Recording, Snapshot, plan, reconcile};
use daemonset_audit::{ViolationKind, audit};
use serde_json::{Value, json, to_value};
use std::sync::Arc;

/// Adds the memory of the inputs to the container of each node with the label `size: large`, and then changes the object.
#[derive(Debug, Clone)]
struct Sized {
    memory: Value,
    change: fn(&mut Value),
}

fn sized(memory: impl Into<Value>) -> Arc<Sized> {
    changed(memory, |_| {})
}

fn changed(memory: impl Into<Value>, change: fn(&mut Value)) -> Arc<Sized> {
    Arc::new(Sized { memory: memory.into(), change })
}

impl Manifests for Sized {
    fn inputs(&self) -> Value {
        self.memory.clone()
    }

    fn manifest(&self, new: &NewPod<'_>) -> Value {
        let mut pod = new.pod.to_value();
        if new.node.label("size") == Some("large") {
            pod["spec"]["containers"][0]["memory"] = new.inputs.clone();
        }
        (self.change)(&mut pod);
        pod
    }
}

/// A Job for each node, which holds the pod.
#[derive(Debug)]
struct Jobs;

impl Manifests for Jobs {
    fn inputs(&self) -> Value {
        Value::Null
    }

    fn manifest(&self, new: &NewPod<'_>) -> Value {
        let pod = new.pod.to_value();
        let spec = json!({"template": {"spec": pod["spec"]}});
        json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": pod["metadata"], "spec": spec})
    }

    fn pod_spec(&self) -> &'static str {
        "/spec/template/spec"
    }
}

/// The template's pod, whose required affinity has a second term with this field.
#[derive(Debug)]
struct SecondTerm(Value);

impl Manifests for SecondTerm {
    fn inputs(&self) -> Value {
        Value::Null
    }

    fn manifest(&self, new: &NewPod<'_>) -> Value {
        let mut pod = new.pod.to_value();
        let required = "requiredDuringSchedulingIgnoredDuringExecution";
        let terms = &mut pod["spec"]["affinity"]["nodeAffinity"][required]["nodeSelectorTerms"];
        terms.as_array_mut().unwrap().push(json!({"matchFields": [self.0]}));
        pod
    }
}

fn checked(recording: &Recording, manifests: Arc<dyn Manifests>) -> Snapshot<'_> {
    recording.builder().manifests(manifests).check().unwrap()
}

/// The actions of the plan, which breaks no rule.
fn planned(given: &Given, manifests: Arc<dyn Manifests>) -> Vec<Action> {
    let recording = given.recording();
    let snapshot = checked(&recording, Arc::clone(&manifests));
    assert_eq!(snapshot.now(), recording.now, "the actions of a plan are recorded at its time");
    let actions = reconcile(&snapshot);
    assert_eq!(actions, plan(&snapshot).actions);
    assert_eq!(audit(&snapshot, &actions), [], "a plan breaks no rule");
    let replay = Recording::from(&snapshot);
    let replay = Recording::from_json(&serde_json::to_vec(&replay).unwrap()).unwrap();
    assert_eq!(reconcile(&checked(&replay, manifests)), actions, "a replay is the same");
    actions
}

/// Why there is no plan.
fn refused(given: &Given, manifests: Arc<dyn Manifests>) -> Option<ManifestProblem> {
    let recording = given.recording();
    match plan(&checked(&recording, manifests)).warnings.as_slice() {
        [Warning::InvalidManifest(InvalidManifest { problem, .. })] => Some(*problem),
        _ => None,
    }
}

fn bodies(actions: &[Action]) -> Vec<Value> {
    let pods = actions.iter().filter_map(|action| match action {
        Action::CreatePod { pod, .. } => Some(pod.to_value()),
        _ => None,
    });
    pods.collect()
}

fn kinds(actions: &[Action]) -> Vec<&str> {
    actions.iter().map(Action::kind).filter(|kind| *kind != "UpdateStatus").collect()
}

/// The fleet after the plan: the new revision is stored, and all pods are Ready on their nodes.
fn after(fleet: Given, actions: &[Action]) -> Given {
    let mut next = fleet;
    for action in actions {
        if let Action::CreateRevision { revision, .. } = action {
            let mut stored = revision.clone();
            stored["metadata"]["uid"] = json!(format!("uid-{}", stored["metadata"]["name"]));
            next.json["revisions"].as_array_mut().unwrap().push(stored);
        }
        if let Action::CreatePod { node: on, pod, .. } = action {
            let mut stored =
                given(on_delete()).node(node(on.as_str()).has(new().ready_for(600))).json["pods"][0].clone();
            stored["metadata"]["labels"] = pod.to_value()["metadata"]["labels"].clone();
            next.json["pods"].as_array_mut().unwrap().push(stored);
        }
    }
    next
}

#[test]
fn manifests_that_change_nothing_make_the_templates_pods() {
    for given in [
        given(on_delete()).generation(4).node(node("a")).node(node("b")),
        given(rolling(1)).node(node("a").has(old())).node(node("b").has(new())).revisions([]),
    ] {
        let actions = planned(&given, sized(Value::Null));
        assert_eq!(to_value(actions).unwrap(), to_value(given.plan().actions).unwrap());
    }
}

#[test]
fn a_node_gets_the_object_that_is_made_for_it() {
    let fleet = given(on_delete()).node(node("a").label("size", "large")).node(node("b")).revisions([]);
    let actions = planned(&fleet, sized("1Gi"));
    let memory: Vec<Value> =
        bodies(&actions).iter().map(|pod| pod["spec"]["containers"][0]["memory"].clone()).collect();
    assert_eq!(memory, [json!("1Gi"), Value::Null]);
    let Action::CreateRevision { revision, .. } = &actions[0] else { panic!("a new revision") };
    assert_eq!(revision["data"]["ingredients"], "1Gi");
}

#[test]
fn other_inputs_are_another_revision_and_a_rollout() {
    let fleet = given(rolling(1)).node(node("a")).node(node("b")).revisions([]);
    let fleet = after(fleet.clone(), &planned(&fleet, sized("1Gi")));
    assert_eq!(kinds(&planned(&fleet, sized("1Gi"))), [""; 0], "nothing has changed");
    assert_eq!(kinds(&planned(&fleet, sized("2Gi"))), ["CreateRevision", "DeletePod"]);
    assert_eq!(kinds(&fleet.plan().actions), ["CreateRevision", "DeletePod"], "without inputs");
    let two = after(fleet.clone(), &planned(&fleet, sized("2Gi")));
    assert_eq!(kinds(&planned(&two, sized("1Gi")))[0], "RenumberRevision", "the first one is current again");
}

/// The API server counts changes of the template only.
#[test]
fn a_template_generation_does_not_hide_other_inputs() {
    let fleet = given(rolling(1)).generation(4).node(node("a")).revisions([]);
    let first = planned(&fleet, sized("1Gi"));
    assert_eq!(bodies(&first)[0]["metadata"]["labels"].get("pod-template-generation"), None);
    let labelled = given(rolling(1)).generation(4).node(node("a").has(old().generation("4").ready_for(60)));
    assert_eq!(kinds(&planned(&labelled, sized("1Gi"))), ["CreateRevision", "DeletePod"]);
    assert!(
        !kinds(&planned(&labelled, sized(Value::Null))).contains(&"DeletePod"),
        "nothing else is counted"
    );
}

#[test]
fn an_object_that_the_next_plan_would_not_find_is_refused() {
    let fleet = given(on_delete()).generation(4).node(node("a"));
    assert_eq!(refused(&fleet, sized(Value::Null)), None);
    let problem = |change: fn(&mut Value)| refused(&fleet, changed(Value::Null, change)).unwrap();
    let hash = |pod: &mut Value| pod["metadata"]["labels"]["controller-revision-hash"] = json!("other");
    assert_eq!(problem(hash), ManifestProblem::Hash);
    assert_eq!(problem(|pod| *pod = json!("no object")), ManifestProblem::Hash);
    assert_eq!(
        problem(|pod| pod["metadata"]["labels"]["pod-template-generation"] = json!("3")),
        ManifestProblem::TemplateGeneration
    );
    assert_eq!(problem(|pod| pod["metadata"]["labels"]["app"] = json!("x")), ManifestProblem::Selector);
    assert_eq!(problem(|pod| pod["metadata"]["namespace"] = json!("x")), ManifestProblem::Namespace);
    assert_eq!(problem(|pod| pod["metadata"]["ownerReferences"] = json!([])), ManifestProblem::Owner);
    let kind = |pod: &mut Value| pod["metadata"]["ownerReferences"][0]["kind"] = json!("AgentSet");
    assert_eq!(problem(kind), ManifestProblem::Owner);
    let second = |pod: &mut Value| {
        let owners = pod["metadata"]["ownerReferences"].as_array_mut().unwrap();
        owners.push(json!({"apiVersion": "v1", "kind": "X", "name": "x", "uid": "x", "controller": true}));
    };
    assert_eq!(problem(second), ManifestProblem::Owner);
    assert_eq!(problem(|pod| pod["spec"]["affinity"] = json!(null)), ManifestProblem::Node);
    assert_eq!(problem(|pod| pod["spec"]["nodeName"] = json!("b")), ManifestProblem::Node);
    let second_term = |pod: &mut Value| {
        let required = "requiredDuringSchedulingIgnoredDuringExecution";
        let terms = &mut pod["spec"]["affinity"]["nodeAffinity"][required]["nodeSelectorTerms"];
        terms.as_array_mut().unwrap().push(json!({"matchExpressions": [{"key": "x", "operator": "Exists"}]}));
    };
    assert_eq!(problem(second_term), ManifestProblem::Node, "the scheduler could bind it elsewhere");
    let text = problem(|pod| {
        pod["spec"]["tolerations"].as_array_mut().unwrap().pop();
    });
    assert_eq!(text, ManifestProblem::Tolerations);
}

#[test]
fn each_term_of_the_affinity_must_name_the_node_alone() {
    let fleet = given(on_delete()).node(node("a"));
    let problem = |key: &str, operator: &str, values: &[&str]| {
        let term = SecondTerm(json!({"key": key, "operator": operator, "values": values}));
        refused(&fleet, Arc::new(term))
    };
    assert_eq!(problem("metadata.name", "In", &["a"]), None);
    let elsewhere = Some(ManifestProblem::Node);
    assert_eq!(problem("metadata.name", "NotIn", &["a"]), elsewhere);
    assert_eq!(problem("metadata.name", "In", &["b"]), elsewhere);
    assert_eq!(problem("metadata.name", "In", &["a", "b"]), elsewhere);
    assert_eq!(problem("metadata.namespace", "In", &["a"]), elsewhere);
}

/// Not even the other creates of the plan: who overlooks the reason does no harm.
#[test]
fn nothing_is_done_where_an_object_is_refused() {
    let fleet = given(on_delete()).node(node("a").label("size", "large")).node(node("b"));
    let manifests = changed(1, |pod| {
        let is_large = pod["spec"]["containers"][0].get("memory").is_some();
        if is_large {
            pod["spec"] = json!({});
        }
    });
    let recording = fleet.recording();
    let snapshot = checked(&recording, manifests);
    assert_eq!(reconcile(&snapshot), []);
    let plan = plan(&snapshot);
    assert_eq!((plan.actions.len(), &plan.status), (0, &None));
    let words: Vec<String> = plan.warnings.iter().map(ToString::to_string).collect();
    assert_eq!(words, ["nothing is done: the manifest for node a: the pod spec must name the node"]);
    let form = to_value(&plan.warnings[0]).unwrap();
    assert_eq!(form, json!({"type": "InvalidManifest", "node": "a", "problem": "Node"}));
    assert_eq!(serde_json::from_value::<Warning>(form).unwrap(), plan.warnings[0]);
}

#[test]
fn a_reconciler_reports_a_refused_object() {
    let given = given(on_delete()).node(node("a"));
    let recording = given.recording();
    let Recording { daemon_set, nodes, pods, revisions, now, .. } = &recording;
    let observed = Observed { daemon_set, nodes, pods, revisions };
    let manifests = changed(Value::Null, |pod| pod["spec"] = json!({}));
    let mut reconciler = Reconciler::new("uid-agent", Policy::default()).with_manifests(manifests);
    let Err(PlanError::Manifest(refused)) = reconciler.plan(observed, *now) else {
        panic!("the object names no node")
    };
    assert_eq!(refused.to_string(), "the manifest for node a: the pod spec must name the node");
    reconciler.set_manifests(sized(Value::Null));
    let plan = reconciler.plan(observed, *now).unwrap();
    assert_eq!(to_value(plan.actions).unwrap(), to_value(given.plan().actions).unwrap());
}

/// Per-node bodies may bind by name, and tolerate more than the template's pods do.
#[test]
fn an_object_may_bind_by_name_and_tolerate_more() {
    let manifests = changed("1Gi", |pod| {
        pod["spec"]["nodeName"] = json!("a");
        let tolerations = pod["spec"]["tolerations"].as_array_mut().unwrap();
        tolerations.push(json!({"key": "x", "operator": "Exists"}));
    });
    assert_eq!(bodies(&planned(&given(on_delete()).node(node("a")), manifests)).len(), 1);
}

#[test]
fn another_kind_holds_its_pod_spec_elsewhere() {
    let jobs = bodies(&planned(&given(on_delete()).node(node("a")), Arc::new(Jobs)));
    assert_eq!(jobs[0]["kind"], "Job");
    assert_eq!(jobs[0]["spec"]["template"]["spec"]["affinity"], crate::support::affinity("a"));
}

/// A plan of one snapshot, judged by another: the audit reads the caller's object itself.
#[test]
fn the_audit_judges_the_objects_of_the_caller() {
    let fleet = || given(on_delete()).node(node("a")).node(node("b"));
    let broken = |judged: &Given, manifests: Arc<dyn Manifests>, change: fn(&mut Vec<Action>)| {
        let (planned, judged) = (fleet().recording(), judged.recording());
        let mut actions = reconcile(&checked(&planned, Arc::new(Jobs)));
        actions.retain(|action| matches!(action, Action::CreatePod { .. }));
        change(&mut actions);
        let found = audit(&checked(&judged, manifests), &actions);
        let fields = found.into_iter().filter_map(|violation| match violation.kind {
            ViolationKind::WrongManifest { field } => Some(field),
            _ => None,
        });
        fields.collect::<Vec<_>>()
    };
    assert_eq!(broken(&fleet(), Arc::new(Jobs), |_| {}), [""; 0]);
    let retarget = |actions: &mut Vec<Action>| {
        actions.truncate(1);
        if let Some(Action::CreatePod { node, .. }) = actions.first_mut() {
            *node = "b".into();
        }
    };
    assert_eq!(broken(&fleet(), Arc::new(Jobs), retarget), ["spec.affinity"]);
    let tolerating =
        fleet().policy(json!({"daemonTolerations": {"Given": [{"key": "x", "operator": "Exists"}]}}));
    assert_eq!(broken(&tolerating, Arc::new(Jobs), |_| {}), ["spec.tolerations"; 2]);
    let other =
        fleet().with("/daemonSet/kind", json!("AgentSet")).with("/daemonSet/apiVersion", json!("x/v1"));
    assert_eq!(broken(&other, Arc::new(Jobs), |_| {}), ["metadata.ownerReferences"; 2]);
    let hash = broken(&fleet(), sized("1Gi"), |_| {});
    assert_eq!(hash, ["metadata.labels: hash"; 2], "of other inputs");
}

/// A plan without its manifests would delete and create each pod once.
#[test]
fn a_revision_with_the_wrong_inputs_breaks_a_rule() {
    let fleet = given(on_delete()).node(node("a")).revisions([]).recording();
    let broken = |one: Arc<dyn Manifests>, other: Arc<dyn Manifests>| {
        let actions = reconcile(&checked(&fleet, one));
        let found = audit(&checked(&fleet, other), &actions[..1]);
        found.into_iter().map(|violation| violation.kind).collect::<Vec<_>>()
    };
    let wrong = [ViolationKind::WrongRevision { field: "data" }];
    assert_eq!(broken(sized("1Gi"), sized("1Gi")), []);
    assert_eq!(broken(sized("1Gi"), sized("2Gi")), wrong);
    assert_eq!(broken(sized("1Gi"), sized(Value::Null)), wrong);
    assert_eq!(broken(sized(Value::Null), sized("1Gi")), wrong);
    let stored =
        Recording::from_json(br#"{"now": "2026-01-01T00:00:00Z", "daemonSet": {}, "ingredients": 1}"#);
    assert_eq!(stored.unwrap().inputs, 1);
    assert_eq!(plan(&fleet.snapshot().unwrap()).actions.len(), 3);
}

/// With the current generation it would count as an updated pod, and its node as reached.
#[test]
fn a_pod_of_the_stable_revision_with_the_current_generation_is_refused() {
    let fleet = given(rolling(1))
        .generation(5)
        .node(node("a"))
        .node(node("b").has(old()))
        .policy(json!({"rollout": {"paused": true}}));
    let problem = |change: fn(&mut Value)| refused(&fleet, changed(Value::Null, change));
    let current = problem(|pod| pod["metadata"]["labels"]["pod-template-generation"] = json!("5"));
    assert_eq!(current, Some(ManifestProblem::TemplateGeneration));
    assert_eq!(problem(|pod| pod["metadata"]["labels"]["pod-template-generation"] = json!("4")), None);
}

/// The promise of at most one pod rests on the name.
#[test]
fn another_name_is_refused_where_each_node_has_one() {
    let named = changed(Value::Null, |pod| pod["metadata"]["name"] = json!("another"));
    let fleet = |policy| given(rolling(1)).node(node("a")).node(node("b").has(new())).policy(policy);
    let one = json!({"podNames": "OnePerNode"});
    assert_eq!(refused(&fleet(one.clone()), Arc::clone(&named) as _), Some(ManifestProblem::Name));
    assert_eq!(refused(&fleet(one), sized(Value::Null)), None);
    assert_eq!(refused(&fleet(json!({})), named), None);
}

/// Image and inputs change in one edit: a patch of the image would leave the pod with the old inputs, under the new hash.
#[test]
fn other_inputs_are_not_put_into_a_pod_in_its_place() {
    let with = |version, number, memory: &str| {
        let mut revision = revision(version, number);
        revision["data"]["ingredients"] = json!(memory);
        revision
    };
    let deleted = |before| {
        let fleet = given(rolling(1))
            .node(node("a").has(old().runs("old", "runtime://1", 3600)))
            .revisions([with("old", 1, before), with("new", 2, "2Gi")])
            .policy(json!({"inPlace": "IfPossible"}));
        let recording = fleet.recording();
        reconcile(&checked(&recording, sized("2Gi"))).iter().any(|action| action.kind() == "DeletePod")
    };
    assert_eq!([deleted("1Gi"), deleted("2Gi")], [true, false]);
}

/// A template alone does not bring inputs back. The check of the snapshot refuses such an undo, and there is no plan at all: a policy of
/// annotations pauses before that.
#[test]
fn an_undo_in_annotations_pauses_where_there_are_inputs() {
    let text = json!({"onFailure": {"action": "Undo"}}).to_string();
    let fleet = given(rolling(1)).node(node("a"));
    let given = fleet.with("/daemonSet/metadata/annotations", json!({"rollout.daemonset/policy": text}));
    let recording = given.recording();
    let Recording { daemon_set, nodes, pods, revisions, now, .. } = &recording;
    let read = Policy::from_annotations(daemon_set, &Permissions::default()).unwrap();
    assert_eq!(read.clone().for_inputs(daemon_set, &Value::Null).unwrap(), read);
    let manifests = sized("1Gi");
    let planned = |policy| {
        let observed = Observed { daemon_set, nodes, pods, revisions };
        let mut reconciler = Reconciler::new("uid-agent", policy).with_manifests(Arc::clone(&manifests) as _);
        reconciler.plan(observed, *now)
    };
    assert_eq!(planned(read.clone()).unwrap_err().problems()[0].path, "policy.rollout.onFailure.action");
    let invalid = read.for_inputs(daemon_set, &manifests.inputs()).unwrap_err();
    assert_eq!(
        (invalid.problems[0].annotation.as_str(), invalid.problems[0].problem.path.as_str()),
        ("rollout.daemonset/policy", "onFailure.action")
    );
    assert!(planned(invalid.policy(Policy::default())).is_ok());
}
