//! The update strategy in force, with its limits.

use crate::model::{DaemonSet, IntOrString, LIMIT_MUST_BE, UpdateStrategy};
use crate::problem::{Problem, Problems};

/// The update strategy with its limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Strategy {
    OnDelete,
    /// Delete, then create: maxUnavailable.
    Replace(IntOrString),
    /// Create, then delete: maxSurge. maxUnavailable is then only reported.
    Surge {
        limit: IntOrString,
        max_unavailable: Option<IntOrString>,
    },
}

/// The strategy in force. An absent type is OnDelete, as in the proposal; surge is on when maxSurge is above 0 or 0 %,
/// regardless of the number of target nodes `[surge-without-targets]`.
pub(crate) fn strategy(ds: &DaemonSet, problems: &mut Problems) -> Strategy {
    let strategy = &ds.spec.update_strategy;
    match strategy.kind.as_str() {
        "" | "OnDelete" => Strategy::OnDelete,
        "RollingUpdate" => {
            let limits = strategy.rolling_update.clone().unwrap_or_default();
            limit(strategy, limits.max_unavailable, "rollingUpdate.maxUnavailable", problems);
            limit(strategy, limits.max_surge, "rollingUpdate.maxSurge", problems);
            let max_unavailable = limits.max_unavailable.unwrap_or(IntOrString::Int(1));
            match limits.max_surge.filter(|surge| !surge.is_zero()) {
                Some(limit) => Strategy::Surge { limit, max_unavailable: Some(max_unavailable) },
                None => Strategy::Replace(max_unavailable),
            }
        }
        "SurgingRollingUpdate" => {
            let name = "surgingRollingUpdate.maxSurge";
            let max_surge = strategy.surging_rolling_update.as_ref().and_then(|limits| limits.max_surge);
            limit(strategy, max_surge, name, problems);
            let surge = max_surge.unwrap_or(IntOrString::Int(1));
            if surge.is_zero() {
                let path = format!("spec.updateStrategy.{name}");
                problems.add(Problem::invalid(path, surge.to_string(), "must be greater than 0"));
            }
            Strategy::Surge { limit: surge, max_unavailable: None }
        }
        other => {
            let must = "must be OnDelete, RollingUpdate or SurgingRollingUpdate";
            problems.add(Problem::invalid("spec.updateStrategy.type", other, must));
            Strategy::OnDelete
        }
    }
}

/// Checks a limit that is in force. A limit made in code may be out of the range that JSON allows, and a recording of it
/// could not be read again.
fn limit(strategy: &UpdateStrategy, limit: Option<IntOrString>, name: &str, problems: &mut Problems) {
    let path = format!("spec.updateStrategy.{name}");
    match (limit, strategy.unreadable.get(name)) {
        (Some(limit), _) if !limit.is_in_range() => {
            problems.add(Problem::invalid(path, limit.to_string(), "must not be above 2147483647"));
        }
        (None, Some(value)) => {
            problems.add(Problem::invalid(path, format_args!("{value}"), LIMIT_MUST_BE));
        }
        (Some(_), _) | (None, None) => {}
    }
}
