//! Durations, numbers and failures as a person would say them.

use daemonset::report::{FailingNode, FailureEvidence};

/// `2m30s` of milliseconds; tenths only below ten seconds.
pub fn duration(ms: i64) -> String {
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
pub fn count(many: usize, noun: &str) -> String {
    if many == 1 { format!("1 {noun}") } else { format!("{} {noun}s", number(many)) }
}

/// With commas between thousands.
pub fn number(number: impl ToString) -> String {
    let digits = number.to_string();
    let comma = |at: usize| at > 0 && (digits.len() - at).is_multiple_of(3);
    let grouped = digits.chars().enumerate().flat_map(|(at, c)| [comma(at).then_some(','), Some(c)]);
    grouped.flatten().collect()
}

/// Why a version failed: by how many nodes, and for what.
pub fn failure(reason: &str, failing: &[FailingNode]) -> String {
    let mut causes: Vec<String> = failing.iter().map(|failing| cause(&failing.evidence)).collect();
    causes.sort_unstable();
    causes.dedup();
    match reason {
        "TooManyFailures" if !failing.is_empty() => {
            format!("{}: {}", count(failing.len(), "node"), causes.join(", "))
        }
        "ProgressDeadlineExceeded" => "no progress in time".to_owned(),
        other => other.to_owned(),
    }
}

fn cause(evidence: &FailureEvidence) -> String {
    match evidence {
        FailureEvidence::NodeDown { .. } => "went down".to_owned(),
        FailureEvidence::PodFailed { .. } => "pod failed".to_owned(),
        FailureEvidence::TooManyRestarts { .. } => "too many restarts".to_owned(),
        FailureEvidence::Waiting { reason, .. } => reason.clone(),
        FailureEvidence::Unavailable { .. } => "not available in time".to_owned(),
        other => other.to_string(),
    }
}
