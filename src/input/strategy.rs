//! The update strategy in force, with its limits.

use crate::input::Policy;
use daemonset_objects::Problem;
use daemonset_objects::internal::{LIMIT_MUST_BE, Problems};
use daemonset_objects::model::{DaemonSet, IntOrString, UpdateStrategy};

/// The update strategy with its limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strategy {
    OnDelete,
    /// Delete, then create: maxUnavailable.
    Replace(IntOrString),
    /// Create, then delete: maxSurge. maxUnavailable is then only reported.
    Surge {
        limit: IntOrString,
        max_unavailable: Option<IntOrString>,
    },
}

/// The DaemonSet's own strategy.
pub(crate) fn strategy(ds: &DaemonSet, problems: &mut Problems) -> Strategy {
    from_written(&ds.spec.update_strategy, "spec.updateStrategy", problems)
}

/// The strategy in force: the one to drive, if the policy has one.
pub fn in_force(ds: &DaemonSet, policy: &Policy, problems: &mut Problems) -> Strategy {
    let own = strategy(ds, problems);
    beside_external_controller(ds, policy, problems).unwrap_or(own)
}

/// The strategy to drive, if the policy has one.
pub(crate) fn beside_external_controller(
    ds: &DaemonSet,
    policy: &Policy,
    problems: &mut Problems,
) -> Option<Strategy> {
    let written = policy.external_controller.as_ref()?;
    let driven = from_written(written, "policy.drive", problems);
    let mut invalid = |path: &str, must: &str| {
        problems.add(Problem::invalid(path, &written.kind, must));
    };
    if !matches!(ds.spec.update_strategy.kind.as_str(), "" | "OnDelete") {
        invalid("policy.drive", "must be absent: only a DaemonSet with OnDelete can be driven");
    }
    match driven {
        Strategy::Replace(_) => {}
        // Another type is reported already.
        Strategy::OnDelete if !matches!(written.kind.as_str(), "" | "OnDelete") => {}
        Strategy::OnDelete => invalid("policy.drive.type", "must be RollingUpdate"),
        Strategy::Surge { .. } => {
            invalid("policy.drive", "must not surge: another controller creates the pods")
        }
    }
    Some(driven)
}

/// The strategy of a written one, whose field is at `at`. An absent type is OnDelete, as in the proposal; surge is on when
/// maxSurge is above 0 or 0 %, regardless of the number of target nodes `[surge-without-targets]`.
fn from_written(strategy: &UpdateStrategy, at: &str, problems: &mut Problems) -> Strategy {
    match strategy.kind.as_str() {
        "" | "OnDelete" => Strategy::OnDelete,
        "RollingUpdate" => {
            let limits = strategy.rolling_update.clone().unwrap_or_default();
            limit((strategy, at), limits.max_unavailable, "rollingUpdate.maxUnavailable", problems);
            limit((strategy, at), limits.max_surge, "rollingUpdate.maxSurge", problems);
            let max_unavailable = limits.max_unavailable.unwrap_or(IntOrString::Int(1));
            match limits.max_surge.filter(|surge| !surge.is_zero()) {
                Some(limit) => Strategy::Surge { limit, max_unavailable: Some(max_unavailable) },
                None => Strategy::Replace(max_unavailable),
            }
        }
        "SurgingRollingUpdate" => {
            let name = "surgingRollingUpdate.maxSurge";
            let max_surge = strategy.surging_rolling_update.as_ref().and_then(|limits| limits.max_surge);
            limit((strategy, at), max_surge, name, problems);
            let surge = max_surge.unwrap_or(IntOrString::Int(1));
            if surge.is_zero() {
                let path = format!("{at}.{name}");
                problems.add(Problem::invalid(path, surge.to_string(), "must be greater than 0"));
            }
            Strategy::Surge { limit: surge, max_unavailable: None }
        }
        other => {
            let must = "must be OnDelete, RollingUpdate or SurgingRollingUpdate";
            problems.add(Problem::invalid(format!("{at}.type"), other, must));
            Strategy::OnDelete
        }
    }
}

/// Checks a limit that is in force. A limit made in code may be out of the range that JSON allows, and a recording of it
/// could not be read again.
fn limit(
    (strategy, at): (&UpdateStrategy, &str),
    limit: Option<IntOrString>,
    name: &str,
    problems: &mut Problems,
) {
    let path = format!("{at}.{name}");
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
