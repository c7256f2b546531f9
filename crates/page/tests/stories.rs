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
    let unreadable = json!({"ask": "rehearse", "settings": [{"maxUnavailable": "ten"}]}).to_string();
    assert!(session.ask(&unreadable).unwrap_err().contains("ten"));
}

#[test]
fn what_can_not_be_opened_has_its_reason() {
    let mut session = Session::default();
    assert_eq!(session.ask(r#"{"ask": "stuck"}"#).unwrap_err(), "nothing is open");
    for (text, reason) in [
        ("", "is empty"),
        ("[]", "is a list of JSON"),
        (r#"{"items": []}"#, "nothing in it tells the time"),
        (r#"{"items": [{"kind": "Pod", "metadata": {"name": 3}}]}"#, "items[0].metadata.name"),
    ] {
        let error = session.open(text.as_bytes()).unwrap_err();
        assert!(error.contains(reason), "{text}: {error}");
    }
    let manifest = "kind: DaemonSet\nmetadata: {name: agent}\nspec: {selector: {}, template: {}}\n";
    assert_eq!(session.open(manifest.as_bytes()).unwrap(), r#"{"manifest":["agent"]}"#);
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
