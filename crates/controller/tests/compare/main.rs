//! Stories of two controllers side by side.

mod beside;

use beside::Beside;
use daemonset_controller::compare::verdict::Verdict::{
    Agreed, Deliberate, Late, NotTheirs, OtherNodeFirst, TheyOnly,
};
use serde_json::json;

#[test]
fn a_new_daemon_set_that_they_were_faster_with_is_agreed_on() {
    let mut beside = Beside::nothing_on(3, json!(1));
    beside.they_create_revision(1);
    for node in 1..=3 {
        beside.they_create(node, 1);
    }
    beside.look();
    assert_eq!(beside.verdicts(), [(Agreed, 4)]);
}

#[test]
fn a_create_that_we_planned_first_is_agreed_on() {
    let mut beside = Beside::nothing_on(1, json!(1));
    beside.look();
    beside.pass(4);
    beside.they_create_revision(1);
    beside.they_create(1, 1);
    beside.look();
    beside.pass(60);
    assert_eq!(beside.verdicts(), [(Agreed, 2)]);
}

#[test]
fn what_they_never_do_is_told_once_after_the_grace_time() {
    let mut beside = Beside::a_fleet(2, json!(1));
    beside.set_version(2);
    beside.they_create_revision(2);
    beside.look();
    beside.pass(29);
    beside.look();
    assert_eq!(beside.verdicts(), [(Agreed, 1)]);
    beside.pass(1);
    let lines = beside.lines();
    beside.pass(60);
    assert_eq!(beside.verdicts(), []);
    assert_eq!(
        lines,
        ["DIFFERENCE we-only default/web delete pod web-u2 on node-1 | \
          we for 30 s: OutdatedAvailable, delete: OutdatedAvailable (web-u2 outdated, available)"]
    );
}

#[test]
fn what_they_do_after_it_was_told_is_noted() {
    let mut beside = Beside::a_fleet(1, json!(1));
    beside.set_version(2);
    beside.they_create_revision(2);
    beside.look();
    beside.pass(40);
    beside.verdicts();
    beside.they_delete(1);
    beside.look();
    assert_eq!(beside.verdicts(), [(Late, 1)]);
}

#[test]
fn what_stands_anew_has_a_grace_time_of_its_own() {
    let mut beside = Beside::a_fleet(1, json!(1));
    beside.set_version(2);
    beside.they_create_revision(2);
    beside.look();
    beside.pass(20);
    beside.set_version(1);
    beside.look();
    beside.set_version(2);
    beside.look();
    beside.verdicts();
    beside.pass(29);
    // The revisions' numbers go back and forth, which is ours alone; the delete is young.
    assert!(beside.lines().iter().all(|line| !line.contains("delete")));
}

#[test]
fn a_delete_that_no_plan_has_is_told_after_the_window() {
    let mut beside = Beside::a_fleet(2, json!(1));
    beside.they_delete(2);
    beside.look();
    beside.pass(5);
    assert_eq!(beside.verdicts(), []);
    beside.pass(1);
    assert_eq!(
        beside.lines(),
        [
            "DIFFERENCE they-only default/web delete pod web-u3 on node-2 | we: up to date (web-u3 updated, available)"
        ]
    );
}

#[test]
fn a_delete_whose_reason_we_see_later_is_agreed_on() {
    let mut beside = Beside::a_fleet(1, json!(1));
    beside.they_delete(1);
    beside.look();
    beside.pass(4);
    assert_eq!(beside.verdicts(), []);
    beside.set_version(2);
    beside.look();
    beside.pass(60);
    // They have not made the revision that we would make.
    let verdicts = beside.verdicts();
    assert_eq!(verdicts[0], (Agreed, 1));
    assert!(verdicts.iter().all(|(verdict, _)| *verdict != TheyOnly));
}

#[test]
fn a_rollout_in_another_order_takes_as_many_nodes_at_a_time() {
    let mut beside = Beside::a_fleet(6, json!(2));
    beside.set_version(2);
    beside.they_create_revision(2);
    // Ours would begin with the first nodes.
    for pair in [[6, 5], [2, 3], [1, 4]] {
        pair.into_iter().for_each(|node| beside.they_delete(node));
        beside.look();
        pair.into_iter().for_each(|node| beside.is_gone(node));
        beside.look();
        pair.into_iter().for_each(|node| beside.they_create_not_ready(node, 2));
        beside.look();
        pair.into_iter().for_each(|node| beside.gets_ready(node));
        beside.look();
        beside.pass(1);
    }
    beside.pass(60);
    // A revision and six creates; of the deletes those that ours takes as well: 2 and then 1 and 4.
    assert_eq!(beside.verdicts(), [(Agreed, 10), (OtherNodeFirst, 3)]);
}

#[test]
fn a_node_above_the_budget_is_a_difference() {
    let mut beside = Beside::a_fleet(6, json!(2));
    beside.set_version(2);
    beside.they_create_revision(2);
    [6, 5, 4].into_iter().for_each(|node| beside.they_delete(node));
    beside.look();
    beside.pass(6);
    assert_eq!(beside.verdicts(), [(Agreed, 1), (OtherNodeFirst, 2), (TheyOnly, 1)]);
}

#[test]
fn a_place_that_was_taken_is_not_there_again_for_the_next_look() {
    let mut beside = Beside::a_fleet(6, json!(2));
    beside.set_version(2);
    beside.they_create_revision(2);
    [6, 5].into_iter().for_each(|node| beside.they_delete(node));
    beside.look();
    beside.pass(1);
    beside.they_delete(4);
    beside.look();
    beside.pass(6);
    assert_eq!(beside.verdicts(), [(Agreed, 1), (OtherNodeFirst, 2), (TheyOnly, 1)]);
}

#[test]
fn a_delete_and_the_create_after_it_are_explained_by_one_look() {
    let mut beside = Beside::a_fleet(1, json!(1));
    beside.set_version(2);
    beside.they_create_revision(2);
    beside.they_delete(1);
    beside.is_gone(1);
    beside.they_create(1, 2);
    beside.look();
    assert_eq!(beside.verdicts(), [(Agreed, 3)]);
}

#[test]
fn deletes_of_a_daemon_set_that_is_deleted_are_not_theirs() {
    let mut beside = Beside::a_fleet(2, json!(1));
    beside.they_delete(1);
    beside.look();
    beside.delete_daemon_set();
    beside.they_delete(2);
    beside.look();
    beside.pass(60);
    assert_eq!(beside.verdicts(), [(NotTheirs, 2)]);
}

#[test]
fn deletes_on_a_node_that_is_gone_are_not_theirs() {
    let mut beside = Beside::a_fleet(2, json!(1));
    beside.remove_node(2);
    beside.they_delete(2);
    beside.look();
    beside.pass(60);
    assert_eq!(beside.verdicts(), [(NotTheirs, 1)]);
}

#[test]
fn statuses_are_compared_when_all_is_quiet_and_each_difference_once() {
    let mut beside = Beside::a_fleet(2, json!(1));
    let full = json!({"currentNumberScheduled": 2, "desiredNumberScheduled": 2, "numberReady": 2, "numberAvailable": 2,
        "updatedNumberScheduled": 2, "numberMisscheduled": 0, "observedGeneration": 1});
    let mut other = full.clone();
    other["numberAvailable"] = json!(1);
    other["numberUnavailable"] = json!(1);
    beside.pass(4);
    beside.they_write(other.clone());
    assert_eq!(beside.lines(), Vec::<String>::new());
    beside.pass(1);
    beside.they_write(full.clone());
    assert_eq!(beside.lines(), Vec::<String>::new());
    beside.they_write(other.clone());
    beside.they_write(other);
    assert_eq!(
        beside.lines(),
        [
            "DIFFERENCE status default/web status numberAvailable | theirs 1, ours 2",
            "DIFFERENCE status default/web status numberUnavailable | theirs 1, ours 0"
        ]
    );
}

#[test]
fn a_status_that_differs_by_a_second_pod_of_a_node_is_deliberate() {
    let mut beside = Beside::a_fleet(1, json!(1));
    beside.they_delete(1);
    beside.they_create(1, 1);
    beside.look();
    beside.pass(10);
    beside.verdicts();
    beside.they_write(json!({"currentNumberScheduled": 1, "desiredNumberScheduled": 1, "numberReady": 1,
        "numberAvailable": 1, "updatedNumberScheduled": 0, "observedGeneration": 1}));
    assert_eq!(
        beside.lines(),
        [
            "DELIBERATE deliberate default/web status updatedNumberScheduled | [any-pod-counts] theirs 0, ours 1"
        ]
    );
}

#[test]
fn young_outdated_pods_that_they_take_at_once_are_a_deliberate_difference() {
    let mut beside = Beside::nothing_on(3, json!(1));
    beside.set_min_ready_seconds(60);
    beside.they_create_revision(1);
    (1..=3).for_each(|node| beside.they_create(node, 1));
    beside.look();
    beside.pass(10);
    beside.set_version(2);
    beside.they_create_revision(2);
    (1..=3).for_each(|node| beside.they_delete(node));
    beside.look();
    beside.verdicts();
    beside.pass(6);
    let lines = beside.lines();
    assert!(
        !lines.is_empty() && lines.iter().all(|line| line.contains("[young-pods-need-budget]")),
        "{lines:#?}"
    );
}

#[test]
fn a_limit_that_they_exceed_is_not_excused_by_what_they_replace_at_once() {
    let mut beside = Beside::nothing_on(4, json!(1));
    beside.set_min_ready_seconds(60);
    beside.they_create_revision(1);
    (1..=4).for_each(|node| beside.they_create(node, 1));
    beside.look();
    beside.set_version(2);
    beside.they_create_revision(2);
    beside.verdicts();
    (1..=4).for_each(|node| beside.they_delete(node));
    beside.look();
    beside.pass(1);
    (1..=4).for_each(|node| beside.is_gone(node));
    (1..=4).for_each(|node| beside.they_create(node, 2));
    beside.look();
    beside.pass(10);
    // The revision, a delete and all creates; three deletes were too many.
    assert_eq!(beside.verdicts(), [(Agreed, 6), (Deliberate, 3)]);
}

#[test]
fn a_create_after_a_foreign_delete_is_agreed_on() {
    let mut beside = Beside::a_fleet(3, json!(1));
    beside.they_delete(2);
    beside.look();
    beside.pass(1);
    beside.is_gone(2);
    beside.they_create(2, 1);
    beside.look();
    assert_eq!(beside.verdicts(), [(Agreed, 1)]);
    // The node has two pods now where it is taken back, which is no reason for a delete.
    beside.look();
    beside.pass(10);
    assert_eq!(beside.verdicts(), [(TheyOnly, 1)]);
}

#[test]
fn a_status_from_before_a_node_changed_is_a_deliberate_difference_until_they_write() {
    let mut beside = Beside::a_fleet(2, json!(1));
    let before = json!({"currentNumberScheduled": 2, "desiredNumberScheduled": 2, "numberReady": 2, "numberAvailable": 2,
        "updatedNumberScheduled": 2, "observedGeneration": 1});
    beside.pass(1);
    beside.taint_node(2);
    beside.look();
    beside.pass(10);
    beside.they_write(before.clone());
    let lines = beside.lines();
    assert_eq!(lines.len(), 6);
    assert!(
        lines.iter().all(|line| line.starts_with("DELIBERATE") && line.contains("[status-follows-nodes]"))
    );
    beside.they_look();
    beside.pass(10);
    let mut after = before;
    after["numberAvailable"] = json!(0);
    beside.they_write(after);
    assert_eq!(beside.lines(), ["DIFFERENCE status default/web status numberAvailable | theirs 0, ours 1"]);
}

#[test]
fn with_min_ready_seconds_they_may_look_so_much_later() {
    let mut beside = Beside::a_fleet(1, json!(1));
    beside.set_min_ready_seconds(20);
    beside.look();
    beside.pass(20);
    beside.look();
    beside.pass(24);
    let behind = json!({"currentNumberScheduled": 1, "desiredNumberScheduled": 1, "numberReady": 1,
        "numberUnavailable": 1, "updatedNumberScheduled": 1, "observedGeneration": 1});
    beside.they_write(behind.clone());
    assert_eq!(beside.lines(), Vec::<String>::new());
    beside.pass(1);
    beside.they_write(behind);
    assert_eq!(beside.lines().len(), 2);
}

#[test]
fn a_second_pod_for_a_node_is_not_excused_by_the_first() {
    let mut beside = Beside::a_fleet(1, json!(1));
    beside.they_create(1, 1);
    beside.look();
    beside.pass(6);
    assert_eq!(beside.verdicts(), [(TheyOnly, 1)]);
}

#[test]
fn a_plan_of_ours_excuses_theirs_within_the_window() {
    for (seconds, verdict) in [(4, Agreed), (6, TheyOnly)] {
        let mut beside = Beside::a_fleet(1, json!(1));
        beside.set_version(2);
        beside.they_create_revision(2);
        beside.look();
        // The reason goes before they act.
        beside.set_version(1);
        beside.look();
        beside.verdicts();
        beside.pass(seconds);
        beside.they_delete(1);
        beside.look();
        beside.pass(10);
        assert_eq!(beside.verdicts(), [(verdict, 1)], "{seconds} s");
    }
}

#[test]
fn what_follows_from_an_action_of_theirs_is_explained_by_the_same_look() {
    let mut beside = Beside::nothing_on(1, json!(1));
    beside.they_create_revision(1);
    beside.look();
    beside.verdicts();
    beside.they_create(1, 1);
    beside.set_version(2);
    beside.they_create_revision(2);
    beside.they_delete(1);
    beside.look();
    assert_eq!(beside.verdicts(), [(Agreed, 3)]);
}
