//! Questions about a policy, a manifest and a node, and a cluster to hand on.

use daemonset::outlook::Outlook;
use daemonset::{Recording, plan};
use daemonset_page::{Session, stories};
use daemonset_view::plan::actions;
use daemonset_view::stuck;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// A session with the healthy cluster, 60 nodes of which have the new version.
fn healthy() -> Session {
    let mut session = Session::default();
    session.open(stories()[0].dump().as_bytes()).unwrap();
    session
}

fn ask(session: &mut Session, question: &Value) -> Value {
    serde_json::from_str(&session.ask(&question.to_string()).unwrap()).unwrap()
}

#[test]
fn a_policy_has_its_words_its_surprises_and_its_waves() {
    let mut session = healthy();
    let mut tried = |text: &str| ask(&mut session, &json!({"ask": "policy", "text": text}));
    let steered = tried("waves: [{upTo: 10%}, {}]");
    assert_eq!((steered["problems"].as_str(), steered["words"].as_str()), (Some(""), Some("waves 10%, all")));
    let waves = steered["fleet"]["cells"]["waves"].as_array().unwrap();
    assert_eq!([1, 2].map(|wave| waves.iter().filter(|it| **it == wave).count()), [6, 54]);
    let unreadable = tried("waves: [{upTo: half}]");
    assert!(
        unreadable["problems"].as_str().unwrap().starts_with("the policy: waves[0].upTo"),
        "{unreadable}"
    );
    assert_eq!(unreadable["fleet"], Value::Null);
    assert_eq!(
        (&unreadable["findings"][0]["severity"], &unreadable["findings"][0]["line"]),
        (&json!("Error"), &json!(1))
    );
    let none = tried("");
    assert_eq!((none["problems"].as_str(), &none["words"]), (Some(""), &Value::Null));
    // It was a trial.
    assert_eq!(ask(&mut session, &json!({"ask": "policy"})), "");
}

/// Severity, line, and the path in the policy.
fn in_margin(answer: &Value) -> Vec<(String, Option<u64>, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let findings = answer["findings"].as_array().unwrap().iter();
    findings
        .map(|it| {
            (
                text(&it["severity"]),
                it["line"].as_u64(),
                text(&it["path"]).replace("metadata.annotations[rollout.daemonset/policy].", ""),
            )
        })
        .collect()
}

#[test]
fn each_finding_is_beside_its_line() {
    let mut session = healthy();
    let mut tried = |text: &str| in_margin(&ask(&mut session, &json!({"ask": "policy", "text": text})));
    let of = |severity: &str, line: Option<u64>, path: &str| (severity.to_owned(), line, path.to_owned());
    // Each field that can't be read, an unknown one among them, and none twice.
    let found = tried("# Two\nwaves:\n- upTo: half\n- uptoo: 5\nonFailure:\n  maxFailures: [1]\n");
    let errors: Vec<_> = found.iter().filter(|(severity, ..)| severity == "Error").cloned().collect();
    assert_eq!(
        errors,
        [
            of("Error", Some(3), "waves[0].upTo"),
            of("Error", Some(4), "waves[1].uptoo"),
            of("Error", Some(6), "onFailure.maxFailures"),
        ]
    );
    // What is wrong with the DaemonSet itself has no line.
    assert!(found.contains(&of("Advice", None, "spec.template.spec.containers")), "{found:?}");
    let found = tried("waves:\n- upTo: 10%\n  bakeSeconds: 5\n- {}\nonFailure:\n  action: RollBack\n");
    assert!(found.contains(&of("Advice", Some(3), "waves[0].bakeSeconds")), "{found:?}");
    assert!(found.contains(&of("Warning", Some(5), "onFailure")), "{found:?}");
    // A text that is no YAML.
    let found = tried("waves:\n- upTo: [\n");
    assert_eq!(found[0].0, "Error");
    assert!(found[0].1 >= Some(2), "{found:?}");
}

#[test]
fn a_manifest_restarts_the_fleet_or_not() {
    let mut session = healthy();
    let dump: Value = serde_json::from_str(&stories()[0].dump()).unwrap();
    let mut manifest = dump["items"][0].clone();
    let mut judged =
        |manifest: &Value| ask(&mut session, &json!({"ask": "manifest", "text": manifest.to_string()}));
    manifest["spec"]["template"]["spec"]["restartPolicy"] = json!("Always");
    let same = judged(&manifest);
    assert_eq!(same["restart"], "applying it restarts no pod");
    manifest["spec"]["template"]["spec"]["containers"][0]["image"] = json!("agent:3");
    let other = judged(&manifest);
    assert_eq!(other["restart"], "applying it restarts every pod");
    let difference = r#"spec.template.spec.containers[agent].image: "registry.example/agent:1" -> "agent:3""#;
    assert_eq!(other["differences"], json!([difference]));
    manifest["metadata"]["name"] = json!("another");
    let question = json!({"ask": "manifest", "text": manifest.to_string()}).to_string();
    assert!(session.ask(&question).unwrap_err().contains("no DaemonSet monitoring/another"));
}

#[test]
fn a_node_has_its_daemon_sets() {
    let mut session = healthy();
    let on = ask(&mut session, &json!({"ask": "on", "node": "node-01", "isNew": true}));
    assert_eq!(on, json!({"rows": [["monitoring/agent", "yes", "", "", ""]], "sums": [["Total", "1 pod"]]}));
    let question = json!({"ask": "on", "node": "node-99", "isNew": false}).to_string();
    assert_eq!(session.ask(&question).unwrap_err(), "no node is named node-99");
}

#[test]
fn a_shared_cluster_is_the_same_to_a_plan() {
    for story in stories() {
        let mut session = Session::default();
        let opened: Value = serde_json::from_str(&session.open(story.dump().as_bytes()).unwrap()).unwrap();
        let question = json!({"ask": "share", "environment": false, "annotations": false});
        let shared = ask(&mut session, &question);
        let at = json!({"ask": "at", "now": opened["now"]});
        let before = ask(&mut session, &at);
        session.open(shared.as_str().unwrap().as_bytes()).unwrap();
        assert_eq!(ask(&mut session, &at), before, "{}", story.name);
    }
}

/// The pods of a custom kind are made of inputs, too: with others, each pod is outdated.
#[test]
fn a_recording_of_a_custom_kind_is_the_same_decision() {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/recording.json");
    let mut recording = Recording::from_json(&fs::read(example).unwrap()).unwrap();
    let opened = |recording: &Recording| {
        let mut session = Session::default();
        session.open(&serde_json::to_vec(recording).unwrap()).unwrap();
        let at = ask(&mut session, &json!({"ask": "at", "now": recording.now}));
        let stuck = ask(&mut session, &json!({"ask": "stuck"}));
        (session, at, stuck)
    };
    let (_, plain, plainly) = opened(&recording);
    recording.inputs = json!({"large": {"requests": {"memory": "1Gi"}}});
    let (mut session, at, stuck) = opened(&recording);
    let plan = plan(&recording.snapshot().unwrap());
    assert_eq!(at["actions"], json!(actions::lines(&plan.actions, &recording.daemon_set.status, None)));
    assert_ne!(at["actions"], plain["actions"]);
    // The second reading of the same text, for all questions but the first screen.
    let outlook = Outlook::new(&plan, recording.now, stuck::PATIENCE).unwrap();
    let outdated = format!("{} nodes have an outdated pod", outlook.outdated);
    assert!(stuck["headline"].as_str().unwrap().contains(&outdated), "{stuck}");
    assert_ne!(stuck["headline"], plainly["headline"]);
    let shared = ask(&mut session, &json!({"ask": "share", "environment": false, "annotations": false}));
    session.open(shared.as_str().unwrap().as_bytes()).unwrap();
    assert_eq!(ask(&mut session, &json!({"ask": "at", "now": recording.now})), at);
}

fn opened(items: &[Value]) -> (Session, Value) {
    let mut session = Session::default();
    let answer = session.open(json!({"kind": "List", "items": items}).to_string().as_bytes()).unwrap();
    (session, serde_json::from_str(&answer).unwrap())
}

#[test]
fn a_daemon_set_that_can_not_be_planned_hides_no_other() {
    let dump: Value = serde_json::from_str(&stories()[0].dump()).unwrap();
    let mut items = dump["items"].as_array().unwrap().clone();
    let mut other = items[0].clone();
    (other["metadata"]["name"], other["metadata"]["uid"]) = (json!("aaa"), json!("aaa"));
    other["spec"]["selector"] = json!({"matchLabels": {"app": "other"}});
    items.push(other);
    let (_, answer) = opened(&items);
    assert_eq!(answer["chosen"], "monitoring/agent");
    assert_eq!(answer["daemonSets"][0]["name"], "monitoring/aaa");
}

#[test]
fn a_daemon_set_without_a_namespace_is_told_what_it_lacks() {
    let dump: Value = serde_json::from_str(&stories()[0].dump()).unwrap();
    let mut items = dump["items"].as_array().unwrap().clone();
    items[0]["metadata"].as_object_mut().unwrap().remove("namespace");
    let (mut session, answer) = opened(&items);
    let question = json!({"ask": "at", "now": answer["now"]}).to_string();
    let lacks = "items[0].metadata.namespace (DaemonSet /agent): Required value";
    assert_eq!(session.ask(&question).unwrap_err(), lacks);
}

#[test]
fn the_command_for_a_policy_is_safe_to_paste() {
    let dump = stories()[0].dump().replace("\"agent\"", "\"a;id\"").replace("\"monitoring\"", "\"m$(id)\"");
    let mut session = Session::default();
    session.open(dump.as_bytes()).unwrap();
    let tried = ask(&mut session, &json!({"ask": "policy", "text": "# it's\ninPlace: IfPossible"}));
    let command =
        r#"kubectl annotate -n 'm$(id)' daemonset/'a;id' --overwrite "rollout.daemonset/policy=# it's"#;
    let command = format!("{command}\ninPlace: IfPossible\"");
    assert_eq!(tried["command"], command);
}

#[test]
fn an_empty_list_has_no_daemon_set() {
    for text in ["{\"items\":[]}", "{\"items\":null}", "kind: Pod\nmetadata: {name: a}\n"] {
        assert_eq!(
            Session::default().open(text.as_bytes()).unwrap_err(),
            "there is no DaemonSet in it",
            "{text}"
        );
    }
}
