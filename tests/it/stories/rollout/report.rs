//! What a plan reports of a rollout: its waves, and why it has not reached a node.

use super::{mark, revisions, steered};
use crate::support::{Given, at, new, node, old, revision};
use daemonset::Plan;
use daemonset::outlook::{ObstacleKind, Outlook, RolloutState};
use daemonset::report::{NodeOutcome, RolloutStage, Wait, WaveProgress};
use jiff::SignedDuration;
use serde_json::{Value, json};

/// Node a has had the new version for a minute; b and c have not.
fn fleet(rollout: Value) -> Given {
    steered(rollout).node(node("a").has(new().ready_for(60))).nodes(["b", "c"], old())
}

fn progress(plan: &Plan) -> Vec<WaveProgress> {
    plan.report.rollout.as_ref().unwrap().waves.iter().map(|wave| wave.progress).collect()
}

/// The JSON form of the reason for which a node is held.
fn held(plan: &Plan, name: &str) -> Value {
    let verdict = plan.report.node(name).unwrap();
    match &verdict.outcome {
        NodeOutcome::Waits(Wait::Rollout { because, .. }) => serde_json::to_value(because).unwrap(),
        other => json!(format!("{other:?}")),
    }
}

#[test]
fn waves_tell_their_nodes_and_how_far_they_are() {
    let plan = fleet(json!({"waves": [{"upTo": 1}, {"upTo": 2}, {}]})).plan();
    let rollout = plan.report.rollout.as_ref().unwrap();
    assert_eq!(
        (rollout.stage.clone(), rollout.stable.as_deref()),
        (RolloutStage::Progressing, Some("agent-old"))
    );
    assert_eq!((rollout.nodes, rollout.updated), (3, 1));
    let nodes: Vec<String> = rollout.waves.iter().map(|wave| format!("{:?}", wave.nodes)).collect();
    assert_eq!(
        nodes[1],
        format!("{:?}", &plan.report.nodes.iter().map(|n| &n.node).collect::<Vec<_>>()[..2])
    );
    assert_eq!(
        progress(&plan),
        [WaveProgress::Done, WaveProgress::Updating, WaveProgress::WaitsForWaveBefore]
    );
}

#[test]
fn a_node_says_which_wave_it_waits_for_and_until_when() {
    let plan = fleet(json!({"waves": [{"upTo": 1, "bakeSeconds": 600}, {"upTo": 2}, {}]})).plan();
    let wave = |wave: u32| {
        json!({
            "type": "Wave", "wave": wave, "next": 1, "progress": {"type": "WaitsForWaveBefore"},
            "opensAt": at(540).to_string(),
        })
    };
    assert_eq!((held(&plan, "b"), held(&plan, "c")), (wave(1), wave(2)));
    assert_eq!(
        serde_json::to_value(progress(&plan)[0]).unwrap(),
        json!({"type": "Baking", "until": at(540).to_string()})
    );
}

#[test]
fn a_node_says_that_its_wave_waits_for_approval() {
    let plan = fleet(json!({"waves": [{"upTo": 1}, {"needsApproval": true}]})).plan();
    let waits = json!({
        "type": "Wave", "wave": 1, "next": 1, "progress": {"type": "WaitsForApproval"}, "opensAt": null,
    });
    assert_eq!(held(&plan, "b"), waits);
}

#[test]
fn a_node_says_that_the_rollout_is_stopped() {
    let paused = fleet(json!({"paused": true, "waves": [{}]})).plan();
    assert_eq!(held(&paused, "b"), json!({"type": "Paused"}));
    assert_eq!(progress(&paused), [WaveProgress::Stopped]);
    let failed =
        revisions(fleet(json!({"onFailure": {}})), revision("old", 1), &[("failed", &mark("looks bad"))]);
    assert_eq!(held(&failed.plan(), "b"), json!({"type": "Stopped", "reason": "looks bad"}));
    let partition = fleet(json!({"waves": [{"upTo": 1}]})).plan();
    assert_eq!(held(&partition, "b"), json!({"type": "NoWave"}));
    let all = fleet(json!({})).plan();
    assert!(held(&all, "b").as_str().unwrap().starts_with("Delete"));
}

#[test]
fn the_outlook_names_what_a_person_must_do() {
    let state =
        |given: Given| Outlook::new(&given.plan(), at(0), SignedDuration::from_mins(10)).unwrap().state;
    let obstacle = |given: Given| match state(given) {
        RolloutState::Stuck { obstacles, .. } => Some(obstacles[0].kind),
        _ => None,
    };
    assert_eq!(obstacle(fleet(json!({"paused": true}))), Some(ObstacleKind::RolloutPaused));
    let approval = fleet(json!({"waves": [{"upTo": 1}, {"needsApproval": true}]}));
    assert_eq!(obstacle(approval), Some(ObstacleKind::WaitsForApproval));
    let failed = revisions(fleet(json!({"onFailure": {}})), revision("old", 1), &[("failed", &mark("bad"))]);
    assert_eq!(obstacle(failed), Some(ObstacleKind::RolloutFailed));
    assert_eq!(
        state(fleet(json!({"waves": [{"upTo": 1}]}))),
        RolloutState::Complete,
        "a partition has arrived"
    );
    let baking = state(fleet(json!({"waves": [{"upTo": 1, "bakeSeconds": 600}, {}]})));
    assert!(matches!(baking, RolloutState::Moving { acting: 0, waiting: 2, .. }), "{baking:?}");
}

#[test]
fn a_node_that_only_the_old_template_wants_says_so() {
    let mut current = revision("new", 2);
    current["data"]["spec"]["template"]["spec"]["nodeSelector"] = json!({"disk": "ssd"});
    let fleet = steered(json!({"waves": [{"upTo": 0}]})).revisions([revision("old", 1), current]);
    let fleet = fleet.node(node("a").label("disk", "ssd").has(old())).node(node("b").has(old()));
    let fleet = fleet.with("/daemonSet/spec/template/spec/nodeSelector", json!({"disk": "ssd"}));
    assert_eq!(held(&fleet.plan(), "b"), json!({"type": "Outside"}));
}
