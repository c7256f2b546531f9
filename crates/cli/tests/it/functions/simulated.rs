//! An undo on a simulated cluster: the controller takes the revision up again, within its limit.

use super::support::{template, web};
use daemonset::model::DaemonSet;
use daemonset_sim::{Behaviour, Cluster};
use jiff::SignedDuration;
use kubectl_daemonset::kubectl::{DryRun, RolloutProgress, Undo, history, status, undo};
use serde_json::{Value, json};

fn settle(cluster: &mut Cluster) {
    let last = cluster.now() + SignedDuration::from_hours(2);
    while cluster.next_at().is_some_and(|at| at < last) {
        cluster.step();
    }
}

/// Runs the cluster until nothing changes; returns the largest number of nodes without an available pod.
fn settle_and_watch(cluster: &mut Cluster) -> i32 {
    let last = cluster.now() + SignedDuration::from_hours(2);
    let mut worst = 0;
    while cluster.next_at().is_some_and(|at| at < last) {
        cluster.step();
        worst = worst.max(cluster.status().number_unavailable);
    }
    worst
}

fn objects(cluster: &Cluster) -> (Value, Vec<Value>) {
    let mut daemon_set = json!(cluster.daemon_set().unwrap());
    daemon_set["status"] = json!(cluster.status());
    (daemon_set, cluster.revisions().map(|revision| json!(revision)).collect())
}

fn running(nodes: i32) -> Cluster {
    let mut cluster = Cluster::new(7);
    for number in 0..nodes {
        let name = format!("n{number}");
        cluster.add_node(&name, [("kubernetes.io/hostname", name.as_str())].into_iter().collect());
    }
    let daemon_set: DaemonSet = serde_json::from_value(web(template("v1"))).unwrap();
    cluster.create_daemon_set(daemon_set);
    settle(&mut cluster);
    cluster.release(Behaviour::default(), |template| {
        template["spec"]["containers"][0]["image"] = "v2".into();
    });
    settle(&mut cluster);
    cluster
}

fn roll_back(cluster: &mut Cluster) {
    let (daemon_set, revisions) = objects(cluster);
    let Undo::RolledBack(change) = undo(&daemon_set, &revisions, None, DryRun::None).unwrap() else {
        panic!("nothing to roll back")
    };
    cluster.edit(|ds| ds.spec.template = change.after["spec"]["template"].clone());
}

fn numbers(cluster: &Cluster) -> Vec<(i64, String)> {
    let (daemon_set, revisions) = objects(cluster);
    let history = history(&daemon_set, &revisions).unwrap();
    history.revisions.into_iter().map(|entry| (entry.revision, entry.name)).collect()
}

#[test]
fn an_undone_revision_gets_the_next_number_and_rolls_out_one_node_at_a_time() {
    let mut cluster = running(4);
    let before = numbers(&cluster);
    roll_back(&mut cluster);
    let worst = settle_and_watch(&mut cluster);
    let after = numbers(&cluster);
    assert_eq!(after, [before[1].clone(), (3, before[0].1.clone())], "the same object, renumbered");
    assert_eq!(worst, 1);
    let (daemon_set, _) = objects(&cluster);
    let progress = status(&daemon_set, None).unwrap();
    assert!(matches!(&progress, RolloutProgress::Done { name, .. } if name == "web"), "{progress:?}");
}

#[test]
fn an_undo_of_an_undo_restores_the_template() {
    let mut cluster = running(2);
    let (before, _) = objects(&cluster);
    roll_back(&mut cluster);
    settle(&mut cluster);
    roll_back(&mut cluster);
    settle(&mut cluster);
    let (after, _) = objects(&cluster);
    assert_eq!(after["spec"]["template"], before["spec"]["template"]);
    assert_eq!(numbers(&cluster).iter().map(|(number, _)| *number).collect::<Vec<_>>(), [3, 4]);
}
