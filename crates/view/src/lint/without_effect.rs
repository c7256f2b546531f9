//! Rules of the policy that the strategy in force, or another choice, leaves without an effect.

use super::finding::{Finding, Rule, Severity};
use super::manifest::Manifest;
use super::preflight::Preflight;
use super::rollout;
use super::turn::{DRAINED, rules as turn_rules};
use daemonset::internal::{Strategy, images};
use daemonset::policy::{self, TurnMode};

/// One finding for each of them.
pub(super) fn findings(preflight: &Preflight<'_>, manifest: &Manifest<'_>) -> Vec<Finding> {
    let policy = &preflight.policy;
    // A policy of turns that can't be read keeps them, whatever the strategy.
    let is_on = |rule: &policy::Rule| {
        rule.is_on(policy) && (*rule != policy::Rule::Turn || policy.turn != Some(TurnMode::Keep))
    };
    let by_strategy =
        policy::Rule::ALL.iter().filter(|rule| is_on(rule) && !rule.has_effect(manifest.strategy));
    let by_strategy = by_strategy.map(|rule| (rule.member(), under(manifest.strategy)));
    let replaces = matches!(manifest.strategy, Strategy::Replace(_));
    let others = [
        ("pull", policy.pull.as_ref().filter(|_| replaces).and_then(|_| pull(manifest))),
        ("pull.timeoutSeconds", policy.pull.as_ref().and_then(|pull| pull_time(pull.timeout_seconds))),
        ("fit", fit(preflight).filter(|_| replaces && policy::Rule::Fit.is_on(policy))),
    ];
    let finding = |(field, (why, remedy))| {
        Finding::new(Rule::WithoutEffect, Severity::Warning, rollout::field(manifest.daemon_set, field))
            .why(format_args!("It has no effect: {why}"))
            .remedy(remedy)
    };
    by_strategy.chain(others).filter_map(|(field, reason)| Some((field, reason?))).map(finding).collect()
}

/// The reason, and the remedy.
type WhyWithoutEffect = (&'static str, &'static str);

fn under(strategy: Strategy) -> Option<WhyWithoutEffect> {
    match strategy {
        Strategy::OnDelete => Some((
            "under OnDelete a person deletes the pods",
            "Use RollingUpdate with maxUnavailable, or drive the DaemonSet; or leave it out",
        )),
        Strategy::Surge { .. } => Some((
            "under surge a new pod comes beside the old one",
            "Replace instead of surging: maxSurge 0 and maxUnavailable above 0; or leave it out",
        )),
        Strategy::Replace(_) => None,
    }
}

fn pull(manifest: &Manifest<'_>) -> Option<WhyWithoutEffect> {
    let images = images(&manifest.daemon_set.spec.template);
    let why = "no image of the template is ever pulled, since each has the policy Never";
    images.is_empty().then_some((why, "Leave it out"))
}

fn pull_time(seconds: u32) -> Option<WhyWithoutEffect> {
    let why = "the time of each pull is over at once, so that no pod waits for its images";
    (seconds == 0).then_some((why, "Allow the seconds that a node needs for the images; the default is 600"))
}

fn fit(preflight: &Preflight<'_>) -> Option<WhyWithoutEffect> {
    let drains = turn_rules(preflight).is_some_and(|turn| turn.gates.iter().any(|gate| gate == DRAINED));
    drains.then_some(("the gate drained empties the node before its pod is taken", "Leave it out"))
}
