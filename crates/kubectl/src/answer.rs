//! What kubectl prints, and how it ends.

use super::error::RolloutError;
use super::fields::name;
use super::history::{history, history_of};
use super::restart::{pause, restart, resume};
use super::status::{not_negative, status};
use super::undo::{DryRun, Undo, undo};
use daemonset_apiserver::json::{LAST_APPLIED, member};
use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;

/// A `kubectl rollout` command for one DaemonSet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Command {
    /// `kubectl rollout status ds/web [--revision=N]`, answered for what is there now (`--watch=false`).
    Status {
        /// 0 and none watch whichever there is.
        revision: Option<i64>,
    },
    /// `kubectl rollout history ds/web [--revision=N]`.
    History {
        /// 0 and none ask for the list.
        revision: Option<i64>,
    },
    /// `kubectl rollout undo ds/web [--to-revision=N] [--dry-run=…]`.
    Undo {
        /// 0 and none go back to the one before the last.
        to_revision: Option<i64>,
        /// What is only tried.
        dry_run: DryRun,
    },
    /// `kubectl rollout restart ds/web`.
    Restart {
        /// The time to write down.
        now: Timestamp,
    },
    /// `kubectl rollout pause ds/web`.
    Pause,
    /// `kubectl rollout resume ds/web`.
    Resume,
}

/// What kubectl prints, how it ends, and what has changed.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[must_use]
#[non_exhaustive]
pub struct Answer {
    /// Exit code.
    pub code: i32,
    /// What goes to standard output.
    pub stdout: String,
    /// What goes to standard error.
    pub stderr: String,
    /// The DaemonSet after the command; none when it changes nothing.
    pub after: Option<Value>,
}

/// What kubectl answers to a command, given the DaemonSet and the ControllerRevisions that the API server has.
pub fn answer(command: &Command, daemon_set: &Value, revisions: &[Value]) -> Answer {
    let found = match *command {
        Command::Status { revision } => {
            status(daemon_set, revision).map(|progress| Answer::saying(progress.to_string()))
        }
        Command::History { revision } => shown(daemon_set, revisions, revision),
        Command::Undo { to_revision, dry_run } => {
            return warned(daemon_set, undone(daemon_set, revisions, to_revision, dry_run));
        }
        Command::Restart { now } => restart(daemon_set, now).map(|change| Answer {
            after: Some(change.after),
            ..Answer::saying(named(daemon_set, "restarted"))
        }),
        Command::Pause => pause(daemon_set).map(|never| match never {}),
        Command::Resume => resume(daemon_set).map(|never| match never {}),
    };
    found.unwrap_or_else(|error| Answer::from_error(&error))
}

impl Answer {
    fn saying(stdout: String) -> Self {
        Answer { stdout, ..Answer::default() }
    }

    /// `error: ` and the message, code 1 (v1.36 kubectl `helpers.go checkErr`).
    pub fn from_error(error: &RolloutError) -> Self {
        let message = error.to_string();
        let prefix = if message.starts_with("error: ") { "" } else { "error: " };
        Answer { code: 1, stderr: format!("{prefix}{message}\n"), ..Answer::default() }
    }
}

/// v1.36 kubectl `rollout_history.go Run`.
fn shown(daemon_set: &Value, revisions: &[Value], revision: Option<i64>) -> Result<Answer, RolloutError> {
    let told = match not_negative(revision)? {
        0 => format!("\n{}", history(daemon_set, revisions)?),
        revision => {
            let template = history_of(daemon_set, revisions, revision)?;
            let told = template.map_or("No rollout history found.".to_owned(), |found| found.to_string());
            format!("with revision #{revision}\n{told}")
        }
    };
    Ok(Answer::saying(named(daemon_set, &told)))
}

/// v1.36 kubectl `rollout_undo.go RunUndo`.
fn undone(
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
    Ok(Answer { after, ..Answer::saying(stdout) })
}

/// Warns of what `kubectl apply` keeps, whatever comes of the undo.
fn warned(daemon_set: &Value, found: Result<Answer, RolloutError>) -> Answer {
    let mut answer = found.unwrap_or_else(|error| Answer::from_error(&error));
    let annotations = daemon_set.get("metadata").and_then(|metadata| member(metadata, "annotations"));
    if annotations.is_some_and(|annotations| annotations.get(LAST_APPLIED).is_some()) {
        let warning = format!(
            "Warning: resource daemonsets/{} was previously managed with 'kubectl apply'. Rolling back will not update the {LAST_APPLIED} annotation, which may cause unexpected behavior on future 'kubectl apply' operations. Consider using 'kubectl apply' with your previous configuration file instead.\n",
            name(daemon_set)
        );
        answer.stderr.insert_str(0, &warning);
    }
    answer
}

/// What was done to which object (v1.36 cli-runtime `printers/name.go`).
fn named(daemon_set: &Value, done: &str) -> String {
    let name = Some(name(daemon_set)).filter(|name| !name.is_empty()).unwrap_or("<unknown>");
    format!("daemonset.apps/{name} {done}\n")
}
