//! Random fleets prove something only if they reach every case. These tests count each reason, verdict and broken rule.

use super::{faults, planned, world};
use crate::support::{Reach, with_waits};
use daemonset::report::WaitKind;
use daemonset::{Action, TurnReason};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

const WORLDS: u32 = 4000;

/// Every action with every reason, and every outcome but the waits, kind of evidence, situation and warning.
const EVERYTHING: &[&str] = &[
    "AdoptPod SelectorMatches",
    "ReleasePod SelectorNoLongerMatches",
    "AdoptRevision SelectorMatches",
    "CreateRevision NewTemplate",
    "LabelRevision HashMissing",
    "LabelRevision LabelsLost",
    "RenumberRevision CurrentAgain",
    "LabelPod HashMissing",
    "LabelPod DuplicateRevision",
    "DeletePod SucceededPod",
    "DeletePod FailedPod",
    "DeletePod ExcessPod",
    "DeletePod SuccessorAvailable",
    "DeletePod NotReadyBesideSuccessor",
    "DeletePod NodeExcluded",
    "DeletePod TolerationWithdrawn",
    "DeletePod NodeGone",
    "DeletePod OutdatedPending",
    "DeletePod OutdatedNotReady",
    "DeletePod OutdatedNotYetAvailable",
    "DeletePod OutdatedAvailable",
    "CreatePod MissingPod",
    "CreatePod Surge",
    "DeleteRevision Duplicate",
    "DeleteRevision HistoryLimit",
    "UpdateStatus Changed",
    "UpdateStatus NameCollision",
    "PatchNode TurnBegins",
    "PatchNode TurnEnds",
    "PatchNode TurnLosesCordon",
    "a cordon is handed over",
    "UpdatePodInPlace OutdatedAvailable",
    "UpdatePodInPlace OutdatedNotReady",
    "UpdatePodInPlace OutdatedNotYetAvailable",
    "CreatePod PullImages",
    "DeletePod PullDone",
    "no UpdateStatus",
    "RecordEvent SelectingAll",
    "RecordEvent FailedDaemonPod",
    "RecordEvent SucceededDaemonPod",
    "Requeue Burst",
    "Requeue MinReadySeconds",
    "Requeue BackOff",
    "Requeue InFlightExpiry",
    "Requeue TerminationOverdue",
    "Requeue TurnOverdue",
    "Requeue PullTimeout",
    "Requeue InPlaceSettled",
    "Requeue RetryDue",
    "outcome UpToDate",
    "outcome NotTarget",
    "outcome Create",
    "outcome Delete",
    "outcome TurnBegins",
    "outcome UpdateInPlace",
    "counts downBefore",
    "counts excused",
    "counts lost",
    "counts taken",
    "evidence TemplateGeneration",
    "evidence CurrentRevision",
    "evidence OldRevision",
    "evidence UnknownRevision",
    "evidence NoHash",
    "situation Synced",
    "situation SelectingAll",
    "situation BeingDeleted",
    "situation NameCollision",
    "warning PodsMissing",
    "warning RevisionsMissing",
    "warning HostPortWithSurge",
    "warning NodesLost",
    "warning NodesTaken",
    "warning BudgetSpentBeforeStart",
    "warning GenerationHashConflict",
    "warning PodsWithoutTarget",
    "warning PodsOnUnknownNodes",
    "warning PercentRoundsToAll",
    "warning BothLimitsSet",
    "warning BothLimitsZero",
    "warning StrategyMissing",
    "warning NoTargetNodes",
    "warning NameTaken",
    "warning TurnOverdue",
    "warning InPlaceStuck",
];

#[test]
fn the_worlds_reach_everything() {
    let config = Config { failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let mut reached = Reach::default();
    for _ in 0..WORLDS {
        let world = world::world().new_tree(&mut runner).unwrap().current();
        things(&planned(&world.recording())).into_iter().for_each(|thing| reached.see(thing));
    }
    println!("in {WORLDS} worlds: {reached:#?}");
    // No policy here steers or drives.
    let is_of_rollout =
        |kind| matches!(kind, WaitKind::Rollout | WaitKind::Revision | WaitKind::OtherControllerCreates);
    let everything = with_waits(EVERYTHING, |kind| !is_of_rollout(kind));
    reached.assert_has(&everything, &format!("{WORLDS} worlds"), "tests/it/properties/world/mod.rs");
    reached.assert_has_no_more_than(&everything, "EVERYTHING in tests/it/properties/reach.rs");
}

/// Rules of the audit with different figures.
const FIGURES: &[&str] = &[
    "BudgetExceeded BeingReplaced",
    "BudgetExceeded BeingReplaced beside lost nodes",
    "BudgetExceeded NotReady",
    "BudgetExceeded NotReady beside lost nodes",
    "BudgetExceeded Unavailable",
    "BudgetExceeded Unavailable beside lost nodes",
    "SurgeExceeded beside lost nodes",
    "WrongManifest metadata.name",
    "WrongManifest spec.containers",
    "WrongManifest spec.restartPolicy",
];

/// Every rule of the audit: the variants of its enum, and the figures of those that have some.
fn every_rule() -> Vec<&'static str> {
    let source = include_str!("../../../crates/audit/src/kind.rs");
    let (_, variants) = source.split_once("pub enum ViolationKind {\n").unwrap();
    // A variant that was renamed keeps its name in JSON, which the faults have.
    let mut renamed = None;
    let variants = variants.lines().take_while(|line| *line != "}").filter_map(|line| {
        let line = line.strip_prefix("    ")?;
        if let Some(name) = line.strip_prefix("#[serde(rename = \"") {
            renamed = name.strip_suffix("\")]");
            return None;
        }
        let name = line.trim_end_matches([',', '{', ' ']);
        let is_variant = !name.is_empty() && name.chars().all(char::is_alphanumeric);
        is_variant.then(|| renamed.take().unwrap_or(name))
    });
    variants.filter(|name| !["", "BudgetExceeded"].contains(name)).chain(FIGURES.iter().copied()).collect()
}

#[test]
fn the_planted_faults_break_every_rule() {
    let config = Config { failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let mut broken = Reach::default();
    for pick in 0..WORLDS / 4 {
        let world = world::world().new_tree(&mut runner).unwrap().current();
        for planted in faults::planted(&world.recording(), pick as usize) {
            broken.see(planted.rule);
        }
    }
    println!("in {} worlds: {broken:#?}", WORLDS / 4);
    let inputs = format!("the faults of {} worlds", WORLDS / 4);
    broken.assert_has(&every_rule(), &inputs, "a file of tests/it/properties/faults/");
    broken.assert_has_no_more_than(&every_rule(), "FIGURES in tests/it/properties/reach.rs");
}

pub fn things(plan: &daemonset::Plan) -> Vec<String> {
    let json = serde_json::to_value(plan).unwrap();
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    let mut things: Vec<String> = json["actions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|action| format!("{} {}", text(&action["type"]), text(&action["reason"])))
        .collect();
    if !plan.actions.iter().any(|action| matches!(action, Action::UpdateStatus { .. })) {
        things.push("no UpdateStatus".to_owned());
    }
    for action in &plan.actions {
        // The end of a turn sets an annotation only where another turn is left with the cordon.
        if let Action::PatchNode { annotations, reason: TurnReason::TurnEnds, .. } = action {
            let hands_over = annotations.values().any(Option::is_some);
            things.extend(hands_over.then(|| "a cordon is handed over".to_owned()));
        }
    }
    things.push(format!("situation {}", text(&json["report"]["situation"])));
    for node in json["report"]["nodes"].as_array().unwrap() {
        things.push(format!("outcome {}", text(&node["outcome"]["type"])));
        let counts =
            ["downBefore", "excused", "lost", "taken"].iter().filter(|count| node["counts"][**count] == true);
        things.extend(counts.map(|count| format!("counts {count}")));
        for pod in node["pods"].as_array().unwrap() {
            things.push(format!("evidence {}", text(&pod["evidence"])));
        }
    }
    for warning in json["warnings"].as_array().unwrap() {
        things.push(format!("warning {}", text(&warning["type"])));
    }
    things
}
