//! Questions about a policy, a manifest and a node, and a cluster to hand on.

use daemonset_page::{Session, stories};
use serde_json::{Value, json};

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
    assert_eq!(unreadable["findings"][0]["severity"], "Error");
    let none = tried("");
    assert_eq!((none["problems"].as_str(), &none["words"]), (Some(""), &Value::Null));
    // It was a trial.
    assert_eq!(ask(&mut session, &json!({"ask": "policy"})), "");
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
