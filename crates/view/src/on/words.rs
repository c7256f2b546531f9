//! Answers about a node in words.

use crate::words::{count, tainted};
use daemonset::model::Taint;
use daemonset::report::NodePlacement;
use daemonset_apiserver::requests::Requests;
use daemonset_placement::{DaemonOn, Runs, UnknownFact, WhyNot};

/// The answer in one word.
pub fn runs(runs: &Runs) -> &'static str {
    match runs {
        Runs::Yes => "yes",
        Runs::No { .. } => "no",
        Runs::Maybe { .. } => "maybe",
        Runs::Invalid { .. } => "invalid",
        _ => "?",
    }
}

/// Its reason; empty for a plain yes.
pub fn why(daemon: &DaemonOn) -> String {
    let mut parts = Vec::new();
    match &daemon.runs {
        Runs::No { why } => parts.push(why_not(why)),
        Runs::Maybe { depends_on } => {
            parts.push(format!("depends on {}", list(depends_on.iter().map(unknown).collect())));
        }
        Runs::Invalid { problems } => {
            parts.push(problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "));
        }
        Runs::Yes => {}
        other => parts.push(format!("{other:?}")),
    }
    if !daemon.waits_for.is_empty() {
        let taints = list(daemon.waits_for.iter().map(quoted).collect());
        parts.push(format!(
            "starts once {taints} {} gone",
            if daemon.waits_for.len() == 1 { "is" } else { "are" }
        ));
    }
    parts.join("; ")
}

fn why_not(why: &WhyNot) -> String {
    match why {
        WhyNot::Placement { placement } => match placement {
            NodePlacement::OtherNodeName => "its nodeName is another".to_owned(),
            NodePlacement::NodeSelectorMismatch => "its nodeSelector does not match".to_owned(),
            NodePlacement::NodeAffinityMismatch => "its required node affinity does not match".to_owned(),
            NodePlacement::ContinueOnly { taint, .. } | NodePlacement::UntoleratedNoExecute { taint, .. } => {
                format!("it does not tolerate {}", quoted(taint))
            }
            other => format!("{other:?}"),
        },
        WhyNot::SelectingAll => "its selector is empty, so that the controller leaves it alone".to_owned(),
        WhyNot::BeingDeleted => "it is being deleted".to_owned(),
        other => format!("{other:?}"),
    }
}

fn unknown(fact: &UnknownFact) -> String {
    match fact {
        UnknownFact::Name => "the name of the node".to_owned(),
        UnknownFact::Label { key } => format!("the label {key}"),
        UnknownFact::Taint { taint } => quoted(taint),
        other => format!("{other:?}"),
    }
}

fn quoted(taint: &Taint) -> String {
    format!("the taint {}", tainted(taint))
}

/// `a`, `a and b`, `a, b and c`.
fn list(mut parts: Vec<String>) -> String {
    match (parts.pop(), parts.is_empty()) {
        (Some(last), true) => last,
        (Some(last), false) => format!("{} and {last}", parts.join(", ")),
        (None, _) => String::new(),
    }
}

/// `cpu 100m, memory 64Mi`.
pub fn amounts(requests: &Requests) -> String {
    let amounts = requests.iter().filter(|(name, _)| *name != "pods");
    amounts.map(|(name, amount)| format!("{name} {amount}")).collect::<Vec<_>>().join(", ")
}

/// `2 pods: cpu 100m, memory 64Mi`.
pub fn sum(requests: &Requests) -> String {
    let pods = requests.get("pods").map_or(0, |pods| usize::try_from(pods.units()).unwrap_or_default());
    match amounts(requests) {
        none if none.is_empty() => count(pods, "pod"),
        amounts => format!("{}: {amounts}", count(pods, "pod")),
    }
}
