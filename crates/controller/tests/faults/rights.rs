//! The rights in the manifests of deploy/: every call of every story is checked against them.

use crate::faults::Verb;
use crate::store::{Kind, text};
use serde_json::Value;

const CONTROLLER: &str = include_str!("../../deploy/controller/rbac.yaml");
const DRIVER: &str = include_str!("../../deploy/driver/rbac.yaml");

/// The parts of deploy/ that add rights to both roles, by their folders.
pub const PARTS: [(&str, &str); 5] = [
    ("turns", include_str!("../../deploy/turns/kustomization.yaml")),
    ("drain", include_str!("../../deploy/drain/kustomization.yaml")),
    ("powers", include_str!("../../deploy/powers/kustomization.yaml")),
    ("driver-pods", include_str!("../../deploy/driver-pods/kustomization.yaml")),
    ("undo", include_str!("../../deploy/undo/kustomization.yaml")),
];

/// The rules of a ClusterRole.
#[derive(Clone)]
pub struct Rights(Vec<Value>);

impl Rights {
    pub fn of_controller() -> Self {
        Rights(rules(CONTROLLER, "ClusterRole"))
    }

    pub fn of_driver() -> Self {
        Rights(rules(DRIVER, "ClusterRole"))
    }

    pub const fn none() -> Self {
        Rights(Vec::new())
    }

    /// Those that the part of this name adds.
    pub fn of_part(name: &str) -> Self {
        let (_, manifest) = PARTS.iter().find(|(part, _)| *part == name).expect("a part");
        let component: Value = serde_saphyr::from_str(manifest).expect("YAML");
        let patches = component["patches"].as_array().expect("a list").iter();
        let added = patches.flat_map(|patch| {
            let patch: Vec<Value> = serde_saphyr::from_str(text(&patch["patch"])).expect("YAML");
            patch.into_iter().map(|operation| {
                assert_eq!((text(&operation["op"]), text(&operation["path"])), ("add", "/rules/-"), "{name}");
                operation["value"].clone()
            })
        });
        Rights(added.collect())
    }

    /// These and those.
    pub fn with(mut self, further: Rights) -> Self {
        self.0.extend(further.0);
        self
    }

    pub fn allow(&self, verb: Verb, kind: Kind) -> bool {
        if (verb == Verb::Evict && kind != Kind::Pod)
            || (verb == Verb::UpdateStatus && kind != Kind::DaemonSet)
        {
            return false;
        }
        let (group, resource) = match (kind, verb) {
            (Kind::Pod, Verb::Evict) => ("", "pods/eviction"),
            (Kind::Namespace, _) => ("", "namespaces"),
            (Kind::DaemonSet, Verb::UpdateStatus) => ("apps", "daemonsets/status"),
            (Kind::DaemonSet, _) => ("apps", "daemonsets"),
            (Kind::Revision, _) => ("apps", "controllerrevisions"),
            (Kind::Pod, _) => ("", "pods"),
            (Kind::Node, _) => ("", "nodes"),
            (Kind::Event, _) => ("", "events"),
        };
        let verb = match verb {
            Verb::List => "list",
            Verb::Watch => "watch",
            Verb::Get => "get",
            Verb::Create | Verb::Evict => "create",
            Verb::Patch => "patch",
            Verb::Delete => "delete",
            Verb::Update | Verb::UpdateStatus => "update",
        };
        let has = |rule: &Value, field: &str, value: &str| {
            rule[field].as_array().expect("a list").iter().any(|one| one == value)
        };
        self.0.iter().any(|rule| {
            has(rule, "apiGroups", group) && has(rule, "resources", resource) && has(rule, "verbs", verb)
        })
    }
}

fn rules(manifest: &str, kind: &str) -> Vec<Value> {
    let documents: Vec<Value> = serde_saphyr::from_multiple(manifest).expect("YAML");
    let mut roles = documents.iter().filter(|document| document["kind"] == kind);
    roles.next().expect("a role")["rules"].as_array().expect("a list").clone()
}

/// A driver can't create, adopt or label a pod, or write a status.
#[test]
fn the_role_of_a_driver_is_smaller_than_the_one_of_a_controller() {
    let allowed = |rights: &Rights| -> Vec<(Verb, Kind)> {
        let verbs = [
            Verb::List,
            Verb::Watch,
            Verb::Get,
            Verb::Create,
            Verb::Patch,
            Verb::Update,
            Verb::Delete,
            Verb::UpdateStatus,
            Verb::Evict,
        ];
        let kinds = [Kind::DaemonSet, Kind::Pod, Kind::Node, Kind::Namespace, Kind::Revision, Kind::Event];
        let calls = verbs.into_iter().flat_map(|verb| kinds.map(|kind| (verb, kind)));
        calls.filter(|(verb, kind)| rights.allow(*verb, *kind)).collect()
    };
    let (controller, driver) = (allowed(&Rights::of_controller()), allowed(&Rights::of_driver()));
    assert!(driver.iter().all(|call| controller.contains(call)));
    let writes: Vec<_> = driver.into_iter().filter(|(verb, _)| verb.writes()).collect();
    assert_eq!(
        writes,
        [
            (Verb::Create, Kind::Event),
            (Verb::Patch, Kind::Revision),
            (Verb::Patch, Kind::Event),
            (Verb::Update, Kind::Revision),
            (Verb::Delete, Kind::Pod),
        ]
    );
}

/// The lease has the name that the process asks for by default.
#[test]
fn the_role_in_the_namespace_of_the_lease_names_the_default_lease() {
    use clap::Parser;
    for (manifest, flags) in [(CONTROLLER, &[][..]), (DRIVER, &["--drive"])] {
        let args = daemonset_controller::args::Args::parse_from([&["daemonset-controller"], flags].concat());
        let rules = rules(manifest, "Role");
        assert_eq!(rules[1]["resourceNames"], serde_json::json!([args.lease_name]));
        assert_eq!(rules[1]["verbs"], serde_json::json!(["get", "update"]));
    }
}
