//! The conditions of the status through whole rollouts.

use super::support::{Story, on};
use crate::support::{now, rolling, surging};
use daemonset::Policy;
use daemonset_sim::{Cluster, Settings};
use jiff::SignedDuration;

/// A cluster whose controller writes conditions, with v1 on all of these nodes.
fn cluster<const N: usize>(nodes: [&str; N], strategy: serde_json::Value) -> Story {
    let mut settings = Settings::default();
    settings.controller.policy = Policy::default().conditions(true);
    on(Cluster::with_settings(settings, 7, now()), nodes, strategy)
}

/// `Available=True EnoughAvailable`, one line each.
fn conditions(story: &Story) -> Vec<String> {
    let status = story.cluster.status();
    let text = |condition: &serde_json::Value, member: &str| condition[member].as_str().unwrap().to_owned();
    let line = |condition: &serde_json::Value| {
        let [kind, status, reason] = ["type", "status", "reason"].map(|member| text(condition, member));
        format!("{kind}={status} {reason}")
    };
    status.conditions.iter().map(line).collect()
}

/// Each change of the conditions until nothing moves any more.
fn changes(story: &mut Story) -> Vec<Vec<String>> {
    let mut changes = vec![conditions(story)];
    let end = story.cluster.now() + SignedDuration::from_hours(1);
    while story.cluster.now() < end && story.step().is_some() {
        let now = conditions(story);
        if changes.last() != Some(&now) {
            changes.push(now);
        }
    }
    changes
}

const COMPLETE: [&str; 2] = ["Available=True EnoughAvailable", "Progressing=True Complete"];
const UPDATING: [&str; 2] = ["Available=True EnoughAvailable", "Progressing=True Updating"];

#[test]
fn an_update_progresses_and_is_complete_once() {
    for strategy in [rolling(1), surging(1)] {
        let mut story = cluster(["a", "b", "c"], strategy);
        assert_eq!(conditions(&story), COMPLETE);
        story.update("v2");
        assert_eq!(changes(&mut story), [COMPLETE, UPDATING, COMPLETE]);
        story.is_complete("v2");
        story.undo();
        assert_eq!(changes(&mut story), [COMPLETE, UPDATING, COMPLETE]);
    }
}

#[test]
fn a_node_that_joins_or_reboots_changes_only_whether_enough_are_available() {
    let mut story = cluster(["a", "b", "c"], rolling(1));
    story.cluster.add_node("d", [("kubernetes.io/hostname", "d")].into_iter().collect());
    assert_eq!(changes(&mut story), [COMPLETE]);
    story.cluster.take_down("a");
    story.cluster.take_down("b");
    let too_many = ["Available=False TooManyUnavailable", "Progressing=True Complete"];
    story.run(600);
    let down = conditions(&story);
    assert!(down == too_many || down == COMPLETE, "{down:?}");
    story.cluster.bring_up("a");
    story.cluster.bring_up("b");
    let back = changes(&mut story);
    assert_eq!(back.last().unwrap(), &COMPLETE);
    assert!(back.iter().flatten().all(|line| line != "Progressing=True Updating"), "{back:?}");
}

/// A status whose message changed with the time alone would be written for ever.
#[test]
fn a_controller_that_writes_conditions_comes_to_rest() {
    let mut story = cluster(["a", "b", "c"], rolling(1));
    story.update("v2");
    story.is_complete("v2");
    let reconciles = story.cluster.reconciles();
    story.run(86_400);
    assert_eq!(story.cluster.reconciles(), reconciles);
}
