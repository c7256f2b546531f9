//! The API call of each action.

use daemonset::kube::{ApiCall, Caller, PatchType, Verb, is_own_revision};
use daemonset::model::{
    ControllerRevision, DaemonSet, DaemonSetStatus, Labels, NodeName, ObjectRef, Owner, Pod,
};
use daemonset::{
    Action, ClaimReason, DeleteReason, EventReason, EventType, LabelReason, Observed, RequeueReason,
    RestoreReason, RevisionReason, RolloutReason, Snapshot, StatusReason, reconcile,
};
use jiff::Timestamp;
use serde_json::{Value, json};

const STRATEGIC: &str = "application/strategic-merge-patch+json";

fn daemon_set() -> DaemonSet {
    serde_json::from_value(json!({
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {
            "name": "web", "namespace": "default", "uid": "ds-uid", "resourceVersion": "7", "generation": 2,
            "labels": {"team": "a"}, "annotations": {"deprecated.daemonset.template.generation": "2"},
            "creationTimestamp": "2026-01-01T00:00:00Z",
            "finalizers": ["example.com/wait"],
            "ownerReferences": [{"apiVersion": "example.com/v1", "kind": "App", "name": "web", "uid": "app-uid"}],
            "managedFields": [{"manager": "kubectl"}],
            "somethingNew": {"kept": [1, 2]},
        },
        "spec": {
            "selector": {"matchLabels": {"app": "web"}},
            "template": {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "web"}]}},
        },
    }))
    .unwrap()
}

fn object() -> ObjectRef {
    ObjectRef {
        namespace: "default".to_owned(),
        name: "web-x".to_owned(),
        uid: "object-uid".into(),
        resource_version: "9".to_owned(),
    }
}

fn call(action: &Action) -> ApiCall {
    try_call(action).expect("a call")
}

fn try_call(action: &Action) -> Option<ApiCall> {
    let now: Timestamp = "2026-01-01T00:10:00.123456Z".parse().unwrap();
    ApiCall::new(action, &Caller { daemon_set: &daemon_set(), component: "daemonset-controller", now })
}

/// Method, URI, content type and body of the request.
fn sent(call: &ApiCall) -> (String, String, String, Value) {
    let request = call.to_request().unwrap();
    let content = request.headers().get("content-type").map(|value| value.to_str().unwrap().to_owned());
    let uri = request.uri().to_string();
    let body = serde_json::from_slice(request.body()).unwrap();
    (
        request.method().to_string(),
        uri.trim_end_matches(['?', '&']).to_owned(),
        content.unwrap_or_default(),
        body,
    )
}

#[test]
fn patches_have_the_uid_as_precondition() {
    let owner = json!({
        "apiVersion": "apps/v1", "kind": "DaemonSet", "name": "web", "uid": "ds-uid",
        "controller": true, "blockOwnerDeletion": true,
    });
    let adopted = json!({"metadata": {"uid": "object-uid", "ownerReferences": [owner]}});
    let gone = json!({"$patch": "delete", "uid": "ds-uid"});
    let released = json!({"metadata": {"uid": "object-uid", "ownerReferences": [gone]}});
    let labels: Labels = [("controller-revision-hash", "abc")].into_iter().collect();
    let labelled = json!({"metadata": {"uid": "object-uid", "labels": {"controller-revision-hash": "abc"}}});
    let renumbered = json!({"metadata": {"uid": "object-uid"}, "revision": 7});

    let (pod, revision) = (
        "/api/v1/namespaces/default/pods/web-x",
        "/apis/apps/v1/namespaces/default/controllerrevisions/web-x",
    );
    let reason = ClaimReason::SelectorMatches;
    let hash = LabelReason::HashMissing;
    for (action, path, body) in [
        (Action::adopt_pod(object(), reason), pod, &adopted),
        (Action::release_pod(object(), reason), pod, &released),
        (Action::label_pod(object(), labels.clone(), hash), pod, &labelled),
        (Action::adopt_revision(object(), reason), revision, &adopted),
        (Action::release_revision(object(), reason), revision, &released),
        (Action::label_revision(object(), labels, hash), revision, &labelled),
        (Action::renumber_revision(object(), 7, RevisionReason::CurrentAgain), revision, &renumbered),
    ] {
        let call = call(&action);
        assert_eq!(call.verb, Verb::Patch(PatchType::StrategicMerge));
        assert_eq!(call.preconditions.uid, Some("object-uid".into()));
        assert_eq!(call.preconditions.resource_version, None, "one plan may change an object twice");
        assert_eq!(sent(&call), ("PATCH".to_owned(), path.to_owned(), STRATEGIC.to_owned(), body.clone()));
    }
}

/// The API server stores the bytes of `data`, and refuses each patch after which Go would write others.
#[test]
fn a_revision_is_sent_as_go_writes_it() {
    let template =
        json!({"z": "2>&1", "args": ["a && b\u{2028}", "\u{8}"], "<k>": 1.0, "a": [1e21, 1e-7, u64::MAX]});
    let go = r#"{"spec":{"template":{"\u003ck\u003e":1,"a":[1e+21,1e-7,18446744073709552000],"args":["a \u0026\u0026 b\u2028","\b"],"z":"2\u003e\u00261"}}}"#;
    let revision =
        json!({"revision": 1, "data": {"spec": {"template": template}}, "metadata": {"name": "web-x"}});
    let call = call(&Action::create_revision(revision, RevisionReason::NewTemplate));
    let whole = format!(r#"{{"data":{go},"metadata":{{"name":"web-x"}},"revision":1}}"#);
    for body in [call.body_bytes(), call.to_request().unwrap().into_body()] {
        assert_eq!(String::from_utf8(body).unwrap(), whole);
    }
}

#[test]
fn marks_are_merged_and_a_null_removes_one() {
    let annotations = [("a/started".to_owned(), None), ("a/wave".to_owned(), Some("3 now 1".to_owned()))];
    let mark = Action::annotate_revision(object(), annotations.into(), RolloutReason::WaveOpened);
    let call = call(&mark);
    assert_eq!(call.verb, Verb::Patch(PatchType::Merge));
    assert_eq!(call.preconditions.uid.as_ref().map(|uid| uid.as_str()), Some("object-uid"));
    let body =
        json!({"metadata": {"uid": "object-uid", "annotations": {"a/started": null, "a/wave": "3 now 1"}}});
    let path = "/apis/apps/v1/namespaces/default/controllerrevisions/web-x";
    let merge = "application/merge-patch+json";
    assert_eq!(sent(&call), ("PATCH".to_owned(), path.to_owned(), merge.to_owned(), body));
}

#[test]
fn deletes_have_preconditions() {
    let pod = Action::delete_pod(NodeName::from("a"), object(), DeleteReason::OutdatedAvailable);
    let (method, uri, _, body) = sent(&call(&pod));
    assert_eq!((method.as_str(), uri.as_str()), ("DELETE", "/api/v1/namespaces/default/pods/web-x"));
    assert_eq!(
        body["preconditions"],
        json!({"uid": "object-uid"}),
        "a kubelet changes its version all the time"
    );
    assert!(body.get("gracePeriodSeconds").is_none(), "the pod's own grace");

    let revision = Action::delete_revision(object(), RevisionReason::HistoryLimit);
    let (method, uri, _, body) = sent(&call(&revision));
    assert_eq!(
        (method.as_str(), uri.as_str()),
        ("DELETE", "/apis/apps/v1/namespaces/default/controllerrevisions/web-x")
    );
    assert_eq!(body["preconditions"], json!({"uid": "object-uid", "resourceVersion": "9"}));
    assert_eq!(call(&revision).body["preconditions"], body["preconditions"]);
}

#[test]
fn a_status_is_written_with_all_metadata_and_no_spec() {
    let status = DaemonSetStatus { desired_number_scheduled: 3, ..DaemonSetStatus::default() };
    let daemon_set = (&daemon_set()).into();
    let call = call(&Action::update_status(daemon_set, status, StatusReason::Changed));
    assert_eq!(call.preconditions.resource_version.as_deref(), Some("7"));
    let (method, uri, _, body) = sent(&call);
    assert_eq!(
        (method.as_str(), uri.as_str()),
        ("PUT", "/apis/apps/v1/namespaces/default/daemonsets/web/status")
    );
    let metadata = &body["metadata"];
    assert_eq!((&metadata["uid"], &metadata["resourceVersion"]), (&json!("ds-uid"), &json!("7")));
    assert_eq!(metadata["finalizers"], json!(["example.com/wait"]), "omitted fields would be lost");
    assert_eq!(metadata["ownerReferences"][0]["uid"], "app-uid");
    assert_eq!(metadata["somethingNew"], json!({"kept": [1, 2]}));
    assert_eq!(metadata["labels"], json!({"team": "a"}));
    assert_eq!(metadata["creationTimestamp"], "2026-01-01T00:00:00Z");
    assert!(metadata.get("managedFields").is_none(), "the API server keeps these fields itself");
    assert!(body.get("spec").is_none());
    assert_eq!(body["status"]["desiredNumberScheduled"], 3);
}

/// Another template that was written since the snapshot must not be lost.
#[test]
fn a_template_is_restored_in_the_version_that_the_snapshot_shows() {
    let template = json!({"metadata": {"labels": {"app": "web"}}, "$patch": "replace"});
    let patch = json!({"spec": {"template": template}});
    let restore =
        |daemon_set| Action::restore_template(daemon_set, object(), patch.clone(), RestoreReason::RolledBack);
    let restored = call(&restore((&daemon_set()).into()));
    assert_eq!(restored.verb, Verb::Patch(PatchType::StrategicMerge));
    assert_eq!(restored.preconditions.uid.as_ref().map(|uid| uid.as_str()), Some("ds-uid"));
    assert_eq!(restored.preconditions.resource_version.as_deref(), Some("7"));
    let mut body = patch.clone();
    body["metadata"] = json!({"uid": "ds-uid", "resourceVersion": "7"});
    let path = "/apis/apps/v1/namespaces/default/daemonsets/web";
    assert_eq!(sent(&restored), ("PATCH".to_owned(), path.to_owned(), STRATEGIC.to_owned(), body));
    // A version that is not known is no precondition, and an empty one is none that the API server knows.
    let unknown = ObjectRef { resource_version: String::new(), ..(&daemon_set()).into() };
    assert_eq!(call(&restore(unknown)).body["metadata"], json!({"uid": "ds-uid"}));
}

/// The API server knows no strategic merge patch of a custom kind.
#[test]
fn the_template_of_a_custom_kind_is_restored_by_a_json_patch() {
    let template = json!({"metadata": {"labels": {"app": "web"}}, "spec": {"containers": []}});
    let mut patch = json!({"spec": {"template": template}});
    patch["spec"]["template"]["$patch"] = json!("replace");
    let mut set = daemon_set();
    set.owner = Owner::new("agents.example.com/v1", "AgentSet");
    let caller = Caller { daemon_set: &set, component: "agents", now: Timestamp::UNIX_EPOCH };
    let call = |about: ObjectRef| {
        let restore = Action::restore_template(about, object(), patch.clone(), RestoreReason::RolledBack);
        ApiCall::new(&restore, &caller).unwrap()
    };
    let restored = call((&set).into());
    assert_eq!(restored.verb, Verb::Patch(PatchType::Json));
    assert_eq!(restored.preconditions.resource_version.as_deref(), Some("7"));
    let replace = |path: &str, value: Value| json!({"op": "replace", "path": path, "value": value});
    let (uid, template) = (replace("/metadata/uid", json!("ds-uid")), replace("/spec/template", template));
    let body = json!([uid, replace("/metadata/resourceVersion", json!("7")), template]);
    let path = "/apis/agents.example.com/v1/namespaces/default/agentsets/web";
    let json_patch = "application/json-patch+json";
    assert_eq!(sent(&restored), ("PATCH".to_owned(), path.to_owned(), json_patch.to_owned(), body));
    let unknown = ObjectRef { resource_version: String::new(), ..(&set).into() };
    assert_eq!(call(unknown).body, json!([uid, template]));
}

#[test]
fn objects_are_created_in_the_daemon_sets_namespace() {
    let ds = daemon_set();
    let node: daemonset::model::Node = serde_json::from_value(json!({"metadata": {"name": "a"}})).unwrap();
    let (pods, revisions): ([&Pod; 0], [&ControllerRevision; 0]) = ([], []);
    let observed = Observed { daemon_set: &ds, nodes: [&node], pods, revisions };
    let snapshot = Snapshot::builder(observed, Timestamp::UNIX_EPOCH).check().unwrap();
    let actions = reconcile(&snapshot);
    let revision = actions.iter().find(|action| matches!(action, Action::CreateRevision { .. })).unwrap();
    let (method, uri, _, body) = sent(&call(revision));
    assert_eq!(
        (method.as_str(), uri.as_str()),
        ("POST", "/apis/apps/v1/namespaces/default/controllerrevisions")
    );
    assert_eq!(body["kind"], "ControllerRevision");

    let pod = actions.iter().find(|action| matches!(action, Action::CreatePod { .. })).unwrap();
    let (method, uri, content, body) = sent(&call(pod));
    assert_eq!((method.as_str(), uri.as_str()), ("POST", "/api/v1/namespaces/default/pods"));
    assert_eq!(content, "application/json");
    assert_eq!((&body["kind"], &body["metadata"]["generateName"]), (&json!("Pod"), &json!("web-")));
    assert_eq!(call(pod).name, None);
}

#[test]
fn an_event_is_as_kubernetes_records_it() {
    let action = Action::record_event(
        (&daemon_set()).into(),
        EventType::Warning,
        EventReason::FailedDaemonPod,
        "Found failed daemon pod default/web-x on node a, will try to kill it",
    );
    let (method, uri, _, body) = sent(&call(&action));
    assert_eq!((method.as_str(), uri.as_str()), ("POST", "/api/v1/namespaces/default/events"));
    assert_eq!((&body["type"], &body["reason"]), (&json!("Warning"), &json!("FailedDaemonPod")));
    assert_eq!(body["message"], "Found failed daemon pod default/web-x on node a, will try to kill it");
    assert_eq!(body["source"], json!({"component": "daemonset-controller"}));
    assert_eq!(body["firstTimestamp"], "2026-01-01T00:10:00Z", "meta/v1 Time has seconds");
    let about = &body["involvedObject"];
    assert_eq!(
        (&about["kind"], &about["name"], &about["uid"]),
        (&json!("DaemonSet"), &json!("web"), &json!("ds-uid"))
    );
}

#[test]
fn a_requeue_makes_no_request() {
    let requeue = Action::requeue(Timestamp::UNIX_EPOCH, RequeueReason::Burst);
    assert_eq!(try_call(&requeue), None);
}

#[test]
fn an_existing_revision_counts_as_created_by_owner_and_content() {
    let ds = daemon_set();
    let revision = |uid: &str, image: Option<&str>| -> ControllerRevision {
        let mut container = json!({"name": "web"});
        if let Some(image) = image {
            container["image"] = json!(image);
        }
        serde_json::from_value(json!({
            "metadata": {
                "name": "web-x", "namespace": "default", "uid": "r",
                "ownerReferences": [{"uid": uid, "controller": true}],
            },
            "data": {"spec": {"template": {
                "$patch": "replace", "metadata": {"labels": {"app": "web"}, "creationTimestamp": null},
                "spec": {"containers": [container]},
            }}},
            "revision": 1,
        }))
        .unwrap()
    };
    assert!(is_own_revision(&revision("ds-uid", None), &ds));
    assert!(!is_own_revision(&revision("another", None), &ds));
    assert!(!is_own_revision(&revision("ds-uid", Some("web:v2")), &ds));
    let mut elsewhere = revision("ds-uid", None);
    elsewhere.metadata.namespace = "another".to_owned();
    assert!(!is_own_revision(&elsewhere, &ds));
    let mut unowned = revision("ds-uid", None);
    unowned.metadata.owner_references.clear();
    assert!(!is_own_revision(&unowned, &ds));
}

/// A caller that has read the DaemonSet again must not write the status of an older snapshot over the newer one.
#[test]
fn a_status_has_the_resource_version_of_its_snapshot() {
    let daemon_set = ObjectRef { resource_version: "6".to_owned(), ..(&daemon_set()).into() };
    let status = DaemonSetStatus::default();
    let call = call(&Action::update_status(daemon_set, status, StatusReason::Changed));
    assert_eq!(call.preconditions.resource_version.as_deref(), Some("6"));
    assert_eq!(call.body["metadata"]["resourceVersion"], "6");
    assert_eq!(call.body["metadata"]["labels"], json!({"team": "a"}));
}

#[test]
fn a_name_that_would_change_the_path_makes_no_request() {
    let delete = |namespace: &str, name: &str| {
        let pod = ObjectRef { namespace: namespace.to_owned(), name: name.to_owned(), ..object() };
        call(&Action::delete_pod("a".into(), pod, DeleteReason::ExcessPod))
    };
    assert!(delete("default", "agent-x.1").to_request().is_ok());
    for name in ["", ".", "..", "a/b", "a?dryRun=All", "a#b", "a%2Fb", "a b", "a\n", "ä"] {
        assert!(delete("default", name).to_request().is_err(), "{name:?}");
        assert!(delete(name, "agent-x").to_request().is_err(), "{name:?}");
    }
}

/// A controller of a custom kind writes the status of its own object, and its events are about that object.
#[test]
fn calls_for_a_custom_kind_name_that_kind() {
    let mut set = daemon_set();
    set.owner = Owner::new("agents.example.com/v1", "AgentSet");
    let now = "2026-01-01T00:10:00Z".parse().unwrap();
    let call = |set: &DaemonSet, action: &Action| {
        ApiCall::new(action, &Caller { daemon_set: set, component: "agents", now }).unwrap()
    };
    let status =
        Action::update_status(ObjectRef::from(&set), DaemonSetStatus::default(), StatusReason::Changed);
    let (_, uri, _, body) = sent(&call(&set, &status));
    assert_eq!(uri, "/apis/agents.example.com/v1/namespaces/default/agentsets/web/status");
    assert_eq!((&body["apiVersion"], &body["kind"]), (&json!("agents.example.com/v1"), &json!("AgentSet")));

    let event =
        Action::record_event(ObjectRef::from(&set), EventType::Warning, EventReason::SelectingAll, "m");
    let regarding = &call(&set, &event).body["involvedObject"];
    assert_eq!(
        (&regarding["apiVersion"], &regarding["kind"]),
        (&json!("agents.example.com/v1"), &json!("AgentSet"))
    );

    let adopt = Action::adopt_pod(object(), ClaimReason::SelectorMatches);
    assert_eq!(call(&set, &adopt).body["metadata"]["ownerReferences"][0]["kind"], "AgentSet");

    set.owner = Owner::new("v1", "AgentSet").plural("agents");
    assert_eq!(sent(&call(&set, &status)).1, "/api/v1/namespaces/default/agents/web/status");
}

#[test]
fn an_eviction_is_posted_to_a_subresource_of_its_pod() {
    let eviction = json!({"kind": "Eviction", "deleteOptions": {"preconditions": {"uid": "object-uid"}}});
    let call = ApiCall::evict(&object(), eviction.clone());
    assert_eq!((call.verb, call.preconditions.uid.as_ref()), (Verb::Evict, Some(&"object-uid".into())));
    let (method, uri, content, body) = sent(&call);
    let path = uri.split('?').next();
    assert_eq!((method.as_str(), path), ("POST", Some("/api/v1/namespaces/default/pods/web-x/eviction")));
    assert_eq!((content.as_str(), body), ("application/json", eviction));
}
