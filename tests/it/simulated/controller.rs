//! The controller's executor: it crashes, is refused, and loses answers.

use super::{agent, cluster, count, json_of, seconds, settings, start, template};
use daemonset_sim::{Cluster, Probability, Settings};
use serde_json::Value;

const NODES: [&str; 3] = ["a", "b", "c"];

fn installed(settings: Settings) -> Cluster {
    let mut cluster = cluster(settings, &NODES);
    cluster.create_daemon_set(agent(template("v1")));
    cluster
}

fn events(cluster: &Cluster, name: &str) -> Vec<Value> {
    cluster.history().iter().map(json_of).filter(|event| event["event"] == name).collect()
}

/// It crashes after the revision and one pod.
fn crashed(memory_survives: bool) -> Cluster {
    let mut settings = settings();
    settings.controller.memory_survives = memory_survives;
    let mut cluster = cluster(settings, &NODES);
    cluster.crash_controller_after(2);
    cluster.create_daemon_set(agent(template("v1")));
    cluster.run_for(seconds(1));
    cluster
}

#[test]
fn a_crash_leaves_a_plan_unfinished_and_the_next_process_continues() {
    for memory_survives in [false, true] {
        let mut cluster = crashed(memory_survives);
        assert_eq!((cluster.revisions().count(), cluster.pods().count()), (1, 1));
        assert_eq!(cluster.memory().is_empty(), !memory_survives);
        let crashes = events(&cluster, "ControllerCrashed");
        let [crash] = &crashes[..] else { panic!("{crashes:#?}") };
        assert_eq!((&crash["afterActions"], &crash["memoryKept"]), (&2.into(), &memory_survives.into()));
        cluster.run_until(start() + seconds(15));
        assert_eq!(cluster.pods().count(), 1);
        cluster.run_for(seconds(1));
        assert_eq!(cluster.pods().count(), 3);
        cluster.run_until_quiet(seconds(3600)).unwrap();
        assert!(cluster.is_rolled_out());
    }
}

#[test]
fn a_refused_request_ends_the_plan_and_is_retried() {
    let mut settings = settings();
    settings.controller.refused = Probability::ALWAYS;
    let mut cluster = installed(settings);
    cluster.run_for(seconds(10));
    assert_eq!((cluster.revisions().count(), cluster.pods().count()), (0, 0));
    let reconciled = events(&cluster, "Reconciled");
    assert!((90..=101).contains(&reconciled.len()), "ten a second: {}", reconciled.len());
    for event in &reconciled {
        assert_eq!(
            (&event["refused"], &event["created"], &event["planned"]),
            (&1.into(), &0.into(), &5.into())
        );
    }
    cluster.configure_controller(|controller| controller.refused = Probability::NEVER);
    cluster.run_until_quiet(seconds(3600)).unwrap();
    assert!(cluster.is_rolled_out());
}

#[test]
fn an_executed_action_with_a_lost_answer_is_not_repeated() {
    let mut settings = settings();
    settings.controller.answer_lost = Probability::ALWAYS;
    settings.controller.watch_lag = daemonset_sim::Distribution::fixed(seconds(2));
    let mut cluster = installed(settings);
    cluster.run_for(seconds(60));
    assert_eq!((cluster.revisions().count(), count(&cluster, "PodCreated")), (1, 3));
    assert!(cluster.is_rolled_out());
}

#[test]
fn a_controller_without_memory_creates_twice_on_a_stale_cache() {
    let mut settings = settings();
    settings.controller.remembers = false;
    settings.controller.watch_lag = daemonset_sim::Distribution::fixed(seconds(2));
    let mut cluster = installed(settings);
    cluster.crash_controller_after(3);
    cluster.run_for(seconds(60));
    cluster.freeze(daemonset_sim::Kind::Pods);
    cluster.add_node("d", Default::default());
    cluster.run_for(seconds(10));
    cluster.add_node("e", Default::default());
    cluster.run_for(seconds(10));
    assert!(super::pods_on(&cluster, "d").len() > 1, "memory prevents this");
}

#[test]
fn an_invalid_snapshot_is_reported_until_it_becomes_valid() {
    let mut cluster = super::running(&NODES);
    let strategy = cluster.daemon_set().unwrap().spec.update_strategy.clone();
    cluster.edit(|ds| ds.spec.update_strategy.kind = "Never".to_owned());
    cluster.run_for(seconds(10));
    assert_eq!(cluster.invalid_snapshot().unwrap().problems[0].path, "spec.updateStrategy.type");
    assert!(cluster.plan().unwrap().is_err());
    cluster.edit(|ds| ds.spec.update_strategy = strategy);
    cluster.run_for(seconds(10));
    assert_eq!(cluster.invalid_snapshot(), None);
}

/// The simulated controller is one of the DaemonSet's kind.
#[test]
fn a_custom_kind_is_rolled_out() {
    let kind = daemonset::model::Owner::new("agents.example.com/v1", "AgentSet");
    let mut cluster = cluster(settings(), &NODES);
    cluster.create_daemon_set(daemonset::model::DaemonSet { owner: kind, ..agent(template("v1")) });
    cluster.run_until_quiet(seconds(3600)).unwrap();
    assert!(cluster.is_rolled_out());
    assert!(cluster.pods().all(|pod| pod.metadata.owner_references[0].kind == "AgentSet"));
}
