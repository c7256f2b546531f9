//! Whole commands: standard output, standard error and exit code.

use super::error::RolloutError;
use super::fields::name;
use super::history::{history, history_of};
use super::restart::{pause, restart, resume};
use super::status::{not_negative, status};
use super::undo::{DryRun, Undo, undo};
use daemonset::model::Owner;
use daemonset_apiserver::json::{LAST_APPLIED, member};
use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;

/// A `kubectl rollout` command for one DaemonSet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Command {
    /// `kubectl rollout status ds/web [--revision=N]`, for the current state (`--watch=false`).
    Status {
        /// `None` and 0 watch the latest revision.
        revision: Option<i64>,
    },
    /// `kubectl rollout history ds/web [--revision=N]`.
    History {
        /// `None` and 0 show the list of revisions.
        revision: Option<i64>,
    },
    /// `kubectl rollout undo ds/web [--to-revision=N] [--dry-run=…]`.
    Undo {
        /// `None` and 0 go back to the revision before the last.
        to_revision: Option<i64>,
        /// Whether the undo is only tried, and by whom.
        dry_run: DryRun,
    },
    /// `kubectl rollout restart ds/web`.
    Restart {
        /// The time for the annotation.
        now: Timestamp,
    },
    /// `kubectl rollout pause ds/web`.
    Pause,
    /// `kubectl rollout resume ds/web`.
    Resume,
}

/// The result of a command.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[must_use]
#[non_exhaustive]
pub struct Answer {
    /// Exit code.
    pub code: i32,
    /// The text on standard output.
    pub stdout: String,
    /// The text on standard error.
    pub stderr: String,
    /// The DaemonSet after the command; `None` if the command changes nothing.
    pub after: Option<Value>,
}

/// The result of a command, given the DaemonSet and the ControllerRevisions of the API server.
pub fn answer(command: &Command, daemon_set: &Value, revisions: &[Value]) -> Answer {
    let found = match *command {
        Command::Status { revision } => status(daemon_set, revision)
            .map(|progress| Answer::from_stdout(progress.line(&Owner::from_object(daemon_set)))),
        Command::History { revision } => history_answer(daemon_set, revisions, revision),
        Command::Undo { to_revision, dry_run } => {
            return with_apply_warning(daemon_set, undo_answer(daemon_set, revisions, to_revision, dry_run));
        }
        Command::Restart { now } => restart(daemon_set, now).map(|change| Answer {
            after: Some(change.after),
            ..Answer::from_stdout(named(daemon_set, "restarted"))
        }),
        Command::Pause => pause(daemon_set).map(|never| match never {}),
        Command::Resume => resume(daemon_set).map(|never| match never {}),
    };
    found.unwrap_or_else(|error| Answer::from_error(&error))
}

impl Answer {
    fn from_stdout(stdout: String) -> Self {
        Answer { stdout, ..Answer::default() }
    }

    /// The result of a refused command: `error: ` and the message on standard error, exit code 1 (v1.36 kubectl
    /// `helpers.go checkErr`).
    pub fn from_error(error: &RolloutError) -> Self {
        let message = error.to_string();
        let prefix = if message.starts_with("error: ") { "" } else { "error: " };
        Answer { code: 1, stderr: format!("{prefix}{message}\n"), ..Answer::default() }
    }
}

/// v1.36 kubectl `rollout_history.go Run`.
fn history_answer(
    daemon_set: &Value,
    revisions: &[Value],
    revision: Option<i64>,
) -> Result<Answer, RolloutError> {
    let shown = match not_negative(revision)? {
        0 => format!("\n{}", history(daemon_set, revisions)?),
        revision => {
            let template = history_of(daemon_set, revisions, revision)?;
            let description =
                template.map_or("No rollout history found.".to_owned(), |found| found.to_string());
            format!("with revision #{revision}\n{description}")
        }
    };
    Ok(Answer::from_stdout(named(daemon_set, &shown)))
}

/// v1.36 kubectl `rollout_undo.go RunUndo`.
fn undo_answer(
    daemon_set: &Value,
    revisions: &[Value],
    to: Option<i64>,
    dry_run: DryRun,
) -> Result<Answer, RolloutError> {
    let undo = undo(daemon_set, revisions, to, dry_run)?;
    let tried = match dry_run {
        DryRun::None => "",
        DryRun::Client => " (dry run)",
        DryRun::Server => " (server dry run)",
    };
    let stdout = named(daemon_set, &format!("{undo}{tried}"));
    let after = match undo {
        Undo::RolledBack(change) if dry_run == DryRun::None => Some(change.after),
        Undo::RolledBack(_) | Undo::Skipped { .. } | Undo::WouldRollBack(_) => None,
    };
    Ok(Answer { after, ..Answer::from_stdout(stdout) })
}

/// Adds the warning that an undo does not update the annotation of `kubectl apply`, whether the undo succeeds or not.
fn with_apply_warning(daemon_set: &Value, found: Result<Answer, RolloutError>) -> Answer {
    let mut answer = found.unwrap_or_else(|error| Answer::from_error(&error));
    let annotations = daemon_set.get("metadata").and_then(|metadata| member(metadata, "annotations"));
    if annotations.is_some_and(|annotations| annotations.get(LAST_APPLIED).is_some()) {
        let warning = format!(
            "Warning: resource {}/{} was previously managed with 'kubectl apply'. Rolling back will not update the {LAST_APPLIED} annotation, which may cause unexpected behavior on future 'kubectl apply' operations. Consider using 'kubectl apply' with your previous configuration file instead.\n",
            Owner::from_object(daemon_set).plural,
            name(daemon_set)
        );
        answer.stderr.insert_str(0, &warning);
    }
    answer
}

/// The object and the operation (v1.36 cli-runtime `printers/name.go`).
fn named(daemon_set: &Value, done: &str) -> String {
    let name = Some(name(daemon_set)).filter(|name| !name.is_empty()).unwrap_or("<unknown>");
    let kind = Owner::from_object(daemon_set).qualified_kind().to_ascii_lowercase();
    format!("{kind}/{name} {done}\n")
}
