//! A custom kind that works like a DaemonSet: it is named wherever `apps/v1` DaemonSet would be.

use super::tracker::observed;
use crate::support::{Given, given, node, on_delete};
use daemonset::model::{DaemonSet, Owner};
use daemonset::{Action, PlanError, Policy, Reconciler, Recording, reconcile};
use daemonset_audit::{ViolationKind, audit};
use daemonset_incremental::{Change, NeedsLists, Tracker, VerifyError};
use serde_json::{Value, json, to_value};

fn kind() -> Owner {
    Owner::new("agents.example.com/v1", "AgentSet")
}

fn agent_set() -> Given {
    given(on_delete())
        .node(node("a"))
        .revisions([])
        .with("/daemonSet/apiVersion", json!("agents.example.com/v1"))
        .with("/daemonSet/kind", json!("AgentSet"))
}

/// The controllers that created objects name.
fn owners(actions: &[Action]) -> Vec<Value> {
    let manifest = |action: &Action| match action {
        Action::CreateRevision { revision, .. } => Some(revision.clone()),
        Action::CreatePod { pod, .. } => Some(pod.to_value()),
        _ => None,
    };
    actions.iter().filter_map(manifest).map(|object| object["metadata"]["ownerReferences"].clone()).collect()
}

#[test]
fn pods_and_revisions_name_the_kind_of_the_object_as_their_owner() {
    let owner = |api_version: &str, kind: &str| {
        json!([{
            "apiVersion": api_version, "kind": kind, "name": "agent", "uid": "uid-agent",
            "controller": true, "blockOwnerDeletion": true,
        }])
    };
    let custom = owner("agents.example.com/v1", "AgentSet");
    assert_eq!(owners(&agent_set().plan().actions), [custom.clone(), custom]);
    for (api_version, kind) in
        [("", ""), ("apps/v1", "DaemonSet"), ("extensions/v1beta1", "DaemonSet"), ("apps/v1", "")]
    {
        let given = agent_set().with("/daemonSet/apiVersion", json!(api_version));
        let plan = given.with("/daemonSet/kind", json!(kind)).plan();
        let kubernetes = owner("apps/v1", "DaemonSet");
        assert_eq!(owners(&plan.actions), [kubernetes.clone(), kubernetes], "{api_version} {kind}");
    }
}

#[test]
fn a_kind_of_the_same_name_in_another_group_is_a_kind_of_its_own() {
    let kruise = Owner::from_type_meta("apps.kruise.io/v1alpha1", "DaemonSet");
    assert_eq!(kruise.resource(), "daemonsets.apps.kruise.io");
    assert_eq!(kruise.qualified_kind(), "DaemonSet.apps.kruise.io");
    assert!(!kruise.is_daemon_set());
}

#[test]
fn the_kind_of_an_object_is_that_of_its_json() {
    let object = json!({"apiVersion": "agents.example.com/v1", "kind": "AgentSet", "plural": "ignored"});
    assert_eq!(Owner::from_object(&object), kind());
    assert_eq!(Owner::from_object(&json!({"metadata": {"name": "agent"}})), Owner::default());
    let of_core = Owner::from_object(&json!({"apiVersion": "v1", "kind": "AgentSet"}));
    assert_eq!(of_core.qualified_kind(), "AgentSet", "the core group has no name");
}

#[test]
fn the_plural_is_guessed_as_kubernetes_guesses_it() {
    let plural = |kind: &str| Owner::new("x/v1", kind).plural;
    let guessed = ["AgentSet", "Proxy", "Bus", "NodeEndpoints"].map(plural);
    assert_eq!(guessed, ["agentsets", "proxies", "buses", "nodeendpoints"]);
}

#[test]
fn an_event_names_a_custom_kind_as_it_is_written() {
    let message = |given: Given| {
        let actions = given.with("/daemonSet/spec/selector", json!({})).plan().actions;
        let [Action::RecordEvent { message, .. }] = &actions[..] else { panic!("one event") };
        message.clone()
    };
    let rest = "is selecting all pods. A non-empty selector is required.";
    assert_eq!(message(given(on_delete())), format!("This daemon set {rest}"));
    assert_eq!(message(agent_set()), format!("This AgentSet {rest}"));
}

#[test]
fn a_kind_that_can_not_exist_is_a_problem() {
    let problems =
        |member: &str, value: Value| agent_set().with(&format!("/daemonSet/{member}"), value).problems();
    let slashes = r#"apiVersion: Invalid value: "a/b/v1": must be group and version, as apps/v1"#;
    assert_eq!(problems("apiVersion", json!("a/b/v1")), [slashes]);
    assert_eq!(problems("apiVersion", json!(null)), ["apiVersion: Required value"]);
    assert_eq!(problems("kind", json!(null)), ["kind: Required value"]);
    let path = r#"kind: Invalid value: "../x": must consist of letters and digits"#;
    assert_eq!(problems("kind", json!("../x"))[0], path);
    let plural = r#"plural: Invalid value: "agents/x": must be a DNS label, as daemonsets"#;
    assert_eq!(problems("plural", json!("agents/x")), [plural]);
}

#[test]
fn a_recording_keeps_the_kind_and_leaves_out_that_of_kubernetes() {
    let recorded = |given: &Given| {
        let recording = given.recording();
        to_value(Recording::from(&recording.snapshot().unwrap())).unwrap()["daemonSet"].clone()
    };
    let plain = recorded(&given(on_delete()));
    assert_eq!(plain.as_object().unwrap().keys().collect::<Vec<_>>(), ["metadata", "spec", "status"]);
    let custom = recorded(&agent_set().with("/daemonSet/plural", json!("agentsetz")));
    assert_eq!(
        [&custom["apiVersion"], &custom["kind"], &custom["plural"]],
        ["agents.example.com/v1", "AgentSet", "agentsetz"]
    );
    let read: DaemonSet = serde_json::from_value(custom).unwrap();
    assert_eq!(read.owner, kind().plural("agentsetz"));
    assert_eq!(recorded(&agent_set()).get("plural"), None, "the guess is not written");
}

/// The garbage collector looks for the owner by its kind, and deletes a pod whose owner does not exist.
#[test]
fn a_created_pod_of_the_wrong_kind_breaks_a_rule() {
    let kubernetes = given(on_delete()).node(node("a")).revisions([]);
    let planned = reconcile(&kubernetes.recording().snapshot().unwrap());
    let other_group = kubernetes.clone().with("/daemonSet/apiVersion", json!("apps.kruise.io/v1alpha1"));
    let other_kind =
        kubernetes.with("/daemonSet/apiVersion", json!("apps/v1")).with("/daemonSet/kind", json!("AgentSet"));
    for custom in [other_group.with("/daemonSet/kind", json!("DaemonSet")), other_kind] {
        let found = audit(&custom.recording().snapshot().unwrap(), &planned);
        let kinds: Vec<ViolationKind> = found.into_iter().map(|violation| violation.kind).collect();
        let field = "metadata.ownerReferences";
        assert_eq!(kinds, [ViolationKind::WrongRevision { field }, ViolationKind::WrongManifest { field }]);
    }
}

/// The problems that both drivers find. Without a kind they are made as for an `apps/v1` DaemonSet.
fn problems_of_drivers(given: &Given, kind: Option<Owner>) -> Vec<String> {
    let recording = given.recording();
    assert!(recording.snapshot().is_ok(), "the pure functions take each kind");
    let mut reconciler = Reconciler::new("uid-agent", Policy::default());
    let mut tracker = Tracker::new("uid-agent", Policy::default());
    if let Some(kind) = kind {
        (reconciler, tracker) = (reconciler.with_kind(kind.clone()), tracker.with_kind(kind));
    }
    assert_eq!(reconciler.kind(), tracker.kind());
    let texts = |found: Result<(), PlanError>| -> Vec<String> {
        let found = found.err();
        found.iter().flat_map(|found| found.problems()).map(ToString::to_string).collect()
    };
    let listed = texts(tracker.list(observed(&recording), recording.now).map(drop));
    assert_eq!(texts(reconciler.plan(observed(&recording), recording.now).map(drop)), listed);
    listed
}

#[test]
fn a_driver_plans_objects_of_its_kind() {
    assert_eq!(problems_of_drivers(&agent_set(), Some(kind())), [""; 0]);
    assert_eq!(problems_of_drivers(&given(on_delete()), None), [""; 0]);
    assert_eq!(problems_of_drivers(&given(on_delete()), Some(Owner::default())), [""; 0]);
}

/// An embedder builds the object from its custom resource, and forgets the kind.
#[test]
fn a_driver_of_a_custom_kind_refuses_an_object_that_was_built_without_its_kind() {
    let must = "must be the driver's, agents.example.com/v1 AgentSet";
    let remedy = "the object's apiVersion and kind name it, or DaemonSet::owner";
    assert_eq!(
        problems_of_drivers(&given(on_delete()), Some(kind())),
        [format!(r#"kind: Invalid value: "apps/v1 DaemonSet": {must}: {remedy}"#)]
    );
}

/// An embedder names the kind in the object only.
#[test]
fn a_driver_of_daemon_sets_refuses_a_custom_kind() {
    let must = "must be the driver's, apps/v1 DaemonSet: with_kind makes a driver of another one";
    assert_eq!(
        problems_of_drivers(&agent_set(), None),
        [format!(r#"kind: Invalid value: "agents.example.com/v1 AgentSet": {must}"#)]
    );
}

/// Its status would be written to a path that does not exist.
#[test]
fn a_driver_refuses_another_plural() {
    assert_eq!(
        problems_of_drivers(&agent_set(), Some(kind().plural("agentsetz"))),
        [r#"plural: Invalid value: "agentsets": must be the driver's, agentsetz"#]
    );
}

/// The caller builds the objects of its lists and those of its watch in two places.
#[test]
fn a_change_to_another_kind_needs_lists_which_are_refused() {
    let [right, forgotten] = [agent_set(), given(on_delete()).node(node("a")).revisions([])];
    let [right, forgotten] = [right.recording(), forgotten.recording()];
    let mut tracker = Tracker::new("uid-agent", Policy::default()).with_kind(kind());
    let _ = tracker.list(observed(&right), right.now).unwrap();
    assert!(tracker.verify(|_| true, || observed(&right), right.now).is_ok());
    assert_eq!(tracker.apply(Change::DaemonSet(&forgotten.daemon_set)), Err(NeedsLists::NotKept));
    assert_eq!(tracker.list(observed(&forgotten), right.now).unwrap_err().problems()[0].path, "kind");

    let _ = tracker.list(observed(&right), right.now).unwrap();
    let error = tracker.verify(|_| true, || observed(&forgotten), right.now).unwrap_err();
    assert!(matches!(error, VerifyError::Plan(_)), "{error}");
}

#[test]
fn the_kind_of_a_driver_stays_after_a_reset() {
    let mut reconciler = Reconciler::new("another", Policy::default()).with_kind(kind());
    reconciler.reset("uid-agent");
    let recording = agent_set().recording();
    assert!(reconciler.plan(observed(&recording), recording.now).is_ok());
}
