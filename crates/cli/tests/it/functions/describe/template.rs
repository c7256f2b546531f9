//! Metadata and scheduling of a pod template.

use super::described;
use kubectl_daemonset::kubectl::describe_template;
use serde_json::{Value, json};

fn annotated(annotations: Value) -> String {
    let printed = describe_template(&json!({"metadata": {"annotations": annotations}}));
    let start = printed.find("  Annotations:");
    let Some(start) = start else { return String::new() };
    printed[start..printed.find("  Containers:").unwrap()].replace('\t', "→")
}

/// The lines from the one that begins with this text to the next label.
fn block(spec: Value, label: &str) -> Vec<String> {
    let printed = described(spec);
    let lines = printed.lines().skip_while(|line| !line.starts_with(label));
    let (mut lines, mut block) = (lines, Vec::new());
    block.extend(lines.next().map(str::to_owned));
    block
        .extend(lines.take_while(|line| line.starts_with('→') || line.starts_with("  →")).map(str::to_owned));
    block
}

#[test]
fn an_empty_template() {
    insta::assert_snapshot!(describe_template(&Value::Null).replace('\t', "→"), @r"
    Pod Template:
      Labels:→<none>
      Containers: <none>
      Volumes:→<none>
      Node-Selectors:→<none>
      Tolerations:→<none>
    ");
}

#[test]
fn optional_names_have_a_line_if_set() {
    let printed = described(json!({
        "serviceAccountName": "sa", "priorityClassName": "high", "schedulingGroup": {"podGroupName": "g"},
        "nodeSelector": {"b": "", "a": "1"},
    }));
    insta::assert_snapshot!(printed, @r"
    Pod Template:
      Labels:→<none>
      Service Account:→sa
      Containers: <none>
      Volumes:→<none>
      Priority Class Name:→high
      Node-Selectors:→a=1
    →b=
      Tolerations:→<none>
      SchedulingGroup:
      PodGroupName:→g
    ");
}

#[test]
fn annotations_are_cut_and_split() {
    assert_eq!(annotated(json!({})), "");
    assert_eq!(annotated(json!({"b": "2", "a": "1\n"})), "  Annotations:→a: 1\n→b: 2\n");
    let own = "kubectl.kubernetes.io/last-applied-configuration";
    assert_eq!(annotated(json!({own: "{}"})), "  Annotations:→<none>\n");
    assert_eq!(annotated(json!({own: "{}", "z": ""})), "  Annotations:→z: \n");
    let fits = "x".repeat(137);
    assert_eq!(annotated(json!({"k": fits})), format!("  Annotations:→k: {fits}\n"));
    let longer = "x".repeat(138);
    assert_eq!(annotated(json!({"k": longer})), format!("  Annotations:→k:\n→  {longer}\n"));
    let cut = format!("  Annotations:→k:\n→  {longer}...\n");
    assert_eq!(annotated(json!({"k": "x".repeat(139)})), cut);
    assert_eq!(annotated(json!({"k": "a\nb"})), "  Annotations:→k:\n→  a\n→  b\n");
    let halved = annotated(json!({"k": format!("{}\u{e9}", "x".repeat(137))}));
    assert!(halved.ends_with("x\u{fffd}...\n"), "a letter is cut in two: {halved}");
}

#[test]
fn tolerations_are_sorted_by_key_only() {
    let tolerations = json!([
        {"key": "z", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300},
        {"key": "a", "operator": "Equal", "value": "v", "effect": "NoSchedule"},
        {"operator": "Exists"},
        {"effect": "NoSchedule", "operator": "Exists"},
        {"key": "a"},
        {"key": "m", "operator": "Exists", "value": "v"},
    ]);
    assert_eq!(
        block(json!({"tolerations": tolerations}), "  Tolerations:"),
        [
            "  Tolerations:→op=Exists",
            "→:NoSchedule op=Exists",
            "→a=v:NoSchedule",
            "→a",
            "→m=v",
            "→z:NoExecute op=Exists for 300s",
        ]
    );
}

#[test]
fn spread_constraints_are_sorted_by_key() {
    let spread = |selector: Value| {
        let constraint = json!({"topologyKey": "zone", "maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": selector});
        block(json!({"topologySpreadConstraints": [constraint]}), "  Topology").concat()
    };
    let printed = "  Topology Spread Constraints:→zone:DoNotSchedule when max skew 1 is exceeded";
    for (selector, text) in [
        (json!(null), ""),
        (json!({}), " for selector <none>"),
        (json!({"matchLabels": {"b": "2", "a": "1"}}), " for selector a=1,b=2"),
        (
            json!({"matchLabels": {"m": ""}, "matchExpressions": [
                {"key": "z", "operator": "In", "values": ["b", "a"]},
                {"key": "n", "operator": "NotIn", "values": ["x"]},
                {"key": "e", "operator": "Exists"},
                {"key": "d", "operator": "DoesNotExist", "values": []},
            ]}),
            " for selector !d,e,m=,n notin (x),z in (a,b)",
        ),
        (json!({"matchLabels": {"bad key": "1"}}), " for selector <error>"),
        (json!({"matchLabels": {"a": "bad value"}}), " for selector <error>"),
        (json!({"matchExpressions": [{"key": "a", "operator": "In"}]}), " for selector <error>"),
        (
            json!({"matchExpressions": [{"key": "a", "operator": "Gt", "values": ["1"]}]}),
            " for selector <error>",
        ),
        (
            json!({"matchExpressions": [{"key": "a", "operator": "Exists", "values": ["1"]}]}),
            " for selector <error>",
        ),
    ] {
        assert_eq!(spread(selector.clone()), format!("{printed}{text}"), "{selector}");
    }
    let two = json!([
        {"topologyKey": "zone", "maxSkew": 2, "whenUnsatisfiable": "ScheduleAnyway"},
        {"topologyKey": "host", "maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule"},
    ]);
    assert_eq!(
        block(json!({"topologySpreadConstraints": two}), "  Topology"),
        [
            "  Topology Spread Constraints:→host:DoNotSchedule when max skew 1 is exceeded",
            "  →zone:ScheduleAnyway when max skew 2 is exceeded",
        ]
    );
}
