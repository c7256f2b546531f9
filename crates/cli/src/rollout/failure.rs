//! A failure policy in words: when a node fails, how many may, and the consequence.

use daemonset::model::IntOrString;
use daemonset::policy::{FailureAction, FailurePolicy};
use daemonset_view::words;
use jiff::SignedDuration;

/// Names at most so many reasons of a person's own.
const MOST_NAMES: usize = 10;

/// The consequence of too many failures, and the signs of one; each line with its label.
pub(super) fn lines(policy: &FailurePolicy, has_stable: bool) -> Vec<(&'static str, String)> {
    let follows = match (policy.action, has_stable) {
        (FailureAction::RollBack, true) => "all nodes go back to the version before",
        (FailureAction::RollBack, false) => {
            "the rollout stops, since there is no stable revision to go back to"
        }
        (FailureAction::Undo, true) => "the DaemonSet gets the template of the version before back",
        (FailureAction::Undo, false) => "the rollout stops, since there is no template to go back to",
        _ => "the rollout stops",
    };
    let too_many = match policy.max_failures {
        None | Some(IntOrString::Int(0) | IntOrString::Percent(0)) => "a node fails".to_owned(),
        Some(IntOrString::Int(1)) => "more than 1 node fails".to_owned(),
        Some(IntOrString::Int(limit)) => format!("more than {limit} nodes fail"),
        Some(limit @ IntOrString::Percent(_)) => format!("more than {limit} of the nodes fail"),
    };
    let deadline = policy.progress_deadline_seconds.map(|seconds| {
        let span = words::duration(SignedDuration::from_secs(seconds.into()));
        format!(", or {span} pass without progress")
    });
    let mut lines = vec![("Failure", format!("when {too_many}{}, {follows}", deadline.unwrap_or_default()))];
    lines.extend(
        signs(policy).into_iter().enumerate().map(|(position, sign)| {
            (if position == 0 { "A node" } else { "" }, format!("fails when {sign}"))
        }),
    );
    lines
}

/// The signs by which a node fails.
fn signs(policy: &FailurePolicy) -> Vec<String> {
    let span = |seconds: u32| words::duration(SignedDuration::from_secs(seconds.into()));
    let within = policy.available_within_seconds;
    let down = match within {
        None => "it goes down under its new pod".to_owned(),
        Some(seconds) => format!("it is down under its new pod for {}", span(seconds)),
    };
    let restarts =
        policy.max_restarts.map(|restarts| format!("a container restarts more than {}", times(restarts)));
    let waiting = policy.waiting_seconds.map(|seconds| {
        let reasons = match policy.waiting_reasons.as_slice() {
            [] => words::names(FailurePolicy::DEFAULT_WAITING_REASONS, 3),
            reasons => words::names(reasons, MOST_NAMES),
        };
        format!("its pod is {} old, and a container waits for one of: {reasons}", span(seconds))
    });
    let unavailable = within.map(|seconds| format!("its pod is not available for {}", span(seconds)));
    let first = ["its pod is in phase Failed".to_owned(), down];
    first.into_iter().chain(restarts).chain(waiting).chain(unavailable).collect()
}

fn times(number: u32) -> String {
    if number == 1 { "once".to_owned() } else { format!("{number} times") }
}
