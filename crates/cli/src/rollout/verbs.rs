//! kubectl's answers about one DaemonSet: history, undo, restart; and the difference of two revisions.

use crate::cluster::{Chosen, Needs, name};
use crate::rollout::args::{From, HistoryArgs};
use crate::rollout::{not_sent, on_daemon_set};
use crate::shell::console::{Format, Stop};
use crate::shell::response::Response;
use daemonset_view::hostile;
use jiff::Timestamp;
use kubectl_daemonset::kubectl::{self, Answer, Command, DryRun, ObjectFormat, Undo, answer, history_text};
use serde::Serialize;
use serde_json::{Value, json};

/// Reads the cluster, and takes the DaemonSet out of it.
fn chosen(from: &From) -> Result<Chosen, Stop> {
    let (source, wanted) = from.resolve()?;
    let chosen = source.objects(Needs::Rollout)?.choose(wanted.as_ref());
    let chosen = chosen.map_err(|message| source.stop(message))?;
    source.announce(from.output)?;
    Ok(chosen)
}

/// The command that makes a change, beside an answer that makes one.
fn tell_command(
    answer: &Answer,
    verb: &str,
    from: &From,
    daemon_set: &Value,
    flags: &str,
) -> Result<(), Stop> {
    use std::io::Write;
    if answer.after.is_some() {
        let daemon_set = hostile::in_one_line(&on_daemon_set(from, daemon_set));
        write!(std::io::stderr(), "{}", not_sent(&format!("kubectl rollout {verb}{daemon_set}{flags}")))?;
    }
    Ok(())
}

pub(crate) fn history(args: &HistoryArgs) -> Result<Response, Stop> {
    let (from, revision) = (args.from(), args.revision);
    let Chosen { mut daemon_set, mut revisions } = chosen(&from)?;
    if args.is_yaml() {
        // YAML has escapes of its own.
        revisions.iter_mut().chain([&mut daemon_set]).for_each(hostile::take_stand_ins);
        let printed = history_text(&daemon_set, &revisions, revision, ObjectFormat::Yaml);
        return Ok(match printed {
            Ok(text) => Response::text(text),
            Err(error) => Response::refusal(format_args!("error: {error}")),
        });
    }
    let answer = answer(&Command::History { revision: Some(revision) }, &daemon_set, &revisions);
    let data = match revision {
        0 => json!(kubectl::history(&daemon_set, &revisions).ok()),
        number => match kubectl::history_of(&daemon_set, &revisions, number) {
            Ok(Some(found)) => {
                json!({"revision": found.revision, "name": found.name, "template": found.template})
            }
            Ok(None) | Err(_) => Value::Null,
        },
    };
    Response::answer(answer, from.output, &data)
}

/// The data of an undo.
#[derive(Serialize)]
#[serde(tag = "type", rename_all_fields = "camelCase")]
enum UndoData<'a> {
    /// The patches to send, and the DaemonSet after them.
    RolledBack { patches: &'a kubectl::Patches, after: &'a Value },
    /// The template is already equal to the revision.
    Skipped { to_revision: i64 },
    /// The template as it would be.
    WouldRollBack { revision: i64, template: &'a Value },
}

pub(crate) fn undo(from: &From, to_revision: i64, dry_run: DryRun) -> Result<Response, Stop> {
    let Chosen { daemon_set, revisions } = chosen(from)?;
    let asked = Command::Undo { to_revision: Some(to_revision), dry_run };
    let answer = answer(&asked, &daemon_set, &revisions);
    let number = if to_revision == 0 { String::new() } else { format!(" --to-revision={to_revision}") };
    tell_command(&answer, "undo", from, &daemon_set, &number)?;
    let undone = kubectl::undo(&daemon_set, &revisions, Some(to_revision), dry_run).ok();
    let data = undone.as_ref().map(|undone| match undone {
        Undo::RolledBack(change) => UndoData::RolledBack { patches: &change.patches, after: &change.after },
        Undo::Skipped { to, .. } => UndoData::Skipped { to_revision: *to },
        Undo::WouldRollBack(found) => {
            UndoData::WouldRollBack { revision: found.revision, template: &found.template }
        }
    });
    Response::answer(tried(answer), from.output, &data)
}

/// kubectl's answer says that the change is made, and nothing is sent.
fn tried(mut answer: Answer) -> Answer {
    if answer.after.is_some() {
        answer.stdout = answer.stdout.trim_end().to_owned() + " (dry run)\n";
    }
    answer
}

pub(crate) fn restart(from: &From, now: Timestamp) -> Result<Response, Stop> {
    let Chosen { daemon_set, revisions } = chosen(from)?;
    let answer = answer(&Command::Restart { now }, &daemon_set, &revisions);
    tell_command(&answer, "restart", from, &daemon_set, "")?;
    Response::answer(tried(answer), from.output, &kubectl::restart(&daemon_set, now).ok())
}

/// The difference between two revisions, or between one and the template as it is. The word after the numbers may already be the
/// DaemonSet.
pub(crate) fn diff(from: &From, older: Option<&str>, newer: Option<&str>) -> Result<Response, Stop> {
    let number = |word: Option<&str>| word.and_then(|word| word.parse::<i64>().ok());
    let named = |word: &str, value: &str| {
        let target = from.target.named(word, &format!("{value}: must be a number"))?;
        Ok::<From, Stop>(From { target, ..from.clone() })
    };
    match (number(older), number(newer), older, newer) {
        (None, _, Some(_), Some(_)) => Err(Stop::Input("OLDER: must be a number".to_owned())),
        (None, _, Some(word), None) => diff_of(&named(word, "OLDER")?, None, None),
        (older, None, _, Some(word)) => diff_of(&named(word, "NEWER")?, older, None),
        (older, newer, ..) => diff_of(from, older, newer),
    }
}

fn diff_of(from: &From, older: Option<i64>, newer: Option<i64>) -> Result<Response, Stop> {
    let Chosen { daemon_set, revisions } = chosen(from)?;
    let history = match kubectl::history(&daemon_set, &revisions) {
        Ok(history) => history,
        Err(error) => return Ok(Response::refusal(format_args!("error: {error}"))),
    };
    let numbered = |number: i64| {
        let entry = history.revisions.iter().find(|entry| entry.revision == number)?;
        revisions.iter().find(|revision| name(revision) == entry.name)
    };
    let now = as_revision(&daemon_set);
    let is_unlike = |revision: &&Value| !kubectl::diff(revision, &now).differences.is_empty();
    let newest =
        || history.revisions.iter().rev().filter_map(|entry| numbered(entry.revision)).find(is_unlike);
    let is_named = older.is_some();
    let older = older.map_or_else(newest, numbered);
    let (Some(older), Some(newer)) = (older, newer.map_or(Some(&now), numbered)) else {
        let none = if is_named {
            "unable to find the specified revision"
        } else {
            "every revision is as the template is"
        };
        return Ok(Response::refusal(format_args!("error: {none}")));
    };
    let diff = kubectl::diff(older, newer);
    match from.output {
        Format::Json => Response::json(&diff),
        Format::Text => Ok(Response::text(diff.unified)),
    }
}

/// The template as it is, in the form of a revision.
fn as_revision(daemon_set: &Value) -> Value {
    let template = daemon_set.pointer("/spec/template");
    json!({"metadata": {"name": name(daemon_set)}, "data": {"spec": {"template": template}}, "revision": 0})
}
