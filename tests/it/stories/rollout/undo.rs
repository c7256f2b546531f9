//! A failed version is undone: the DaemonSet gets the template of the stable revision back, once.

use super::{deletes, mark, marked, marks, requeue};
use crate::support::{
    Given, at, given, new, node, old, on_delete, revision, rolling, steps, template, tracked,
};
use daemonset::model::ObjectRef;
use daemonset::report::{NotUndoneReason, RolloutStage, Warning};
use daemonset::{Action, ActionOutcome, Memory, Observed, Plan, Recording, RestoreReason};
use daemonset_audit::{ViolationKind, audit};
use daemonset_incremental::Tracker;
use serde_json::{Value, json};
use std::sync::Arc;

/// Its generation is 5 and its resource version 77.
fn fleet() -> Given {
    fleet_with(rolling(1), json!({}))
}

fn fleet_with(strategy: Value, policy: Value) -> Given {
    let mut whole = json!({"rollout": {"onFailure": {"action": "Undo", "maxRestarts": 0}}});
    whole.as_object_mut().unwrap().extend(policy.as_object().unwrap().clone());
    given(strategy)
        .policy(whole)
        .with("/daemonSet/metadata/generation", json!(5))
        .with("/daemonSet/metadata/resourceVersion", json!("77"))
        .revisions([revision("old", 1), marked("new", 2, &[("started", &mark(""))])])
        .node(node("a").has(crashing()))
        .node(node("b").has(old()))
}

/// A pod of the new version whose container has restarted.
fn crashing() -> crate::support::PodStory {
    new().with("/status/containerStatuses", json!([{"name": "c", "restartCount": 1, "state": {}}]))
}

/// The status is written already.
fn settled(given: Given) -> Given {
    let status = given.plan().status.unwrap();
    given.with("/daemonSet/status", serde_json::to_value(status).unwrap())
}

/// The marks of the undo are set, a minute ago, on the current revision with further ones.
fn begun(given: Given, further: &[(&str, &str)]) -> Given {
    settled(with_marks(given, &undone(-60, 5), further))
}

fn with_marks(given: Given, undone: &str, further: &[(&str, &str)]) -> Given {
    let (started, failed) = (mark(""), mark("TooManyFailures"));
    let mut all = vec![("started", started.as_str()), ("failed", &failed), ("undone", undone)];
    all.extend(further);
    given.revisions([marked("old", 1, &[("restored", &mark(""))]), marked("new", 2, &all)])
}

fn undone(seconds: i64, generation: i64) -> String {
    format!("2 {} {generation}", at(seconds))
}

/// The revision whose template a plan restores.
fn restored(plan: &Plan) -> Option<String> {
    plan.actions.iter().find_map(|action| match action {
        Action::RestoreTemplate { revision, .. } => Some(revision.name.clone()),
        _ => None,
    })
}

fn not_undone(plan: &Plan) -> Option<NotUndoneReason> {
    plan.warnings.iter().find_map(|warning| match warning {
        Warning::NotUndone { because, .. } => Some(*because),
        _ => None,
    })
}

fn is_stopped(plan: &Plan) -> bool {
    matches!(plan.report.rollout.as_ref().unwrap().stage, RolloutStage::Stopped { .. })
}

#[test]
fn the_verdict_begins_the_undo_with_two_marks_and_nothing_else() {
    let plan = settled(fleet()).plan();
    let marked: Vec<String> = plan.actions.iter().map(ToString::to_string).collect();
    assert_eq!(marks(&plan), ["failed=TooManyFailures", "restored=", "undone=5"]);
    assert_eq!(
        marked,
        [
            format!(
                "AnnotateRevision agent-new rollout.daemonset/failed=\"2 {} TooManyFailures\" (RolloutFailed)",
                at(0)
            ),
            format!("AnnotateRevision agent-old rollout.daemonset/restored=\"2 {}\" (RolloutUndone)", at(0)),
            format!("AnnotateRevision agent-new rollout.daemonset/undone=\"2 {} 5\" (RolloutUndone)", at(0)),
        ]
    );
    assert_eq!((is_stopped(&plan), restored(&plan)), (true, None));
}

#[test]
fn a_verdict_from_before_begins_it_too_and_a_pause_stops_it_not() {
    let (started, failed) = (mark(""), mark("by hand"));
    let paused = json!({"rollout": {"paused": true, "onFailure": {"action": "Undo"}}});
    let fleet = fleet_with(rolling(1), paused);
    let restored_before = format!("1 {}", at(-9000));
    let fleet = fleet.revisions([
        marked("old", 1, &[("restored", &restored_before)]),
        marked("new", 2, &[("started", &started), ("failed", &failed)]),
    ]);
    assert_eq!(marks(&fleet.plan()), ["started-", "restored=", "undone=5"]);
}

#[test]
fn the_marks_restore_the_template_of_the_stable_revision_and_nothing_else() {
    let plan = begun(fleet(), &[]).plan();
    assert_eq!(steps(&plan), ["restore the template of agent-old: RolledBack"]);
    let [Action::RestoreTemplate { daemon_set, revision, patch, reason, .. }] = &plan.actions[..] else {
        panic!("{plan:?}")
    };
    let mut template = template("old");
    template["$patch"] = json!("replace");
    assert_eq!(*patch, json!({"spec": {"template": template}}));
    assert_eq!((daemon_set.name.as_str(), daemon_set.resource_version.as_str()), ("agent", "77"));
    assert_eq!((revision.uid.as_str(), *reason), ("uid-agent-old", RestoreReason::RolledBack));
    assert!(is_stopped(&plan), "until the DaemonSet shows it");
}

#[test]
fn a_revision_without_the_directive_replaces_the_template_all_the_same() {
    let mut fleet = begun(fleet(), &[]);
    fleet.json["revisions"][0]["data"]["spec"]["template"].as_object_mut().unwrap().remove("$patch");
    fleet.json["revisions"][0]["data"]["spec"]["paused"] = json!(true);
    let plan = fleet.plan();
    let Some(Action::RestoreTemplate { patch, .. }) = plan.actions.first() else { panic!("{plan:?}") };
    assert_eq!(patch["spec"]["template"]["$patch"], "replace");
    assert_eq!(patch["spec"].as_object().unwrap().len(), 1, "no other field of the data");
}

#[test]
fn it_waits_for_a_status_to_be_written() {
    let fleet = begun(fleet(), &[]).with("/daemonSet/status/numberReady", json!(9));
    let kinds: Vec<&str> = fleet.plan().actions.iter().map(Action::kind).collect();
    assert_eq!(kinds, ["UpdateStatus"]);
}

#[test]
fn it_rests_on_no_other_action_and_ends_the_plan_of_none() {
    let plan = begun(fleet(), &[]).node(node("c")).plan();
    let with_create = begun(fleet().node(node("c")), &[]).plan();
    assert_eq!(
        steps(&with_create),
        ["create on c in batch 0: MissingPod", "restore the template of agent-old: RolledBack"]
    );
    let rest: Vec<&str> = with_create.independent_after(&with_create.actions[0]).map(Action::kind).collect();
    assert_eq!((rest, restored(&plan)), (vec!["RestoreTemplate"], None));
}

#[test]
fn the_chosen_revision_is_the_stable_revision_whatever_its_pods_and_marks_are() {
    let at_instant = |seconds: i64| format!("2 {}", at(seconds));
    let fleet = |marks: [&[(&str, &str)]; 3]| {
        let (failed, undone) = (mark("TooManyFailures"), undone(-60, 5));
        let [a, b, c] = marks;
        let current = marked("new", 2, &[("failed", &failed), ("undone", &undone)]);
        let old = [marked("old", 1, a), marked("older", 0, b), marked("oldest", -1, c)];
        settled(self::fleet().revisions(old.into_iter().chain([current])))
    };
    let completed = format!("1 {}", at(-500));
    let (first, last) = (at_instant(-70), at_instant(-60));
    let plan = fleet([&[("completed", &completed)], &[("restored", &first)], &[]]).plan();
    assert_eq!(restored(&plan).as_deref(), Some("agent-older"));
    assert_eq!(plan.report.rollout.unwrap().stable.as_deref(), Some("agent-older"));
    let plan = fleet([&[("restored", &first)], &[("restored", &last)], &[("restored", &first)]]).plan();
    assert_eq!(restored(&plan).as_deref(), Some("agent-older"), "the newest instant");
    let plan = fleet([&[], &[("restored", &last)], &[("restored", &last)]]).plan();
    assert_eq!(restored(&plan).as_deref(), Some("agent-older"), "then the name");
    let failed = format!("0 {} by hand", at(-5));
    let plan = fleet([&[], &[("restored", &last), ("failed", &failed)], &[("restored", &first)]]).plan();
    assert_eq!(restored(&plan).as_deref(), Some("agent-oldest"), "never one that has failed");
}

#[test]
fn the_way_back_is_over_whatever_the_policy_says() {
    for action in ["Undo", "Pause", "RollBack"] {
        let policy = json!({"rollout": {"paused": true, "onFailure": {"action": action, "maxRestarts": 0}}});
        let failed = mark("TooManyFailures");
        let back = |number: i64| {
            fleet_with(rolling(1), policy.clone())
                .with("/daemonSet/spec/template", template("old"))
                .with("/daemonSet/metadata/generation", json!(6))
                .revisions([
                    marked("old", number, &[("restored", &mark(""))]),
                    marked("new", 2, &[("failed", &failed), ("undone", &undone(-60, 5))]),
                ])
        };
        let plan = back(1).plan();
        assert_eq!(plan.report.rollout.as_ref().unwrap().stage, RolloutStage::Complete);
        assert_eq!(deletes(&plan), ["a"], "the budget holds, and nothing is held");
        assert!(steps(&plan).contains(&"renumber agent-old to 3: CurrentAgain".to_owned()), "{plan:?}");
        assert_eq!(
            back(3).plan().report.rollout.unwrap().stage,
            RolloutStage::Complete,
            "renumbered already"
        );
    }
}

#[test]
fn the_way_back_is_marked_as_complete() {
    let mut fleet = given(rolling(1))
        .policy(json!({"rollout": {"onFailure": {"action": "Undo"}}}))
        .with("/daemonSet/spec/template", template("old"))
        .revisions([
            marked("old", 3, &[("restored", &mark("")), ("started", &format!("3 {}", at(-50)))]),
            marked("new", 2, &[("failed", &mark("TooManyFailures"))]),
        ])
        .nodes(["a", "b"], old());
    let complete =
        format!("AnnotateRevision agent-old rollout.daemonset/completed=\"3 {}\" (RolloutCompleted)", at(0));
    assert_eq!(fleet.plan().actions[0].to_string(), complete);
    fleet = fleet.node(node("c").has(new()));
    assert_eq!(fleet.steps(), ["delete c-1: OutdatedAvailable"]);
}

#[test]
fn a_newer_version_ends_the_way_back() {
    let fleet = fleet_with(rolling(1), json!({}))
        .with("/daemonSet/spec/template", template("old"))
        .revisions([marked("old", 4, &[("restored", &mark(""))]), revision("new", 2), revision("newer", 3)]);
    assert_eq!(fleet.plan().report.rollout.unwrap().stage, RolloutStage::Progressing);
}

#[test]
fn a_person_takes_the_way_back_back_with_a_mark() {
    let failed = format!("3 {} by hand", at(-5));
    let fleet = fleet_with(rolling(1), json!({}))
        .with("/daemonSet/spec/template", template("old"))
        .revisions([marked("old", 3, &[("restored", &mark("")), ("failed", &failed)]), revision("new", 2)]);
    let plan = fleet.plan();
    assert!(is_stopped(&plan));
    let begun = "AnnotateRevision agent-new rollout.daemonset/restored=";
    assert!(plan.actions.iter().any(|action| action.to_string().starts_with(begun)));
}

#[test]
fn everything_else_is_a_pause_with_a_reason() {
    let with = |undone: &str| settled(with_marks(fleet(), undone, &[])).plan();
    let stopped = |plan: Plan, because: NotUndoneReason| {
        assert_eq!((not_undone(&plan), restored(&plan), is_stopped(&plan)), (Some(because), None, true));
        assert_eq!((marks(&plan), deletes(&plan)), (vec![], vec![]));
    };
    stopped(with(&format!("1 {} 5", at(-60))), NotUndoneReason::UndoneBefore);
    stopped(with(&undone(-60, 4)), NotUndoneReason::DaemonSetChanged);
    stopped(with(&undone(-3600, 5)), NotUndoneReason::TooLate);
    assert_eq!(not_undone(&with(&undone(-3599, 5))), None);
    let mut lost = begun(fleet(), &[]);
    lost.json["revisions"][0]["metadata"]["annotations"] = json!({});
    stopped(lost.plan(), NotUndoneReason::NoStableRevision);
    let failed = mark("TooManyFailures");
    let alone = fleet().revisions([marked("new", 2, &[("started", &mark("")), ("failed", &failed)])]);
    stopped(settled(alone).plan(), NotUndoneReason::NoStableRevision);
    let garbage = settled(with_marks(fleet(), "2 yesterday 5", &[])).plan();
    assert_eq!(marks(&garbage), ["restored=", "undone=5"], "anything that does not parse is no mark");
}

/// Else the broken version would be complete, and the stable revision for the next one.
#[test]
fn a_version_that_is_put_back_before_its_pods_are_gone_begins_and_fails_once_more() {
    let put_back = |pod: crate::support::PodStory| {
        let of_before = |rest: &str| format!("1 {} {rest}", at(-60));
        let (failed, undone) = (of_before("TooManyFailures"), of_before("5"));
        given(rolling(1))
            .policy(json!({"rollout": {"onFailure": {"action": "Undo", "maxRestarts": 0}}}))
            .revisions([
                marked("old", 1, &[("restored", of_before("").trim_end())]),
                marked("new", 2, &[("failed", &failed), ("undone", &undone)]),
            ])
            .node(node("a").has(pod))
            .node(node("b").has(new()))
            .plan()
    };
    let plan = put_back(crashing());
    assert_eq!(marks(&plan), ["failed=TooManyFailures"]);
    assert_eq!(not_undone(&plan), Some(NotUndoneReason::UndoneBefore));
    assert_eq!(marks(&put_back(new())), ["started=", "completed="], "a version that works ends complete");
}

/// No plan rests on its own marks.
#[test]
fn a_failure_that_is_found_again_is_marked_before_the_template_is_restored() {
    let again = fleet().revisions([
        marked("old", 1, &[("restored", &mark(""))]),
        marked("new", 2, &[("started", &mark("")), ("undone", &undone(-60, 5))]),
    ]);
    let plan = settled(again).plan();
    assert_eq!(
        (marks(&plan), restored(&plan), not_undone(&plan)),
        (vec!["failed=TooManyFailures".to_owned()], None, None)
    );
}

#[test]
fn three_undos_within_an_hour_are_enough() {
    let fleet = |instants: [i64; 3]| {
        let failed = mark("TooManyFailures");
        let tried = |(number, seconds): (i64, i64)| {
            let undone = format!("{number} {} 1", at(seconds));
            let failed = format!("{number} {} TooManyFailures", at(seconds));
            marked(&format!("v{number}"), number, &[("failed", &failed), ("undone", &undone)])
        };
        let tried: Vec<Value> = (-4..).zip(instants).map(tried).collect();
        let current = marked("new", 2, &[("started", &mark("")), ("failed", &failed)]);
        settled(self::fleet().revisions(tried.into_iter().chain([revision("old", 1), current])))
    };
    let plan = fleet([-3599, -100, -10]).plan();
    assert_eq!((not_undone(&plan), marks(&plan)), (Some(NotUndoneReason::TooMany), vec![]));
    assert_eq!(requeue(&plan), Some((1, "UndoDue".to_owned())), "then the first of them counts no more");
    assert_eq!(marks(&fleet([-3600, -100, -10]).plan()), ["restored=", "undone=5"]);
}

/// A tool that puts the template back would have it undone again and again: with the revision its mark would go.
#[test]
fn a_revision_that_was_undone_stays_for_an_hour_whatever_the_limit_of_the_history() {
    let fleet = |age: i64, rollout: Value| {
        let (undone, completed) = (format!("2 {} 5", at(-age)), format!("1 {}", at(-9000)));
        let revisions = [
            marked("old", 1, &[("completed", &completed)]),
            marked("new", 2, &[("undone", &undone)]),
            marked("newest", 3, &[("started", &format!("3 {}", at(-5)))]),
        ];
        let fleet = given(rolling(1)).policy(json!({"rollout": rollout})).revisions(revisions);
        let limit = json!(0);
        settled(fleet.with("/daemonSet/spec/template", template("newest")))
            .with("/daemonSet/spec/revisionHistoryLimit", limit)
            .plan()
    };
    let deletes_it = |plan: &Plan| steps(plan).contains(&"delete agent-new: HistoryLimit".to_owned());
    let plan = fleet(3599, json!({}));
    assert_eq!((deletes_it(&plan), requeue(&plan)), (false, Some((1, "UndoDue".to_owned()))));
    assert!(deletes_it(&fleet(3600, json!({}))));
    assert!(deletes_it(&fleet(10, json!(null))), "without a rollout no mark counts");
}

#[test]
fn without_the_policy_the_marks_restore_nothing() {
    for policy in [json!({"rollout": {}}), json!({"rollout": {"onFailure": {}}}), json!({"rollout": null})] {
        let fleet = begun(fleet_with(rolling(1), policy), &[]);
        assert_eq!(restored(&fleet.plan()), None);
    }
}

/// The memory of the restore in this fleet.
fn after(fleet: &Given, outcome: &ActionOutcome, at_seconds: i64) -> Memory {
    let recording = fleet.recording();
    let mut memory = recording.memory.clone().unwrap_or_default();
    let restore = Action::restore_template(
        ObjectRef::from(&recording.daemon_set),
        ObjectRef::default(),
        json!({}),
        RestoreReason::RolledBack,
    );
    memory.record(&restore, outcome, at(at_seconds));
    let in_flight = [ActionOutcome::Done, ActionOutcome::Unknown].contains(outcome);
    assert_eq!(memory.is_in_flight(&restore), in_flight);
    memory
}

#[test]
fn an_accepted_restore_is_in_flight_until_the_daemon_set_is_as_new() {
    let fleet = begun(fleet(), &[]);
    for outcome in [ActionOutcome::Done, ActionOutcome::Unknown] {
        let memory = after(&fleet, &outcome, -1);
        let waiting = fleet.clone().memory(&memory);
        let plan = waiting.plan();
        assert_eq!((steps(&plan).len(), is_stopped(&plan), not_undone(&plan)), (1, true, None), "{plan:?}");
        assert_eq!(requeue(&plan), Some((299, "InFlightExpiry".to_owned())));
        let newer = waiting.clone().with("/daemonSet/metadata/resourceVersion", json!("78"));
        assert_eq!(
            restored(&newer.plan()).as_deref(),
            Some("agent-old"),
            "it was not done, and never will be"
        );
        let expired = fleet.clone().memory(&after(&fleet, &outcome, -300));
        assert_eq!(restored(&expired.plan()).as_deref(), Some("agent-old"));
        let mut observed = memory;
        observed.observe(&newer.recording().snapshot().unwrap());
        assert!(observed.is_empty());
    }
}

#[test]
fn while_it_is_in_flight_nothing_is_renumbered_or_marked() {
    let overtaken = |memory: &Memory| {
        let mut fleet = begun(fleet(), &[]);
        fleet.json["revisions"][0]["revision"] = json!(3);
        // Without the marks the guard of the generation does not hold.
        fleet.json["revisions"][1]["metadata"]["annotations"] = json!({});
        settled(fleet.memory(memory))
    };
    let memory = after(&begun(fleet(), &[]), &ActionOutcome::Done, -1);
    let plan = overtaken(&memory).plan();
    assert_eq!((steps(&plan).len(), is_stopped(&plan)), (1, true), "{plan:?}");
    assert!(steps(&overtaken(&Memory::default()).plan())[0].starts_with("renumber"));
}

#[test]
fn while_it_is_in_flight_the_old_template_does_not_go_on_though_its_failure_was_taken_back() {
    let healthy = given(rolling(1))
        .policy(json!({"rollout": {"onFailure": {"action": "Undo"}}}))
        .with("/daemonSet/metadata/resourceVersion", json!("77"))
        .revisions([revision("old", 1), marked("new", 2, &[("started", &mark(""))])])
        .node(node("a").has(new()))
        .node(node("b").has(old()));
    assert_eq!(deletes(&healthy.plan()), ["b"]);
    let plan = healthy.clone().memory(&after(&healthy, &ActionOutcome::Done, -1)).plan();
    assert_eq!((deletes(&plan), is_stopped(&plan)), (vec![], true));
}

#[test]
fn a_daemon_set_that_is_older_than_its_revisions_is_left_alone() {
    let mut fleet = begun(fleet(), &[]);
    fleet.json["revisions"][0]["revision"] = json!(3);
    let plan = fleet.plan();
    let waits = [format!("requeue at {}: InFlightExpiry", at(3540))];
    assert_eq!(
        (steps(&plan), is_stopped(&plan)),
        (waits.to_vec(), true),
        "the other one was restored and renumbered"
    );
    let late = fleet.clone().with("/now", json!(at(3540).to_string())).plan();
    assert!(steps(&late)[0].starts_with("renumber agent-new to 4"), "nobody waits for longer than an hour");
    fleet.json["daemonSet"]["metadata"]["generation"] = json!(7);
    let plan = fleet.plan();
    assert!(steps(&plan)[0].starts_with("renumber agent-new to 4"), "somebody has put the template back");
}

#[test]
fn a_refusal_is_tried_again_later_and_later() {
    let fleet = begun(fleet(), &[]);
    let mut memory = Memory::default();
    for seconds in [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300] {
        memory = after(&fleet.clone().memory(&memory), &ActionOutcome::Rejected, 0);
        let plan = fleet.clone().memory(&memory).plan();
        assert_eq!((restored(&plan), not_undone(&plan)), (None, None));
        assert_eq!(requeue(&plan), Some((seconds, "UndoDue".to_owned())));
    }
    let later = fleet.clone().memory(&memory).with("/now", json!(at(300).to_string()));
    assert_eq!(restored(&later.plan()).as_deref(), Some("agent-old"));
    let accepted = after(&fleet.clone().memory(&memory), &ActionOutcome::Done, 300);
    assert!(json!(accepted)["restores"]["refused"].is_null());
}

#[test]
fn a_conflict_leaves_nothing_behind() {
    let fleet = begun(fleet(), &[]);
    assert!(after(&fleet, &ActionOutcome::Conflict, 0).is_empty(), "the next plan looks again");
}

fn driven() -> Given {
    fleet_with(on_delete(), json!({"drive": rolling(1)}))
}

#[test]
fn it_works_beside_another_controller() {
    assert_eq!(marks(&driven().plan()), ["failed=TooManyFailures", "restored=", "undone=5"]);
    let fleet = begun(driven(), &[]).with("/daemonSet/status/numberReady", json!(9));
    let kinds: Vec<&str> = fleet.plan().actions.iter().map(Action::kind).collect();
    assert_eq!(kinds, ["RestoreTemplate"], "the status is the other controller's");
}

#[test]
fn the_stable_revision_is_marked_once_the_other_controller_has_adopted_it() {
    let mut fleet = driven();
    fleet.json["revisions"][0]["metadata"]["ownerReferences"] = json!([]);
    assert_eq!(marks(&fleet.plan()), ["failed=TooManyFailures"]);
}

#[test]
fn inputs_of_manifests_are_refused() {
    use daemonset::manifests::{Manifests, NewPod};

    #[derive(Debug)]
    struct Own;
    impl Manifests for Own {
        fn inputs(&self) -> Value {
            json!({"volume": "1Gi"})
        }

        fn manifest(&self, pod: &NewPod<'_>) -> Value {
            pod.pod.to_value()
        }
    }
    let recording = fleet().recording();
    let invalid = recording.builder().manifests(Arc::new(Own)).check().unwrap_err();
    assert_eq!(
        invalid.problems.iter().map(ToString::to_string).collect::<Vec<_>>(),
        [
            "policy.rollout.onFailure.action: Invalid value: \"Undo\": must be Pause or RollBack: the ingredients of the manifests are no part of the template"
        ]
    );
}

#[test]
fn the_condition_says_that_it_is_rolled_back_until_the_stable_revision_is_shown() {
    let reason = |fleet: Given| {
        let mut fleet = fleet;
        fleet.json["policy"]["conditions"] = json!(true);
        let status = fleet.plan().status.unwrap();
        let progressing = status.conditions.iter().find(|condition| condition["type"] == "Progressing");
        progressing.unwrap()["reason"].as_str().unwrap().to_owned()
    };
    assert_eq!(reason(fleet()), "RolledBack");
    assert_eq!(reason(begun(fleet(), &[])), "RolledBack");
    assert_eq!(reason(with_marks(fleet(), &undone(-3600, 5), &[])), "TooManyFailures", "it is not undone");
    let shown = begun(fleet(), &[])
        .with("/daemonSet/spec/template", template("old"))
        .with("/daemonSet/metadata/generation", json!(6));
    assert_eq!(reason(shown), "Updating");
}

#[test]
fn the_audit_finds_restores_that_are_not_due() {
    let due = begun(fleet(), &[]);
    let restore = due.plan().actions;
    let found = |fleet: &Given, actions: &[Action]| -> Vec<ViolationKind> {
        let recording = fleet.recording();
        audit(&recording.snapshot().unwrap(), actions).into_iter().map(|violation| violation.kind).collect()
    };
    let wrong = |field: &'static str| vec![ViolationKind::WrongRestore { field }];
    assert_eq!(found(&due, &restore), []);
    let mut failed_stable = due.clone();
    let failed = format!("1 {} by hand", at(-5));
    failed_stable.json["revisions"][0]["metadata"]["annotations"]["rollout.daemonset/failed"] = json!(failed);
    assert_eq!(found(&failed_stable, &restore), wrong("revision"));
    assert_eq!(found(&fleet(), &restore), wrong("marks"));
    let generation = due.clone().with("/daemonSet/metadata/generation", json!(6));
    assert_eq!(found(&generation, &restore), wrong("generation"));
    let late = due.clone().with("/now", json!(at(3600).to_string()));
    assert_eq!(found(&late, &restore), wrong("age"));
    let paused = begun(fleet_with(rolling(1), json!({"rollout": {"onFailure": {}}})), &[]);
    assert_eq!(found(&paused, &restore), wrong("policy"));
    let in_flight = due.clone().memory(&after(&due, &ActionOutcome::Done, 0));
    assert_eq!(found(&in_flight, &restore), wrong("order"));
    let Action::RestoreTemplate { daemon_set, revision, .. } = restore[0].clone() else { panic!() };
    let merged = json!({"spec": {"template": template("old")}});
    let merge = Action::restore_template(daemon_set, revision, merged, RestoreReason::RolledBack);
    assert_eq!(found(&due, &[merge]), wrong("patch"));
}

#[test]
fn the_audit_finds_marks_of_an_undo_that_is_not_due() {
    let begins = settled(fleet()).plan().actions;
    let kinds = |fleet: &Given, actions: &[Action]| {
        let recording = fleet.recording();
        audit(&recording.snapshot().unwrap(), actions).len()
    };
    assert_eq!(kinds(&fleet(), &begins), 0);
    let paused = fleet_with(rolling(1), json!({"rollout": {"onFailure": {"maxRestarts": 0}}}));
    assert_eq!(kinds(&paused, &begins), 2, "the policy asks for no undo");
    let changed = fleet().with("/daemonSet/metadata/generation", json!(6));
    assert_eq!(kinds(&changed, &begins), 1, "another generation");
}

/// The whole way, by lists and by changes alike.
#[test]
fn a_tracker_plans_each_step_as_all_objects_do() {
    let begun = begun(fleet(), &[]);
    let mut overtaken = begun.clone();
    overtaken.json["revisions"][0]["revision"] = json!(3);
    let back = overtaken
        .clone()
        .with("/daemonSet/spec/template", template("old"))
        .with("/daemonSet/metadata/generation", json!(6))
        .with("/daemonSet/metadata/resourceVersion", json!("78"));
    let steps: Vec<Recording> =
        [fleet(), begun.clone(), begun, overtaken, back].iter().map(Given::recording).collect();
    let mut tracker = Tracker::new("uid-agent", steps[0].policy.clone());
    let mut found = Vec::new();
    for (position, step) in steps.iter().enumerate() {
        let observed = || Observed {
            daemon_set: &step.daemon_set,
            nodes: &step.nodes,
            pods: &step.pods,
            revisions: &step.revisions,
        };
        let _ = tracker.apply(daemonset_incremental::Change::DaemonSet(&step.daemon_set));
        for revision in &step.revisions {
            let _ = tracker.apply(daemonset_incremental::Change::Revision(revision.into()));
        }
        if position == 0 {
            let _ = tracked(&mut tracker, observed, step.now).unwrap();
        }
        // A stable revision that becomes current needs lists; each other step is planned from the changes.
        let plan = match tracker.verify(|_| true, observed, step.now) {
            Ok(plan) => plan,
            Err(error) => {
                assert_eq!(position, 4, "{error}");
                tracked(&mut tracker, observed, step.now).unwrap()
            }
        };
        let restores = plan.actions.iter().filter(|action| matches!(action, Action::RestoreTemplate { .. }));
        for restore in restores {
            assert!(tracker.record(restore, &ActionOutcome::Unknown, step.now).ends_plan());
        }
        found.push((marks_of(&plan), restored(&plan).is_some()));
    }
    let none = (0, false);
    assert_eq!(found, [(3, false), (0, true), none, none, (1, false)]);
}

fn marks_of(plan: &Plan) -> usize {
    plan.actions.iter().filter(|action| action.kind() == "AnnotateRevision").count()
}
