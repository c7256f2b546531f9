//! The update strategy in force, read apart from the planner.

use daemonset::Snapshot;
use daemonset::model::IntOrString;

/// The update strategy with its limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Strategy {
    OnDelete,
    /// Delete first: maxUnavailable.
    Replace(IntOrString),
    /// Create first: maxSurge.
    Surge(IntOrString),
}

impl Strategy {
    /// The one that the policy drives, if there is one, and else the DaemonSet's. The check of a snapshot refuses a limit that can't be
    /// read.
    pub(crate) fn in_force(snapshot: &Snapshot<'_>) -> Self {
        let spec = snapshot.spec();
        let written =
            spec.policy.external_controller.as_ref().unwrap_or(&spec.daemon_set.spec.update_strategy);
        let one = IntOrString::Int(1);
        match written.kind.as_str() {
            "RollingUpdate" => {
                let limits = written.rolling_update.as_ref();
                let max_unavailable = limits.and_then(|limits| limits.max_unavailable).unwrap_or(one);
                let max_surge = limits.and_then(|limits| limits.max_surge);
                let is_none = |limit| matches!(limit, IntOrString::Int(0) | IntOrString::Percent(0));
                match max_surge {
                    Some(limit) if !is_none(limit) => Strategy::Surge(limit),
                    Some(_) | None => Strategy::Replace(max_unavailable),
                }
            }
            "SurgingRollingUpdate" => {
                let max_surge = written.surging_rolling_update.as_ref().and_then(|limits| limits.max_surge);
                Strategy::Surge(max_surge.unwrap_or(one))
            }
            _ => Strategy::OnDelete,
        }
    }
}
