//! Random states of an undo, and its promise: a template is restored once for each version that fails, whoever puts it back.

use super::planned;
use super::rollout::{driven, steered};
use super::world::World;
use crate::support::{Reach, apply, at, cases, observe};
use daemonset::model::ControllerRevision;
use daemonset::policy::{FailureAction, FailurePolicy, RolloutPolicy};
use daemonset::report::{RolloutStage, Warning};
use daemonset::{Action, Plan, Recording, RolloutReason, plan};
use jiff::SignedDuration;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::{Value, json};

/// The state of an undo, at some instant of it.
#[derive(Debug, Clone)]
pub struct RandomUndo {
    /// How long ago the undo of the current revision began; an offset of its number, and one of the generation.
    undone: Option<(i64, i64, i64)>,
    /// One of the other revisions, and how long ago it was chosen to come back.
    restored: Option<(usize, i64)>,
    /// How long ago each of the other revisions was undone.
    others: Vec<i64>,
    /// What the memory has of restored templates.
    memory: Option<Value>,
    /// The current revision has come back, in the place of one with the largest number of the others, or one more or less.
    back: Option<i64>,
    /// The status is as the plan wants it.
    is_status_written: bool,
}

pub fn undo() -> impl Strategy<Value = RandomUndo> {
    let ago = || select(vec![5_i64, 5, 300, 3599, 3600]);
    let undone = (ago(), select(vec![0, 0, 0, 0, -1]), select(vec![0, 0, 0, 0, 1]));
    let entry = |key: &'static str, more: Value| {
        select(vec![0_i64, 100, 299, 300]).prop_map(move |ago| {
            let mut entry = more.clone();
            entry["at"] = json!(at(-ago));
            json!({key: entry})
        })
    };
    let memory = prop_oneof![
        2 => entry("accepted", json!({"before": 70})),
        1 => entry("accepted", json!({"before": 69})),
        1 => entry("accepted", json!({})),
        2 => entry("refused", json!({"count": 9})),
    ];
    (
        prop::option::weighted(0.7, undone),
        prop::option::weighted(0.8, (0_usize..4, ago())),
        prop_oneof![1 => Just(Vec::new()), 1 => prop::collection::vec(select(vec![5, 300, 3599, 3599, 3600]), 3)],
        prop::option::weighted(0.3, memory),
        prop::option::weighted(0.2, select(vec![0, 0, 1, -1])),
        any::<bool>(),
    )
        .prop_map(|(undone, restored, others, memory, back, is_status_written)| RandomUndo {
            undone,
            restored,
            others,
            memory,
            back,
            is_status_written,
        })
}

/// The version of the fleet's own template, or a twin of it.
fn is_current(revision: &ControllerRevision, recording: &Recording) -> bool {
    let image = |template: &Value| template["spec"]["containers"][0]["image"].clone();
    image(&revision.data["spec"]["template"]) == image(&recording.daemon_set.spec.template)
}

fn annotate(revision: &mut ControllerRevision, mark: &str, value: String) {
    revision.metadata.annotations.extend([(format!("rollout.daemonset/{mark}"), value)]);
}

impl RandomUndo {
    /// Puts the marks on the revisions of a fleet whose rollout is steered.
    pub fn add_to(self, recording: &mut Recording) {
        recording.daemon_set.metadata.resource_version = "70".to_owned();
        let rollout = recording.policy.rollout.clone().unwrap_or_default();
        let rule = rollout.on_failure.clone().unwrap_or_default().action(FailureAction::Undo);
        recording.policy = recording.policy.clone().rollout(rollout.on_failure(rule));
        let generation = recording.daemon_set.metadata.generation;
        let positions = 0..recording.revisions.len();
        let (current, others): (Vec<usize>, Vec<usize>) =
            positions.partition(|position| is_current(&recording.revisions[*position], recording));
        let numbered = |position: &&usize| recording.revisions[**position].revision;
        let Some(current) = current.iter().max_by_key(numbered).copied() else { return };
        if let Some(offset) = self.back {
            let number = others.iter().max_by_key(numbered).map_or(0, |other| numbered(&other));
            let restored = format!("{} {}", number + offset, at(-5));
            return annotate(&mut recording.revisions[current], "restored", restored);
        }
        // Most often the newest revision is the current one.
        let newest = recording.revisions.iter().map(|revision| revision.revision).max().unwrap_or(0);
        let revision = &mut recording.revisions[current];
        if self.memory.is_none() {
            revision.revision = newest + 1;
        }
        let number = revision.revision;
        annotate(revision, "failed", format!("{number} {} TooManyFailures", at(-4000)));
        if let Some((ago, other_number, other_generation)) = self.undone {
            let (number, generation) = (number + other_number, generation + other_generation);
            annotate(revision, "undone", format!("{number} {} {generation}", at(-ago)));
        }
        for (position, ago) in others.iter().zip(self.others) {
            annotate(&mut recording.revisions[*position], "undone", format!("0 {} 1", at(-ago)));
        }
        if let Some((chosen, ago)) = self.restored
            && let Some(position) = others.get(chosen)
        {
            annotate(&mut recording.revisions[*position], "restored", format!("{number} {}", at(-ago)));
        }
        if let (Some(restores), Some(memory)) = (self.memory, &mut recording.memory) {
            let mut json = json!(memory);
            json["restores"] = restores;
            *memory = serde_json::from_value(json).unwrap();
        }
        // No template is restored in a plan that writes the status.
        if self.is_status_written {
            let status = recording.snapshot().ok().and_then(|snapshot| plan(&snapshot).status);
            recording.daemon_set.status = status.unwrap_or_else(|| recording.daemon_set.status.clone());
        }
    }
}

fn restored(plan: &Plan) -> Option<&str> {
    plan.actions.iter().find_map(|action| match action {
        Action::RestoreTemplate { revision, .. } => Some(revision.name.as_str()),
        _ => None,
    })
}

/// A valid mark `failed`, as it is written.
fn has_failed(revision: &ControllerRevision) -> bool {
    let number = format!("{} ", revision.revision);
    let failed = revision.metadata.annotations.get("rollout.daemonset/failed");
    failed.is_some_and(|mark| mark.starts_with(&number))
}

/// Each pod of a version crashes, so that whatever comes back into the template fails again, unless it is on its way back.
fn crash_all(recording: &mut Recording) {
    for pod in &mut recording.pods {
        let status = json!([{"name": "c", "restartCount": 9}]);
        pod.status.container_statuses = serde_json::from_value(status).unwrap();
    }
}

/// Somebody, or a tool, writes this template into the DaemonSet.
fn put_back(recording: &mut Recording, template: &Value) {
    let daemon_set = &mut recording.daemon_set;
    if daemon_set.spec.template != *template {
        daemon_set.spec.template = template.clone();
        daemon_set.metadata.generation += 1;
        let version: u64 = daemon_set.metadata.resource_version.parse().unwrap();
        daemon_set.metadata.resource_version = (version + 1).to_string();
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(100), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_template_of_a_failed_revision_is_restored(recording in steered()) {
        let plan = planned(&recording);
        if let Some(name) = restored(&plan) {
            let revision = recording.revisions.iter().find(|revision| revision.metadata.name == name).unwrap();
            prop_assert!(!has_failed(revision) && !is_current(revision, &recording));
        }
    }

    /// Every version crashes, and a tool puts the author's template back some times, at once or later. Each time it is answered by one
    /// restored template at most.
    #[test]
    fn finitely_many_edits_by_others_are_followed_by_finitely_many_of_ours(
        (world, seconds, delay) in (super::world::world(), select(vec![1_i64, 30, 1300]), 0_usize..4),
        undo in undo(),
        edits in 0_u32..5,
    ) {
        let ours = finite(&world, undo, seconds, delay, edits)?;
        prop_assert!(ours <= 1 + edits, "{ours} restored templates for {edits} edits");
    }
}

/// Lives through a hundred plans. How often a template was restored.
fn finite(
    world: &World,
    undo: RandomUndo,
    seconds: i64,
    delay: usize,
    edits: u32,
) -> Result<u32, TestCaseError> {
    let mut recording = world.recording();
    recording.memory.get_or_insert_default();
    let rule = FailurePolicy::default().max_restarts(0);
    recording.policy = recording.policy.rollout(RolloutPolicy::default().on_failure(rule));
    undo.add_to(&mut recording);
    if recording.daemon_set.metadata.resource_version.is_empty() {
        recording.daemon_set.metadata.resource_version = "70".to_owned();
    }
    let author = recording.daemon_set.spec.template.clone();
    let (mut ours, mut theirs, mut waited) = (0, 0, 0);
    for _ in 0..100 {
        crash_all(&mut recording);
        let plan = planned(&recording);
        let before = recording.daemon_set.metadata.generation;
        apply(&mut recording, &plan);
        if let Some(name) = restored(&plan) {
            let name = name.to_owned();
            let revision =
                recording.revisions.iter().find(|revision| revision.metadata.name == name).unwrap();
            prop_assert!(!has_failed(revision));
            prop_assert_eq!(recording.daemon_set.metadata.generation, before + 1);
            (ours, waited) = (ours + 1, 0);
        }
        observe(&mut recording);
        recording.now += SignedDuration::from_secs(seconds);
        waited += 1;
        if waited > delay && theirs < edits && recording.daemon_set.spec.template != author {
            put_back(&mut recording, &author);
            (theirs, waited) = (theirs + 1, 0);
        }
    }
    Ok(ours)
}

const WORLDS: u32 = 1000;

/// The parts of an undo that a plan shows.
fn parts(recording: &Recording, plan: &Plan) -> Vec<String> {
    let of_actions = plan.actions.iter().filter_map(|action| match action {
        Action::AnnotateRevision { reason: RolloutReason::RolloutUndone, .. } => Some("begun".to_owned()),
        Action::RestoreTemplate { .. } => Some("restored".to_owned()),
        _ => None,
    });
    let of_warnings = plan.warnings.iter().filter_map(|warning| match warning {
        Warning::NotUndone { because, .. } => Some(format!("not undone: {because:?}")),
        _ => None,
    });
    let (rollout, current) = (&plan.report.rollout, &plan.report.current_revision);
    let is_back = rollout.as_ref().zip(current.as_ref()).is_some_and(|(rollout, current)| {
        let mut revisions = recording.revisions.iter();
        let revision = revisions.find(|revision| revision.metadata.name == current.name);
        let has = |mark| revision.is_some_and(|revision| revision.metadata.annotations.get(mark).is_some());
        // A settled fleet has no nodes to go back.
        let goes_back = rollout.stage == RolloutStage::Complete && rollout.updated < rollout.nodes;
        goes_back && has("rollout.daemonset/restored") && !has("rollout.daemonset/completed")
    });
    of_actions.chain(of_warnings).chain(is_back.then(|| "way back".to_owned())).collect()
}

/// The five points of an undo, alone and beside another controller.
#[test]
fn the_undos_reach_everything() {
    let config = Config { failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let mut reached = Reach::default();
    for _ in 0..WORLDS {
        let (mut alone, undo) = (steered(), undo()).new_tree(&mut runner).unwrap().current();
        undo.add_to(&mut alone);
        let beside = driven(alone.clone());
        for (side, recording) in [("alone", alone), ("beside another controller", beside)] {
            let parts = parts(&recording, &planned(&recording));
            parts.iter().for_each(|part| reached.see(format!("{part}, {side}")));
        }
    }
    println!("in {WORLDS} worlds: {reached:#?}");
    let points = ["begun", "restored", "way back"].map(str::to_owned);
    let reasons = ["NoStableRevision", "UndoneBefore", "DaemonSetChanged", "TooLate", "TooMany"];
    let reasons = reasons.map(|reason| format!("not undone: {reason}"));
    let everything: Vec<String> = points
        .iter()
        .chain(&reasons)
        .flat_map(|part| ["alone", "beside another controller"].map(|side| format!("{part}, {side}")))
        .collect();
    let everything: Vec<&str> = everything.iter().map(String::as_str).collect();
    reached.assert_has(&everything, &format!("{WORLDS} worlds"), "tests/it/properties/undo.rs (undo)");
}
