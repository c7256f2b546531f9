//! kubectl's answer to a command about one DaemonSet.

use crate::cluster::{name, namespace};
use crate::rollout::kubectl_command::target::KubectlTarget;
use crate::rollout::kubectl_command::{KubectlCommand, OutputFormat, Unusable, Verb};
use jiff::Timestamp;
use kubectl_daemonset::kubectl::{self, Answer, RolloutError};
use serde_json::Value;

/// Namespaces that every cluster has.
const ALWAYS_THERE: [&str; 4] = ["default", "kube-system", "kube-public", "kube-node-lease"];

/// Answers a command, where a cluster holds just this DaemonSet and these revisions.
pub(crate) fn answer(
    command: &str,
    daemon_set: &Value,
    revisions: &[Value],
    now: impl FnOnce() -> Timestamp,
) -> Result<Answer, String> {
    match KubectlCommand::parse(command) {
        Ok(command) => Ok(run(&command, daemon_set, revisions, now)),
        Err(Unusable::Kubectl(stderr)) => Ok(refusal(stderr)),
        Err(Unusable::Unanswered(why)) => Err(why),
    }
}

fn run(
    command: &KubectlCommand,
    daemon_set: &Value,
    revisions: &[Value],
    now: impl FnOnce() -> Timestamp,
) -> Answer {
    let asked = asked(&command.verb, now);
    if let Some(stderr) = not_there(command, daemon_set).filter(|_| !negative(&command.verb)) {
        return refusal(stderr);
    }
    if let (OutputFormat::Objects(format), Verb::History { revision }) = (command.output, &command.verb) {
        return objects(kubectl::history_text(daemon_set, revisions, *revision, format));
    }
    let mut answer = kubectl::answer(&asked, daemon_set, revisions);
    match command.output {
        OutputFormat::Name if answer.code == 0 => {
            let each = format!("daemonset.apps/{}\n", name(daemon_set));
            answer.stdout = each.repeat(printed(&command.verb, daemon_set, revisions));
        }
        OutputFormat::Name | OutputFormat::Words | OutputFormat::Objects(_) => {}
    }
    answer
}

fn objects(text: Result<String, RolloutError>) -> Answer {
    match text {
        Ok(stdout) => {
            let mut answer = Answer::default();
            answer.stdout = stdout;
            answer
        }
        Err(error) => Answer::from_error(&error),
    }
}

/// How many objects kubectl prints with `-o name`: for a history, the DaemonSet as it was at each revision.
fn printed(verb: &Verb, daemon_set: &Value, revisions: &[Value]) -> usize {
    match verb {
        Verb::History { revision: 0 } => {
            kubectl::history(daemon_set, revisions).map_or(0, |history| history.revisions.len())
        }
        Verb::History { .. }
        | Verb::Status { .. }
        | Verb::Undo { .. }
        | Verb::Restart
        | Verb::Pause
        | Verb::Resume => 1,
    }
}

/// kubectl refuses these before it asks for the object.
fn negative(verb: &Verb) -> bool {
    match verb {
        Verb::Status { revision } | Verb::History { revision } => *revision < 0,
        Verb::Undo { .. } | Verb::Restart | Verb::Pause | Verb::Resume => false,
    }
}

fn asked(verb: &Verb, now: impl FnOnce() -> Timestamp) -> kubectl::Command {
    match *verb {
        Verb::Status { revision } => kubectl::Command::Status { revision: Some(revision) },
        Verb::History { revision } => kubectl::Command::History { revision: Some(revision) },
        Verb::Undo { to_revision, dry_run } => {
            kubectl::Command::Undo { to_revision: Some(to_revision), dry_run }
        }
        Verb::Restart => kubectl::Command::Restart { now: now() },
        Verb::Pause => kubectl::Command::Pause,
        Verb::Resume => kubectl::Command::Resume,
    }
}

/// The API server's answer where it has no such object, as kubectl prints it.
fn not_there(command: &KubectlCommand, daemon_set: &Value) -> Option<String> {
    let at_home = |asked: &str| asked == namespace(daemon_set);
    let elsewhere = command.namespace.as_deref().filter(|asked| !at_home(asked));
    let not_found =
        |what: &str, name: &str| Some(format!("Error from server (NotFound): {what} {name:?} not found\n"));
    match (elsewhere, &command.target) {
        (Some(other), _) if !ALWAYS_THERE.contains(&other) => not_found("namespaces", other),
        (Some(other), KubectlTarget::Every) => Some(format!("No resources found in {other} namespace.\n")),
        (Some(_), KubectlTarget::Named(asked)) => not_found("daemonsets.apps", asked),
        (None, KubectlTarget::Named(asked)) if asked != name(daemon_set) => {
            not_found("daemonsets.apps", asked)
        }
        (None, KubectlTarget::Named(_) | KubectlTarget::Every) => None,
    }
}

fn refusal(stderr: String) -> Answer {
    let mut answer = Answer::default();
    (answer.code, answer.stderr) = (1, stderr);
    answer
}
