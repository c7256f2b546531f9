//! The warnings of a real API server: `tests/goldens/warnings_*.jsonl` has answers of Kubernetes v1.37.1 to `kubectl create`,
//! `replace` and `patch`, a question and its answer a line.

use super::{stored, with};
use daemonset_apiserver::admission::{
    FieldValidation, Form, Patch, Request, Rules, create, respond, update, warnings_on_create,
    warnings_on_update,
};
use serde_json::{Value, json};

fn goldens(file: &str) -> Vec<Value> {
    let path = format!("{}/tests/goldens/{file}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn rules(field_validation: FieldValidation) -> Rules {
    Rules::new().field_validation(field_validation)
}

/// The warnings and the refusal, without kubectl's words about the manifest's file.
fn answer(request: Request<'_>, rules: &Rules) -> Value {
    let response = respond(request, rules);
    let refusal = response.stored.err().map_or(String::new(), |refusal| format!("{refusal}\n"));
    json!({"warnings": response.warnings, "refusal": refusal})
}

fn real(answer: &Value) -> Value {
    let refusal = answer["refusal"].as_str().unwrap();
    let refusal = refusal.replace("error when creating \"STDIN\": ", "");
    let refusal = refusal.replace("error when replacing \"STDIN\": ", "");
    json!({"warnings": answer["warnings"], "refusal": refusal})
}

#[test]
fn a_create_has_the_warnings_of_a_real_api_server() {
    for golden in goldens("warnings_create.jsonl") {
        let (name, request) = (&golden["name"], Request::Create(&golden["object"]));
        assert_eq!(answer(request, &rules(FieldValidation::Warn)), real(&golden), "{name}");
        let strict = golden.get("strict").unwrap_or(&golden);
        assert_eq!(answer(request, &rules(FieldValidation::Strict)), real(strict), "{name}, strict");
    }
}

/// Their feature gates are off by default in v1.36 and on in v1.37, so that a request loses these sources here.
#[test]
fn sources_behind_a_feature_gate_have_the_warnings_of_a_real_api_server() {
    for golden in goldens("warnings_gated.jsonl") {
        assert_eq!(json!(warnings_on_create(&golden["object"])), golden["warnings"], "{}", golden["name"]);
    }
}

#[test]
fn an_update_has_the_warnings_of_a_real_api_server() {
    for golden in goldens("warnings_update.jsonl") {
        let (name, before) = (&golden["name"], &golden["before"]);
        let request = match golden["patchType"].as_str() {
            Some("strategic") => Request::Patch(before, Patch::Strategic(&golden["patch"])),
            Some(_) => Request::Patch(before, Patch::Merge(&golden["patch"])),
            None => Request::Update(before, &golden["object"]),
        };
        assert_eq!(answer(request, &rules(FieldValidation::Warn)), real(&golden), "{name}");
        if let Some(strict) = golden.get("strict") {
            assert_eq!(answer(request, &rules(FieldValidation::Strict)), real(strict), "{name}, strict");
        }
    }
}

#[test]
fn ignored_unknown_fields_are_dropped_in_silence() {
    let unknown = with(&stored(), "/spec/minReadySecond", json!(5));
    let response = respond(Request::Update(&stored(), &unknown), &rules(FieldValidation::Ignore));
    assert!(response.warnings.is_empty(), "{:?}", response.warnings);
    assert_eq!(response.stored.unwrap()["spec"], stored()["spec"]);
}

/// A status update says nothing about the template, however it is.
#[test]
fn a_status_has_only_the_warnings_of_decoding() {
    let memory = "/spec/template/spec/containers/0/resources/limits/memory";
    let stored = with(&stored(), memory, json!("1500m"));
    let patch = json!({"status": {"numberReady": 1, "numberReadies": 2}, "spec": {"template": {"metadata": {"labels": {"x": "y"}}}}});
    let unknown = json!({"warnings": ["unknown field \"status.numberReadies\""], "refusal": ""});
    assert_eq!(answer(Request::PatchStatus(&stored, Patch::Merge(&patch)), &Rules::new()), unknown);
    assert_eq!(answer(Request::PatchStatus(&stored, Patch::Strategic(&patch)), &Rules::new()), unknown);
    let sent = with(&stored, "/status/numberReadies", json!(2));
    assert_eq!(answer(Request::UpdateStatus(&stored, &sent), &Rules::new()), unknown);
}

#[test]
fn the_proposals_strategy_has_known_fields_in_its_own_form_only() {
    let strategy = json!({"type": "SurgingRollingUpdate", "surgingRollingUpdate": {"maxSurge": 1}});
    let proposed = with(&stored(), "/spec/updateStrategy", strategy);
    let warnings = |rules: &Rules| respond(Request::Create(&proposed), rules).warnings;
    assert!(warnings(&Rules::new().form(Form::Proposal)).is_empty());
    assert_eq!(warnings(&Rules::new()), ["unknown field \"spec.updateStrategy.surgingRollingUpdate\""]);
}

#[test]
fn an_owner_that_is_named_twice_is_stored_once() {
    let owner = json!({"apiVersion": "v1", "kind": "ConfigMap", "name": "x", "uid": "1"});
    let twice = with(&stored(), "/metadata/ownerReferences", json!([owner, owner]));
    assert_eq!(create(&twice, &Rules::new()).unwrap()["metadata"]["ownerReferences"], json!([owner]));
    assert_eq!(
        update(&stored(), &twice, &Rules::new()).unwrap()["metadata"]["ownerReferences"],
        json!([owner])
    );
}

#[test]
fn an_update_that_keeps_the_template_repeats_no_warning() {
    let memory = "/spec/template/spec/containers/0/resources/limits/memory";
    let old = with(&stored(), memory, json!("1500m"));
    let new = update(&old, &with(&old, "/spec/minReadySeconds", json!(5)), &Rules::new()).unwrap();
    assert!(warnings_on_update(&old, &new).is_empty());
    let new =
        update(&old, &with(&old, "/spec/template/metadata/labels/x", json!("y")), &Rules::new()).unwrap();
    assert_eq!(warnings_on_update(&old, &new).len(), 1);
}

#[test]
fn the_pods_profile_replaces_only_an_annotation_that_means_the_same() {
    let warns = |annotation: &str, profile: Value| {
        let mut set = stored();
        let template = &mut set["spec"]["template"];
        let name = template["spec"]["containers"][0]["name"].as_str().unwrap();
        let key = format!("container.apparmor.security.beta.kubernetes.io/{name}");
        template["metadata"]["annotations"] = json!({key: annotation});
        template["spec"]["securityContext"]["appArmorProfile"] = profile;
        !warnings_on_create(&set).is_empty()
    };
    let local = |name: &str| json!({"type": "Localhost", "localhostProfile": name});
    assert!(!warns("unconfined", json!({"type": "Unconfined"})));
    assert!(!warns("runtime/default", json!({"type": "RuntimeDefault"})));
    assert!(!warns("localhost/a", local("a")));
    assert!(warns("unconfined", json!({"type": "RuntimeDefault"})));
    assert!(warns("runtime/default", json!({"type": "Unconfined"})));
    assert!(warns("localhost/a", local("b")));
    assert!(warns("localhost/", local("")), "an annotation without a name means no profile");
    assert!(warns("unconfined", Value::Null), "the pod has none");
}
