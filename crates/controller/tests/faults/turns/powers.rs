//! Powers of a namespace: missing, given, taken back, unreadable.

use super::{
    ALL_POWERS, empower, ends, events, fleet, give_rights, keep_rules, messages, not_as_before, open_gates,
    turn_key,
};
use crate::cluster::{Cluster, HOUR};
use crate::faults::{Fault, Verb};
use crate::objects::rolling;
use crate::rollouts::{MINUTE, NEW, POLICY};
use crate::store::Kind;
use std::time::Duration;
use tokio::time::sleep;

const POLICY_OF_TURNS: &str = "turn: {cordon: true, gates: [backup]}\npriorityClassName: daemons";

fn namespaces_read(cluster: &Cluster) -> usize {
    cluster.api.state().calls.iter().filter(|call| call.kind == Kind::Namespace).count()
}

#[tokio::test(start_paused = true)]
async fn namespaces_are_watched_only_where_a_policy_needs_a_power() {
    let cluster = Cluster::steady(3, rolling(1)).await;
    cluster.annotate(POLICY, Some("waves: [{upTo: 1}, {}]\npull: {}\ninPlace: IfPossible"));
    cluster.release(NEW);
    cluster.done(HOUR).await;
    assert_eq!((namespaces_read(&cluster), cluster.drains_seen()), (0, 0));
    give_rights(&cluster, &["powers", "turns"]);
    cluster.annotate(POLICY, Some("turn: {}"));
    sleep(MINUTE).await;
    assert!(namespaces_read(&cluster) > 0);
}

#[tokio::test(start_paused = true)]
async fn a_policy_beyond_its_powers_pauses_and_goes_on_once_they_are_given() {
    let cluster = fleet(4, 1, "{}").await;
    empower(&cluster, Some("turn"));
    cluster.annotate(POLICY, Some(POLICY_OF_TURNS));
    cluster.release(NEW);
    sleep(HOUR).await;
    cluster.check_invariants();
    assert_eq!((cluster.nodes_with(NEW), not_as_before(&cluster)), (0, vec![]));
    let invalid = messages(&cluster, "InvalidRolloutPolicy");
    let [invalid] = invalid.as_slice() else { panic!("{invalid:?}") };
    assert!(invalid.contains("since its policy is not permitted: "), "{invalid}");
    assert!(invalid.contains("priorityClassName") && !invalid.contains("turn"), "{invalid}");
    open_gates(&cluster.api, "backup", &turn_key(&cluster.daemon_set()), Duration::ZERO);
    empower(&cluster, Some(ALL_POWERS));
    ends(&cluster).await;
}

/// A power that is taken back uncordons no node whose daemon is away.
#[tokio::test(start_paused = true)]
async fn turns_stay_as_they_are_while_their_power_is_missing() {
    let cluster = fleet(4, 1, POLICY_OF_TURNS).await;
    keep_rules(&cluster, &["backup"], 1);
    cluster.release(NEW);
    sleep(MINUTE).await;
    assert_eq!(not_as_before(&cluster), ["n00"]);
    empower(&cluster, None);
    open_gates(&cluster.api, "backup", &turn_key(&cluster.daemon_set()), Duration::ZERO);
    sleep(HOUR).await;
    cluster.check_invariants();
    assert_eq!((cluster.nodes_with(NEW), not_as_before(&cluster)), (0, vec!["n00".to_owned()]));
    assert!(cluster.metrics.text().contains("state=\"InTurn\"} 1"), "{}", cluster.metrics.text());
    empower(&cluster, Some(ALL_POWERS));
    ends(&cluster).await;
}

/// This process may not read namespaces: a policy that needs none goes on, and the event says why the other one waits.
#[tokio::test(start_paused = true)]
async fn namespaces_that_cannot_be_read_give_no_power() {
    let cluster = fleet(3, 1, "{}").await;
    cluster.fault(Verb::List, Kind::Namespace, Fault::Forbidden, 20);
    cluster.annotate(POLICY, Some("turn: {cordon: true}"));
    cluster.release(NEW);
    sleep(MINUTE).await;
    let invalid = messages(&cluster, "InvalidRolloutPolicy");
    assert_eq!(cluster.nodes_with(NEW), 0);
    assert!(invalid.iter().any(|one| one.contains("(no namespace can be read: ")), "{invalid:?}");
    assert_eq!(events(&cluster, "InvalidRolloutPolicy"), 1, "{invalid:?}");
    // Once they can be read, it goes on by itself.
    ends(&cluster).await;
}

/// A list that fails once says nothing of powers.
#[tokio::test(start_paused = true)]
async fn powers_are_awaited_while_the_first_list_of_namespaces_fails() {
    let cluster = fleet(3, 1, "{}").await;
    cluster.fault(Verb::List, Kind::Namespace, Fault::Error, 1);
    cluster.annotate(POLICY, Some("turn: {cordon: true}"));
    cluster.release(NEW);
    ends(&cluster).await;
    assert_eq!((cluster.happened(Fault::Error), events(&cluster, "InvalidRolloutPolicy")), (1, 0));
}

/// Nobody knows whether the namespace still has its powers.
#[tokio::test(start_paused = true)]
async fn powers_end_once_namespaces_may_not_be_read_any_more() {
    let cluster = fleet(4, 1, "turn: {cordon: true, gates: [backup]}").await;
    cluster.fault(Verb::Watch, Kind::Namespace, Fault::Forbidden, u32::MAX);
    cluster.fault(Verb::List, Kind::Namespace, Fault::Forbidden, u32::MAX);
    cluster.break_watches();
    sleep(MINUTE).await;
    cluster.release(NEW);
    sleep(10 * MINUTE).await;
    assert_eq!(not_as_before(&cluster), [""; 0], "no node is cordoned without the power");
    let invalid = messages(&cluster, "InvalidRolloutPolicy");
    assert!(invalid.iter().any(|one| one.contains("(no namespace can be read: ")), "{invalid:?}");
    cluster.api.state().faults.end();
    open_gates(&cluster.api, "backup", &turn_key(&cluster.daemon_set()), Duration::ZERO);
    ends(&cluster).await;
}

/// An outage says nothing of powers, however long it is.
#[tokio::test(start_paused = true)]
async fn powers_stay_while_namespaces_can_not_be_read_for_another_reason() {
    let cluster = fleet(4, 1, "turn: {cordon: true, gates: [backup]}").await;
    cluster.fault(Verb::Watch, Kind::Namespace, Fault::Error, u32::MAX);
    cluster.fault(Verb::List, Kind::Namespace, Fault::Error, u32::MAX);
    cluster.break_watches();
    sleep(10 * MINUTE).await;
    cluster.release(NEW);
    sleep(MINUTE).await;
    assert_eq!(not_as_before(&cluster), ["n00"]);
    assert_eq!(events(&cluster, "InvalidRolloutPolicy"), 0);
}

/// An API server that starts refuses until it has read its RBAC rules.
#[tokio::test(start_paused = true)]
async fn a_refusal_that_lasts_for_a_moment_says_nothing_of_powers() {
    let cluster = fleet(3, 1, "{}").await;
    cluster.fault(Verb::List, Kind::Namespace, Fault::Forbidden, 3);
    cluster.annotate(POLICY, Some("turn: {cordon: true}"));
    cluster.release(NEW);
    ends(&cluster).await;
    assert_eq!(events(&cluster, "InvalidRolloutPolicy"), 0);
}
