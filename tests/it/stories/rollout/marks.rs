//! Marks: the state of a rollout on its revision.

use super::{creates, mark, marked, marks, revisions, steered};
use crate::support::{at, given, new, node, old, revision, rolling, template};
use daemonset::report::WaveProgress;
use daemonset::{Action, Plan, RolloutReason};
use serde_json::{Value, json};

#[test]
fn the_first_plan_marks_the_beginning() {
    let fleet = given(rolling(1)).policy(json!({"rollout": {}})).node(node("a").has(old()));
    assert_eq!(marks(&fleet.plan()), ["started="]);
    let paused = fleet.policy(json!({"rollout": {"paused": true}}));
    assert_eq!(marks(&paused.plan()), Vec::<String>::new());
}

#[test]
fn a_pause_removes_the_beginning_so_that_the_deadline_begins_again() {
    let plan = steered(json!({"paused": true})).node(node("a").has(old())).plan();
    assert_eq!(marks(&plan), ["started-"]);
    let Some(Action::AnnotateRevision { revision, annotations, reason, .. }) = plan.actions.first() else {
        panic!()
    };
    assert_eq!((revision.name.as_str(), *reason), ("agent-new", RolloutReason::RolloutPaused));
    assert_eq!(json!(annotations), json!({"rollout.daemonset/started": null}));
}

#[test]
fn a_mark_of_another_number_is_of_another_rollout() {
    let current =
        marked("new", 2, &[("started", &format!("1 {}", at(-9))), ("wave", &format!("1 {} 1", at(-9)))]);
    let fleet = steered(json!({"waves": [{"upTo": 1}, {}]})).revisions([revision("old", 1), current]);
    assert_eq!(marks(&fleet.node(node("a").has(old())).plan()), ["started=", "wave=0"]);
}

#[test]
fn a_revision_that_is_current_again_is_marked_under_its_new_number() {
    let current =
        marked("new", 1, &[("started", &format!("1 {}", at(-9))), ("completed", &format!("1 {}", at(-9)))]);
    let fleet = steered(json!({})).revisions([revision("old", 2), current]).node(node("a").has(old()));
    let plan = fleet.plan();
    let written: Vec<String> = plan.actions.iter().take(2).map(ToString::to_string).collect();
    assert_eq!(
        written,
        [
            "RenumberRevision agent-new to 3 (CurrentAgain)".to_owned(),
            format!("AnnotateRevision agent-new rollout.daemonset/started=\"3 {}\" (RolloutStarted)", at(0)),
        ]
    );
}

fn created_revision(plan: &Plan) -> &Value {
    let Some(Action::CreateRevision { revision, .. }) = plan.actions.first() else {
        panic!("a new revision")
    };
    revision
}

#[test]
fn a_new_revision_is_created_with_its_beginning() {
    let fleet = |rollout: Value| {
        let fleet = given(rolling(1))
            .policy(json!({"rollout": rollout}))
            .with("/daemonSet/spec/template", template("newer"));
        let annotations = json!({"rollout.daemonset/paused": "false", "team": "x"});
        fleet.with("/daemonSet/metadata/annotations", annotations).node(node("a").has(old()))
    };
    let started = format!("3 {}", at(0));
    let plan = fleet(json!({})).plan();
    assert_eq!(
        created_revision(&plan)["metadata"]["annotations"],
        json!({"team": "x", "rollout.daemonset/started": started}),
        "and without the annotations that steer the DaemonSet"
    );
    assert_eq!(marks(&plan), Vec::<String>::new());
    let paused = fleet(json!({"paused": true})).plan();
    assert_eq!(created_revision(&paused)["metadata"]["annotations"], json!({"team": "x"}));
}

#[test]
fn the_end_needs_an_available_pod_on_each_target_node() {
    let fleet = |pod| {
        let fleet = steered(json!({})).min_ready(30).node(node("a").has(new())).node(node("b").has(pod));
        marks(&fleet.plan())
    };
    assert_eq!(fleet(new()), ["completed="]);
    assert_eq!(fleet(new().ready_for(29)), Vec::<String>::new());
    assert_eq!(fleet(old()), Vec::<String>::new());
    assert_eq!(marks(&steered(json!({})).plan()), Vec::<String>::new(), "there is no target node");
}

#[test]
fn the_end_waits_for_nodes_that_only_the_new_version_wants() {
    let tolerates = json!([{"key": "gpu", "operator": "Exists"}]);
    let mut current = marked("new", 2, &[("started", &mark("")), ("wave", &mark("0"))]);
    current["data"]["spec"]["template"]["spec"]["tolerations"] = tolerates.clone();
    let fleet = |approved: Value| {
        let waves = json!([{"upTo": 1}, {"needsApproval": true}]);
        let fleet = steered(json!({"waves": waves, "approved": approved}));
        let fleet = fleet.revisions([revision("old", 1), current.clone()]);
        let fleet = fleet.with("/daemonSet/spec/template/spec/tolerations", tolerates.clone());
        let fleet = fleet.node(node("a").has(new().tolerates("gpu")));
        let plan = fleet.node(node("b").taint("gpu", "NoSchedule")).plan();
        (marks(&plan), creates(&plan))
    };
    assert_eq!(
        fleet(json!({})),
        (vec![], vec![]),
        "the stable revision does not want b, and nobody has approved its wave"
    );
    let created = vec![("b".to_owned(), "new".to_owned())];
    assert_eq!(fleet(json!({"2": 2})), (vec!["wave=1".to_owned()], created));
}

#[test]
fn a_partition_never_ends() {
    let fleet =
        steered(json!({"waves": [{"upTo": 1}]})).node(node("a").has(new())).node(node("b").has(old()));
    assert_eq!(marks(&fleet.plan()), ["wave=0"]);
}

#[test]
fn a_failed_revision_is_not_completed_even_where_nobody_judges() {
    let fleet = steered(json!({})).nodes(["a", "b"], new());
    let failed = mark("TooManyFailures");
    assert_eq!(
        marks(&revisions(fleet.clone(), revision("old", 1), &[("failed", &failed)]).plan()),
        Vec::<String>::new()
    );
    assert_eq!(marks(&fleet.plan()), ["completed="]);
}

#[test]
fn marks_have_the_prefix_of_the_policy() {
    let fleet = given(rolling(1)).policy(json!({"rollout": {}, "markPrefix": "agents.example.com"}));
    let plan = fleet.node(node("a").has(old())).plan();
    let text = plan.actions[0].to_string();
    assert!(text.contains(" agents.example.com/started="), "{text}");
}

/// The stable revision of a rollout with these two old revisions, which have no pods.
fn stable(old: Value, other: Value) -> Option<String> {
    let fleet = steered(json!({})).revisions([old, other, revision("new", 9)]);
    fleet.plan().report.rollout.unwrap().stable
}

/// Whether a mark with this value tells that a revision was complete at the beginning of 2026.
fn is_mark(value: &str) -> bool {
    let is_stable_beside = |other: &str| {
        let other = marked("other", 2, &[("completed", &format!("2 {other}"))]);
        stable(marked("old", 1, &[("completed", value)]), other).as_deref() == Some("agent-old")
    };
    is_stable_beside("2025-12-31T23:59:59Z") && !is_stable_beside("2026-01-01T00:00:01Z")
}

#[test]
fn a_mark_has_a_number_and_an_instant() {
    for (value, number) in [
        ("3 2026-01-01T00:00:00Z", 3),
        ("-3 2026-01-01T01:00:00+01:00 0", -3),
        ("003 2026-01-01T00:00:00.000Z Too many", 3),
    ] {
        assert!(is_mark(value), "{value}");
        let failed = |number| marked("old", number, &[("failed", value)]);
        let other = |number| stable(failed(number), revision("other", number - 1)).unwrap();
        assert_eq!((other(number), other(number - 1)), ("agent-other".into(), "agent-old".into()), "{value}");
    }
    for value in [
        "",
        "3",
        "yes",
        "+3 2026-01-01T00:00:00Z",
        "3  2026-01-01T00:00:00Z",
        " 3 2026-01-01T00:00:00Z",
        "3 2026-01-01T00:00:00Z ",
        "3 2026-01-01T00:00:00",
        "3 2026-01-01",
        "3 20260101T000000Z",
        "3 2026-01-01T00:00:00Z[UTC]",
        "- 2026-01-01T00:00:00Z",
        "99999999999999999999 2026-01-01T00:00:00Z",
    ] {
        assert!(!is_mark(value), "{value:?}");
    }
}

#[test]
fn the_mark_of_a_failure_ends_with_its_reason() {
    for reason in ["", "0", "Too many"] {
        let value = format!("3 {} {reason}", at(-60));
        let current = marked("new", 3, &[("failed", value.trim_end())]);
        let plan = steered(json!({"onFailure": {}})).revisions([revision("old", 1), current]).plan();
        let stage = json!(plan.report.rollout.unwrap().stage);
        assert_eq!(stage, json!({"type": "Stopped", "reason": reason}));
    }
}

#[test]
fn the_mark_of_a_wave_has_its_index() {
    let open = |rest: &str| {
        // A paused rollout opens no wave by itself, and a wave without nodes is done as soon as it is open.
        let fleet = steered(json!({"waves": vec![json!({}); 20], "paused": true}));
        let current = marked("new", 3, &[("wave", &format!("3 {} {rest}", at(-60)))]);
        let report = fleet.revisions([revision("old", 1), current]).plan().report;
        report.rollout.unwrap().waves.iter().filter(|wave| wave.progress == WaveProgress::Done).count()
    };
    assert_eq!((open("0"), open("17"), open("99999999999999999999")), (1, 18, 20));
    assert_eq!((open(""), open("-1"), open("+1"), open("1 2"), open("one")), (0, 0, 0, 0, 0));
}
