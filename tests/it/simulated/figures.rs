//! The figures of small rollouts.

use super::{running, seconds, template};
use daemonset_sim::{Behaviour, Probability, RolloutEnd, Summary, Worst};

fn image(template: &mut serde_json::Value, version: &str) {
    template["spec"]["containers"][0]["image"] = version.into();
}

fn rolled_out(behaviour: Behaviour, limit: u32) -> Summary {
    let mut cluster = running(&["a", "b", "c"]);
    cluster.run_for(seconds(100));
    let started = cluster.now();
    cluster.edit(|ds| {
        let limits = ds.spec.update_strategy.rolling_update.as_mut().unwrap();
        limits.max_unavailable = Some(daemonset::model::IntOrString::Int(limit));
    });
    cluster.release(behaviour, |template| image(template, "v2"));
    let end = cluster.run_rollout(seconds(600), seconds(7200));
    cluster.summary(started, end)
}

#[test]
fn a_good_rollout_has_its_figures() {
    let steady = super::settings().behaviour;
    let Summary { started, ended, worst_unavailable, worst_taken_down, .. } = rolled_out(steady, 1);
    let summary = rolled_out(steady, 1);
    assert_eq!(summary.end, RolloutEnd::Complete);
    assert_eq!((summary.nodes, summary.desired, summary.max_unavailable, summary.max_surge), (3, 3, 1, 0));
    assert_eq!((summary.pods_created, summary.pods_deleted), (3, 3));
    assert_eq!((summary.pods_failed, summary.pods_lost_readiness), (0, 0));
    assert_eq!((summary.plans_stopped, summary.controller_crashes), (0, 0));
    assert_eq!(summary.not_updated, []);
    // Each node: 2 s to stop, 0.1 s to bind, 10 s until Ready, and the reconciles in between.
    assert!((36..=38).contains(&summary.duration_seconds), "{}", summary.duration_seconds);
    assert!(ended > started + seconds(35));
    assert_eq!((worst_unavailable, worst_taken_down.nodes), (worst_taken_down, 1));
    assert!(worst_taken_down.at.is_some_and(|at| at > started));
    assert!(summary.reconciles >= 9);
    assert_eq!(rolled_out(steady, 2).worst_taken_down.nodes, 2);
}

#[test]
fn a_bad_rollout_has_its_figures() {
    let broken = super::settings().behaviour.never_ready(Probability::ALWAYS);
    let summary = rolled_out(broken, 1);
    assert_eq!(summary.end, RolloutEnd::Stuck);
    assert_eq!((summary.pods_created, summary.pods_deleted, summary.worst_taken_down.nodes), (1, 1, 1));
    let nodes: Vec<_> = summary.not_updated.iter().map(|verdict| verdict.node.to_string()).collect();
    assert_eq!(nodes, ["a", "b", "c"]);
    let deadly = super::settings().behaviour.panics_node(Probability::ALWAYS);
    let summary = rolled_out(deadly, 1);
    assert_eq!(
        (summary.end, summary.pods_created, summary.desired),
        (RolloutEnd::Stuck, 1, 2),
        "one node is lost"
    );
    let evicted = super::settings().behaviour.evicted(Probability::ALWAYS);
    assert!(rolled_out(evicted, 1).pods_failed > 2);
}

#[test]
fn unavailability_before_the_start_counts_from_the_start() {
    let mut cluster = running(&["a", "b", "c"]);
    cluster.crash_pod(&super::uid_on(&cluster, "b"));
    cluster.run_for(seconds(1));
    let started = cluster.now();
    cluster.run_for(seconds(100));
    let summary = cluster.summary(started, RolloutEnd::Complete);
    let worst = summary.worst_unavailable;
    assert_eq!((worst.nodes, worst.desired, worst.at), (1, 3, Some(started)));
    cluster.remove_node("a");
    cluster.run_for(seconds(100));
    assert_eq!(
        cluster.summary(started, RolloutEnd::Complete).worst_unavailable,
        worst,
        "of those that were there"
    );
    assert_eq!((summary.worst_taken_down, summary.pods_lost_readiness), (Worst::default(), 0));
    let json = serde_json::to_value(&summary).unwrap();
    assert_eq!((&json["end"], &json["durationSeconds"]), (&"Complete".into(), &100.into()));
}

/// A surge is complete before the last old pod is gone.
#[test]
fn an_old_pod_that_ends_leaves_no_node_over() {
    let mut cluster = running(&["a", "b"]);
    cluster.edit(|ds| {
        ds.spec.update_strategy.rolling_update =
            serde_json::from_value(serde_json::json!({"maxSurge": 1, "maxUnavailable": 0})).unwrap();
    });
    let started = cluster.now();
    cluster.release(super::settings().behaviour, |spec| *spec = template("v2"));
    let end = cluster.run_rollout(seconds(600), seconds(3600));
    let summary = cluster.summary(started, end);
    assert_eq!((end, cluster.pods().count()), (RolloutEnd::Complete, 3));
    assert!(summary.not_updated.is_empty(), "{:?}", summary.not_updated);
}

#[test]
fn terminating_pods_do_not_count_as_pods_that_lost_readiness() {
    let mut template = template("v1");
    template["metadata"]["finalizers"] = serde_json::json!(["example.com/bill"]);
    let mut cluster = super::running_with(super::settings(), &["a", "b"], template);
    let started = cluster.now();
    cluster.delete_pod(&super::uid_on(&cluster, "a"));
    cluster.run_for(seconds(60));
    let summary = cluster.summary(started, RolloutEnd::Complete);
    assert_eq!((super::count(&cluster, "PodUnready"), summary.pods_lost_readiness), (1, 0));
    cluster.crash_pod(&super::uid_on(&cluster, "b"));
    assert_eq!(cluster.summary(started, RolloutEnd::Complete).pods_lost_readiness, 1);
}

#[test]
fn a_rollout_that_exceeds_its_bound_is_out_of_time() {
    let mut cluster = running(&["a", "b", "c"]);
    cluster.edit(|ds| ds.spec.template = template("v2"));
    assert_eq!(cluster.run_rollout(seconds(600), seconds(10)), RolloutEnd::OutOfTime);
}
