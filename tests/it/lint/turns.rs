//! Turns, pulls, changes in place, fit and names: what their choices do on this fleet.

use super::{
    Beside, calm, calm_without_nodes, current_revision, found_beside, line, pod_field, says, template, text,
};
use crate::support::{Given, new, node, old, on_delete, pod, revision, rolling, surging};
use insta::assert_snapshot;
use serde_json::{Value, json};

fn under(policy: Value) -> Given {
    calm().policy(policy)
}

fn strategy(given: Given, strategy: Value) -> Given {
    given.with("/daemonSet/spec/updateStrategy", strategy)
}

fn says_beside(given: &Given, beside: &Beside) -> Vec<String> {
    found_beside(given, beside).iter().map(line).collect()
}

#[test]
fn good_choices_have_no_findings() {
    let turn = json!({"cordon": true, "gates": ["drained"], "timeoutSeconds": 3600});
    let good =
        json!({"turn": turn, "pull": {"parallel": 2}, "inPlace": "IfPossible", "podNames": "OnePerNode"});
    let opened = Beside { gate_openers: Some(vec!["drained"]), ..Beside::default() };
    assert_eq!(says_beside(&under(good), &opened), [""; 0]);
    assert_eq!(says(&under(json!({"fit": "Hold", "turn": {}}))), [""; 0]);
}

#[test]
fn a_gate_that_nobody_opens_is_found() {
    let gates = |turn: Value| under(json!({"turn": turn}));
    let both = gates(json!({"cordon": true, "gates": ["drained", "backup"]}));
    assert_snapshot!(text(&both), @"
    Advice GateWithoutOpener policy.turn.gates[0]: A controller that drains the nodes, with the right to evict the pods of others, must open it; until then each node in turn waits for good, and no warning tells of it.
    Advice GateWithoutOpener policy.turn.gates[1]: Somebody must open it, by an annotation backup.gate.daemonset/KEY of the node that repeats the request of its turn; until then each node in turn waits for good, and no warning tells of it.
    ");
    let backup = |more: Value| {
        let mut turn = json!({"gates": ["backup"]});
        turn.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        gates(turn)
    };
    let unopened = Beside { gate_openers: Some(vec!["drained"]), ..Beside::default() };
    let warned = says_beside(&backup(json!({"timeoutSeconds": 900})), &unopened).join("\n");
    assert_snapshot!(warned, @"Warning GateWithoutOpener policy.turn.gates[0]: Nobody is known to open it; until then each node in turn waits for good, with a warning after 15 minutes.");
    let proceeds = backup(json!({"timeoutSeconds": 60, "onTimeout": "Proceed"}));
    assert_snapshot!(says_beside(&proceeds, &unopened).join("\n"), @"Warning GateWithoutOpener policy.turn.gates[0]: Nobody is known to open it; until then each node in turn waits, but after 60 seconds its pod goes all the same.");
}

#[test]
fn a_drain_of_schedulable_nodes_is_found() {
    let opened = Beside { gate_openers: Some(vec!["drained", "backup"]), ..Beside::default() };
    let gate = |gate: &str| under(json!({"turn": {"gates": [gate]}}));
    assert_snapshot!(says_beside(&gate("drained"), &opened).join("\n"), @"Warning DrainWithoutCordon policy.turn.cordon: It is false beside the gate drained: the scheduler may put new pods on the node while it is drained, so that the drain has no end.");
    assert_eq!(says_beside(&gate("backup"), &opened), [""; 0], "it empties no node");
}

#[test]
fn turns_that_are_kept_are_found() {
    assert_snapshot!(text(&under(json!({"turn": "Keep"}))), @"Warning TurnsKept policy.turn: It is Keep, which stands for a policy that can't be read: no turn begins or ends, and no outdated pod goes.");
}

#[test]
fn one_name_without_a_grace_period_is_found() {
    let named =
        |names: &str| pod_field(under(json!({"podNames": names})), "terminationGracePeriodSeconds", json!(0));
    assert_snapshot!(text(&named("OnePerNode")), @"
    Error NameWithoutGrace policy.podNames: It is OnePerNode, and spec.template.spec.terminationGracePeriodSeconds is 0: the name of a deleted pod is free while its containers still run, so that a node may have two.
    Warning GracePeriodZero spec.template.spec.terminationGracePeriodSeconds: It is 0: a deleted pod is gone for the API server while its containers still run, and its successor starts beside them.
    ");
    assert_eq!(says(&named("Deterministic")).len(), 1, "that it is 0 is found under every choice");
}

#[test]
fn a_name_that_another_pod_has_is_found() {
    let given = calm_without_nodes().node(node("a")).policy(json!({"podNames": "OnePerNode"}));
    let plan = given.plan();
    let name = plan.actions.iter().find_map(|action| match action {
        daemonset::Action::CreatePod { pod, .. } => {
            pod.to_value()["metadata"]["name"].as_str().map(str::to_owned)
        }
        _ => None,
    });
    assert_eq!(says(&given), [""; 0]);
    let other = pod("other").named(&name.unwrap()).with("/metadata/labels", json!({}));
    let taken = given
        .stray("b", other.with("/metadata/ownerReferences", json!([{"uid": "other", "controller": true}])));
    assert_snapshot!(text(&taken), @"Error NameTaken policy.podNames: 1 node gets no pod, since the pod agent-rnz8k5bkvf of another owner has the name of its pod: a.");
}

#[test]
fn choices_without_an_effect_are_found() {
    let all = json!({"turn": {}, "pull": {}, "inPlace": "IfPossible", "fit": "Hold"});
    assert_snapshot!(text(&strategy(under(all), on_delete())), @"
    Warning WithoutEffect policy.fit: It has no effect: under OnDelete a person deletes the pods.
    Warning WithoutEffect policy.inPlace: It has no effect: under OnDelete a person deletes the pods.
    Warning WithoutEffect policy.pull: It has no effect: under OnDelete a person deletes the pods.
    Warning WithoutEffect policy.turn: It has no effect: under OnDelete a person deletes the pods.
    ");
    let surge = json!({"pull": {}, "inPlace": "IfPossible", "fit": "Hold"});
    assert_snapshot!(text(&strategy(under(surge), surging(1))), @"
    Warning WithoutEffect policy.inPlace: It has no effect: under surge a new pod comes beside the old one.
    Warning WithoutEffect policy.pull: It has no effect: under surge a new pod comes beside the old one.
    ");
    let emptied = under(json!({"turn": {"cordon": true, "gates": ["drained"]}, "fit": "Hold"}));
    let opened = Beside { gate_openers: Some(vec!["drained"]), ..Beside::default() };
    assert_snapshot!(says_beside(&emptied, &opened).join("\n"), @"Warning WithoutEffect policy.fit: It has no effect: the gate drained empties the node before its pod is taken.");
    let driven = json!({"turn": {}, "pull": {}, "inPlace": "IfPossible", "drive": rolling(1)});
    assert_eq!(says(&strategy(under(driven), on_delete())), [""; 0]);
    let never = pod_field(
        under(json!({"pull": {"timeoutSeconds": 0}})),
        "containers/0/imagePullPolicy",
        json!("Never"),
    );
    assert_snapshot!(text(&never), @"
    Warning WithoutEffect policy.pull: It has no effect: no image of the template is ever pulled, since each has the policy Never.
    Warning WithoutEffect policy.pull.timeoutSeconds: It has no effect: the time of each pull is over at once, so that no pod waits for its images.
    ");
}

#[test]
fn the_number_of_pulls_is_compared_with_the_nodes_and_with_the_limit() {
    let pulls = |parallel: Value, limit: Value| {
        strategy(under(json!({"pull": {"parallel": parallel}})), rolling(limit))
    };
    assert_snapshot!(text(&pulls(json!("67%"), json!(1))), @"Advice PullsAllAtOnce policy.pull.parallel: It is 67% and lets all 3 target nodes pull at a time: the registry, and the network before it, serve all of them at once.");
    assert_snapshot!(text(&pulls(json!(1), json!(2))), @"Advice PullsBelowLimit policy.pull.parallel: It is 1 and lets 1 node pull at a time, while maxUnavailable lets 2 nodes be updated: the update waits for its images.");
    assert_eq!(says(&pulls(json!(2), json!(2))), [""; 0]);
    let without_nodes = calm_without_nodes().policy(json!({"pull": {"parallel": 1}}));
    assert!(says(&without_nodes).iter().all(|line| !line.contains("Pull")), "no nodes are known");
}

#[test]
fn an_image_that_each_start_pulls_is_found() {
    let pulls = |image: &str, policy: &str| {
        let given = pod_field(under(json!({"pull": {}})), "containers/0/image", json!(image));
        let lines = says(&pod_field(given, "containers/0/imagePullPolicy", json!(policy)));
        lines.into_iter().filter(|line| line.contains("PulledAtEachStart")).collect::<Vec<_>>()
    };
    assert_snapshot!(pulls("agent:2", "Always").join("\n"), @"Advice PulledAtEachStart spec.template.spec.containers[0].imagePullPolicy: No node counts as having agent:2, since its policy lets each start pull it: each node gets a pull pod for it, and its daemon asks the registry once more.");
    assert_snapshot!(pulls("agent", "").join("\n"), @"Advice PulledAtEachStart spec.template.spec.containers[0].image: No node counts as having agent, since its tag lets each start pull it: each node gets a pull pod for it, and its daemon asks the registry once more.");
    for (image, policy) in
        [("agent:2", ""), ("agent:2", "IfNotPresent"), ("agent@sha256:0", "Always"), ("agent", "Never")]
    {
        assert_eq!(pulls(image, policy), [""; 0], "{image} {policy}");
    }
}

/// The fleet runs version 1, whose template is this one; version 2 comes.
fn over(before: Value) -> Given {
    let mut old_revision = revision("old", 1);
    old_revision["data"]["spec"]["template"] = before;
    let given = calm_without_nodes().nodes(["a", "b"], old()).node(node("c").has(new()));
    given.revisions([old_revision, current_revision()]).policy(json!({"inPlace": "IfPossible"}))
}

/// The template of version 2 with another value of a field.
fn but(pointer: &str, value: Value) -> Value {
    let mut template = template();
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    template.pointer_mut(parent).unwrap()[key] = value;
    template
}

#[test]
fn a_change_that_is_none_in_place_is_found() {
    let image = |mut template: Value| {
        template["spec"]["containers"][0]["image"] = json!("agent:1");
        template
    };
    assert_eq!(says(&over(image(template()))), [""; 0]);
    assert_eq!(says(&over(image(but("/metadata/annotations", json!({"a": "b"}))))), [""; 0]);
    let resources = image(but("/spec/containers/0/resources", json!({"requests": {"cpu": "1"}})));
    assert_snapshot!(text(&over(resources)), @"Advice NotInPlace spec.template.spec.containers[0].resources: More than images is new: the pods of revision 1 on 2 nodes are deleted, and not changed in place.");
    assert_snapshot!(text(&over(image(but("/spec/initContainers", json!([{"name": "i", "image": "i:1"}]))))), @"Advice NotInPlace spec.template.spec.initContainers: More than images is new: the pods of revision 1 on 2 nodes are deleted, and not changed in place.");
    assert_snapshot!(text(&over(but("/metadata/labels/more", json!("1")))), @"Advice NotInPlace spec.template.metadata: No image is new, and a change of labels or annotations alone is none in place: the pods of revision 1 on 2 nodes are deleted, and not changed in place.");
}

#[test]
fn the_stored_template_is_compared_where_no_pods_are_known() {
    let given = calm_without_nodes().policy(json!({"inPlace": "IfPossible"}));
    let mut stored = given.recording().daemon_set;
    assert!(says_beside(&given, &Beside { stored: Some(stored.clone()), ..Beside::default() }).is_empty());
    stored.spec.template["spec"]["hostNetwork"] = json!(true);
    assert_snapshot!(says_beside(&given, &Beside { stored: Some(stored), ..Beside::default() }).join("\n"), @"Advice NotInPlace spec.template.spec.hostNetwork: More than images is new: the pods of the stored template are deleted, and not changed in place.");
}

#[test]
fn the_same_image_under_another_name_is_found() {
    let named = |before: &str, after: &str| {
        let given = over(but("/spec/containers/0/image", json!(before)));
        let mut current = current_revision();
        current["data"]["spec"]["template"]["spec"]["containers"][0]["image"] = json!(after);
        let old_revision = given.json["revisions"][0].clone();
        pod_field(given, "containers/0/image", json!(after)).revisions([old_revision, current])
    };
    assert_snapshot!(text(&named("agent:1@sha256:ab", "mirror/agent:2@sha256:ab")), @"Advice SameImage spec.template.spec.containers[0].image: agent:1@sha256:ab and mirror/agent:2@sha256:ab have one digest: the container restarts for the same image, and its pod is not available for a minute.");
    assert_eq!(says(&named("agent:1@sha256:ab", "agent:2@sha256:cd")), [""; 0]);
}

#[test]
fn a_priority_class_of_the_policy_counts() {
    let without = |policy: Value| pod_field(under(policy), "priorityClassName", Value::Null);
    let known = Beside { priority_classes: Some(vec!["agents"]), ..Beside::default() };
    assert_eq!(says_beside(&without(json!({"priorityClassName": "agents"})), &known), [""; 0]);
    assert_snapshot!(says_beside(&without(json!({"priorityClassName": "daemons"})), &known).join("\n"), @"Error PriorityClassMissing policy.priorityClassName: There is no PriorityClass daemons: the API server refuses every pod that names it.");
    let own = under(json!({"priorityClassName": "daemons"}));
    assert_eq!(says_beside(&own, &known), [""; 0], "the template's own prevails");
}

#[test]
fn nodes_that_are_too_small_are_found() {
    let requests =
        |requests: Value| pod_field(calm(), "containers/0/resources", json!({"requests": requests}));
    let nodes = |cpu: [&str; 3]| {
        let of = |(name, cpu)| {
            (name, serde_json::from_value(json!({"cpu": cpu, "memory": "8Gi", "pods": "110"})).unwrap())
        };
        let allocatable = ["a", "b", "c"].into_iter().zip(cpu).map(of).collect();
        Beside { allocatable, ..Beside::default() }
    };
    let large = requests(json!({"cpu": "1500m", "memory": "8Gi"}));
    assert_snapshot!(says_beside(&large, &nodes(["1", "1499m", "2"])).join("\n"), @"Error NodeTooSmall spec.template.spec.containers[0].resources.requests[cpu]: 2 of 3 target nodes are too small for the pod, even without any other: it requests cpu 1500m, and none of them has more than 1499m: a, b.");
    let found = found_beside(&large, &nodes(["1", "1499m", "2"]));
    assert_eq!(found[0].nodes, ["a".into(), "b".into()]);
    assert_eq!(says_beside(&large, &nodes(["1500m", "2", "2"])), [""; 0]);
    assert_eq!(says(&large), [""; 0], "no node's resources are given");
    assert_snapshot!(says_beside(&requests(json!({"gpu": "1"})), &nodes(["2"; 3])).join("\n"), @"Error NodeTooSmall spec.template.spec.containers[0].resources.requests[gpu]: 3 of 3 target nodes are too small for the pod, even without any other: it requests gpu 1, and none of them has more than 0: a, b, c.");
    let disk = requests(json!({"ephemeral-storage": "1Ti"}));
    assert_eq!(says_beside(&disk, &nodes(["2"; 3])), [""; 0], "a node always has some");
    let elsewhere = pod_field(large, "nodeSelector", json!({"disk": "ssd"}));
    let says_elsewhere = says_beside(&elsewhere, &nodes(["1"; 3]));
    assert!(says_elsewhere.iter().all(|line| !line.contains("NodeTooSmall")), "they are no target nodes");
}
