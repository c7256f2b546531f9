//! Rollouts that a policy steers: waves, failures, and the user who approves and pauses.

use super::{agent, cluster, json_of, pod_on, running, running_with, seconds, settings, template};
use daemonset::Policy;
use daemonset::report::{FailureEvidence, RolloutStage};
use daemonset_sim::{Behaviour, Cluster, Distribution, Probability, RolloutEnd, Settings, Steering, Summary};
use jiff::Timestamp;
use serde_json::{Value, json};

const NODES: [&str; 4] = ["a", "b", "c", "d"];
/// One canary for a minute, then all.
fn canary() -> Value {
    json!({"waves": [{"upTo": 1, "bakeSeconds": 60}, {}]})
}

/// Four nodes run version 1, and the DaemonSet has this policy in its annotation.
fn steered(policy: &Value, change: impl FnOnce(Settings) -> Settings) -> Cluster {
    let mut settings = change(settings()).container_statuses(true);
    settings.controller.reads_annotations = true;
    let mut cluster = cluster(settings, &NODES);
    let mut agent = agent(template("v1"));
    agent.metadata.annotations = agent
        .metadata
        .annotations
        .iter()
        .chain([("rollout.daemonset/policy", policy.to_string().as_str())])
        .collect();
    cluster.create_daemon_set(agent);
    cluster.run_until_quiet(seconds(3600)).unwrap();
    cluster
}

/// Releases version 2, which behaves so, and runs it to its end.
fn released(mut cluster: Cluster, behaviour: Behaviour) -> (Cluster, Summary) {
    let started = cluster.now();
    cluster.release(behaviour, |spec| *spec = template("v2"));
    let end = cluster.run_rollout(seconds(600), seconds(86_400));
    let summary = cluster.summary(started, end);
    (cluster, summary)
}

fn good() -> Behaviour {
    settings().behaviour
}

/// When each wave opened and was done, in seconds after the start of the rollout.
fn waves(summary: &Summary) -> Vec<(u32, Option<i64>, Option<i64>)> {
    let after = |at: Option<Timestamp>| at.map(|at| at.duration_since(summary.started).as_secs());
    let waves = summary.rollout.as_ref().unwrap().waves.iter();
    waves.map(|wave| (wave.nodes, after(wave.opened_at), after(wave.done_at))).collect()
}

/// The nodes of the pods of version 2 that were created.
fn reached(cluster: &Cluster, since: Timestamp) -> Vec<String> {
    let current = cluster.plan().unwrap().unwrap().report.current_revision.unwrap().hash;
    let created = cluster.history().iter().filter(|event| event.t >= since).map(json_of);
    let of_current =
        created.filter(|event| event["event"] == "PodCreated" && event["revision"] == current.as_str());
    of_current.map(|event| event["node"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_good_version_goes_through_its_waves() {
    let (cluster, summary) = released(steered(&canary(), |settings| settings), good());
    assert_eq!(summary.end, RolloutEnd::Complete);
    let rollout = summary.rollout.clone().unwrap();
    assert_eq!((rollout.stage, rollout.reached, rollout.failed_at), (RolloutStage::Complete, 4, None));
    let [(1, Some(0), Some(done)), (4, Some(opened), Some(_))] = waves(&summary)[..] else {
        panic!("{:?}", waves(&summary))
    };
    // 12.1 s until the canary is Ready, and 60 s to bake.
    assert_eq!((done, opened), (72, 72));
    assert_eq!(reached(&cluster, summary.started), NODES);
}

#[test]
fn a_version_that_is_never_ready_is_rolled_back_from_the_canary() {
    let mut policy = canary();
    policy["onFailure"] = json!({"action": "RollBack", "availableWithinSeconds": 40});
    let broken = good().never_ready(Probability::ALWAYS);
    let (cluster, summary) = released(steered(&policy, |settings| settings), broken);
    assert_eq!((summary.end, summary.worst_unavailable.nodes), (RolloutEnd::RolledBack, 1));
    let rollout = summary.rollout.unwrap();
    let RolloutStage::RolledBack { reason, .. } = &rollout.stage else { panic!("{:?}", rollout.stage) };
    assert_eq!((reason.as_str(), rollout.reached), ("TooManyFailures", 1));
    assert_eq!(rollout.failing[0].node.as_str(), "a");
    let failed_after = rollout.failed_at.unwrap().duration_since(summary.started);
    assert!((seconds(40)..seconds(45)).contains(&failed_after), "{failed_after}");
    assert_eq!(reached(&cluster, summary.started), ["a"]);
    let hash = |node: &&str| {
        pod_on(&cluster, node).metadata.labels.get("controller-revision-hash").map(str::to_owned)
    };
    assert!(NODES.iter().all(|node| hash(node) == hash(&"b")), "all have the old version");
    // It takes the canary's pod 2 s to end, and its successor 6.1 s to become Ready.
    let back_after = summary.ended.duration_since(rollout.failed_at.unwrap());
    assert!((seconds(8)..seconds(10)).contains(&back_after), "{back_after}");
}

#[test]
fn a_failed_version_stops_where_the_policy_pauses() {
    let mut policy = canary();
    policy["onFailure"] = json!({"maxRestarts": 2});
    let (cluster, summary) =
        released(steered(&policy, |settings| settings), good().crash_loops(Probability::ALWAYS));
    assert_eq!(summary.end, RolloutEnd::Stopped);
    let rollout = summary.rollout.unwrap();
    let FailureEvidence::TooManyRestarts { restarts, .. } = &rollout.failing[0].evidence else {
        panic!("{:?}", rollout.failing)
    };
    assert_eq!((*restarts, reached(&cluster, summary.started)), (3, vec!["a".to_owned()]));
}

#[test]
fn an_image_that_can_not_be_pulled_fails_by_the_reason_of_the_waiting_container() {
    let mut policy = canary();
    policy["onFailure"] = json!({"waitingSeconds": 30});
    let (_, summary) =
        released(steered(&policy, |settings| settings), good().pull_fails(Probability::ALWAYS));
    let failing = summary.rollout.unwrap().failing;
    let FailureEvidence::Waiting { reason, .. } = &failing[0].evidence else { panic!("{failing:?}") };
    assert_eq!((summary.end, reason.as_str()), (RolloutEnd::Stopped, "ImagePullBackOff"));
}

#[test]
fn an_evicted_pod_does_not_fail_the_version() {
    let mut policy = canary();
    policy["onFailure"] = json!({});
    let mut cluster = steered(&policy, |settings| settings);
    cluster.release(good(), |spec| *spec = template("v2"));
    cluster.run_for(seconds(3));
    let canary = pod_on(&cluster, "a").metadata.uid;
    cluster.evict_pod(&canary);
    assert_eq!(cluster.run_rollout(seconds(600), seconds(7200)), RolloutEnd::Complete);
}

#[test]
fn a_wave_waits_for_approval_and_a_user_gives_it() {
    let policy = json!({"waves": [{"upTo": 1}, {"upTo": 2, "needsApproval": true}, {"needsApproval": true}]});
    let (cluster, summary) = released(steered(&policy, |settings| settings), good());
    assert_eq!((summary.end, reached(&cluster, summary.started)), (RolloutEnd::Held, vec!["a".to_owned()]));
    let (cluster, summary) =
        released(steered(&policy, |settings| settings.approves_after(Some(seconds(1000)))), good());
    assert_eq!(summary.end, RolloutEnd::Complete, "it is not called stuck while the user thinks");
    let opened: Vec<i64> = waves(&summary).iter().map(|wave| wave.1.unwrap()).collect();
    assert_eq!(opened, [0, 1012, 2024]);
    let approvals = cluster.history().iter().filter(|event| event.t >= summary.started).map(json_of);
    let approvals: Vec<Value> = approvals.filter(|event| event["event"] == "RolloutSteered").collect();
    let given =
        |event: &Value| (event["by"].clone(), event["annotations"]["rollout.daemonset/approved"].clone());
    let given: Vec<(Value, Value)> = approvals.iter().map(given).collect();
    assert_eq!(given, [("user".into(), "2=2".into()), ("user".into(), "2=3".into())]);
}

#[test]
fn a_pause_holds_the_other_nodes_until_the_rollout_is_resumed() {
    let mut cluster = steered(&json!({}), |settings| settings);
    let started = cluster.now();
    cluster.steer_at(started + seconds(14), Steering::Pause);
    cluster.steer_at(started + seconds(5000), Steering::Resume);
    let (cluster, summary) = released(cluster, good());
    assert_eq!(summary.end, RolloutEnd::Complete);
    let created = cluster
        .history()
        .iter()
        .filter(|event| event.t >= started && json_of(event)["event"] == "PodCreated");
    let created: Vec<i64> = created.map(|event| event.t.duration_since(started).as_secs()).collect();
    assert!(created[1] < 20 && created[2] >= 5000, "{created:?}");
}

#[test]
fn a_long_bake_is_no_standstill() {
    let policy = json!({"waves": [{"upTo": 1, "bakeSeconds": 7200}, {}]});
    let (_, summary) = released(steered(&policy, |settings| settings), good());
    assert_eq!(summary.end, RolloutEnd::Complete);
    assert!(summary.duration_seconds > 7200);
}

#[test]
fn a_policy_that_can_not_be_read_pauses_the_rollout() {
    let mut cluster = steered(&json!({"wave": []}), |settings| settings);
    let started = cluster.now();
    cluster.run_for(seconds(60));
    let (cluster, summary) = released(cluster, good());
    assert_eq!((summary.end, summary.rollout.unwrap().stage), (RolloutEnd::Held, RolloutStage::Paused));
    assert_eq!(reached(&cluster, started), [""; 0]);
}

#[test]
fn without_a_policy_nothing_is_steered() {
    let (cluster, summary) = released(running(&NODES), good());
    assert!(summary.rollout.is_none());
    assert!(serde_json::to_value(&summary).unwrap().get("rollout").is_none());
    assert!(cluster.history().iter().all(|event| json_of(event)["event"] != "RolloutMoved"));
}

/// A trace shows where the rollout is at every instant.
#[test]
fn the_history_has_each_move_of_the_rollout() {
    let mut policy = canary();
    policy["onFailure"] = json!({"action": "RollBack", "availableWithinSeconds": 40});
    let (cluster, summary) =
        released(steered(&policy, |settings| settings), good().never_ready(Probability::ALWAYS));
    let moves = cluster.history().iter().filter(|event| event.t >= summary.started).map(json_of);
    let stages: Vec<(Value, Value)> = moves
        .filter(|event| event["event"] == "RolloutMoved")
        .map(|event| (event["stage"]["type"].clone(), event["waves"][0]["progress"]["type"].clone()))
        .collect();
    let [over, moves @ ..] = &stages[..] else { panic!("{stages:?}") };
    assert_eq!(over.0, "Over", "version 1 is there");
    let expected = [("GoingOn", "Updating"), ("RolledBack", "Updating"), ("RolledBack", "Updating")];
    assert_eq!(moves, expected.map(|(stage, wave)| (stage.into(), wave.into())));
}

/// It moves, too, where only its revision is another one.
#[test]
fn the_history_names_the_revision_of_each_rollout() {
    let mut cluster = steered(&json!({}), |settings| settings);
    for version in ["v2", "v3"] {
        cluster.release(good(), |spec| *spec = template(version));
        cluster.run_for(seconds(3));
    }
    let moves = cluster.history().iter().map(json_of).filter(|event| event["event"] == "RolloutMoved");
    let mut revisions: Vec<Value> = moves
        .filter(|event| event["stage"]["type"] == "GoingOn")
        .map(|event| event["revision"].clone())
        .collect();
    revisions.dedup();
    assert_eq!(revisions.len(), 3);
}

/// The way back completes, and the version that was released has failed all the same.
#[test]
fn a_version_that_is_undone_is_rolled_back_and_the_next_one_completes() {
    let mut policy = canary();
    policy["onFailure"] = json!({"action": "Undo", "availableWithinSeconds": 40});
    let broken = good().never_ready(Probability::ALWAYS);
    let (mut cluster, summary) = released(steered(&policy, |settings| settings), broken);
    assert_eq!(summary.end, RolloutEnd::RolledBack);
    let rollout = summary.rollout.unwrap();
    let RolloutStage::Stopped { reason, .. } = &rollout.stage else { panic!("{:?}", rollout.stage) };
    assert_eq!((reason.as_str(), rollout.reached), ("TooManyFailures", 1));
    let failed_after = rollout.failed_at.unwrap().duration_since(summary.started);
    assert!((seconds(40)..seconds(45)).contains(&failed_after), "{failed_after}");
    assert_eq!(cluster.daemon_set().unwrap().spec.template, template("v1"));
    cluster.release(good(), |spec| *spec = template("v3"));
    assert_eq!(cluster.run_rollout(seconds(600), seconds(86_400)), RolloutEnd::Complete);
}

/// The policy of the settings steers without any annotation.
#[test]
fn a_policy_of_the_settings_steers_too() {
    let mut settings = settings();
    settings.controller.policy = Policy::default()
        .rollout(serde_json::from_value::<daemonset::policy::RolloutPolicy>(canary()).unwrap());
    let (_, summary) = released(running_with(settings, &NODES, template("v1")), good());
    assert_eq!((summary.end, waves(&summary)[1].1), (RolloutEnd::Complete, Some(72)));
}

#[test]
fn a_crash_after_a_roll_back_does_not_end_the_next_rollout() {
    let mut policy = canary();
    policy["onFailure"] = json!({"action": "RollBack", "availableWithinSeconds": 40});
    let broken = good().never_ready(Probability::ALWAYS);
    let (mut cluster, summary) = released(steered(&policy, |settings| settings), broken);
    assert_eq!(summary.end, RolloutEnd::RolledBack);
    // It is down for 15 s, and does not see the next version.
    cluster.crash_controller();
    cluster.release(good(), |spec| *spec = template("v3"));
    assert_eq!(cluster.run_rollout(seconds(600), seconds(86_400)), RolloutEnd::Complete);
}

/// The controller's last plan before the edit still tells of the version that has failed.
#[test]
fn the_version_after_a_rolled_back_one_is_rolled_out() {
    let mut policy = canary();
    policy["onFailure"] = json!({"action": "RollBack", "availableWithinSeconds": 40});
    let broken = good().never_ready(Probability::ALWAYS);
    let (mut cluster, summary) = released(steered(&policy, |settings| settings), broken);
    assert_eq!(summary.end, RolloutEnd::RolledBack);
    let started = cluster.now();
    cluster.release(good(), |spec| *spec = template("v3"));
    assert_eq!(cluster.run_rollout(seconds(600), seconds(86_400)), RolloutEnd::Complete);
    assert_eq!(reached(&cluster, started), NODES);
}

/// A pod that starts slowly, and one that is Ready and not available yet, are under way for longer than anybody's patience.
#[test]
fn a_rollout_is_not_stuck_while_it_waits_for_an_instant_that_comes() {
    let slow = good().ready(Distribution::fixed(seconds(2400)));
    for (behaviour, min_ready_seconds) in [(slow, 0), (good(), 2400)] {
        let mut cluster = running(&["a", "b"]);
        cluster.set_behaviour(&template("v2"), behaviour);
        cluster
            .edit(|ds| (ds.spec.template, ds.spec.min_ready_seconds) = (template("v2"), min_ready_seconds));
        assert_eq!(cluster.run_rollout(seconds(600), seconds(86_400)), RolloutEnd::Complete);
    }
}
