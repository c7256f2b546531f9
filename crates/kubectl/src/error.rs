//! Why kubectl refuses to tell or to do something: its own words.

use daemonset_apiserver::go::quoted;
use thiserror::Error;

/// Why there is no answer. Prints as kubectl prints it after `error: `.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RolloutError {
    /// The strategy is another one: nobody rolls anything out (v1.36 kubectl `rollout_status.go`).
    #[error("rollout status is only available for RollingUpdate strategy type")]
    NotRollingUpdate,
    /// A revision asked for is below 0 (v1.36 kubectl `rollout_history.go Validate`).
    #[error("revision must be a positive integer: {0}")]
    NotPositive(i64),
    /// The history to be shown has no such revision (v1.36 kubectl `history.go printHistory`).
    #[error("unable to find the specified revision")]
    NoSuchRevision,
    /// The revision's data is no patch that gives a DaemonSet (v1.36 kubectl `history.go printHistory`).
    #[error("unable to parse history {revision}")]
    #[non_exhaustive]
    Unparsable {
        /// Name of the ControllerRevision.
        revision: String,
        /// What is wrong with it; kubectl does not tell.
        reason: String,
    },
    /// The same, when it is tried by the client alone (v1.36 kubectl `rollback.go`).
    #[error("{0}")]
    NotApplied(String),
    /// There is no revision before the last one (v1.36 kubectl `rollback.go`).
    #[error("no last revision to roll back to")]
    NoLastRevision,
    /// There is no such revision to go back to (v1.36 kubectl `rollback.go revisionNotFoundErr`).
    #[error("unable to find specified revision {0} in history")]
    NotInHistory(i64),
    /// The API server would refuse the restored DaemonSet (v1.36 kubectl `rollback.go`).
    #[error("failed restoring revision {to}: {reason}")]
    #[non_exhaustive]
    NotRestored {
        /// The revision as asked for: 0 for the last one.
        to: i64,
        /// The API server's answer.
        reason: String,
    },
    /// The annotation has this second already (v1.36 kubectl `rollout_restart.go`).
    #[error(
        "failed to create patch for {0}: if restart has already been triggered within the past second, please wait before attempting to trigger another"
    )]
    RestartedThisSecond(String),
    /// The API server would refuse the restarted DaemonSet (v1.36 kubectl `rollout_restart.go`).
    #[error("failed to patch: {0}")]
    NotPatched(String),
    /// DaemonSets can't be paused (v1.36 kubectl `objectpauser.go`).
    #[error("error: daemonsets.apps {} pausing is not supported", quoted(.0))]
    CannotPause(String),
    /// DaemonSets can't be resumed (v1.36 kubectl `objectresumer.go`).
    #[error("error: daemonsets.apps {} resuming is not supported", quoted(.0))]
    CannotResume(String),
    /// The selector can't be used (v1.36 kubectl `history.go daemonSetHistory`).
    #[error("failed to create selector for DaemonSet {name}: {reason}")]
    #[non_exhaustive]
    Selector {
        /// Name of the DaemonSet.
        name: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The object is no DaemonSet.
    #[error("failed to convert the object to a DaemonSet: {0}")]
    NotADaemonSet(String),
    /// A rollback names another DaemonSet than the one it is asked of (proposal: DaemonSetRollback `name`).
    #[error("the rollback is for DaemonSet {asked}, not {name}")]
    #[non_exhaustive]
    OtherDaemonSet {
        /// The name in the request.
        asked: String,
        /// The DaemonSet's own.
        name: String,
    },
}
