//! The manifests of deploy/: each object as its type has it, each command line as its program reads it.

use clap::Parser;
use daemonset_controller::args::{Args, CommonArgs};
use k8s_openapi::api::admissionregistration::v1::{
    ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding,
};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::ServiceAccount;
use k8s_openapi::api::networking::v1::NetworkPolicy;
use k8s_openapi::api::policy::v1::PodDisruptionBudget;
use k8s_openapi::api::rbac::v1::{ClusterRole, ClusterRoleBinding, Role, RoleBinding};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, from_value, json, to_value};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// A file of deploy/, by its path there, and its documents.
struct File {
    path: PathBuf,
    documents: Vec<Value>,
}

impl File {
    fn is_kustomization(&self) -> bool {
        self.path.ends_with("kustomization.yaml")
    }
}

fn deploy() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("deploy")
}

fn files() -> Vec<File> {
    let folders = std::fs::read_dir(deploy()).unwrap().map(|entry| entry.unwrap().path());
    let paths =
        folders.flat_map(|folder| std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()));
    // The dashboard is Grafana's.
    let files: Vec<File> = paths
        .filter(|path| path.extension().is_some_and(|extension| extension == "yaml"))
        .map(|path| {
            let text = std::fs::read_to_string(&path).unwrap();
            let documents =
                serde_saphyr::from_multiple(&text).unwrap_or_else(|error| panic!("{path:?}: {error}"));
            File { path: path.strip_prefix(deploy()).unwrap().to_owned(), documents }
        })
        .collect();
    assert!(files.len() > 15, "{}", files.len());
    files
}

/// The object as its type writes it again.
fn typed<T: DeserializeOwned + Serialize>(object: &Value) -> Value {
    to_value(from_value::<T>(object.clone()).unwrap()).unwrap()
}

fn typed_by_kind(object: &Value) -> Value {
    match object["kind"].as_str().unwrap() {
        "ClusterRole" => typed::<ClusterRole>(object),
        "ClusterRoleBinding" => typed::<ClusterRoleBinding>(object),
        "Deployment" => typed::<Deployment>(object),
        "NetworkPolicy" => typed::<NetworkPolicy>(object),
        // Of Prometheus' operator, for which there are no types here.
        "PodMonitor" | "PrometheusRule" => object.clone(),
        "PodDisruptionBudget" => typed::<PodDisruptionBudget>(object),
        "Role" => typed::<Role>(object),
        "RoleBinding" => typed::<RoleBinding>(object),
        "ServiceAccount" => typed::<ServiceAccount>(object),
        "ValidatingAdmissionPolicy" => typed::<ValidatingAdmissionPolicy>(object),
        "ValidatingAdmissionPolicyBinding" => typed::<ValidatingAdmissionPolicyBinding>(object),
        other => panic!("no type for {other}"),
    }
}

/// The first path of a value that `typed` has lost. A patch has only some fields, and null for a field that it removes.
fn lost(value: &Value, typed: &Value, path: String) -> Option<String> {
    match (value, typed) {
        (Value::Object(fields), _) => {
            let mut given = fields.iter().filter(|(_, value)| !value.is_null());
            given.find_map(|(name, value)| lost(value, &typed[name], format!("{path}.{name}")))
        }
        (Value::Array(items), Value::Array(typed)) if items.len() == typed.len() => items
            .iter()
            .zip(typed)
            .enumerate()
            .find_map(|(i, (item, typed))| lost(item, typed, format!("{path}[{i}]"))),
        _ => (value != typed).then_some(path),
    }
}

#[test]
fn each_field_of_a_manifest_is_one_of_its_type() {
    for File { path, documents } in files().iter().filter(|file| !file.is_kustomization()) {
        for document in documents {
            assert_eq!(lost(document, &typed_by_kind(document), String::new()), None, "in {path:?}");
        }
    }
    let misspelt = json!({"kind": "Deployment", "spec": {"template": {"spec": {"hostNetwrk": true}}}});
    let path = lost(&misspelt, &typed_by_kind(&misspelt), String::new());
    assert_eq!(path.as_deref(), Some(".spec.template.spec.hostNetwrk"));
}

/// A kustomization names files and folders beside it; each file belongs to the one of its folder.
#[test]
fn each_file_is_in_the_kustomization_of_its_folder_and_each_of_these_is_there() {
    let files = files();
    let mut named = BTreeSet::new();
    for file in files.iter().filter(|file| file.is_kustomization()) {
        let document = &file.documents[0];
        let list = |field: &str| document[field].as_array().cloned().unwrap_or_default();
        let patches = list("patches").into_iter().map(|patch| patch["path"].clone());
        let patches = patches.filter(|path| !path.is_null());
        for path in list("resources").into_iter().chain(list("components")).chain(patches) {
            let path = file.path.parent().unwrap().join(path.as_str().unwrap());
            assert!(deploy().join(&path).exists(), "{path:?} of {:?}", file.path);
            named.insert(path);
        }
    }
    for file in files.iter().filter(|file| !file.is_kustomization()) {
        assert!(named.contains(&file.path), "{:?} is in no kustomization", file.path);
    }
}

/// The containers of a Deployment or of a patch.
fn containers(document: &Value) -> impl Iterator<Item = &Value> {
    document.pointer("/spec/template/spec/containers").and_then(Value::as_array).into_iter().flatten()
}

/// What the command lines of both programs may have.
#[derive(Parser)]
struct FlagsOfAll {
    #[command(flatten)]
    common: CommonArgs,
}

/// The address of the probes is one at which the program listens.
#[test]
fn each_command_line_is_accepted_and_listens_where_the_probes_ask() {
    let mut roles = BTreeSet::new();
    for File { path, documents } in &files() {
        let with_args =
            documents.iter().flat_map(containers).filter(|container| container["args"].is_array());
        for container in with_args {
            let flags = container["args"].as_array().unwrap().iter().map(|flag| flag.as_str().unwrap());
            let words = ["program"].into_iter().chain(flags);
            let listen = if container["command"].is_null() {
                let args = Args::read(words).unwrap();
                args.check().unwrap();
                roles.insert(format!("{:?}", args.role()));
                args.common.listen
            } else {
                assert_eq!(container["command"], json!(["/daemonset-compare"]), "{path:?}");
                roles.insert("Comparison".to_owned());
                // It has further flags, and a test of its own for all of them.
                FlagsOfAll::try_parse_from(words).unwrap().common.listen
            };
            let port = &container["ports"][0];
            assert_eq!(port["containerPort"], listen.port(), "{path:?}");
            match container.pointer("/readinessProbe/httpGet/host").filter(|host| !host.is_null()) {
                Some(host) => assert_eq!(*host, json!(listen.ip()), "{path:?}"),
                None => assert!(listen.ip().is_unspecified(), "{path:?}: probes come from the node"),
            }
        }
    }
    assert_eq!(roles.into_iter().collect::<Vec<_>>(), ["Comparison", "Controller", "Driver"]);
}

/// The entry point is the controller, which a `command` replaces.
#[test]
fn the_image_has_each_program_that_a_manifest_names() {
    let recipe = include_str!("../../Dockerfile");
    let copied: Vec<&str> = recipe
        .lines()
        .filter_map(|line| line.strip_prefix("COPY "))
        .flat_map(str::split_whitespace)
        .collect();
    assert_eq!(copied, ["daemonset-controller", "daemonset-compare", "/"]);
    assert!(recipe.ends_with("ENTRYPOINT [\"/daemonset-controller\"]\n"));
    let files = files();
    let commands = files.iter().flat_map(|file| &file.documents).flat_map(containers);
    let commands: Vec<&Value> =
        commands.map(|container| &container["command"]).filter(|command| !command.is_null()).collect();
    assert_eq!(commands, [&json!(["/daemonset-compare"])]);
}

#[test]
fn a_rolling_update_on_the_hosts_network_first_frees_the_port() {
    let patch = files().into_iter().find(|file| file.path.ends_with("controller/cold-start.yaml")).unwrap();
    let spec = &patch.documents[0]["spec"];
    assert_eq!(spec["template"]["spec"]["hostNetwork"], true);
    let port = &containers(&patch.documents[0]).next().unwrap()["ports"][0];
    assert_eq!(port["hostPort"], port["containerPort"]);
    assert_eq!(spec["strategy"]["rollingUpdate"], json!({"maxSurge": 0, "maxUnavailable": 1}));
}

/// The rules of a ClusterRole, as its type writes them.
fn rules(role: &Value) -> BTreeSet<String> {
    let typed = typed::<ClusterRole>(role);
    assert_eq!(lost(role, &typed, String::new()), None);
    typed["rules"].as_array().unwrap().iter().map(Value::to_string).collect()
}

/// It asks for no object by its name.
#[test]
fn a_comparison_may_list_and_watch_and_nothing_else() {
    let files = files();
    let file = files.iter().find(|file| file.path.ends_with("compare/rbac.yaml")).unwrap();
    for role in file.documents.iter().filter(|document| document["rules"].is_array()) {
        for rule in role["rules"].as_array().unwrap() {
            assert_eq!(rule["verbs"], json!(["list", "watch"]), "{rule}");
        }
    }
}

/// Further rights are off by default: each is a rule that a component adds to roles that are there.
#[test]
fn each_part_adds_a_right_that_the_roles_lack() {
    let files = files();
    let role = |name: &str| {
        let file = files.iter().find(|file| file.path.ends_with(format!("{name}/rbac.yaml"))).unwrap();
        file.documents.iter().find(|document| document["kind"] == "ClusterRole").unwrap().clone()
    };
    let mut parts = Vec::new();
    for file in files.iter().filter(|file| file.is_kustomization()) {
        for patch in file.documents[0]["patches"].as_array().into_iter().flatten() {
            let Some(text) = patch["patch"].as_str() else { continue };
            assert_eq!(file.documents[0]["kind"], "Component");
            assert_eq!(patch["target"]["kind"], "ClusterRole");
            let operations: Vec<Value> = serde_saphyr::from_str(text).unwrap();
            let added = operations.iter().map(|operation| {
                assert_eq!(operation["path"], "/rules/-");
                operation["value"].clone()
            });
            let added = rules(&json!({"rules": added.collect::<Vec<_>>()}));
            // The names that the kustomizations give their roles.
            for name in match patch["target"]["name"].as_str().unwrap() {
                "daemonset-(controller|driver)" => &["controller", "driver"][..],
                "daemonset-driver" => &["driver"],
                other => panic!("no role is named {other}"),
            } {
                assert!(rules(&role(name)).is_disjoint(&added), "{:?} of {name}", file.path);
            }
            parts.push(file.path.parent().unwrap().to_str().unwrap().to_owned());
        }
    }
    parts.sort();
    assert_eq!(parts, ["drain", "driver-pods", "powers", "turns", "undo"]);
}
