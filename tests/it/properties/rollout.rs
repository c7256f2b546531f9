//! Properties of plans under a steered rollout, on random fleets with random policies and marks.

use super::undo::undo;
use super::{planned, world};
use crate::support::{Reach, apply, cases, draws, observe, on_delete, rolling};
use daemonset::model::Labels;
use daemonset::policy::{Binding, FailureAction};
use daemonset::report::{NodePlacement, PodState, WaveProgress};
use daemonset::{Action, CreateReason, DeleteReason, Plan, Policy, Recording, plan, reconcile};
use jiff::SignedDuration;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::ValueTree;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// A random fleet whose rollout is steered, with marks on its revisions.
pub(super) fn steered() -> impl Strategy<Value = Recording> {
    let marks = (prop::collection::vec((0_usize..5, mark()), 0..6), prop::option::weighted(0.3, undo()));
    (world::world(), policy(), marks, containers()).prop_map(|(world, rollout, (marks, undo), containers)| {
        let mut recording = world.recording();
        recording.policy = recording.policy.rollout(Some(serde_json::from_value(rollout).unwrap()));
        if recording.daemon_set.spec.min_ready_seconds == 0 {
            if let Some(rule) =
                recording.policy.rollout.as_mut().and_then(|rollout| rollout.on_failure.as_mut())
            {
                rule.available_within_seconds = rule.available_within_seconds.map(|seconds| seconds - 60);
            }
        }
        let now = recording.now;
        for (index, (name, offset, ago, rest)) in marks {
            let Some(revision) = recording.revisions.get_mut(index) else { continue };
            let value =
                format!("{} {} {rest}", revision.revision + offset, now - SignedDuration::from_secs(ago));
            let annotations = [(format!("rollout.daemonset/{name}"), value.trim_end().to_owned())];
            revision.metadata.annotations.extend(annotations);
        }
        if let Some(undo) = undo {
            undo.add_to(&mut recording);
        }
        for (index, status) in containers {
            if let Some(pod) = recording.pods.get_mut(index) {
                pod.status.container_statuses = serde_json::from_value(json!([status])).unwrap();
            }
        }
        recording
    })
}

fn mark() -> impl Strategy<Value = (&'static str, i64, i64, &'static str)> {
    let kind = select(vec![
        ("started", ""),
        ("started", ""),
        ("wave", "0"),
        ("wave", "1"),
        ("failed", "TooManyFailures"),
        ("completed", ""),
        ("completed", "?"),
    ]);
    (kind, select(vec![0, 0, 0, 1]), select(vec![0_i64, 5, 300, 4000]))
        .prop_map(|((name, rest), offset, ago)| (name, offset, ago, rest))
}

fn containers() -> impl Strategy<Value = Vec<(usize, Value)>> {
    let status = select(vec![
        json!({"restartCount": 3}),
        json!({"state": {"waiting": {"reason": "ImagePullBackOff"}}}),
        json!({"restartCount": 9, "state": {"waiting": {"reason": "CrashLoopBackOff"}}}),
    ]);
    prop::collection::vec((0_usize..8, status), 0..3)
}

fn policy() -> impl Strategy<Value = Value> {
    let wave = (
        select(vec![json!(null), json!(0), json!(1), json!(2), json!("34%"), json!("100%")]),
        select(vec![0, 0, 30, 600]),
        prop::bool::weighted(0.2),
        select(vec![json!(null), json!(null), json!({}), json!({"matchLabels": {"disk": "ssd"}})]),
    )
        .prop_map(|(up_to, bake, approval, nodes)| {
            json!({"upTo": up_to, "bakeSeconds": bake, "needsApproval": approval, "nodes": nodes})
        });
    let failure = (
        select(vec!["Pause", "RollBack", "RollBack", "Undo"]),
        select(vec![json!(0), json!(1), json!("50%")]),
        select(vec![json!(null), json!(2)]),
        select(vec![json!(null), json!(61), json!(300)]),
        select(vec![json!(null), json!(0), json!(60)]),
        select(vec![json!(null), json!(120), json!(4000)]),
    )
        .prop_map(|(action, max, restarts, available, waiting, deadline)| {
            json!({
                "action": action, "maxFailures": max, "maxRestarts": restarts, "availableWithinSeconds": available,
                "waitingSeconds": waiting, "progressDeadlineSeconds": deadline,
            })
        });
    (
        prop::bool::weighted(0.2),
        prop::collection::vec(wave, 0..4),
        prop::option::weighted(0.6, failure),
        prop::collection::btree_map((-1_i64..7).prop_map(|n| n.to_string()), 0_u32..4, 0..4),
    )
        .prop_map(|(paused, waves, on_failure, approved)| {
            json!({"paused": paused, "waves": waves, "onFailure": on_failure, "approved": approved})
        })
}

/// The same fleet under the current template alone: which nodes should run it, and which have it.
fn unsteered(recording: &Recording) -> Plan {
    let mut recording = recording.clone();
    recording.policy = recording.policy.rollout(None);
    plan(&recording.snapshot().unwrap())
}

fn is_live(state: PodState) -> bool {
    !matches!(state, PodState::Terminating { .. } | PodState::Failed | PodState::Succeeded)
}

/// The nodes that have the new version, or for which the memory has a create that may be of it.
fn nodes_with_it(recording: &Recording, current: &Plan) -> Vec<String> {
    let remembered = serde_json::to_value(&recording.memory).unwrap();
    let has_it = |node: &&daemonset::report::NodeVerdict| {
        let is_new = node.pods.iter().any(|pod| pod.updated && is_live(pod.state));
        is_new || remembered["creates"].get(node.node.as_str()).is_some()
    };
    current.report.nodes.iter().filter(has_it).map(|node| node.node.to_string()).collect()
}

/// The nodes that this plan gives the new version: by a create, or by taking away an old pod that is Ready. On the way back
/// to the stable revision only creates count.
fn reached(plan: &Plan, current: &Plan) -> Vec<String> {
    let Some(revision) = &current.report.current_revision else { return Vec::new() };
    let goes_back = stage_of(plan) == "RolledBack";
    let node = |action: &Action| match action {
        Action::CreatePod { node, pod, .. } if pod.revision_hash() == revision.hash => Some(node.to_string()),
        Action::DeletePod { node, reason, .. } if is_update_of_ready(*reason) && !goes_back => {
            Some(node.to_string())
        }
        _ => None,
    };
    plan.actions.iter().filter_map(node).collect()
}

fn is_update_of_ready(reason: DeleteReason) -> bool {
    matches!(reason, DeleteReason::OutdatedAvailable | DeleteReason::OutdatedNotYetAvailable)
}

/// How far the rollout may go; empty without one.
fn stage_of(plan: &Plan) -> String {
    let stage = plan.report.rollout.as_ref().map(|rollout| serde_json::to_value(&rollout.stage).unwrap());
    stage.map_or_else(String::new, |stage| stage["type"].as_str().unwrap().to_owned())
}

/// The nodes of the open waves.
fn open(plan: &Plan) -> BTreeSet<String> {
    let rollout = plan.report.rollout.as_ref();
    let waves = rollout.into_iter().flat_map(|rollout| &rollout.waves);
    let is_open = |wave: &&daemonset::report::WaveReport| {
        matches!(wave.progress, WaveProgress::Updating | WaveProgress::Baking { .. } | WaveProgress::Done)
    };
    waves.filter(is_open).flat_map(|wave| wave.nodes.iter().map(ToString::to_string)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(250), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_steered_plan_is_sound(recording in steered()) {
        let plan = planned(&recording);
        prop_assert_eq!(&plan.actions, &reconcile(&recording.snapshot().unwrap()));
        let replay = Recording::from(&recording.snapshot().unwrap());
        let replay = Recording::from_json(&serde_json::to_vec(&replay).unwrap()).unwrap();
        prop_assert_eq!(&planned(&replay).actions, &plan.actions);
    }

    #[test]
    fn the_order_of_the_input_changes_nothing_under_a_rollout(recording in steered()) {
        let bytes = |recording: &Recording| serde_json::to_string(&planned(recording)).unwrap();
        let mut other = recording.clone();
        other.nodes.reverse();
        other.pods.reverse();
        other.revisions.reverse();
        prop_assert_eq!(bytes(&other), bytes(&recording));
    }

    #[test]
    fn a_stopped_rollout_reaches_no_further_node(recording in steered()) {
        let plan = planned(&recording);
        let Some(rollout) = &plan.report.rollout else { return Ok(()) };
        let stage = serde_json::to_value(&rollout.stage).unwrap()["type"].as_str().unwrap().to_owned();
        let has_stable = rollout.stable.is_some();
        if ["Paused", "Stopped", "RolledBack"].contains(&stage.as_str()) && has_stable {
            let current = unsteered(&recording);
            let has = nodes_with_it(&recording, &current);
            let new: Vec<_> = reached(&plan, &current).into_iter().filter(|node| !has.contains(node)).collect();
            prop_assert!(new.is_empty(), "{stage}: {new:?}");
        }
    }

    #[test]
    fn a_node_in_no_open_wave_is_not_reached(recording in steered()) {
        let plan = planned(&recording);
        let Some(rollout) = &plan.report.rollout else { return Ok(()) };
        let policy = recording.policy.rollout.as_ref().unwrap();
        let over = serde_json::to_value(&rollout.stage).unwrap()["type"] == "Over";
        if policy.waves.is_empty() || over || rollout.stable.is_none() {
            return Ok(());
        }
        let open = open(&plan);
        let current = unsteered(&recording);
        let has = nodes_with_it(&recording, &current);
        let takes_part = |name: &String| {
            let verdict = current.report.node(name).unwrap();
            verdict.placement == NodePlacement::Run
        };
        for node in reached(&plan, &current) {
            prop_assert!(open.contains(&node) || has.contains(&node) || !takes_part(&node), "{node}");
        }
    }

    #[test]
    fn a_node_that_has_it_is_not_taken_back_but_by_a_roll_back(recording in steered()) {
        let plan = planned(&recording);
        if stage_of(&plan) == "RolledBack" {
            return Ok(());
        }
        let current = unsteered(&recording);
        let pods = |node: &daemonset::report::NodeVerdict| node.pods.clone();
        let updated = current.report.nodes.iter().flat_map(pods).filter(|pod| pod.updated && is_live(pod.state));
        let updated: BTreeSet<_> = updated.map(|pod| pod.pod.uid.to_string()).collect();
        for action in &plan.actions {
            if let Action::DeletePod { pod, reason, .. } = action {
                let taken = is_update_of_ready(*reason) && updated.contains(pod.uid.as_str());
                prop_assert!(!taken, "{action}");
            }
        }
    }

    #[test]
    fn without_the_mark_of_a_wave_no_further_wave_is_open(recording in steered()) {
        let plan = planned(&recording);
        let mut without = recording;
        for revision in &mut without.revisions {
            let kept = revision.metadata.annotations.iter().filter(|(key, _)| *key != "rollout.daemonset/wave");
            revision.metadata.annotations = kept.collect();
        }
        let again = planned(&without);
        // The mark is the only sign that a fleet which looks settled has not been so before the policy.
        if stage_of(&again) == "Over" {
            return Ok(());
        }
        prop_assert!(open(&again).is_subset(&open(&plan)), "{:?}, with the mark {:?}", open(&again), open(&plan));
    }

    #[test]
    fn marks_are_written_only_as_they_are_read(recording in steered()) {
        let plan = planned(&recording);
        let annotated = |action: &&Action| matches!(action, Action::AnnotateRevision { .. });
        if !plan.actions.iter().any(|action| annotated(&action)) {
            return Ok(());
        }
        // Executed, and planned again at the same instant: no mark is set twice.
        let mut after = recording;
        apply(&mut after, &plan);
        let again = planned(&after);
        let number = again.report.current_revision.as_ref().unwrap().number;
        if number == plan.report.current_revision.as_ref().unwrap().number {
            let key = |action: &Action| match action {
                Action::AnnotateRevision { annotations, .. } => annotations.clone(),
                _ => BTreeMap::new(),
            };
            let before: Vec<_> = plan.actions.iter().filter(annotated).map(key).collect();
            let twice = again.actions.iter().filter(annotated).map(key).filter(|mark| before.contains(mark));
            prop_assert_eq!(twice.collect::<Vec<_>>(), Vec::<BTreeMap<String, Option<String>>>::new());
        }
    }

    #[test]
    fn time_changes_a_steered_plan_no_earlier_than_its_wake_up(recording in steered()) {
        // Without the instants of marks.
        let still = |recording: &Recording| -> Vec<String> {
            let actions = planned(recording).actions.into_iter().filter(Action::acts);
            actions.map(|action| match action {
                Action::AnnotateRevision { annotations, reason, .. } => {
                    let rest = |value: String| value.splitn(3, ' ').nth(2).unwrap_or_default().to_owned();
                    let marks: Vec<_> = annotations.into_iter().map(|(key, value)| (key, value.map(rest))).collect();
                    format!("{marks:?} {reason}")
                }
                Action::CreateRevision { revision, .. } => revision["data"].to_string(),
                other => other.to_string(),
            }).collect()
        };
        let mut recording = recording;
        for _ in 0..10 {
            let plan = planned(&recording);
            apply(&mut recording, &plan);
            observe(&mut recording);
        }
        let wake_up = planned(&recording).requeue_at();
        let expected = still(&recording);
        let now = recording.now;
        for seconds in [1, 20, 25, 29, 30, 50, 55, 56, 59, 60, 61, 115, 120, 240, 295, 296, 300, 595, 600, 4000] {
            recording.now = now + SignedDuration::from_secs(seconds);
            if wake_up.is_none_or(|at| recording.now < at) {
                prop_assert_eq!(&still(&recording), &expected, "after {} s, wake-up {:?}", seconds, wake_up);
            }
        }
    }

    #[test]
    fn an_absent_policy_and_marks_alone_steer_nothing(recording in steered()) {
        let mut bare = recording.clone();
        bare.policy = bare.policy.rollout(None);
        let expected = serde_json::to_string(&plan(&bare.snapshot().unwrap())).unwrap();
        for revision in &mut bare.revisions {
            revision.metadata.annotations = Labels::default();
        }
        prop_assert_eq!(serde_json::to_string(&plan(&bare.snapshot().unwrap())).unwrap(), expected);
    }

    #[test]
    fn a_driver_leaves_the_rest_to_the_other_controller(recording in steered()) {
        let plan = planned(&driven(recording));
        let of_driver = |action: &Action| match action {
            Action::DeletePod { reason, .. } => reason.is_update() || *reason == DeleteReason::PullDone,
            Action::CreatePod { reason, .. } => *reason == CreateReason::PullImages,
            Action::PatchNode { .. } | Action::UpdatePodInPlace { .. } => true,
            Action::AnnotateRevision { .. } | Action::RestoreTemplate { .. } | Action::Requeue { .. } => true,
            _ => false,
        };
        prop_assert!(plan.actions.iter().all(of_driver), "{:#?}", crate::support::everything(&plan));
    }
}

/// The same fleet beside another controller. A driver can't roll back: it stops instead.
pub(super) fn driven(mut recording: Recording) -> Recording {
    recording.daemon_set.spec.update_strategy = serde_json::from_value(on_delete()).unwrap();
    let drive: daemonset::model::UpdateStrategy = serde_json::from_value(rolling(2)).unwrap();
    let mut policy: Policy = recording.policy.external_controller(drive).binding(Binding::default());
    let on_failure = policy.rollout.as_mut().and_then(|rollout| rollout.on_failure.as_mut());
    if let Some(on_failure) = on_failure.filter(|rule| rule.action == FailureAction::RollBack) {
        on_failure.action = FailureAction::Pause;
    }
    recording.policy = policy;
    recording
}

const WORLDS: u64 = 5000;

/// Random fleets prove something only if they reach every case.
#[test]
fn the_steered_worlds_reach_everything() {
    let reached = Reach::of(EVERYTHING, KNOWN, WORLDS, |number| {
        let recording = steered().new_tree(&mut draws(number)).unwrap().current();
        things(&planned(&recording)).into_iter().map(|thing| (thing, 1))
    });
    let generators = "tests/it/properties/rollout.rs (policy, marks), or undo.rs or world/mod.rs beside it (an undo, the fleet)";
    reached.assert_has(EVERYTHING, &format!("{WORLDS} steered worlds"), generators);
}

/// The marks and wake-ups of a plan, and the states that it finds the rollout in.
fn things(plan: &Plan) -> Vec<String> {
    let json = serde_json::to_value(plan).unwrap();
    let mut things = Vec::new();
    let mut see = |thing: String| things.push(thing);
    for action in json["actions"].as_array().unwrap() {
        if ["AnnotateRevision", "RestoreTemplate", "Requeue"].contains(&action["type"].as_str().unwrap()) {
            see(action["reason"].as_str().unwrap().to_owned());
        }
    }
    let rollout = &json["report"]["rollout"];
    if rollout.is_object() {
        see(format!("stage {}", rollout["stage"]["type"].as_str().unwrap()));
        for wave in rollout["waves"].as_array().unwrap() {
            see(format!("wave {}", wave["progress"]["type"].as_str().unwrap()));
        }
        for failing in rollout["failing"].as_array().unwrap() {
            see(format!("evidence {}", failing["evidence"]["type"].as_str().unwrap()));
        }
    }
    for node in json["report"]["nodes"].as_array().unwrap() {
        if node["outcome"]["type"] == "HeldByRollout" {
            see(format!("held {}", node["outcome"]["because"]["type"].as_str().unwrap()));
        }
    }
    for warning in json["warnings"].as_array().unwrap() {
        let because = warning["because"].as_str().unwrap_or_default();
        see(format!("warning {} {because}", warning["type"].as_str().unwrap()).trim_end().to_owned());
    }
    things
}

/// Worlds that reach everything.
const KNOWN: &[u64] = &[
    3239, 1383, 1242, 1031, 590, 491, 312, 259, 253, 248, 152, 143, 142, 104, 90, 78, 70, 53, 52, 35, 27, 22,
    3,
];

const EVERYTHING: &[&str] = &[
    "RolloutStarted",
    "RolloutPaused",
    "WaveOpened",
    "RolloutFailed",
    "RolloutCompleted",
    "RolloutUndone",
    "RolledBack",
    "UndoDue",
    "WaveDone",
    "FailureDue",
    "ProgressDeadline",
    "stage Over",
    "stage GoingOn",
    "stage Paused",
    "stage Stopped",
    "stage RolledBack",
    "wave WaitsForWaveBefore",
    "wave WaitsForApproval",
    "wave Stopped",
    "wave Updating",
    "wave Baking",
    "wave Done",
    "evidence NodeDown",
    "evidence PodFailed",
    "evidence TooManyRestarts",
    "evidence Waiting",
    "evidence Unavailable",
    "held Wave",
    "held NoWave",
    "held Paused",
    "held Stopped",
    "warning NoBase",
    "warning EmptyWaves",
    "warning NothingToRollBackTo",
    "warning NotUndone NoBase",
    "warning NotUndone UndoneBefore",
    "warning NotUndone DaemonSetChanged",
    "warning NotUndone TooLate",
    "warning NotUndone TooMany",
];
