//! Invalid input: all problems are reported at once, each with its path.

use crate::support::{Given, given, new, node, on_delete, revision, rolling};
use daemonset::Recording;
use serde_json::{Value, json};

fn problems_with(pointer: &str, value: Value) -> Vec<String> {
    given(rolling(1)).node(node("a").has(new())).with(pointer, value).problems()
}

#[test]
fn each_problem_has_its_path() {
    let affinity = "spec.template.spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0]";
    let required = |term: Value| {
        let required =
            json!({"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}});
        json!({"nodeAffinity": required})
    };
    let expression = |operator: &str, values: Value| {
        required(json!({"matchExpressions": [{"key": "k", "operator": operator, "values": values}]}))
    };
    for (pointer, value, expected) in [
        ("/daemonSet/metadata/name", json!(""), "metadata.name: Required value".to_owned()),
        ("/daemonSet/metadata/namespace", json!(null), "metadata.namespace: Required value".to_owned()),
        ("/daemonSet/metadata/uid", json!(null), "metadata.uid: Required value".to_owned()),
        ("/daemonSet/spec/selector", json!(null), "spec.selector: Required value".to_owned()),
        (
            "/daemonSet/spec/selector",
            json!({"matchLabels": {"app": "agent"}, "matchExpressions": [{"key": "k", "operator": "Gt", "values": ["1"]}]}),
            "spec.selector.matchExpressions[0].operator: Invalid value: \"Gt\": must be In, NotIn, Exists or DoesNotExist".to_owned(),
        ),
        (
            "/daemonSet/spec/selector",
            json!({"matchExpressions": [{"key": "app", "operator": "In"}]}),
            "spec.selector.matchExpressions[0].values: Invalid value: \"[]\": needs at least one value".to_owned(),
        ),
        (
            "/daemonSet/spec/selector",
            json!({"matchExpressions": [{"key": "app", "operator": "Exists", "values": ["x"]}]}),
            "spec.selector.matchExpressions[0].values: Invalid value: [\"x\"]: must be empty".to_owned(),
        ),
        (
            "/daemonSet/spec/selector",
            json!({"matchExpressions": [{"operator": "Exists"}]}),
            "spec.selector.matchExpressions[0].key: Required value".to_owned(),
        ),
        (
            "/daemonSet/spec/selector",
            json!({"matchExpressions": [{"key": "app", "operator": "NotIn", "values": []}]}),
            "spec.selector.matchExpressions[0].values: Invalid value: \"[]\": needs at least one value".to_owned(),
        ),
        (
            "/daemonSet/spec/selector",
            json!({"matchExpressions": [{"key": "app", "operator": "DoesNotExist", "values": ["x"]}]}),
            "spec.selector.matchExpressions[0].values: Invalid value: [\"x\"]: must be empty".to_owned(),
        ),
        (
            "/daemonSet/spec/minReadySeconds",
            json!(-1),
            "spec.minReadySeconds: Invalid value: -1: must be greater than or equal to 0".to_owned(),
        ),
        (
            "/daemonSet/spec/revisionHistoryLimit",
            json!(-1),
            "spec.revisionHistoryLimit: Invalid value: -1: must be greater than or equal to 0".to_owned(),
        ),
        (
            "/daemonSet/spec/updateStrategy",
            json!({"type": "Recreate"}),
            "spec.updateStrategy.type: Invalid value: \"Recreate\": must be OnDelete, RollingUpdate or SurgingRollingUpdate".to_owned(),
        ),
        (
            "/daemonSet/spec/updateStrategy",
            json!({"type": "SurgingRollingUpdate", "surgingRollingUpdate": {"maxSurge": "0%"}}),
            "spec.updateStrategy.surgingRollingUpdate.maxSurge: Invalid value: \"0%\": must be greater than 0".to_owned(),
        ),
        ("/daemonSet/spec/template", json!(null), "spec.template: Required value".to_owned()),
        (
            "/daemonSet/spec/template/metadata/labels",
            json!({"app": "other"}),
            "spec.template.metadata.labels: Invalid value: {\"app\": \"other\"}: must match spec.selector, or each created pod would be released at once".to_owned(),
        ),
        (
            "/daemonSet/spec/template/spec/affinity",
            expression("Near", json!(["1"])),
            format!("{affinity}.matchExpressions[0].operator: Invalid value: \"Near\": must be In, NotIn, Exists, DoesNotExist, Gt or Lt"),
        ),
        (
            "/daemonSet/spec/template/spec/affinity",
            expression("Gt", json!(["many"])),
            format!("{affinity}.matchExpressions[0].values: Invalid value: [\"many\"]: must be exactly one integer"),
        ),
        (
            "/daemonSet/spec/template/spec/affinity",
            expression("Lt", json!(["1", "2"])),
            format!("{affinity}.matchExpressions[0].values: Invalid value: [\"1\", \"2\"]: must be exactly one integer"),
        ),
        (
            "/daemonSet/spec/template/spec/affinity",
            expression("Gt", json!(["1", "2"])),
            format!("{affinity}.matchExpressions[0].values: Invalid value: [\"1\", \"2\"]: must be exactly one integer"),
        ),
        // An integer, but no value of a label: the scheduler finds no node for the pod.
        (
            "/daemonSet/spec/template/spec/affinity",
            expression("Gt", json!(["-3"])),
            format!("{affinity}.matchExpressions[0].values: Invalid value: \"-3\": must be the value of a label"),
        ),
        (
            "/daemonSet/spec/template/spec/affinity",
            expression("NotIn", json!(["+5"])),
            format!("{affinity}.matchExpressions[0].values: Invalid value: \"+5\": must be the value of a label"),
        ),
        (
            "/daemonSet/spec/template/spec/affinity",
            required(json!({"matchExpressions": [{"key": "a b", "operator": "Exists"}]})),
            format!("{affinity}.matchExpressions[0].key: Invalid value: \"a b\": must be the key of a label"),
        ),
        (
            "/daemonSet/spec/template/spec/affinity",
            required(json!({"matchFields": [{"key": "spec.x", "operator": "In", "values": ["a"]}]})),
            format!("{affinity}.matchFields[0].key: Invalid value: \"spec.x\": must be metadata.name"),
        ),
        ("/policy", json!({"burst": 0}), "policy.burst: Invalid value: 0: must be at least 1".to_owned()),
        (
            "/policy",
            json!({"priorityClassName": "High Priority"}),
            "policy.priorityClassName: Invalid value: \"High Priority\": must be a DNS subdomain".to_owned(),
        ),
        ("/policy", json!({"uniqueLabelKey": ""}), "policy.uniqueLabelKey: Required value".to_owned()),
        (
            "/policy",
            json!({"uniqueLabelKey": "pod-template-generation"}),
            "policy.uniqueLabelKey: Invalid value: \"pod-template-generation\": must not be the label of the template generation, which would overwrite the hash".to_owned(),
        ),
        (
            "/policy",
            json!({"uniqueLabelKey": "hash of the template"}),
            "policy.uniqueLabelKey: Invalid value: \"hash of the template\": must be a label key, or the API server would refuse whatever carries it".to_owned(),
        ),
        (
            "/daemonSet/spec/template/$patch",
            json!("replace"),
            "spec.template.$patch: Invalid value: \"replace\": must be absent: it belongs to the patch that a revision holds".to_owned(),
        ),
        ("/nodes/0/metadata/name", json!(""), "nodes[0].metadata.name: Required value".to_owned()),
        ("/pods/0/metadata/uid", json!(null), "pods[0].metadata.uid: Required value".to_owned()),
        ("/pods/0/metadata/namespace", json!(null), "pods[0].metadata.namespace: Required value".to_owned()),
        ("/revisions/0/metadata/name", json!(""), "revisions[0].metadata.name: Required value".to_owned()),
        (
            "/revisions/0/metadata/namespace",
            json!(""),
            "revisions[0].metadata.namespace: Required value".to_owned(),
        ),
    ] {
        assert_eq!(problems_with(pointer, value), [expected], "{pointer}");
    }
}

/// The name of a node may be longer than the value of a label.
#[test]
fn a_node_with_a_long_name_is_selected_by_it() {
    let name = format!("{}.example.com", "n".repeat(63));
    let terms = json!([{"matchFields": [{"key": "metadata.name", "operator": "In", "values": [name]}]}]);
    let affinity = json!({"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}});
    let fleet = given(rolling(1)).node(node(&name)).node(node("other"));
    let plan = fleet.with("/daemonSet/spec/template/spec/affinity", affinity).plan();
    let created: Vec<&str> = plan.actions.iter().filter_map(|action| Some(action.node()?.as_str())).collect();
    assert_eq!(created, [name]);
}

/// Without its data it may be the current one: to create another one in its place would restart the fleet.
#[test]
fn a_revision_whose_data_can_not_be_read_is_a_problem_of_its_owner() {
    let unreadable = || given(rolling(1)).node(node("a").has(new())).with("/revisions/0/data", json!(null));
    let problem = "revisions[agent-old].data: Invalid value: null: must be JSON that can be read: nothing is done until this \
                   revision is deleted";
    assert_eq!(unreadable().problems(), [problem]);
    let orphan = unreadable().with("/revisions/0/metadata/ownerReferences", json!([]));
    assert_eq!(orphan.problems(), [problem], "it would be adopted");
    let other = unreadable().with("/revisions/0/metadata/ownerReferences/0/uid", json!("of-another"));
    assert!(other.recording().snapshot().is_ok());
    let not_selected = unreadable()
        .with("/revisions/0/metadata/ownerReferences", json!([]))
        .with("/revisions/0/metadata/labels", json!({"app": "else"}));
    assert!(not_selected.recording().snapshot().is_ok());
}

#[test]
fn a_template_part_of_the_wrong_type_has_its_path() {
    let problems = problems_with("/daemonSet/spec/template/spec/tolerations", json!([{"key": 7}]));
    let [problem] = problems.as_slice() else { panic!("{problems:?}") };
    assert!(problem.starts_with("spec.template.spec.tolerations[0].key: invalid type: "), "{problem}");
    assert!(problem.ends_with("expected a string"), "{problem}");
}

#[test]
fn duplicate_objects_are_reported() {
    let twice = |given: Given| given.problems();
    assert_eq!(
        twice(given(on_delete()).node(node("a")).node(node("b")).node(node("a"))),
        ["nodes[2].metadata.name: Duplicate value: \"a\": nodes[0] has it too"]
    );
    let pods = given(on_delete()).nodes(["a", "b"], new().named("p"));
    assert_eq!(
        twice(pods),
        [
            "pods[1].metadata.name: Duplicate value: \"p\": pods[0] has it too",
            "pods[1].metadata.uid: Duplicate value: \"uid-p\": pods[0] has it too",
        ]
    );
    let elsewhere = new().named("p").with("/metadata/namespace", json!("elsewhere"));
    let namespaces = given(on_delete()).node(node("a").has(new().named("p")).has(elsewhere));
    assert_eq!(
        twice(namespaces),
        ["pods[1].metadata.uid: Duplicate value: \"uid-p\": pods[0] has it too"],
        "one name in two namespaces is fine"
    );
    assert_eq!(
        twice(given(on_delete()).revisions([revision("new", 1), revision("new", 2)])).len(),
        2,
        "name and uid"
    );
}

#[test]
fn all_problems_are_reported_at_once() {
    let problems = given(json!({"type": "Never"}))
        .node(node("a").has(new()))
        .node(node("a"))
        .with("/daemonSet/spec/minReadySeconds", json!(-5))
        .with("/daemonSet/spec/selector", json!(null))
        .with("/pods/0/metadata/uid", json!(""))
        .problems();
    let paths: Vec<_> = problems.iter().map(|p| p.split(':').next().unwrap()).collect();
    assert_eq!(
        paths,
        [
            "spec.minReadySeconds",
            "spec.selector",
            "spec.updateStrategy.type",
            "nodes[1].metadata.name",
            "pods[0].metadata.uid",
        ]
    );
}

/// Ten thousand pods without a uid, the first of them with a name that nobody can read.
#[test]
fn the_text_of_many_problems_is_short_and_their_list_whole() {
    let mut recording = given(rolling(1)).node(node("a").has(new())).recording();
    let pod = recording.pods.remove(0);
    recording.pods = (0..10_000)
        .map(|number| {
            let mut pod = pod.clone();
            (pod.metadata.uid, pod.metadata.name) = (Default::default(), format!("p{number}"));
            pod
        })
        .collect();
    recording.nodes[0].metadata.name = "é".repeat(100_000).as_str().into();
    recording.nodes.push(recording.nodes[0].clone());
    let invalid = recording.snapshot().unwrap_err();
    let text = invalid.to_string();
    assert!(invalid.problems.len() > 10_000);
    assert!(text.ends_with(&format!("; and {} more", invalid.problems.len() - 10)), "{text}");
    assert!(text.chars().count() < 1_000, "{text}");
    assert_eq!(text.split("; ").count(), 11);
    assert!(invalid.problems.iter().any(|problem| problem.to_string().len() > 100_000));
}

#[test]
fn the_error_of_an_unreadable_recording_has_its_path() {
    let unreadable = |pointer: &str, value: Value| {
        let text = given(rolling(1)).node(node("a").has(new())).with(pointer, value).json.to_string();
        Recording::from_json(text.as_bytes()).unwrap_err().to_string()
    };
    assert!(
        unreadable("/daemonSet/spec/updateStrategy/rollingUpdate", json!([1])).starts_with(
            "daemonSet.spec.updateStrategy.rollingUpdate: invalid type: sequence, expected a map"
        )
    );
    assert!(
        unreadable("/pods/0/metadata/creationTimestamp", json!("yesterday"))
            .starts_with("pods[0].metadata.creationTimestamp: ")
    );
    assert!(
        unreadable("/pods/0/metadata/labels", json!(["app"]))
            .starts_with("pods[0].metadata.labels: invalid type: sequence, expected a map of strings")
    );
    assert!(unreadable("/policy", json!({"burts": 1})).starts_with("policy.burts: unknown field"));
    let text = given(rolling(1)).json.to_string();
    for (text, message) in [
        ("{".to_owned(), "recording: EOF while parsing an object"),
        ("{}".to_owned(), "recording: missing field `now`"),
        ("[1]".to_owned(), "[0]: invalid type"),
        (format!("{text} x"), "recording: trailing characters"),
    ] {
        let error = Recording::from_json(text.as_bytes()).unwrap_err().to_string();
        assert!(error.starts_with(message), "{error}");
    }
}

#[test]
fn null_is_absent_everywhere() {
    let nulls = json!({
        "name": null, "now": "2026-01-01T00:00:00Z", "policy": null, "memory": null,
        "daemonSet": {
            "metadata": {"name": "agent", "namespace": "ns", "uid": "u", "labels": null, "annotations": null,
                "creationTimestamp": null, "deletionTimestamp": null, "resourceVersion": null},
            "spec": {"selector": {"matchLabels": {"app": "agent"}, "matchExpressions": null},
                "template": {"metadata": {"labels": {"app": "agent"}},
                    "spec": {"nodeName": null, "nodeSelector": null, "affinity": null, "tolerations": null,
                        "hostNetwork": null, "containers": null, "initContainers": null}},
                "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": null},
                "minReadySeconds": null, "revisionHistoryLimit": null, "templateGeneration": null},
            "status": null,
        },
        "nodes": [{"metadata": {"name": "a", "labels": null}, "spec": null, "status": {"conditions": null}}],
        "pods": [{"metadata": {"name": "p", "namespace": "ns", "uid": "p", "labels": null, "annotations": null,
            "ownerReferences": null}, "spec": {"affinity": null, "tolerations": null}, "status": null}],
        "revisions": null,
    });
    let recording: Recording = Recording::from_json(nulls.to_string().as_bytes()).unwrap();
    assert_eq!(daemonset::reconcile(&recording.snapshot().unwrap()).len(), 3, "revision, pod and status");
}

#[test]
fn a_selector_must_not_require_labels_that_change_with_each_template() {
    let stable = || given(rolling(1)).node(node("a"));
    let must = "must not be asked for: its value changes with each template";
    let generation = stable()
        .with("/daemonSet/spec/selector/matchLabels/pod-template-generation", json!("1"))
        .with("/daemonSet/spec/template/metadata/labels/pod-template-generation", json!("1"));
    assert_eq!(
        generation.problems(),
        [format!(
            "spec.selector.matchLabels.pod-template-generation: Invalid value: \"pod-template-generation\": {must}"
        )]
    );
    let hash = json!([{"key": "controller-revision-hash", "operator": "DoesNotExist"}]);
    let hash = stable().with("/daemonSet/spec/selector/matchExpressions", hash);
    assert_eq!(
        hash.problems(),
        [format!(
            "spec.selector.matchExpressions[0].key: Invalid value: \"controller-revision-hash\": {must}"
        )]
    );
    let key = stable().policy(json!({"uniqueLabelKey": "app"}));
    assert_eq!(key.problems(), [format!("spec.selector.matchLabels.app: Invalid value: \"app\": {must}")]);
}

#[test]
fn a_patch_directive_that_is_null_is_absent() {
    let given =
        given(rolling(1)).node(node("a").has(new())).with("/daemonSet/spec/template/$patch", json!(null));
    assert_eq!(given.steps(), [""; 0], "the stored revision has the template");
}

/// Under another strategy the API server stores any value in the unused field, and a list of all DaemonSets must still
/// be parsed.
#[test]
fn an_invalid_limit_is_refused_where_it_is_in_force() {
    let must = "must be an integer from 0 to 2147483647 or a percentage such as \"10%\"";
    let limits = |kind: &str| {
        json!({"type": kind, "rollingUpdate": {"maxUnavailable": "5x", "maxSurge": -1},
            "surgingRollingUpdate": {"maxSurge": true}})
    };
    let with =
        |kind: &str| given(rolling(1)).node(node("a")).with("/daemonSet/spec/updateStrategy", limits(kind));
    assert_eq!(
        with("RollingUpdate").problems(),
        [
            format!("spec.updateStrategy.rollingUpdate.maxUnavailable: Invalid value: \"5x\": {must}"),
            format!("spec.updateStrategy.rollingUpdate.maxSurge: Invalid value: -1: {must}"),
        ]
    );
    assert_eq!(
        with("SurgingRollingUpdate").problems(),
        [format!("spec.updateStrategy.surgingRollingUpdate.maxSurge: Invalid value: true: {must}")]
    );
    assert_eq!(with("OnDelete").steps(), ["create on a in batch 0: MissingPod"]);
    let recording = with("OnDelete").recording();
    let written = serde_json::to_value(&recording.daemon_set.spec.update_strategy).unwrap();
    assert_eq!(written, limits("OnDelete"), "all fields are kept");
    let mut mended = with("RollingUpdate").recording();
    let limits = mended.daemon_set.spec.update_strategy.rolling_update.as_mut().unwrap();
    limits.max_unavailable = Some(daemonset::model::IntOrString::Int(1));
    limits.max_surge = Some(daemonset::model::IntOrString::Int(0));
    assert!(mended.snapshot().is_ok(), "the value that replaces it counts");
}

#[test]
fn a_limit_without_a_json_form_is_refused() {
    let mut recording = given(rolling(1)).recording();
    let limits = recording.daemon_set.spec.update_strategy.rolling_update.as_mut().unwrap();
    limits.max_unavailable = Some(daemonset::model::IntOrString::Int(3_000_000_000));
    let error = recording.snapshot().unwrap_err().to_string();
    assert_eq!(
        error,
        "spec.updateStrategy.rollingUpdate.maxUnavailable: Invalid value: \"3000000000\": must not be above 2147483647"
    );
}
