//! Stories of two controllers on one cluster: another one that acts, and ours that compares.

mod pair;

use crate::verdict::Verdict::{Agreed, Deliberate, Late, NotTheirs, OtherNodeFirst, TheyOnly};
use pair::Pair;
use serde_json::json;

#[test]
fn a_new_daemon_set_is_agreed_on_if_they_are_faster() {
    let mut pair = Pair::without_pods(3, json!(1));
    pair.they_create_revision(1);
    for node in 1..=3 {
        pair.they_create(node, 1);
    }
    pair.we_reconcile();
    assert_eq!(pair.verdicts(), [(Agreed, 4)]);
}

#[test]
fn a_create_is_agreed_on_if_we_plan_it_first() {
    let mut pair = Pair::without_pods(1, json!(1));
    pair.we_reconcile();
    pair.advance(4);
    pair.they_create_revision(1);
    pair.they_create(1, 1);
    pair.we_reconcile();
    pair.advance(60);
    assert_eq!(pair.verdicts(), [(Agreed, 2)]);
}

#[test]
fn an_action_that_they_never_do_is_reported_once_after_the_grace_time() {
    let mut pair = Pair::with_fleet(2, json!(1));
    pair.set_version(2);
    pair.they_create_revision(2);
    pair.we_reconcile();
    pair.advance(29);
    pair.we_reconcile();
    assert_eq!(pair.verdicts(), [(Agreed, 1)]);
    pair.advance(1);
    let lines = pair.lines();
    pair.advance(60);
    assert_eq!(pair.verdicts(), []);
    assert_eq!(
        lines,
        ["DIFFERENCE we-only default/web delete pod web-u2 on node-1 | \
          we for 30 s: OutdatedAvailable, delete: OutdatedAvailable (web-u2 outdated, available)"]
    );
}

#[test]
fn an_action_that_they_do_after_its_report_is_late() {
    let mut pair = Pair::with_fleet(1, json!(1));
    pair.set_version(2);
    pair.they_create_revision(2);
    pair.we_reconcile();
    pair.advance(40);
    pair.verdicts();
    pair.they_delete(1);
    pair.we_reconcile();
    assert_eq!(pair.verdicts(), [(Late, 1)]);
}

#[test]
fn an_action_that_our_plans_contain_again_has_a_new_grace_time() {
    let mut pair = Pair::with_fleet(1, json!(1));
    pair.set_version(2);
    pair.they_create_revision(2);
    pair.we_reconcile();
    pair.advance(20);
    pair.set_version(1);
    pair.we_reconcile();
    pair.set_version(2);
    pair.we_reconcile();
    pair.verdicts();
    pair.advance(29);
    // Only we renumber the revisions each time; the grace time of the delete is not over.
    assert!(pair.lines().iter().all(|line| !line.contains("delete")));
}

#[test]
fn a_delete_that_no_plan_contains_is_reported_after_the_window() {
    let mut pair = Pair::with_fleet(2, json!(1));
    pair.they_delete(2);
    pair.we_reconcile();
    pair.advance(5);
    assert_eq!(pair.verdicts(), []);
    pair.advance(1);
    assert_eq!(
        pair.lines(),
        [
            "DIFFERENCE they-only default/web delete pod web-u3 on node-2 | we: up to date (web-u3 updated, available)"
        ]
    );
}

#[test]
fn a_delete_is_agreed_on_if_its_reason_appears_later() {
    let mut pair = Pair::with_fleet(1, json!(1));
    pair.they_delete(1);
    pair.we_reconcile();
    pair.advance(4);
    assert_eq!(pair.verdicts(), []);
    pair.set_version(2);
    pair.we_reconcile();
    pair.advance(60);
    // They have not created the revision that our plan creates.
    let verdicts = pair.verdicts();
    assert_eq!(verdicts[0], (Agreed, 1));
    assert!(verdicts.iter().all(|(verdict, _)| *verdict != TheyOnly));
}

#[test]
fn a_rollout_in_another_order_within_the_limit_is_no_difference() {
    let mut pair = Pair::with_fleet(6, json!(2));
    pair.set_version(2);
    pair.they_create_revision(2);
    // Our plan begins with the first nodes.
    for nodes in [[6, 5], [2, 3], [1, 4]] {
        nodes.into_iter().for_each(|node| pair.they_delete(node));
        pair.we_reconcile();
        nodes.into_iter().for_each(|node| pair.is_removed(node));
        pair.we_reconcile();
        nodes.into_iter().for_each(|node| pair.they_create_not_ready(node, 2));
        pair.we_reconcile();
        nodes.into_iter().for_each(|node| pair.becomes_ready(node));
        pair.we_reconcile();
        pair.advance(1);
    }
    pair.advance(60);
    // Agreed: the revision, six creates, and the deletes on nodes 2, 1 and 4, which our plans contain, too.
    assert_eq!(pair.verdicts(), [(Agreed, 10), (OtherNodeFirst, 3)]);
}

#[test]
fn a_delete_beyond_the_budget_is_a_difference() {
    let mut pair = Pair::with_fleet(6, json!(2));
    pair.set_version(2);
    pair.they_create_revision(2);
    [6, 5, 4].into_iter().for_each(|node| pair.they_delete(node));
    pair.we_reconcile();
    pair.advance(6);
    assert_eq!(pair.verdicts(), [(Agreed, 1), (OtherNodeFirst, 2), (TheyOnly, 1)]);
}

#[test]
fn a_used_up_budget_stays_used_up_in_the_next_reconcile() {
    let mut pair = Pair::with_fleet(6, json!(2));
    pair.set_version(2);
    pair.they_create_revision(2);
    [6, 5].into_iter().for_each(|node| pair.they_delete(node));
    pair.we_reconcile();
    pair.advance(1);
    pair.they_delete(4);
    pair.we_reconcile();
    pair.advance(6);
    assert_eq!(pair.verdicts(), [(Agreed, 1), (OtherNodeFirst, 2), (TheyOnly, 1)]);
}

#[test]
fn a_delete_and_the_create_after_it_are_explained_by_one_reconcile() {
    let mut pair = Pair::with_fleet(1, json!(1));
    pair.set_version(2);
    pair.they_create_revision(2);
    pair.they_delete(1);
    pair.is_removed(1);
    pair.they_create(1, 2);
    pair.we_reconcile();
    assert_eq!(pair.verdicts(), [(Agreed, 3)]);
}

#[test]
fn deletes_of_a_terminating_daemon_set_are_not_theirs() {
    let mut pair = Pair::with_fleet(2, json!(1));
    pair.they_delete(1);
    pair.we_reconcile();
    pair.delete_daemon_set();
    pair.they_delete(2);
    pair.we_reconcile();
    pair.advance(60);
    assert_eq!(pair.verdicts(), [(NotTheirs, 2)]);
}

#[test]
fn deletes_on_a_node_that_is_gone_are_not_theirs() {
    let mut pair = Pair::with_fleet(2, json!(1));
    pair.remove_node(2);
    pair.they_delete(2);
    pair.we_reconcile();
    pair.advance(60);
    assert_eq!(pair.verdicts(), [(NotTheirs, 1)]);
}

#[test]
fn statuses_are_compared_when_nothing_changes_and_each_difference_once() {
    let mut pair = Pair::with_fleet(2, json!(1));
    let full = json!({"currentNumberScheduled": 2, "desiredNumberScheduled": 2, "numberReady": 2, "numberAvailable": 2,
        "updatedNumberScheduled": 2, "numberMisscheduled": 0, "observedGeneration": 1});
    let mut other = full.clone();
    other["numberAvailable"] = json!(1);
    other["numberUnavailable"] = json!(1);
    pair.advance(4);
    pair.they_write_status(other.clone());
    assert_eq!(pair.lines(), Vec::<String>::new());
    pair.advance(1);
    pair.they_write_status(full.clone());
    assert_eq!(pair.lines(), Vec::<String>::new());
    pair.they_write_status(other.clone());
    pair.they_write_status(other);
    assert_eq!(
        pair.lines(),
        [
            "DIFFERENCE status default/web status numberAvailable | theirs 1, ours 2",
            "DIFFERENCE status default/web status numberUnavailable | theirs 1, ours 0"
        ]
    );
}

#[test]
fn a_status_that_differs_by_a_second_pod_of_a_node_is_deliberate() {
    let mut pair = Pair::with_fleet(1, json!(1));
    pair.they_delete(1);
    pair.they_create(1, 1);
    pair.we_reconcile();
    pair.advance(10);
    pair.verdicts();
    pair.they_write_status(
        json!({"currentNumberScheduled": 1, "desiredNumberScheduled": 1, "numberReady": 1,
        "numberAvailable": 1, "updatedNumberScheduled": 0, "observedGeneration": 1}),
    );
    assert_eq!(
        pair.lines(),
        [
            "DELIBERATE deliberate default/web status updatedNumberScheduled | [any-pod-counts] theirs 0, ours 1"
        ]
    );
}

#[test]
fn not_yet_available_outdated_pods_that_they_delete_at_once_are_a_deliberate_difference() {
    let mut pair = Pair::without_pods(3, json!(1));
    pair.set_min_ready_seconds(60);
    pair.they_create_revision(1);
    (1..=3).for_each(|node| pair.they_create(node, 1));
    pair.we_reconcile();
    pair.advance(10);
    pair.set_version(2);
    pair.they_create_revision(2);
    (1..=3).for_each(|node| pair.they_delete(node));
    pair.we_reconcile();
    pair.verdicts();
    pair.advance(6);
    let lines = pair.lines();
    assert!(
        !lines.is_empty() && lines.iter().all(|line| line.contains("[young-pods-need-budget]")),
        "{lines:#?}"
    );
}

#[test]
fn an_exceeded_limit_is_not_excused_by_fast_replacements() {
    let mut pair = Pair::without_pods(4, json!(1));
    pair.set_min_ready_seconds(60);
    pair.they_create_revision(1);
    (1..=4).for_each(|node| pair.they_create(node, 1));
    pair.we_reconcile();
    pair.set_version(2);
    pair.they_create_revision(2);
    pair.verdicts();
    (1..=4).for_each(|node| pair.they_delete(node));
    pair.we_reconcile();
    pair.advance(1);
    (1..=4).for_each(|node| pair.is_removed(node));
    (1..=4).for_each(|node| pair.they_create(node, 2));
    pair.we_reconcile();
    pair.advance(10);
    // Agreed: the revision, one delete and all creates. Three deletes are beyond the limit.
    assert_eq!(pair.verdicts(), [(Agreed, 6), (Deliberate, 3)]);
}

#[test]
fn a_create_after_a_foreign_delete_is_agreed_on() {
    let mut pair = Pair::with_fleet(3, json!(1));
    pair.they_delete(2);
    pair.we_reconcile();
    pair.advance(1);
    pair.is_removed(2);
    pair.they_create(2, 1);
    pair.we_reconcile();
    assert_eq!(pair.verdicts(), [(Agreed, 1)]);
    // With the delete reverted the node has two pods, which is no reason for that delete.
    pair.we_reconcile();
    pair.advance(10);
    assert_eq!(pair.verdicts(), [(TheyOnly, 1)]);
}

#[test]
fn a_status_from_before_a_node_changed_is_a_deliberate_difference_until_they_write() {
    let mut pair = Pair::with_fleet(2, json!(1));
    let before = json!({"currentNumberScheduled": 2, "desiredNumberScheduled": 2, "numberReady": 2, "numberAvailable": 2,
        "updatedNumberScheduled": 2, "observedGeneration": 1});
    pair.advance(1);
    pair.taint_node(2);
    pair.we_reconcile();
    pair.advance(10);
    pair.they_write_status(before.clone());
    let lines = pair.lines();
    assert_eq!(lines.len(), 6);
    assert!(
        lines.iter().all(|line| line.starts_with("DELIBERATE") && line.contains("[status-follows-nodes]"))
    );
    pair.they_sync();
    pair.advance(10);
    let mut after = before;
    after["numberAvailable"] = json!(0);
    pair.they_write_status(after);
    assert_eq!(pair.lines(), ["DIFFERENCE status default/web status numberAvailable | theirs 0, ours 1"]);
}

#[test]
fn with_min_ready_seconds_they_may_sync_so_much_later() {
    let mut pair = Pair::with_fleet(1, json!(1));
    pair.set_min_ready_seconds(20);
    pair.we_reconcile();
    pair.advance(20);
    pair.we_reconcile();
    pair.advance(24);
    let behind = json!({"currentNumberScheduled": 1, "desiredNumberScheduled": 1, "numberReady": 1,
        "numberUnavailable": 1, "updatedNumberScheduled": 1, "observedGeneration": 1});
    pair.they_write_status(behind.clone());
    assert_eq!(pair.lines(), Vec::<String>::new());
    pair.advance(1);
    pair.they_write_status(behind);
    assert_eq!(pair.lines().len(), 2);
}

#[test]
fn a_second_pod_for_a_node_is_not_excused_by_the_first() {
    let mut pair = Pair::with_fleet(1, json!(1));
    pair.they_create(1, 1);
    pair.we_reconcile();
    pair.advance(6);
    assert_eq!(pair.verdicts(), [(TheyOnly, 1)]);
}

#[test]
fn a_plan_of_ours_excuses_theirs_within_the_window() {
    for (seconds, verdict) in [(4, Agreed), (6, TheyOnly)] {
        let mut pair = Pair::with_fleet(1, json!(1));
        pair.set_version(2);
        pair.they_create_revision(2);
        pair.we_reconcile();
        // The reason disappears before they act.
        pair.set_version(1);
        pair.we_reconcile();
        pair.verdicts();
        pair.advance(seconds);
        pair.they_delete(1);
        pair.we_reconcile();
        pair.advance(10);
        assert_eq!(pair.verdicts(), [(verdict, 1)], "{seconds} s");
    }
}

#[test]
fn an_action_that_follows_from_another_one_is_explained_by_the_same_reconcile() {
    let mut pair = Pair::without_pods(1, json!(1));
    pair.they_create_revision(1);
    pair.we_reconcile();
    pair.verdicts();
    pair.they_create(1, 1);
    pair.set_version(2);
    pair.they_create_revision(2);
    pair.they_delete(1);
    pair.we_reconcile();
    assert_eq!(pair.verdicts(), [(Agreed, 3)]);
}
