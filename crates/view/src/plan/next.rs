//! When to look again.

use crate::words;
use daemonset::Plan;
use jiff::Timestamp;

/// When to look again, for a cell of a table.
pub fn next_in_short(plan: &Plan, now: Timestamp) -> String {
    match plan.requeue() {
        Some((at, _)) if at <= now => "at once".to_owned(),
        Some((at, reason)) => format!("{}: {}", words::relative(at, now), words::waking(reason)),
        None => "on a change".to_owned(),
    }
}

/// When to look again.
pub fn next(plan: &Plan, now: Timestamp) -> String {
    match plan.requeue() {
        Some((at, reason)) if at <= now => format!("at once: {}", words::waking(reason)),
        Some((at, reason)) => {
            let wait = words::relative(at, now);
            format!("look again at {at} ({wait}): {}", words::waking(reason))
        }
        None => "time alone changes nothing: look again when an object changes".to_owned(),
    }
}
