//! The goal of a node: the stable revision for those that the rollout has not reached, the current revision for the others.

use super::{creates, deletes, mark, marked, marks, revisions, steered};
use crate::support::{
    Given, at, given, new, node, old, on_delete, pod, revision, rolling, surging, template,
};
use daemonset::Action;
use serde_json::{Value, json};

fn paused() -> Given {
    steered(json!({"paused": true}))
}

#[test]
fn a_missing_pod_of_a_held_node_comes_back_in_the_old_version() {
    let plan = paused().node(node("a").has(new())).node(node("b")).plan();
    assert_eq!(creates(&plan), [("b".to_owned(), "old".to_owned())]);
}

#[test]
fn a_pod_of_the_stable_revision_has_no_generation() {
    let plan = paused().generation(2).node(node("a").has(new().generation("2"))).node(node("b")).plan();
    let pod = plan.actions.iter().find_map(|action| match action {
        Action::CreatePod { pod, .. } => Some(pod.to_value()),
        _ => None,
    });
    let pod = pod.unwrap();
    assert_eq!(pod["metadata"]["labels"], json!({"app": "agent", "controller-revision-hash": "old"}));
    assert_eq!(pod["spec"]["containers"][0]["image"], "old");
}

#[test]
fn without_a_stable_revision_a_missing_pod_comes_in_the_new_version_and_a_warning_says_so() {
    let fleet = paused().revisions([marked("new", 2, &[])]).node(node("a").has(pod("lost"))).node(node("b"));
    let plan = fleet.plan();
    assert_eq!((creates(&plan), deletes(&plan)), (vec![("b".to_owned(), "new".to_owned())], vec![]));
    assert_eq!(json!(plan.warnings), json!([{"type": "NoBase", "nodes": 2}]));
}

#[test]
fn a_paused_rollout_leaves_nodes_that_have_it() {
    let fleet = paused().node(node("a").has(new())).node(node("b").has(old()));
    assert_eq!(deletes(&fleet.plan()), Vec::<String>::new());
}

#[test]
fn the_stable_revision_was_completed_last() {
    let stable = |revisions: [Value; 3]| {
        let fleet = given(rolling(1)).policy(json!({"rollout": {"paused": true}})).revisions(revisions);
        let fleet = fleet.nodes(["a", "b"], pod("one"));
        fleet.node(node("c").has(new())).plan().report.rollout.unwrap().stable.unwrap()
    };
    let completed = |ago: i64| format!("9 {}", at(-ago));
    let [new] = [revision("new", 5)];
    let earlier = marked("one", 3, &[("completed", &completed(900))]);
    let later = marked("two", 2, &[("completed", &completed(90))]);
    assert_eq!(stable([earlier.clone(), later, new.clone()]), "agent-two", "under whatever number");
    assert_eq!(
        stable([revision("one", 1), revision("two", 2), new.clone()]),
        "agent-one",
        "most pods run it"
    );
    assert_eq!(
        stable([revision("other", 1), revision("two", 2), new.clone()]),
        "agent-two",
        "the largest number"
    );
    assert_eq!(
        stable([revision("two", 2), revision("three", 2), new.clone()]),
        "agent-three",
        "the first name"
    );
    let failed = marked("two", 4, &[("completed", &completed(9)), ("failed", &format!("4 {} bad", at(-1)))]);
    assert_eq!(stable([earlier.clone(), failed, new.clone()]), "agent-one", "a failed one is none");
    let fleet = given(rolling(1)).policy(json!({"rollout": {"paused": true}}));
    let fleet = fleet.revisions([revision("one", 1), revision("two", 2), revision("new", 5)]);
    let fleet = fleet.node(node("a").has(pod("one").failed()).has(pod("one").succeeded()));
    let live_only = fleet.node(node("b").has(pod("two"))).plan().report.rollout.unwrap().stable;
    assert_eq!(live_only.as_deref(), Some("agent-two"), "finished pods run nothing");
    let mut going = marked("two", 4, &[("completed", &completed(9))]);
    going["metadata"]["deletionTimestamp"] = json!(at(-1).to_string());
    assert_eq!(stable([earlier.clone(), going, new.clone()]), "agent-one", "it is being deleted");
    let mut unreadable = marked("two", 4, &[("completed", &completed(9))]);
    unreadable["data"]["spec"]["template"]["spec"]["tolerations"] = json!("all");
    assert_eq!(stable([earlier.clone(), unreadable, new.clone()]), "agent-one");
    let mut unselected = marked("two", 4, &[("completed", &completed(9))]);
    unselected["data"]["spec"]["template"]["metadata"]["labels"] = json!({"app": "other"});
    assert_eq!(stable([earlier, unselected, new]), "agent-one", "its pods would be released at once");
}

#[test]
fn pods_without_a_node_count_for_the_stable_revision() {
    let revisions = [revision("one", 1), revision("two", 2), revision("new", 3)];
    let fleet = given(rolling(1)).policy(json!({"rollout": {"paused": true}})).revisions(revisions);
    let lost = |name: &str| pod("one").named(name).nowhere();
    let fleet = fleet.node(node("a").has(pod("two"))).node(node("b").has(lost("x")).has(lost("y")));
    assert_eq!(fleet.plan().report.rollout.unwrap().stable.as_deref(), Some("agent-one"));
}

/// The new template is for ssd nodes only, the old one for all.
fn only_on_ssd(rollout: Value) -> Given {
    placed_by(rollout, "nodeSelector", json!({"disk": "ssd"}))
}

/// The new template has this field, the old one does not.
fn placed_by(rollout: Value, field: &str, value: Value) -> Given {
    let mut new = marked("new", 2, &[("started", &mark(""))]);
    new["data"]["spec"]["template"]["spec"][field] = value.clone();
    let mut template = template("new");
    template["spec"][field] = value;
    steered(rollout).revisions([revision("old", 1), new]).with("/daemonSet/spec/template", template)
}

#[test]
fn placement_is_by_the_template_of_the_goal() {
    let fleet = |rollout| {
        let fleet = only_on_ssd(rollout).node(node("a").label("disk", "ssd").has(new()));
        fleet.node(node("b").label("disk", "ssd").has(old())).node(node("c").has(old())).node(node("d"))
    };
    let held = fleet(json!({"waves": [{"upTo": 1}]})).plan();
    assert_eq!(
        deletes(&held),
        Vec::<String>::new(),
        "c keeps its old pod, though the new template excludes it"
    );
    assert_eq!(creates(&held), [("d".to_owned(), "old".to_owned())]);
    assert_eq!(held.status.unwrap().desired_number_scheduled, 4);
    let open = fleet(json!({})).plan();
    assert_eq!((deletes(&open), creates(&open)), (vec!["c".to_owned(), "b".to_owned()], vec![]));
    assert_eq!(open.status.unwrap().desired_number_scheduled, 2);
}

#[test]
fn each_placement_rule_of_the_stable_revision_is_its_own() {
    let canary = json!({"waves": [{"upTo": 1}, {"needsApproval": true}]});
    let on_ssd = json!({"matchExpressions": [{"key": "disk", "operator": "In", "values": ["ssd"]}]});
    let required = json!({"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [on_ssd]}});
    for (field, value) in [
        ("nodeName", json!("a")),
        ("nodeSelector", json!({"disk": "ssd"})),
        ("affinity", json!({"nodeAffinity": required})),
    ] {
        let fleet = placed_by(canary.clone(), field, value);
        let plan = fleet.node(node("a").label("disk", "ssd").has(new())).node(node("b")).plan();
        assert_eq!(creates(&plan), [("b".to_owned(), "old".to_owned())], "{field}");
    }
    let tolerates = json!([{"key": "gpu", "operator": "Exists"}]);
    let fleet = placed_by(canary, "tolerations", tolerates);
    let plan = fleet.node(node("a").has(new())).node(node("b").taint("gpu", "NoSchedule")).plan();
    assert_eq!(creates(&plan), [], "its old template tolerates nothing");
}

/// It takes no part: the stable revision takes over while a later wave is closed. A pod that is Ready stays until all waves are open.
#[test]
fn a_node_that_the_new_template_excludes_keeps_the_new_version_only_while_it_is_ready() {
    let fleet = |waves, pod| {
        let fleet = only_on_ssd(json!({"waves": waves})).node(node("a").label("disk", "ssd").has(new()));
        deletes(&fleet.node(node("b").label("disk", "ssd").has(old())).node(node("c").has(pod)).plan())
    };
    let canary = json!([{"upTo": 1}, {"needsApproval": true}]);
    assert_eq!(fleet(canary.clone(), new().not_ready()), ["c"]);
    assert_eq!(fleet(canary, new()), Vec::<String>::new());
    assert_eq!(fleet(json!([{}]), new()), ["c", "b"]);
}

/// Its pods on held nodes count as any others: no further node is taken down for the rollout. Broken pods within the open waves
/// go at once, so that opening the waves is the way out.
#[test]
fn a_broken_the_stable_revision_spends_the_budget_until_its_nodes_are_in_a_wave() {
    let fleet = |wave| {
        let fleet = steered(json!({"waves": [wave]})).with("/daemonSet/spec/updateStrategy", rolling(1));
        deletes(&fleet.node(node("a").has(old())).node(node("b").has(old().not_ready())).plan())
    };
    assert_eq!(fleet(json!({"upTo": 1})), Vec::<String>::new(), "a waits for b, which is held");
    assert_eq!(fleet(json!({})), ["b"], "and a after it");
}

#[test]
fn a_held_node_keeps_a_pod_whose_toleration_is_withdrawn() {
    let fleet = |rollout| {
        // Neither the stable revision's nor the current version's.
        let tainted = node("b").taint("gpu", "NoSchedule").has(pod("older").tolerates("gpu"));
        deletes(&steered(rollout).node(node("a").has(new())).node(tainted).plan())
    };
    assert_eq!(fleet(json!({"paused": true})), Vec::<String>::new());
    assert_eq!(fleet(json!({})), ["b"]);
}

#[test]
fn a_broken_pod_of_an_abandoned_version_comes_back_as_the_stable_revision() {
    let fleet = |pod, revisions: Vec<Value>| {
        let fleet = steered(json!({"waves": [{"upTo": 1, "bakeSeconds": 60}]})).revisions(revisions);
        deletes(&fleet.node(node("a").has(new().ready_for(5))).node(node("b").has(pod)).plan())
    };
    let started = || marked("new", 3, &[("started", &format!("3 {}", at(-60)))]);
    let all = || {
        vec![marked("old", 1, &[("completed", &format!("1 {}", at(-999)))]), revision("bad", 2), started()]
    };
    assert_eq!(fleet(pod("bad").not_ready(), all()), ["b"]);
    assert_eq!(fleet(pod("bad"), all()), Vec::<String>::new(), "it is Ready");
    assert_eq!(fleet(old().not_ready(), all()), Vec::<String>::new(), "it is the stable revision's");
    assert_eq!(
        fleet(pod("bad").not_ready(), vec![started()]),
        Vec::<String>::new(),
        "there is no stable revision"
    );
}

#[test]
fn a_held_node_gets_no_second_pod_under_surge() {
    let fleet = |rollout| {
        let fleet = given(surging(5)).policy(json!({"rollout": rollout}));
        creates(&fleet.node(node("a").has(new())).node(node("b").has(old())).plan())
    };
    assert_eq!(fleet(json!({"paused": true})), []);
    assert_eq!(fleet(json!({})), [("b".to_owned(), "new".to_owned())]);
}

/// On the way back, too: of the versions that are not the stable revision the current one is the newest, and goes last.
#[test]
fn the_furthest_behind_goes_first_on_the_way_back() {
    let fleet = given(rolling(1)).policy(json!({"rollout": {"onFailure": {"action": "RollBack"}}}));
    let failed = format!("3 {} TooManyFailures", at(-60));
    let completed = format!("1 {}", at(-999));
    let fleet = fleet.revisions([
        marked("old", 1, &[("completed", &completed)]),
        revision("bad", 2),
        marked("new", 3, &[("failed", &failed)]),
    ]);
    let plan =
        fleet.node(node("a").has(new())).node(node("b").has(pod("bad"))).node(node("c").has(old())).plan();
    assert_eq!(deletes(&plan), ["b"]);
}

#[test]
fn history_keeps_the_stable() {
    let deleted = |policy: Value| {
        let fleet = given(rolling(1)).with("/daemonSet/spec/revisionHistoryLimit", json!(0)).policy(policy);
        let fleet = fleet.revisions([revision("one", 1), revision("two", 2), revision("new", 3)]);
        let plan = fleet.node(node("a").has(new())).plan();
        let name = |action: &Action| match action {
            Action::DeleteRevision { revision, .. } => Some(revision.name.clone()),
            _ => None,
        };
        plan.actions.iter().filter_map(name).collect::<Vec<_>>()
    };
    assert_eq!(deleted(json!({})), ["agent-one", "agent-two"]);
    assert_eq!(deleted(json!({"rollout": {}})), ["agent-one"]);
}

#[test]
fn under_on_delete_the_goal_decides_what_is_created() {
    let fleet = given(on_delete()).policy(json!({"rollout": {"waves": [{"upTo": 1}, {}]}}));
    let fleet = fleet.node(node("a")).node(node("b")).node(node("c").has(old()));
    let created = [("a".to_owned(), "new".to_owned()), ("b".to_owned(), "old".to_owned())];
    assert_eq!(creates(&fleet.plan()), created);
}

/// A canary that goes down is tainted for it, and is no target node any more.
#[test]
fn a_canary_that_went_down_is_still_the_canary() {
    let fleet = steered(json!({"waves": [{"upTo": 1}, {}]})).node(node("a").has(old()));
    let fleet = fleet.node(node("b").not_ready().has(new().not_ready()));
    assert_eq!(deletes(&fleet.plan()), Vec::<String>::new());
}

#[test]
fn other_nodes_follow_when_all_that_take_part_are_released() {
    let fleet = |waves: Value| {
        let fleet = only_on_ssd(json!({"waves": waves})).node(node("a").label("disk", "ssd").has(old()));
        deletes(&fleet.node(node("b").has(old())).plan())
    };
    assert_eq!(fleet(json!([{}])), ["b", "a"], "b should not run it any more");
    assert_eq!(fleet(json!([{"upTo": 0}])), Vec::<String>::new());
}

#[test]
fn a_policy_that_is_added_to_a_settled_fleet_begins_no_rollout() {
    let fleet =
        given(rolling(1)).policy(json!({"rollout": {"waves": [{"upTo": 1, "bakeSeconds": 9999}, {}]}}));
    let fleet = fleet.nodes(["a", "b"], new());
    assert_eq!(marks(&fleet.plan()), ["started=", "completed="]);
    let missing = fleet.node(node("c")).plan();
    assert_eq!(creates(&missing), [("c".to_owned(), "new".to_owned())], "c joins: nothing is held");
}

/// The pause has removed the mark of the start, and the last old pod is just being replaced.
#[test]
fn a_rollout_that_is_paused_between_two_pods_is_no_settled_fleet() {
    let fleet = |rollout: Value, wave: Option<&str>| {
        let wave = wave.map(mark);
        let marked_wave: Vec<_> = wave.iter().map(|wave| ("wave", wave.as_str())).collect();
        let fleet = given(rolling(1)).policy(json!({"rollout": rollout})).with("/memory", json!({}));
        let fleet = fleet.revisions([revision("old", 1), marked("new", 2, &marked_wave)]);
        let plan = fleet.node(node("a").has(new())).node(node("b")).plan();
        (marks(&plan), creates(&plan))
    };
    let old = vec![("b".to_owned(), "old".to_owned())];
    assert_eq!(fleet(json!({"paused": true}), None), (vec![], old.clone()), "b is held");
    let waves = json!({"waves": [{"upTo": 1}, {"needsApproval": true}]});
    let started = vec!["started=".to_owned()];
    assert_eq!(fleet(waves.clone(), Some("0")), (started, old), "a rollout with a wave has begun");
    assert_eq!(fleet(waves, None).0, ["started=", "completed="], "a policy was added");
}

#[test]
fn after_the_end_nothing_is_held_or_judged() {
    let rollout = json!({"paused": true, "waves": [{"upTo": 0}], "onFailure": {"maxRestarts": 0}});
    let restarting = new().not_ready().with("/status/containerStatuses", json!([{"restartCount": 3}]));
    let fleet = steered(rollout).node(node("a").has(restarting)).node(node("b")).node(node("c").has(old()));
    let plan = revisions(fleet, revision("old", 1), &[("completed", &mark(""))]).plan();
    assert_eq!(
        (deletes(&plan), creates(&plan)),
        (vec!["c".to_owned()], vec![("b".to_owned(), "new".to_owned())])
    );
    assert_eq!(marks(&plan), Vec::<String>::new());
}

/// A create on node b that no list shows yet.
fn in_flight(fleet: Given, hash: &str) -> Given {
    fleet
        .with("/memory", json!({"creates": {"b": {"revision": hash, "at": at(-10).to_string()}}}))
        .node(node("b"))
}

#[test]
fn a_pod_that_no_list_shows_yet_makes_its_node_the_canary() {
    let fleet = |hash: &str| {
        let fleet = steered(json!({"waves": [{"upTo": 1}, {}]})).node(node("a").has(old()));
        deletes(&in_flight(fleet, hash).plan())
    };
    assert_eq!(fleet("new"), Vec::<String>::new(), "b has it, though a comes first by name");
    assert_eq!(fleet("old"), ["a"]);
}

#[test]
fn a_pod_of_the_stable_revision_that_no_list_shows_yet_is_an_outdated_one() {
    let fleet = |hash: &str| {
        let fleet = given(rolling(1)).policy(json!({"rollout": {}})).node(node("a").has(new()));
        marks(&in_flight(fleet, hash).plan())
    };
    assert_eq!(fleet("old"), ["started="], "the fleet is not settled");
    assert_eq!(fleet("new"), ["started=", "completed="]);
}

/// The update took the pod of node b; b waits for the next wave, or goes back to the stable revision.
#[test]
fn a_taken_node_is_back_with_a_ready_pod_of_its_goal() {
    let remembers = |rollout: Value, pod| {
        let taken = json!({"taken": {"b": {"uid": "gone", "at": at(-10).to_string()}}});
        let fleet =
            steered(rollout).with("/memory", taken).node(node("a").has(new())).node(node("b").has(pod));
        let recording = fleet.recording();
        let mut memory = recording.memory.clone().unwrap();
        memory.observe(&recording.snapshot().unwrap());
        !json!(memory)["taken"].is_null()
    };
    let paused = json!({"paused": true});
    assert!(!remembers(paused.clone(), old()), "the stable revision is its goal");
    assert!(!remembers(paused.clone(), new()), "it has the new version");
    assert!(remembers(paused, old().not_ready()));
    assert!(!remembers(json!({}), new()));
    assert!(remembers(json!({}), old()), "the update has not come back");
}

/// Neither an available pod nor one that is outdated for its goal: a pod of the stable revision is not, where the stable revision is the goal.
#[test]
fn a_held_node_whose_pod_of_the_stable_revision_is_not_ready_is_being_replaced() {
    let figures = |rollout: Value| {
        let fleet = steered(rollout).node(node("a").has(new())).node(node("b").has(old().not_ready()));
        let budget = fleet.plan().report.budget.unwrap();
        (budget.unavailable, budget.being_replaced)
    };
    assert_eq!(figures(json!({"paused": true})), (1, 1));
    assert_eq!(figures(json!({})), (1, 0), "the update replaces it first");
}

/// A held node that is down for 100 seconds. The rollout reached it when its pod of the stable revision was created or, if that came later,
/// with the current revision.
#[test]
fn the_excuse_of_a_held_node_goes_by_its_pod_of_the_stable_revision() {
    let fleet = |revision_created: i64| {
        let mut current = marked("new", 2, &[("started", &mark(""))]);
        current["metadata"]["creationTimestamp"] = json!(at(-revision_created));
        let policy = json!({"rollout": {"paused": true}, "downNodes": "ExcuseIfDownBefore"});
        given(rolling(1)).policy(policy).revisions([revision("old", 1), current])
    };
    let down = || node("b").ready("Unknown", Some(at(-100)));
    let excused = |fleet: Given| fleet.plan().report.budget.unwrap().excused;
    let seen = |pod_created: i64, revision_created: i64| {
        let stable = old().not_ready().created_ago(pod_created);
        excused(fleet(revision_created).node(node("a").has(new())).node(down().has(stable)))
    };
    assert_eq!(seen(50, 60), 1, "it was down before both");
    assert_eq!(seen(50, 600), 0, "the revision is older, and no pod there is outside the goal");
    assert_eq!(seen(300, 60), 0, "it went down under the pod of its goal");
    let unseen = |created: i64, revision_created: i64| {
        let memory = json!({"creates": {"b": {"revision": "old", "at": at(-created).to_string()}}});
        let fleet = fleet(revision_created).with("/memory", memory);
        excused(fleet.node(node("a").has(old())).node(down()))
    };
    assert_eq!(
        (unseen(50, 60), unseen(50, 600), unseen(200, 60)),
        (1, 0, 0),
        "the same before a list shows the pod"
    );
}

/// Lost: down, with a pod of its goal that is not Ready. The old version is the goal of a held node.
#[test]
fn a_held_node_that_goes_down_with_its_old_pod_is_lost() {
    let lost = |rollout: Value| {
        let fleet = steered(rollout).node(node("a").has(new()));
        fleet
            .node(node("b").not_ready().has(old().not_ready()))
            .plan()
            .report
            .budget
            .unwrap()
            .down_after_update
    };
    assert_eq!((lost(json!({"paused": true})), lost(json!({}))), (1, 0));
    let unseen = |hash: &str| {
        let memory = json!({"creates": {"b": {"revision": hash, "at": at(-10).to_string()}}});
        let fleet = paused().with("/memory", memory).node(node("a").has(old())).node(node("b").not_ready());
        fleet.plan().report.budget.unwrap().down_after_update
    };
    assert_eq!(
        (unseen("old"), unseen("older")),
        (1, 0),
        "a pod of the stable revision that no list shows yet"
    );
    let mut stable = revision("old", 1);
    stable["data"]["spec"]["template"]["spec"]["tolerations"] = json!([{"key": "gpu", "operator": "Exists"}]);
    let tainted = |key: &str| {
        let fleet = paused().revisions([stable.clone(), marked("new", 2, &[])]).node(node("a").has(old()));
        let down = node("b").not_ready().taint(key, "NoSchedule").has(old().not_ready());
        fleet.node(down).plan().report.budget.unwrap().down_after_update
    };
    assert_eq!(
        (tainted("gpu"), tainted("x")),
        (1, 0),
        "the stable revision tolerates gpu, the current template does not"
    );
}

#[test]
fn a_held_node_is_not_complete_though_it_runs_the_new_version() {
    let fleet = only_on_ssd(json!({"paused": true})).node(node("b").has(new()));
    let plan = fleet.plan();
    assert_eq!(
        (deletes(&plan), marks(&plan)),
        (vec![], vec!["started-".to_owned()]),
        "b takes no part in it"
    );
}

#[test]
fn the_status_counts_the_current_version() {
    let fleet = paused().node(node("a").has(new())).nodes(["b", "c"], old());
    let status = fleet.plan().status.unwrap();
    assert_eq!((status.updated_number_scheduled, status.number_available), (1, 3));
}

/// A Ready target node is forgotten after a while, by the template of its goal.
#[test]
fn a_taken_node_that_the_stable_revision_wants_is_forgotten_after_a_while() {
    let remembers = |name: &str| {
        let mut taken = json!({"taken": {}});
        taken["taken"][name] = json!({"uid": "gone", "at": at(-4000).to_string()});
        let fleet = only_on_ssd(json!({"paused": true})).with("/memory", taken).node(node("b"));
        let recording = fleet.node(node("c").taint("gpu", "NoSchedule")).recording();
        let mut memory = recording.memory.clone().unwrap();
        memory.observe(&recording.snapshot().unwrap());
        !json!(memory)["taken"].is_null()
    };
    assert_eq!((remembers("b"), remembers("c")), (false, true));
}

#[test]
fn of_two_pods_the_one_of_the_goal_stays() {
    let fleet = paused().node(node("a").has(new())).node(node("b").has(pod("older")).has(old()));
    let gone: Vec<String> = crate::support::steps(&fleet.plan());
    assert_eq!(gone[1..], ["delete b-1: ExcessPod"]);
}

#[test]
fn on_the_way_back_the_tolerations_of_the_stable_revision_count() {
    let tolerates = json!([{"key": "gpu", "operator": "Exists"}]);
    let fleet = |failed: bool| {
        let mut marks = vec![("started", mark(""))];
        marks.extend(failed.then(|| ("failed", mark("TooManyFailures"))));
        let marks: Vec<_> = marks.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let mut current = marked("new", 2, &marks);
        current["data"]["spec"]["template"]["spec"]["tolerations"] = tolerates.clone();
        let fleet =
            steered(json!({"onFailure": {"action": "RollBack"}})).revisions([revision("old", 1), current]);
        let fleet = fleet.with("/daemonSet/spec/template/spec/tolerations", tolerates.clone());
        deletes(&fleet.node(node("a").taint("gpu", "NoSchedule").has(new().tolerates("gpu"))).plan())
    };
    assert_eq!((fleet(false), fleet(true)), (vec![], vec!["a".to_owned()]));
}
