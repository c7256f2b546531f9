//! Choices about turns that the strategy in force, or another choice, leaves without an effect.

use super::finding::{Finding, Rule, Severity};
use super::manifest::Manifest;
use super::preflight::Preflight;
use super::rollout;
use super::turn::{DRAINED, rules as turn_rules};
use daemonset::internal::{Strategy, images};
use daemonset::policy::{FitPolicy, InPlacePolicy, TurnMode};

/// One finding for each of them.
pub(super) fn findings(preflight: &Preflight<'_>, manifest: &Manifest<'_>) -> Vec<Finding> {
    let policy = &preflight.policy;
    let takes_turns = matches!(policy.turn, Some(TurnMode::Take(_)));
    let changes_in_place = policy.in_place == InPlacePolicy::IfPossible;
    let choices = [
        ("turn", turn(manifest).filter(|_| takes_turns)),
        ("pull", policy.pull.as_ref().and_then(|_| pull(manifest))),
        ("pull.timeoutSeconds", policy.pull.as_ref().and_then(|pull| pull_time(pull.timeout_seconds))),
        ("inPlace", in_place(manifest).filter(|_| changes_in_place)),
        ("fit", fit(preflight, manifest).filter(|_| policy.fit == FitPolicy::Hold)),
    ];
    let finding = |(field, (why, remedy))| {
        Finding::new(Rule::WithoutEffect, Severity::Warning, rollout::field(manifest.daemon_set, field))
            .why(format_args!("It has no effect: {why}"))
            .remedy(remedy)
    };
    choices.into_iter().filter_map(|(field, reason)| Some((field, reason?))).map(finding).collect()
}

/// The reason, and the remedy.
type WhyWithoutEffect = (&'static str, &'static str);

const UPDATES: &str = "Use RollingUpdate with maxUnavailable, or drive the DaemonSet; or leave it out";

/// Under surge it is refused.
fn turn(manifest: &Manifest<'_>) -> Option<WhyWithoutEffect> {
    match manifest.strategy {
        Strategy::OnDelete => Some(("under OnDelete a person takes the pods, and no turn begins", UPDATES)),
        Strategy::Replace(_) | Strategy::Surge { .. } => None,
    }
}

fn pull(manifest: &Manifest<'_>) -> Option<WhyWithoutEffect> {
    match manifest.strategy {
        Strategy::OnDelete => {
            Some(("under OnDelete a person takes the pods, whether their images are there or not", UPDATES))
        }
        Strategy::Surge { .. } => {
            Some(("under surge the new pod pulls its images while the old one still runs", "Leave it out"))
        }
        Strategy::Replace(_) => {
            let images = images(&manifest.daemon_set.spec.template);
            let why = "no image of the template is ever pulled, since each has the policy Never";
            images.is_empty().then_some((why, "Leave it out"))
        }
    }
}

fn pull_time(seconds: u32) -> Option<WhyWithoutEffect> {
    let why = "the time of each pull is over at once, so that no pod waits for its images";
    (seconds == 0).then_some((why, "Allow the seconds that a node needs for the images; the default is 600"))
}

fn in_place(manifest: &Manifest<'_>) -> Option<WhyWithoutEffect> {
    match manifest.strategy {
        Strategy::OnDelete => Some(("under OnDelete a person deletes the pods", UPDATES)),
        Strategy::Surge { .. } => Some((
            "under surge a new pod comes beside the old one",
            "Replace instead of surging: maxSurge 0 and maxUnavailable above 0; or leave it out",
        )),
        Strategy::Replace(_) => None,
    }
}

fn fit(preflight: &Preflight<'_>, manifest: &Manifest<'_>) -> Option<WhyWithoutEffect> {
    let drains = turn_rules(preflight).is_some_and(|turn| turn.gates.iter().any(|gate| gate == DRAINED));
    match manifest.strategy {
        Strategy::OnDelete => {
            Some(("under OnDelete a person deletes the pods, whether they fit or not", UPDATES))
        }
        Strategy::Replace(_) if drains => {
            Some(("the gate drained empties the node before its pod is taken", "Leave it out"))
        }
        Strategy::Replace(_) | Strategy::Surge { .. } => None,
    }
}
