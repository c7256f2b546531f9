//! The built-in stories, as the page opens them.

use daemonset_page::{Session, stories};
use serde_json::{Value, json};

/// A session with the story open, and its first screen.
fn opened(name: &str) -> (Session, Value) {
    let mut session = Session::default();
    let opened = ask(&mut session, &json!({"ask": "story", "name": name}));
    let fleet = ask(&mut session, &json!({"ask": "at", "now": opened["opened"]["now"]}));
    (session, fleet)
}

fn ask(session: &mut Session, question: &Value) -> Value {
    serde_json::from_str(&session.ask(&question.to_string()).unwrap()).unwrap()
}

fn headline(session: &mut Session) -> String {
    ask(session, &json!({"ask": "stuck"}))["headline"].as_str().unwrap().to_owned()
}

/// How many nodes look so.
fn looks(fleet: &Value, look: &str) -> usize {
    fleet["cells"]["looks"].as_array().unwrap().iter().filter(|it| *it == look).count()
}

#[test]
fn each_story_tells_its_own() {
    let told = |name: &str| {
        let (mut session, fleet) = opened(name);
        let headline = headline(&mut session);
        let looks = ["acts", "stuck", "waits", "held", "calm", "none"].map(|look| looks(&fleet, look));
        (headline.split(':').next().unwrap().to_owned(), looks, fleet)
    };
    let (state, looks, _) = told("healthy");
    assert_eq!((state.as_str(), looks), ("complete", [0, 0, 0, 0, 60, 0]));
    let (state, looks, _) = told("stuck");
    assert_eq!((state.as_str(), looks[1], looks[3]), ("stuck", 1, 14));
    let (state, looks, fleet) = told("dead-nodes");
    assert_eq!((state.as_str(), looks[3]), ("stuck", 27));
    assert_eq!(fleet["budget"], json!({"limit": 3, "used": 3, "taken": 0}));
    let (_, _, fleet) = told("canary");
    let rollout = fleet["head"].as_array().unwrap().iter().find(|line| line[0] == "Rollout").unwrap();
    assert!(
        rollout[1].as_str().unwrap().starts_with("failed (TooManyFailures), all nodes go back"),
        "{rollout}"
    );
    assert_eq!(fleet["cells"]["waves"].as_array().unwrap().iter().filter(|wave| **wave == 1).count(), 5);
    let (state, looks, fleet) = told("surge");
    assert_eq!((state.as_str(), looks[1]), ("stuck", 3));
    assert!(fleet["warnings"][0].as_str().unwrap().starts_with("host port 9100 with maxSurge"));
    let (state, _, fleet) = told("driven");
    assert_eq!(state, "moves");
    assert!(fleet["head"].to_string().contains("wave 1: baking until"), "{}", fleet["head"]);
    assert_eq!(stories().len(), 6);
}

#[test]
fn time_alone_opens_the_next_wave() {
    let (mut session, fleet) = opened("driven");
    assert_eq!((looks(&fleet, "acts"), looks(&fleet, "waits")), (0, 20));
    let instants = ask(&mut session, &json!({"ask": "instants"}));
    let wave = instants.as_array().unwrap().iter().find(|it| it["why"].as_str().unwrap().contains("wave"));
    let fleet = ask(&mut session, &json!({"ask": "at", "now": wave.unwrap()["at"]}));
    assert_eq!(looks(&fleet, "acts"), 3);
    let why = ask(&mut session, &json!({"ask": "why", "node": "node-21"}));
    let sentences = why["daemonSets"][0]["sentences"].to_string();
    assert!(sentences.contains("This plan deletes"), "{sentences}");
}

#[test]
fn two_settings_are_rehearsed_beside_each_other() {
    let (mut session, _) = opened("healthy");
    let question = json!({"ask": "rehearse", "seed": 4, "nodes": 12, "failureRate": "10%", "settings": [
        {"maxUnavailable": "1"}, {"maxUnavailable": "50%", "policy": "waves: [{upTo: 2}, {}]"},
    ]});
    let answer = ask(&mut session, &question);
    let rows = answer["beside"]["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 2);
    assert_eq!(
        (&rows[0][0], &rows[1][0]),
        (&json!("maxUnavailable 1"), &json!("maxUnavailable 50%, policy policy"))
    );
    for run in answer["runs"].as_array().unwrap() {
        assert!(run["svg"].as_str().unwrap().starts_with("<svg"));
        assert_eq!(run["data"]["rows"].as_array().unwrap().len(), 12);
        assert_eq!(
            run["data"]["classes"].as_array().unwrap().len(),
            run["data"]["states"].as_array().unwrap().len()
        );
    }
    assert_eq!(ask(&mut session, &question), answer);
    let mut by_downtime = question.clone();
    by_downtime["downtime"] = json!(true);
    assert_ne!(ask(&mut session, &by_downtime)["beside"]["titles"], answer["beside"]["titles"]);
    let backwards = json!({"ask": "rehearse", "pauseAt": "20s", "resumeAt": "10s"}).to_string();
    assert!(session.ask(&backwards).unwrap_err().contains("must be later than the pause"));
    let unreadable = json!({"ask": "rehearse", "settings": [{"maxUnavailable": "ten"}]}).to_string();
    assert!(session.ask(&unreadable).unwrap_err().contains("ten"));
}

/// As the plugin's flags: gates, workloads with a budget, pulls and changes in place, and all that goes wrong.
#[test]
fn a_rehearsal_has_turns_and_everything_that_goes_wrong() {
    let (mut session, _) = opened("healthy");
    let mut text = |more: Value| {
        let mut question = json!({"ask": "rehearse", "nodes": 6, "settings": [{"maxUnavailable": "2"}]});
        question.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        ask(&mut session, &question)["runs"][0]["text"].as_str().unwrap().to_owned()
    };
    let turns = |policy: &str| json!([{"maxUnavailable": "2", "policy": policy}]);
    let backup = "turn: {gates: [backup], timeoutSeconds: 600}";
    let closed = text(json!({"settings": turns(backup)}));
    assert!(closed.contains("backup") && !closed.contains("complete in"), "{closed}");
    let open = text(json!({"settings": turns(backup), "gatesAfter": "2m"}));
    assert!(open.contains("complete in"), "{open}");
    let drain = "turn: {cordon: true, gates: [drained]}\ndrain: {}";
    let drained = text(json!({"settings": turns(drain), "workloads": "2", "disruptionBudget": "1"}));
    assert!(drained.contains("complete in") && drained.contains("evict"), "{drained}");
    let ahead = text(json!({"settings": [{"parallel": "2", "inPlace": "IfPossible"}]}));
    assert!(ahead.contains("in place"), "{ahead}");
    let paused = text(json!({"pauseAt": "30s", "resumeAt": "10m"}));
    assert!(paused.contains("complete in 1"), "{paused}");
    let plain = text(json!({}));
    for wrong in [
        json!({"evicted": "50%"}),
        json!({"panicsNode": "50%"}),
        json!({"lifetime": "30s"}),
        json!({"absenceTaint": "agent-not-ready"}),
        json!({"stop": "1m"}),
        json!({"asIs": true}),
        json!({"settings": [{"type": "OnDelete"}]}),
    ] {
        assert_ne!(text(wrong.clone()), plain, "{wrong}");
    }
}

#[test]
fn what_can_not_be_opened_has_its_reason() {
    let mut session = Session::default();
    assert_eq!(session.ask(r#"{"ask": "stuck"}"#).unwrap_err(), "nothing is open");
    for (text, reason) in [
        ("", "is empty"),
        ("[]", "is a list of JSON"),
        (r#"{"items": []}"#, "there is no DaemonSet in it"),
        (r#"{"items": [{"kind": "Pod", "metadata": {"name": 3}}]}"#, "items[0].metadata.name"),
    ] {
        let error = session.open(text.as_bytes()).unwrap_err();
        assert!(error.contains(reason), "{text}: {error}");
    }
    assert_eq!(
        session.open(&[0x1f, 0x8b, 8, 0]).unwrap_err(),
        "the opened file is compressed: gunzip makes its text"
    );
    assert!(session.open(&[0xff, 0xfe, b'{']).unwrap_err().contains("utf-8"));
    let mut without_pods: Value = serde_json::from_str(&stories()[0].dump()).unwrap();
    without_pods["items"].as_array_mut().unwrap().retain(|item| item["kind"] != "Pod");
    let error = session.open(without_pods.to_string().as_bytes()).unwrap_err();
    assert!(error.starts_with("no Pod in the List, though DaemonSet monitoring/agent has pods"), "{error}");
    // Ten references to ten references, and so on: more text than anybody has memory for.
    let laughs =
        (1..10).map(|level| format!("a{level}: &a{level} [{}]\n", format!("*a{}, ", level - 1).repeat(10)));
    let laughs = format!("a0: &a0 [ha]\n{}", laughs.collect::<String>());
    assert!(session.open(laughs.as_bytes()).unwrap_err().contains("aliases say too much"));
    assert_eq!(session.ask(r#"{"ask": "stuck"}"#).unwrap_err(), "nothing is open");
    let manifest = "kind: DaemonSet\nmetadata: {name: agent}\nspec: {selector: {}, template: {}}\n";
    assert_eq!(session.open(manifest.as_bytes()).unwrap(), r#"{"manifest":["agent"]}"#);
}

#[test]
fn yaml_with_anchors_is_the_same_cluster() {
    let dump = stories()[0].dump();
    let list: Value = serde_json::from_str(&dump).unwrap();
    let items = list["items"].as_array().unwrap();
    // JSON is YAML, too: each pod names the spec of the first one.
    let mut yaml = String::from("apiVersion: v1\nkind: List\nitems:\n");
    let mut first = true;
    for item in items {
        let mut item = item.clone();
        let spec = item.as_object_mut().unwrap().remove("spec").unwrap_or_default();
        let is_pod = item["kind"] == "Pod";
        let node = spec["nodeName"].clone();
        let spec = match (is_pod, first) {
            (true, true) => {
                first = false;
                format!("spec: &spec {spec}")
            }
            (true, false) => format!("spec: {{<<: *spec, nodeName: {node}}}"),
            (false, _) => format!("spec: {spec}"),
        };
        let members = item.as_object().unwrap().iter().map(|(name, value)| format!("  {name}: {value}\n"));
        yaml.push_str(&format!("- {spec}\n{}", members.collect::<String>()));
    }
    let mut plain = Session::default();
    let mut anchored = Session::default();
    assert_eq!(anchored.open(yaml.as_bytes()).unwrap(), plain.open(dump.as_bytes()).unwrap());
    assert_eq!(headline(&mut anchored), headline(&mut plain));
}

/// A cluster has more values than the reader of YAML takes on its own.
#[test]
fn a_large_cluster_in_yaml_is_read() {
    let mut list: Value = serde_json::from_str(&stories()[0].dump()).unwrap();
    let leaves = vec![json!({"a": [1]}); 90_000];
    list["items"]
        .as_array_mut()
        .unwrap()
        .push(json!({"kind": "ConfigMap", "metadata": {"name": "a"}, "leaves": leaves}));
    let yaml = format!("# In YAML\n{list}");
    let mut session = Session::default();
    session.open(yaml.as_bytes()).unwrap();
    assert_eq!(headline(&mut session).split(':').next(), Some("complete"));
}

#[test]
fn names_of_others_are_shown_with_escapes() {
    let (_, fleet) = opened("stuck");
    let name = fleet["cells"]["nodes"][14].as_str().unwrap().to_owned();
    let dump = stories()[1].dump().replace(&name, r"a\u001b[2Jb\u202e");
    let mut session = Session::default();
    session.open(dump.as_bytes()).unwrap();
    let fleet = ask(&mut session, &json!({"ask": "at", "now": fleet["now"]}));
    assert!(fleet["cells"]["nodes"].as_array().unwrap().contains(&json!(r"a\u{1b}[2Jb\u{202e}")));
}
