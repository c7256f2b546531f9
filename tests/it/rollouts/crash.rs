//! "If DaemonSet Controller crashes during an update, it can still recover" (proposal): at every action boundary.

use super::support::{Story, cluster, from, on};
use crate::support::{given, node, old, pod, revision, rolling, surging};
use daemonset_sim::{Behaviour, Change, Cluster, Probability};
use serde_json::{Value, json};

/// The number of actions of each plan in an undisturbed rollout.
fn plans(mut story: Story) -> Vec<(u64, u32)> {
    let begun = story.cluster.history().len();
    story.settle();
    let events = story.cluster.history()[begun..].iter();
    let plans = events.filter_map(|event| match &event.change {
        Change::Reconciled(reconciled) if reconciled.planned > 0 => {
            Some((reconciled.number, reconciled.planned))
        }
        _ => None,
    });
    plans.collect()
}

/// Crashes once before each action of each plan, and once after the plan. Returns the number of crashes.
fn crash_everywhere(begin: impl Fn() -> Story, complete: impl Fn(&mut Story)) -> usize {
    let mut crashes = 0;
    for (reconcile, planned) in plans(begin()) {
        for actions in 0..=planned {
            let mut story = begin();
            while story.cluster.reconciles() < reconcile - 1 {
                story.step();
            }
            if actions < planned {
                story.cluster.crash_controller_after(actions);
            } else {
                story.until(|story| story.cluster.reconciles() == reconcile);
                story.cluster.crash_controller();
            }
            story.settle();
            let crashed = |change: &Change| matches!(change, Change::ControllerCrashed { .. });
            assert!(story.cluster.history().iter().any(|event| crashed(&event.change)));
            complete(&mut story);
            crashes += 1;
        }
    }
    crashes
}

fn updating(strategy: &Value) -> Story {
    let mut story = cluster(["a", "b", "c"], strategy.clone());
    story.update("v2");
    story
}

#[test]
fn replacing_recovers_at_every_action_boundary() {
    let crashes = crash_everywhere(
        || updating(&rolling(2)),
        |story| {
            story.is_complete("v2");
            assert_eq!(story.revisions(), ["1: v1", "2: v2"]);
            assert!(story.worst().unavailable <= 2);
        },
    );
    assert!(crashes > 20, "{crashes}");
}

#[test]
fn surging_recovers_at_every_action_boundary() {
    let crashes = crash_everywhere(
        || updating(&surging(2)),
        |story| {
            story.is_complete("v2");
            assert_eq!(story.revisions(), ["1: v1", "2: v2"]);
            assert_eq!(story.worst().unavailable, 0);
            assert!(story.worst().surging <= 2);
        },
    );
    assert!(crashes > 20, "{crashes}");
}

/// The current template has two revisions, and there are more old revisions than the limit allows.
#[test]
fn duplicates_relabels_and_history_cleanup_recover_at_every_action_boundary() {
    let mut copy = revision("new", 3);
    copy["metadata"]["name"] = json!("agent-copy");
    copy["metadata"]["uid"] = json!("uid-copy");
    copy["metadata"]["labels"]["controller-revision-hash"] = json!("copy");
    let crashes = crash_everywhere(
        || {
            let revisions = [revision("old", 2), revision("older", 1), copy.clone(), revision("new", 4)];
            from(
                &given(rolling(1))
                    .revisions(revisions)
                    .with("/daemonSet/spec/revisionHistoryLimit", json!(0))
                    .node(node("a").has(pod("copy")))
                    .node(node("b").has(old()))
                    .node(node("c").has(pod("copy"))),
            )
        },
        |story| {
            story.is_complete("new");
            assert_eq!(story.revisions(), ["4: new"]);
            assert_eq!(story.deletes(), ["delete b: OutdatedAvailable"], "a and c have the template already");
        },
    );
    assert!(crashes > 10, "{crashes}");
}

#[test]
fn a_controller_that_crashes_after_the_first_action_of_every_plan_completes_the_rollout() {
    for strategy in [rolling(1), surging(1)] {
        let mut story = updating(&strategy);
        while story.rollout_status() != "done" {
            story.cluster.crash_controller_after(1);
            story.step();
        }
        story.is_complete("v2");
        assert_eq!(story.revisions(), ["1: v1", "2: v2"]);
    }
}

#[test]
fn a_crash_does_not_let_a_broken_rollout_continue() {
    let mut story = cluster(["a", "b", "c"], rolling(1));
    story.release("v2", Behaviour::broken());
    story.settle();
    for _ in 0..3 {
        story.cluster.crash_controller();
        story.settle();
    }
    assert_eq!(story.pods(), ["a: v2 not ready", "b: v1 available", "c: v1 available"]);
}

#[test]
fn refused_requests_and_lost_answers_neither_double_a_pod_nor_break_the_budget() {
    for seed in 0..20 {
        for strategy in [rolling(1), surging(1)] {
            let mut story = on(Cluster::new(seed), ["a", "b", "c"], strategy);
            story.cluster.configure_controller(|settings| {
                settings.refused = Probability::percent(20);
                settings.answer_lost = Probability::percent(10);
                settings.crash = Probability::percent(5);
            });
            story.update("v2");
            story.is_complete("v2");
            assert_eq!(story.revisions(), ["1: v1", "2: v2"], "seed {seed}");
        }
    }
}
