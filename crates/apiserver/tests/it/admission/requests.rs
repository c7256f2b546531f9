//! Whole requests: the stored object or the refusal.

use super::{stored, with};
use daemonset_apiserver::admission::{
    FieldValidation, Form, Patch, Refusal, Rules, create, patch, patch_status, template_change, update,
};
use daemonset_objects::model::Owner;
use serde_json::{Value, json};

fn rules() -> Rules {
    Rules::default()
}

fn patched(change: Value) -> Result<Value, String> {
    patch(&stored(), Patch::Strategic(&change), &rules()).map_err(|refusal| refusal.to_string())
}

fn merged(change: Value) -> Result<Value, String> {
    patch(&stored(), Patch::Merge(&change), &rules()).map_err(|refusal| refusal.to_string())
}

#[test]
fn a_patch_is_merged_and_handled_as_an_update() {
    let image = json!({"spec": {"template": {"spec": {"containers": [{"name": "web", "image": "web:v2"}]}}}});
    let new = patched(image).unwrap();
    assert_eq!(new["spec"]["template"]["spec"]["containers"][0]["image"], json!("web:v2"));
    assert_eq!(new["spec"]["template"]["spec"]["containers"][0]["env"], json!([{"name": "A", "value": "1"}]));
    assert_eq!(new["metadata"]["generation"], json!(4));
    let strategy =
        merged(json!({"spec": {"updateStrategy": {"type": "OnDelete", "rollingUpdate": null}}})).unwrap();
    assert_eq!(strategy["spec"]["updateStrategy"], json!({"type": "OnDelete"}));
    let ready = json!({"spec": {"minReadySeconds": 9}, "status": {"numberReady": 3}});
    let new = patch_status(&stored(), Patch::Merge(&ready)).unwrap();
    assert_eq!((&new["spec"], &new["status"]["numberReady"]), (&stored()["spec"], &json!(3)));
}

/// With strict validation a field that is unknown would be refused.
#[test]
fn a_field_of_a_feature_that_is_off_is_known() {
    let strict = Rules::default().field_validation(FieldValidation::Strict);
    let responders = json!([{"name": "a.b/c", "priority": 2000}]);
    let sent = with(&stored(), "/spec/template/spec/evictionResponders", responders.clone());
    assert_eq!(update(&stored(), &sent, &strict).unwrap(), stored());
    let created = create(&sent, &strict).unwrap();
    assert_eq!(created["spec"]["template"]["spec"]["evictionResponders"], Value::Null);

    let another = json!({"name": "a.b/d", "priority": 3000});
    let change = json!({"spec": {"template": {"spec": {"evictionResponders": [another]}}}});
    let new = patch(&sent, Patch::Strategic(&change), &strict).unwrap();
    assert_eq!(new["spec"]["template"]["spec"]["evictionResponders"], json!([another, responders[0]]));
}

#[test]
fn only_a_strategic_patch_truncates_large_integers() {
    assert_eq!(
        patched(json!({"spec": {"minReadySeconds": 4_294_967_297_i64}})).unwrap()["spec"]["minReadySeconds"],
        json!(1)
    );
    assert_eq!(
        patched(json!({"spec": {"minReadySeconds": 1.0}})).unwrap()["spec"]["minReadySeconds"],
        json!(1)
    );
    assert_eq!(
        patched(json!({"spec": {"minReadySeconds": 2_147_483_648_i64}})).unwrap_err(),
        "The DaemonSet \"web\" is invalid: spec.minReadySeconds: Invalid value: -2147483648: must be greater than or equal to 0"
    );
    for refused in [json!(2_147_483_648_i64), json!(1.0)] {
        let error = merged(json!({"spec": {"minReadySeconds": refused}})).unwrap_err();
        assert!(error.starts_with("The request is invalid: patch: Invalid value: "), "{error}");
    }
    let surge = json!({"spec": {"updateStrategy": {"rollingUpdate": {"maxSurge": 4_294_967_297_i64}}}});
    assert!(patched(surge).is_err(), "a limit is read as JSON");
}

#[test]
fn a_null_in_a_merged_container_requests_nothing() {
    let container =
        json!({"name": "web", "image": "web:v1", "resources": {"requests": {"cpu": "1", "memory": null}}});
    let new = merged(json!({"spec": {"template": {"spec": {"containers": [container]}}}})).unwrap();
    assert_eq!(
        new["spec"]["template"]["spec"]["containers"][0]["resources"],
        json!({"requests": {"cpu": "1"}})
    );
}

#[test]
fn refusals_print_as_kubectl_prints_them() {
    let rows: [(Result<Value, String>, &str); 11] = [
        (
            patched(json!({"metadata": {"name": "other"}})),
            "Error from server (BadRequest): the name of the object (other) does not match the name on the URL (web)",
        ),
        (
            patched(json!({"spec": {"updateStrategy": {"$retainKeys": ["type"], "rollingUpdate": {}}}})),
            "Error from server (BadRequest): invalid patch format of retainKeys",
        ),
        (
            patched(json!({"metadata": {"resourceVersion": "5"}, "spec": {"minReadySeconds": -1}})),
            "Error from server (Conflict): Operation cannot be fulfilled on daemonsets.apps \"web\": the object has been modified; please apply your changes to the latest version and try again",
        ),
        (
            patched(json!({"$patch": "delete"})),
            "Error from server (BadRequest): the name of the object (web based on URL) was undeterminable: name must be provided",
        ),
        (
            patched(json!({"metadata": {"namespace": "other"}})),
            "Error from server (BadRequest): the namespace of the provided object does not match the namespace sent on the request",
        ),
        (
            patched(json!({"metadata": {"resourceVersion": "5"}})),
            "Error from server (Conflict): Operation cannot be fulfilled on daemonsets.apps \"web\": the object has been modified; please apply your changes to the latest version and try again",
        ),
        (
            patched(json!({"spec": {"template": {"spec": {"containers": [{"image": "x"}]}}}})),
            "Error from server: map: map[image:x] does not contain declared merge key: name",
        ),
        (
            patched(
                json!({"metadata": {"annotations": {"deprecated.daemonset.template.generation": "abc"}}}),
            ),
            "Error from server: strconv.ParseInt: parsing \"abc\": invalid syntax",
        ),
        (
            patched(json!({"spec": {"template": {"metadata": {"labels": {"app": null}}}}})),
            "The DaemonSet \"web\" is invalid: spec.template.metadata.labels: Invalid value: {}: `selector` does not match template `labels`",
        ),
        (
            patched(json!({"spec": {"template": {"metadata": {"labels": null}}}})),
            "The DaemonSet \"web\" is invalid: spec.template.metadata.labels: Invalid value: null: `selector` does not match template `labels`",
        ),
        (
            patched(json!({"spec": {"selector": {"matchLabels": {"tier": "x"}}}})),
            "The DaemonSet \"web\" is invalid: \n* spec.selector: Invalid value: {\"matchLabels\":{\"app\":\"web\",\"tier\":\"x\"}}: field is immutable\n* spec.template.metadata.labels: Invalid value: {\"app\":\"web\"}: `selector` does not match template `labels`",
        ),
    ];
    for (answer, text) in rows {
        assert_eq!(answer.unwrap_err(), text);
    }
    assert_eq!(
        patched(json!({"kind": "Deployment", "apiVersion": "v1"})).unwrap(),
        stored(),
        "kind is not looked at"
    );
    assert!(merged(json!({"kind": "Deployment"})).is_err());
}

#[test]
fn another_kind_or_version_is_refused() {
    let deployment = with(&stored(), "/kind", json!("Deployment"));
    let text = create(&deployment, &rules()).unwrap_err().to_string();
    assert!(text.starts_with(
        "Error from server (BadRequest): Deployment in version \"v1\" cannot be handled as a DaemonSet: "
    ));
    let other = with(&stored(), "/apiVersion", json!("extensions/v1beta1"));
    assert!(matches!(create(&other, &rules()), Err(Refusal::OtherKind { .. })));
    let proposal = rules().form(Form::Proposal);
    assert!(!matches!(create(&other, &proposal), Err(Refusal::OtherKind { .. })), "the proposal has its own");
    let mut bare = stored();
    bare.as_object_mut().unwrap().retain(|name, _| name != "kind" && name != "apiVersion");
    assert_eq!(update(&stored(), &bare, &rules()).unwrap(), stored());
}

#[test]
fn every_wrong_type_is_collected_and_the_first_is_printed() {
    let mut object = with(&stored(), "/spec/minReadySeconds", json!(2_147_483_648_i64));
    object["spec"]["revisionHistoryLimit"] = json!("x");
    let refusal = create(&object, &rules()).unwrap_err();
    let first = "json: cannot unmarshal number 2147483648 into Go struct field DaemonSetSpec.spec.minReadySeconds of type int32";
    let second = "json: cannot unmarshal string into Go struct field DaemonSetSpec.spec.revisionHistoryLimit of type int32";
    let Refusal::Undecodable { messages, .. } = &refusal else { panic!("{refusal:?}") };
    assert_eq!(*messages, [first, second]);
    assert_eq!(
        refusal.to_string(),
        format!(
            "Error from server (BadRequest): DaemonSet in version \"v1\" cannot be handled as a DaemonSet: {first}"
        )
    );
}

#[test]
fn the_server_may_generate_the_name() {
    let mut object = stored();
    object["metadata"] = json!({"generateName": "web-"});
    let new = create(&object, &rules()).unwrap();
    assert_eq!(new["metadata"]["name"], Value::Null);
    assert_eq!(new["metadata"]["namespace"], json!("default"));
}

/// The proposal's limits are fields of their own, which `apps/v1` does not have.
#[test]
fn the_proposals_limits_are_stored_and_raise_the_generation() {
    let proposal = Rules::new().form(Form::Proposal);
    let surging = |surge: Value| {
        let strategy = json!({"type": "SurgingRollingUpdate", "surgingRollingUpdate": {"maxSurge": surge}});
        with(&stored(), "/spec/updateStrategy", strategy)
    };
    let three = create(&surging(json!(3)), &proposal).unwrap();
    assert_eq!(three["spec"]["updateStrategy"]["surgingRollingUpdate"], json!({"maxSurge": 3}));
    let counts = |object: &Value| {
        let key = "deprecated.daemonset.template.generation";
        (object["metadata"]["generation"].clone(), object["metadata"]["annotations"][key].clone())
    };
    let template_generation = counts(&three).1;
    let to = |surge: Value| with(&three, "/spec/updateStrategy/surgingRollingUpdate/maxSurge", surge);
    let four = update(&three, &to(json!("4%")), &proposal).unwrap();
    assert_eq!(counts(&four), (json!(2), template_generation.clone()));
    let patch_of =
        |surge: i32| json!({"spec": {"updateStrategy": {"surgingRollingUpdate": {"maxSurge": surge}}}});
    let five = patch(&three, Patch::Strategic(&patch_of(5)), &proposal).unwrap();
    assert_eq!(five["spec"]["updateStrategy"]["surgingRollingUpdate"], json!({"maxSurge": 5}));
    assert_eq!(counts(&five), (json!(2), template_generation));
    assert_eq!(template_change(&three, &to(json!(9))), Ok(None));
    let wrong = create(&surging(json!(true)), &proposal).unwrap_err();
    assert!(matches!(wrong, Refusal::Undecodable { .. }), "{wrong}");
    let unknown = with(&stored(), "/spec/updateStrategy/surgingRollingUpdate", json!(true));
    let kept = create(&unknown, &rules()).unwrap();
    assert_eq!(kept["spec"]["updateStrategy"], stored()["spec"]["updateStrategy"], "as any unknown field");
}

/// A custom kind with the fields of a DaemonSet has its own name in each message.
#[test]
fn a_custom_kind_is_named_in_requests_and_messages() {
    let rules = rules().owner(Owner::new("agents.example.com/v1", "AgentSet"));
    let custom = with(&stored(), "/apiVersion", json!("agents.example.com/v1"));
    let custom = with(&custom, "/kind", json!("AgentSet"));
    let new = create(&custom, &rules).unwrap();
    assert_eq!((&new["apiVersion"], &new["kind"]), (&json!("agents.example.com/v1"), &json!("AgentSet")));
    let refused = |object: &Value| update(&custom, object, &rules).unwrap_err();
    assert_eq!(
        refused(&stored()).to_string(),
        "Error from server (BadRequest): DaemonSet in version \"v1\" cannot be handled as a AgentSet: \
         converting (v1.DaemonSet) to (agents.example.com.AgentSet): unknown conversion"
    );
    let Refusal::Invalid(invalid) = refused(&with(&custom, "/spec/minReadySeconds", json!(-1))) else {
        panic!("validation refuses it")
    };
    let detail = "spec.minReadySeconds: Invalid value: -1: must be greater than or equal to 0";
    assert_eq!(invalid.to_string(), format!("The AgentSet \"web\" is invalid: {detail}"));
    assert_eq!(invalid.message(), format!("AgentSet.agents.example.com \"web\" is invalid: {detail}"));
    let mut versioned = custom.clone();
    versioned["metadata"]["resourceVersion"] = json!("other");
    let text = refused(&versioned).to_string();
    assert!(text.contains("cannot be fulfilled on agentsets.agents.example.com \"web\""), "{text}");
    let unreadable = refused(&with(&custom, "/spec/minReadySeconds", json!("x"))).to_string();
    assert!(
        unreadable.contains("AgentSet in version \"v1\" cannot be handled as a AgentSet"),
        "{unreadable}"
    );
    assert!(
        patch_status(&custom, Patch::Merge(&json!({"status": {"numberReady": 1}}))).is_ok(),
        "by its own kind"
    );
}
