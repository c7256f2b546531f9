//! Status, history, undo, restart and diff of a DaemonSet in a file.

use crate::rollout::args::{Format, From};
use crate::rollout::cluster::{Chosen, Cluster, name};
use crate::rollout::told::Told;
use crate::shell::console::Stop;
use daemonset_kubectl::{Command, DryRun, Undo, answer};
use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Value, json};

/// Reads the file, and takes the DaemonSet out of it.
pub(crate) fn chosen(from: &From) -> Result<(Cluster, Chosen), Stop> {
    let source = from.source();
    let told = |message: String| Stop::Input(format!("{source}: {message}"));
    let cluster = Cluster::read(&source).map_err(told)?;
    let chosen = cluster.choose(from.daemonset.as_deref()).map_err(told)?;
    Ok((cluster, chosen))
}

pub(crate) fn status(from: &From, revision: i64) -> Result<Told, Stop> {
    let (_, Chosen { daemon_set, revisions }) = chosen(from)?;
    let answer = answer(&Command::Status { revision: Some(revision) }, &daemon_set.value, &revisions);
    Told::answer(answer, from.output, &daemonset_kubectl::status(&daemon_set.value, Some(revision)).ok())
}

pub(crate) fn history(from: &From, revision: i64) -> Result<Told, Stop> {
    let (_, Chosen { daemon_set, revisions }) = chosen(from)?;
    let answer = answer(&Command::History { revision: Some(revision) }, &daemon_set.value, &revisions);
    let behind = match revision {
        0 => json!(daemonset_kubectl::history(&daemon_set.value, &revisions).ok()),
        number => match daemonset_kubectl::history_of(&daemon_set.value, &revisions, number) {
            Ok(Some(found)) => {
                json!({"revision": found.revision, "name": found.name, "template": found.template})
            }
            Ok(None) | Err(_) => Value::Null,
        },
    };
    Told::answer(answer, from.output, &behind)
}

/// What there is behind an undo.
#[derive(Serialize)]
#[serde(tag = "type", rename_all_fields = "camelCase")]
enum Undone<'a> {
    /// The patches to send, and the DaemonSet after them.
    RolledBack { patches: &'a daemonset_kubectl::Patches, after: &'a Value },
    /// The template is that of the revision already.
    Skipped { to_revision: i64 },
    /// What the template would be.
    WouldRollBack { revision: i64, template: &'a Value },
}

pub(crate) fn undo(from: &From, to_revision: i64, dry_run: DryRun) -> Result<Told, Stop> {
    let (_, Chosen { daemon_set, revisions }) = chosen(from)?;
    let asked = Command::Undo { to_revision: Some(to_revision), dry_run };
    let answer = answer(&asked, &daemon_set.value, &revisions);
    let undone = daemonset_kubectl::undo(&daemon_set.value, &revisions, Some(to_revision), dry_run).ok();
    let behind = undone.as_ref().map(|undone| match undone {
        Undo::RolledBack(change) => Undone::RolledBack { patches: &change.patches, after: &change.after },
        Undo::Skipped { to, .. } => Undone::Skipped { to_revision: *to },
        Undo::WouldRollBack(found) => {
            Undone::WouldRollBack { revision: found.revision, template: &found.template }
        }
    });
    Told::answer(answer, from.output, &behind)
}

pub(crate) fn restart(from: &From, now: Timestamp) -> Result<Told, Stop> {
    let (_, Chosen { daemon_set, revisions }) = chosen(from)?;
    let answer = answer(&Command::Restart { now }, &daemon_set.value, &revisions);
    Told::answer(answer, from.output, &daemonset_kubectl::restart(&daemon_set.value, now).ok())
}

/// The difference between two revisions, or between one and the template as it is.
pub(crate) fn diff(from: &From, older: i64, newer: Option<i64>) -> Result<Told, Stop> {
    let (_, Chosen { daemon_set, revisions }) = chosen(from)?;
    let history = match daemonset_kubectl::history(&daemon_set.value, &revisions) {
        Ok(history) => history,
        Err(error) => return Ok(Told::refusal(format_args!("error: {error}"))),
    };
    let numbered = |number: i64| {
        let entry = history.revisions.iter().find(|entry| entry.revision == number)?;
        revisions.iter().find(|revision| name(revision) == entry.name)
    };
    let now = as_revision(&daemon_set.value);
    let (Some(older), Some(newer)) = (numbered(older), newer.map_or(Some(&now), numbered)) else {
        return Ok(Told::refusal("error: unable to find the specified revision"));
    };
    let diff = daemonset_kubectl::diff(older, newer);
    match from.output {
        Format::Json => Told::json(&diff),
        Format::Text => Ok(Told::words(diff.unified)),
    }
}

/// The template as it is, in the form of a revision.
fn as_revision(daemon_set: &Value) -> Value {
    let template = daemon_set.pointer("/spec/template");
    json!({"metadata": {"name": name(daemon_set)}, "data": {"spec": {"template": template}}, "revision": 0})
}
