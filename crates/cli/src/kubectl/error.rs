//! Errors of rollout commands, in kubectl's words.

use daemonset_apiserver::go::quoted;
use thiserror::Error;

/// The refusal of a command. Prints as kubectl prints it after `error: `.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RolloutError {
    /// The update strategy is not RollingUpdate, so no rollout takes place (v1.36 kubectl `rollout_status.go`).
    #[error("rollout status is only available for RollingUpdate strategy type")]
    NotRollingUpdate,
    /// The requested revision is negative (v1.36 kubectl `rollout_history.go Validate`).
    #[error("revision must be a positive integer: {0}")]
    NotPositive(i64),
    /// The history does not have the requested revision (v1.36 kubectl `history.go printHistory`).
    #[error("unable to find the specified revision")]
    NoSuchRevision,
    /// The revision's data is no patch that restores a DaemonSet (v1.36 kubectl `history.go printHistory`).
    #[error("unable to parse history {revision}")]
    #[non_exhaustive]
    Unparsable {
        /// Name of the ControllerRevision.
        revision: String,
        /// The reason, which kubectl does not print.
        reason: String,
    },
    /// Kubectl can't read its own JSON as YAML (v1.37 cli-runtime `printers/yaml.go`).
    #[error("yaml: control characters are not allowed")]
    ControlCharacters,
    /// The revision's data is no patch that restores a DaemonSet, in a dry run by the client (v1.36 kubectl
    /// `rollback.go`).
    #[error("{0}")]
    NotApplied(String),
    /// The history has no revision before the last one (v1.36 kubectl `rollback.go`).
    #[error("no last revision to roll back to")]
    NoLastRevision,
    /// The history does not have the revision to go back to (v1.36 kubectl `rollback.go revisionNotFoundErr`).
    #[error("unable to find specified revision {0} in history")]
    NotInHistory(i64),
    /// The API server would refuse the restored DaemonSet (v1.36 kubectl `rollback.go`).
    #[error("failed restoring revision {to}: {reason}")]
    #[non_exhaustive]
    NotRestored {
        /// The requested revision: 0 for the last one.
        to: i64,
        /// The API server's answer.
        reason: String,
    },
    /// The annotation already has the current second (v1.36 kubectl `rollout_restart.go`).
    #[error(
        "failed to create patch for {0}: if restart has already been triggered within the past second, please wait before attempting to trigger another"
    )]
    RestartedThisSecond(String),
    /// The API server would refuse the restarted DaemonSet (v1.36 kubectl `rollout_restart.go`).
    #[error("failed to patch: {0}")]
    NotPatched(String),
    /// DaemonSets can't be paused (v1.36 kubectl `objectpauser.go`).
    #[error("error: {resource} {} pausing is not supported", quoted(.name))]
    #[non_exhaustive]
    CannotPause {
        /// The resource, such as `daemonsets.apps`.
        resource: String,
        /// Name of the DaemonSet.
        name: String,
    },
    /// DaemonSets can't be resumed (v1.36 kubectl `objectresumer.go`).
    #[error("error: {resource} {} resuming is not supported", quoted(.name))]
    #[non_exhaustive]
    CannotResume {
        /// The resource, such as `daemonsets.apps`.
        resource: String,
        /// Name of the DaemonSet.
        name: String,
    },
    /// The selector is invalid (v1.36 kubectl `history.go daemonSetHistory`).
    #[error("failed to create selector for {kind} {name}: {reason}")]
    #[non_exhaustive]
    Selector {
        /// Kind of the object: `DaemonSet`.
        kind: String,
        /// Name of the DaemonSet.
        name: String,
        /// The reason.
        reason: String,
    },
    /// The object is no DaemonSet.
    #[error("failed to convert the object to a DaemonSet: {0}")]
    NotADaemonSet(String),
}
