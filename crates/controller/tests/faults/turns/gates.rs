//! Gates, conflicts, lost answers, kills, and two DaemonSets in turn on one node.

use super::{
    add_tenants, annotation, cordon, ends, events, fleet, is_cordoned, keep_rules, messages, node,
    not_as_before, open_gates, taken, turn_key,
};
use crate::cluster::{CONTROLLER, Cluster, HOUR};
use crate::faults::{Fault, Verb};
use crate::objects::{daemon_set, rolling};
use crate::pods::{image_of, is_available};
use crate::rollouts::{MINUTE, NEW, POLICY};
use crate::store::{Actor, Kind, id, text};
use daemonset_controller::rollout::policy::ProcessRole;
use std::collections::BTreeSet;
use std::time::Duration;
use tokio::time::sleep;

const BACKUP: &str = "turn: {cordon: true, gates: [backup]}";
const TWO_GATES: &str = "turn: {cordon: true, gates: [backup, drained]}\n\
                         drain: {podSelector: {matchExpressions: [{key: tenant, operator: Exists}]}}";

/// A fleet whose backups take two seconds.
async fn with_backups(nodes: usize, policy: &str) -> Cluster {
    let cluster = fleet(nodes, 2, policy).await;
    keep_rules(&cluster, &["backup"], 2);
    open_gates(&cluster.api, "backup", &turn_key(&cluster.daemon_set()), Duration::from_secs(2));
    cluster
}

#[tokio::test(start_paused = true)]
async fn a_pod_is_replaced_once_both_gates_are_open() {
    let cluster = with_backups(6, TWO_GATES).await;
    keep_rules(&cluster, &["backup", "drained"], 2);
    add_tenants(&cluster);
    cluster.release(NEW);
    ends(&cluster).await;
    let counts = ["TurnBegan", "Drained", "TurnEnded"].map(|reason| events(&cluster, reason));
    assert_eq!((taken(&cluster), counts), (6, [6, 6, 6]));
    assert!(events(&cluster, "WaitsForGate") > 0);
    let waits = messages(&cluster, "WaitsForGate");
    assert!(waits.iter().any(|message| message.contains("for gates backup, drained")), "{waits:?}");
    let began = messages(&cluster, "TurnBegan");
    assert!(began.contains(&"The turn of node n00 has begun: it is cordoned".to_owned()), "{began:?}");
    assert_eq!(cluster.api.state().store.invariants.turns.as_ref().unwrap().worst, 2);
    let metrics = cluster.metrics.text();
    assert!(metrics.contains("daemonset_evictions_total{outcome=\"accepted\"} 6"), "{metrics}");
    assert!(!metrics.contains("turn_nodes{"), "no node is in turn any more: {metrics}");
}

/// Nobody opens the gate: the node waits, and goes on once the gate is no longer asked for.
#[tokio::test(start_paused = true)]
async fn a_closed_gate_holds_its_node_and_no_other_annotation_opens_it() {
    let cluster = fleet(4, 1, BACKUP).await;
    keep_rules(&cluster, &["backup"], 1);
    cluster.release(NEW);
    sleep(MINUTE).await;
    let key = turn_key(&cluster.daemon_set());
    cluster.api.state().store.change(Actor::Others, &id(Kind::Node, "n00"), |node| {
        node["metadata"]["annotations"][format!("backup.gate.daemonset/{key}")] =
            "1 2026-01-01T00:00:00Z".into();
    });
    sleep(HOUR).await;
    cluster.check_invariants();
    assert_eq!((cluster.nodes_with(NEW), not_as_before(&cluster)), (0, vec!["n00".to_owned()]));
    assert!(cluster.metrics.text().contains("state=\"InTurn\"} 1"));
    keep_rules(&cluster, &[], 1);
    cluster.annotate(POLICY, Some("turn: {cordon: true}"));
    ends(&cluster).await;
}

/// The node has changed since the plan was made.
#[tokio::test(start_paused = true)]
async fn a_conflict_about_a_node_leads_to_another_plan() {
    let cluster = with_backups(4, BACKUP).await;
    cluster.fault(Verb::Patch, Kind::Node, Fault::Conflict, 3);
    cluster.release(NEW);
    ends(&cluster).await;
    assert_eq!((taken(&cluster), cluster.happened(Fault::Conflict)), (4, 3));
    assert_eq!(events(&cluster, "FailedUpdate"), 0, "nothing was refused");
}

/// The change of the first node may concern the second one, whose turn begins in a later plan.
#[tokio::test(start_paused = true)]
async fn a_conflict_about_a_node_ends_its_plan() {
    let cluster = with_backups(4, BACKUP).await;
    let patches = || cluster.count(|verb, kind| (verb, kind) == (Verb::Patch, Kind::Node));
    let before = patches();
    cluster.fault(Verb::Patch, Kind::Node, Fault::Conflict, 1);
    cluster.release(NEW);
    while cluster.happened(Fault::Conflict) == 0 {
        sleep(Duration::from_millis(1)).await;
    }
    sleep(Duration::from_millis(10)).await;
    assert_eq!(patches() - before, 1);
    ends(&cluster).await;
}

/// A node whose turn can't be ended yet keeps its room.
#[tokio::test(start_paused = true)]
async fn no_turn_begins_in_the_room_of_one_that_has_not_ended() {
    let cluster = with_backups(6, BACKUP).await;
    cluster.release(NEW);
    while cluster.nodes_with(NEW) == 0 {
        sleep(Duration::from_millis(1)).await;
    }
    cluster.fault(Verb::Patch, Kind::Node, Fault::Forbidden, 5);
    ends(&cluster).await;
    assert_eq!((taken(&cluster), cluster.happened(Fault::Forbidden)), (6, 5));
    assert!(events(&cluster, "FailedUpdate") > 0);
}

/// The cache does not show the cordon of a person yet: it is not taken for the turn's own.
#[tokio::test(start_paused = true)]
async fn the_cordon_of_a_person_is_not_taken_back() {
    let cluster = with_backups(4, BACKUP).await;
    cluster.lag(Kind::Node, Duration::from_secs(3));
    cordon(&cluster, "n01", true);
    cluster.release(NEW);
    cluster.done(HOUR).await;
    sleep(MINUTE).await;
    cluster.check_invariants();
    assert_eq!((taken(&cluster), not_as_before(&cluster)), (4, vec!["n01".to_owned()]));
    assert!(is_cordoned(&node(&cluster, "n01")));
}

/// A person uncordons a node in turn, and cordons it later: the turn takes no cordon back.
#[tokio::test(start_paused = true)]
async fn a_turn_that_was_uncordoned_takes_no_cordon_back() {
    let cluster = fleet(3, 1, BACKUP).await;
    cluster.release(NEW);
    sleep(MINUTE).await;
    assert_eq!(not_as_before(&cluster), ["n00"]);
    cordon(&cluster, "n00", false);
    sleep(MINUTE).await;
    assert_eq!(events(&cluster, "TurnLostCordon"), 1);
    cordon(&cluster, "n00", true);
    open_gates(&cluster.api, "backup", &turn_key(&cluster.daemon_set()), Duration::ZERO);
    cluster.done(HOUR).await;
    sleep(MINUTE).await;
    assert_eq!(not_as_before(&cluster), ["n00"], "it is the person's");
}

#[tokio::test(start_paused = true)]
async fn turns_survive_lost_answers() {
    for fault in [
        Fault::Error,
        Fault::ErrorAfterwards,
        Fault::Broken,
        Fault::BrokenAfterwards,
        Fault::BrokenLongBefore,
        Fault::SilentAfterwards,
        Fault::TooManyRequests(3),
    ] {
        let cluster = with_backups(4, TWO_GATES).await;
        add_tenants(&cluster);
        cluster.fault(Verb::Patch, Kind::Node, fault, 4);
        cluster.fault(Verb::Evict, Kind::Pod, fault, 2);
        cluster.fault(Verb::List, Kind::Pod, fault, 1);
        cluster.release(NEW);
        ends(&cluster).await;
        assert_eq!((taken(&cluster), cluster.happened(fault)), (4, 7), "{fault:?}");
    }
}

/// Each process dies after a moment; the next one goes on from the annotations.
#[tokio::test(start_paused = true)]
async fn a_rollout_in_turns_survives_kills() {
    for seed in 0..4 {
        let mut rng = fastrand::Rng::with_seed(seed);
        let mut cluster = with_backups(6, TWO_GATES).await;
        keep_rules(&cluster, &["backup", "drained"], 2);
        add_tenants(&cluster);
        cluster.release(NEW);
        let mut kills = 0;
        while cluster.nodes_with(NEW) < 6 && kills < 60 {
            sleep(Duration::from_millis(rng.u64(5..1200))).await;
            cluster.start(CONTROLLER, ProcessRole::Controller).await;
            kills += 1;
        }
        ends(&cluster).await;
        assert_eq!(taken(&cluster), 6, "{kills} kills");
        assert!(kills > 5, "{kills} kills");
    }
}

/// The first that ends hands the cordon over.
#[tokio::test(start_paused = true)]
async fn two_daemon_sets_in_turn_leave_a_node_schedulable_once_both_have_ended() {
    let cluster = with_backups(4, BACKUP).await;
    let mut other = daemon_set("other", &rolling(4));
    other["metadata"]["annotations"][POLICY] = BACKUP.into();
    let other = cluster.api.state().store.create(Actor::Others, Kind::DaemonSet, other);
    open_gates(&cluster.api, "backup", &turn_key(&other), Duration::from_millis(3500));
    sleep(MINUTE).await;
    cluster.release(NEW);
    cluster.release_of("other", "other:v2");
    ends(&cluster).await;
    let keys = [turn_key(&cluster.daemon_set()), turn_key(&other)];
    let state = cluster.api.state();
    let updated = state.store.list(Kind::Pod).filter(|pod| image_of(pod) == "other:v2" && is_available(pod));
    assert_eq!(updated.count(), 4);
    let (mut both, mut uncordoned) = (0, 0);
    let mut was_cordoned = BTreeSet::new();
    for change in state.store.log.iter().filter(|change| change.id.kind == Kind::Node) {
        let turns = keys.each_ref().map(|key| annotation(&change.object, &format!("turn.daemonset/{key}")));
        both += usize::from(turns.iter().all(Option::is_some));
        let name = text(&change.object["metadata"]["name"]).to_owned();
        if is_cordoned(&change.object) {
            was_cordoned.insert(name);
        } else if was_cordoned.remove(&name) {
            uncordoned += 1;
            assert_eq!(turns, [None, None], "{name} is uncordoned in a turn");
        }
    }
    assert!(both > 0 && uncordoned >= 4, "{both} {uncordoned}");
}
