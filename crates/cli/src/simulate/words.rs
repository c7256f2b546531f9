//! States, reasons and durations as a person would say them.

use crate::simulate::replayed_node::{Phase, PodNow};
use crate::words::deleting;
use daemonset::sim::PodTrouble;

/// `2m30s` of milliseconds; tenths only below ten seconds.
pub(crate) fn duration(ms: i64) -> String {
    let s = ms / 1000;
    let (d, h, m, rest) = (s / 86_400, s / 3600 % 24, s / 60 % 60, s % 60);
    let two = |large: i64, unit: &str, small: i64, subunit: &str| match small {
        0 => format!("{large}{unit}"),
        _ => format!("{large}{unit}{small}{subunit}"),
    };
    match () {
        () if s < 10 && ms % 1000 / 100 != 0 => format!("{s}.{}s", ms % 1000 / 100),
        () if s < 60 => format!("{s}s"),
        () if s < 3600 => two(m, "m", rest, "s"),
        () if s < 86_400 => two(h, "h", m, "m"),
        () => two(d, "d", h, "h"),
    }
}

/// `1 node`, `5,000 nodes`.
pub(crate) fn count(many: usize, noun: &str) -> String {
    if many == 1 { format!("1 {noun}") } else { format!("{} {noun}s", number(many)) }
}

/// With commas between thousands.
pub(crate) fn number(number: impl ToString) -> String {
    let digits = number.to_string();
    let comma = |at: usize| at > 0 && (digits.len() - at) % 3 == 0;
    let grouped = digits.chars().enumerate().flat_map(|(at, c)| [comma(at).then_some(','), Some(c)]);
    grouped.flatten().collect()
}

/// How a pod is.
pub(crate) fn pod(pod: &PodNow<'_>, available: bool) -> String {
    match (pod.leaving, pod.phase) {
        (Some(Some(reason)), _) => format!("terminating: {}", deleting(reason)),
        (Some(None), _) => "terminating".to_owned(),
        (None, Phase::Ready { .. }) if available => "available".to_owned(),
        (None, Phase::Ready { .. }) => "Ready, not yet for minReadySeconds".to_owned(),
        (None, Phase::Pending) => "starting".to_owned(),
        (None, Phase::Unready(trouble)) => format!("not Ready: {}", hurt(trouble)),
        (None, Phase::Failed(trouble)) => format!("failed: {}", hurt(trouble)),
    }
}

fn hurt(trouble: PodTrouble) -> String {
    match trouble {
        PodTrouble::Crashed => "its container ended".to_owned(),
        PodTrouble::ProbeFailed => "its readiness probe failed".to_owned(),
        PodTrouble::NodeUnready => "its node is not Ready".to_owned(),
        PodTrouble::Evicted => "evicted, as its node was short of something".to_owned(),
        other => format!("{other:?}"),
    }
}
