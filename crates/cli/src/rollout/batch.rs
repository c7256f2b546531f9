//! A line of a batch: a create, an update or a rollout command; its members say which.

use crate::manifest::requests::{self, PatchType, Subresource};
use crate::rollout::kubectl_command;
use crate::shell::console::system_clock;
use crate::shell::lines::{Refused, at_column, name};
use jiff::Timestamp;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

#[derive(Deserialize)]
struct Create {
    object: Value,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Update {
    before: Value,
    patch: Value,
    #[serde(default)]
    patch_type: Option<PatchType>,
    #[serde(default)]
    subresource: Option<Subresource>,
}

#[derive(Deserialize)]
struct Rollout {
    command: String,
    before: Before,
    now: Option<Timestamp>,
    #[serde(default)]
    after: Value,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Before {
    daemon_set: Value,
    #[serde(default)]
    revisions: Option<Vec<Value>>,
}

/// With the members of its kind.
#[derive(Serialize)]
#[serde(untagged)]
pub(crate) enum Answer {
    Create { name: Option<String>, code: i32, stderr: String, stored: Option<Value> },
    Change { name: Option<String>, code: i32, stdout: String, stderr: String, after: Value },
}

/// Answers one line.
pub(crate) fn answer(line: &str) -> Result<Answer, Refused> {
    let refused = |error: String| Refused { name: name(line), error };
    let whole: Value = serde_json::from_str(line).map_err(|error| refused(at_column(&error)))?;
    let has = |member: &str| whole.get(member).is_some_and(|value| !value.is_null());
    let name = whole.get("name").and_then(Value::as_str).map(str::to_owned);
    let answer = if has("command") {
        rollout(name, read(&whole).map_err(refused)?)
    } else if has("patch") {
        Ok(update(name, read(&whole).map_err(refused)?))
    } else if has("object") {
        Ok(create(name, read(&whole).map_err(refused)?))
    } else {
        Err("neither a command nor a patch nor an object".to_owned())
    };
    answer.map_err(refused)
}

/// An error has the path.
fn read<T: DeserializeOwned>(line: &Value) -> Result<T, String> {
    serde_path_to_error::deserialize(line).map_err(|error| match error.path().to_string().as_str() {
        "." => error.inner().to_string(),
        path => format!("{path}: {}", error.inner()),
    })
}

fn create(name: Option<String>, line: Create) -> Answer {
    match requests::create(&line.object) {
        Ok(stored) => Answer::Create { name, code: 0, stderr: String::new(), stored: Some(stored) },
        Err(refusal) => Answer::Create { name, code: 1, stderr: format!("{refusal}\n"), stored: None },
    }
}

fn update(name: Option<String>, line: Update) -> Answer {
    let patch_type = line.patch_type.unwrap_or_default();
    let subresource = line.subresource.unwrap_or_default();
    match requests::patch(&line.before, &line.patch, patch_type, subresource) {
        Ok(patched) => {
            let (stdout, after) = (patched.message(), patched.after);
            Answer::Change { name, code: 0, stdout, stderr: String::new(), after }
        }
        Err(refusal) => {
            let stderr = format!("{refusal}\n");
            Answer::Change { name, code: 1, stdout: String::new(), stderr, after: line.before }
        }
    }
}

fn rollout(name: Option<String>, line: Rollout) -> Result<Answer, String> {
    let Before { daemon_set, revisions } = line.before;
    let revisions = revisions.unwrap_or_default();
    let now = || line.now.or_else(|| restarted_at(&line.after)).unwrap_or_else(system_clock);
    let answer = kubectl_command::answer(&line.command, &daemon_set, &revisions, now)?;
    let after = serde_json::json!({
        "daemonSet": answer.after.unwrap_or(daemon_set),
        "revisions": revisions,
    });
    let (code, stdout, stderr) = (answer.code, answer.stdout, answer.stderr);
    Ok(Answer::Change { name, code, stdout, stderr, after })
}

/// When the real kubectl restarted it.
fn restarted_at(after: &Value) -> Option<Timestamp> {
    let annotations = after.pointer("/daemonSet/spec/template/metadata/annotations")?;
    annotations.get("kubectl.kubernetes.io/restartedAt")?.as_str()?.parse().ok()
}
