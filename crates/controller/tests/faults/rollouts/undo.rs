//! A broken version is undone: the template before it comes back, once.

use super::driver::{driven, with_driver};
use super::{BROKEN, MINUTE, NEW, OLD, POLICY, canary, event, message, story, touched_nodes, version};
use crate::cluster::{Cluster, HOUR};
use crate::faults::{Fault, Verb};
use crate::objects::rolling;
use crate::rights::Rights;
use crate::store::{Kind, text};
use std::time::Duration;
use tokio::time::sleep;

/// The parts of an undo that are events.
const UNDONE: [&str; 5] =
    ["RolloutStarted", "WaveOpened", "RolloutFailed", "RestoredTemplate", "RolloutCompleted"];

async fn undoing(nodes: usize) -> Cluster {
    let cluster = Cluster::steady(nodes, rolling(3)).await;
    cluster.api.state().further_rights = Rights::of_part("undo");
    cluster.annotate(POLICY, Some(&canary("Undo")));
    sleep(MINUTE).await;
    cluster
}

fn image(cluster: &Cluster) -> String {
    text(&cluster.daemon_set()["spec"]["template"]["spec"]["containers"][0]["image"]).to_owned()
}

fn restores(cluster: &Cluster) -> usize {
    cluster.count(|verb, kind| (verb, kind) == (Verb::Patch, Kind::DaemonSet))
}

/// A canary breaks, and the template comes back; somebody puts the broken one back, and that stays.
async fn is_undone_once(cluster: &Cluster) {
    let (from, began) = (version(cluster), story(cluster).len());
    cluster.release(BROKEN);
    sleep(10 * MINUTE).await;
    cluster.check_invariants();
    assert_eq!((cluster.nodes_with(OLD), image(cluster).as_str(), restores(cluster)), (8, OLD, 1));
    assert_eq!(touched_nodes(cluster, from).len(), 1, "the canary");
    assert_eq!(story(cluster)[began..], UNDONE);
    assert!(message(cluster, "RolloutFailed").contains("The template of agent-"));
    assert_eq!(event(cluster, "RestoredTemplate")["type"], "Normal");
    let metric = r#"daemonset_actions_total{action="RestoreTemplate",reason="RolledBack",outcome="done"} 1"#;
    assert!(cluster.metrics.text().contains(metric), "{}", cluster.metrics.text());

    let began = story(cluster).len();
    cluster.release(BROKEN);
    sleep(3 * HOUR).await;
    cluster.check_invariants();
    assert_eq!((cluster.nodes_with(BROKEN), image(cluster).as_str(), restores(cluster)), (1, BROKEN, 1));
    assert_eq!(story(cluster)[began..], UNDONE[..3]);
    let state = cluster.api.state();
    let stays = "its template stays, since its template was put back after it had been undone";
    assert!(state.stored_events.values().any(|event| text(&event["message"]).contains(stays)));
}

#[tokio::test(start_paused = true)]
async fn a_broken_version_is_undone_once() {
    let cluster = undoing(8).await;
    is_undone_once(&cluster).await;
    cluster.release(NEW);
    cluster.done(HOUR).await;
    cluster.finish(120).await;
}

#[tokio::test(start_paused = true)]
async fn a_driven_broken_version_is_undone_once() {
    let cluster = with_driver(8, &driven(&canary("Undo"))).await;
    cluster.api.state().further_rights = Rights::of_part("undo");
    is_undone_once(&cluster).await;
}

#[tokio::test(start_paused = true)]
async fn an_undo_without_the_right_names_it_and_is_tried_again() {
    let cluster = undoing(4).await;
    cluster.fault(Verb::Patch, Kind::DaemonSet, Fault::Forbidden, 3);
    cluster.release(BROKEN);
    sleep(10 * MINUTE).await;
    cluster.check_invariants();
    let refused = message(&cluster, "FailedUpdate");
    assert!(
        refused.starts_with("An undo needs the right to `patch` daemonsets (deploy/undo): "),
        "{refused}"
    );
    assert_eq!((cluster.nodes_with(OLD), image(&cluster).as_str(), restores(&cluster)), (4, OLD, 4));
}

/// Another client has changed the DaemonSet, or the answer is lost: the template is restored once.
#[tokio::test(start_paused = true)]
async fn an_undo_survives_each_fault_of_its_call() {
    for (fault, most) in [
        (Fault::Conflict, 2),
        (Fault::Unavailable, 2),
        (Fault::Error, 2),
        (Fault::Broken, 2),
        (Fault::ErrorAfterwards, 1),
        (Fault::BrokenAfterwards, 1),
        (Fault::SilentAfterwards, 1),
    ] {
        let cluster = undoing(4).await;
        cluster.lag(Kind::DaemonSet, Duration::from_secs(5));
        cluster.fault(Verb::Patch, Kind::DaemonSet, fault, 1);
        cluster.release(BROKEN);
        sleep(20 * MINUTE).await;
        cluster.check_invariants();
        let generation = cluster.daemon_set()["metadata"]["generation"].as_i64();
        assert_eq!((cluster.nodes_with(OLD), image(&cluster).as_str()), (4, OLD), "{fault:?}");
        assert_eq!(generation, Some(3), "{fault:?}: one change by a person, and one of ours");
        assert!(restores(&cluster) <= most, "{fault:?}: {}", restores(&cluster));
    }
}

/// A person has fixed the version before the undo: nothing of that is lost.
#[tokio::test(start_paused = true)]
async fn a_version_that_is_released_meanwhile_is_not_undone() {
    let cluster = undoing(4).await;
    cluster.lag(Kind::DaemonSet, Duration::from_secs(30));
    cluster.release(BROKEN);
    while !story(&cluster).contains(&"RolloutFailed".to_owned()) {
        sleep(Duration::from_millis(10)).await;
    }
    cluster.release(NEW);
    cluster.done(HOUR).await;
    sleep(MINUTE).await;
    cluster.check_invariants();
    assert_eq!((cluster.nodes_with(NEW), image(&cluster).as_str()), (4, NEW));
}
