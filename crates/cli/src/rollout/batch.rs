//! A line of a batch: a create, an update or a rollout command; its members say which.

use crate::manifest::requests::{self, Answered, PatchFormat, Subresource};
use crate::rollout::kubectl_command;
use crate::shell::console::system_clock;
use crate::shell::lines::{RefusedLine, at_column, name};
use daemonset_apiserver::admission::FieldValidation;
use jiff::Timestamp;
use kubectl_daemonset::kubectl::ManifestVerb;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Create {
    object: Value,
    /// As kubectl names the manifest's file; its texts have it then.
    filename: Option<String>,
    #[serde(default)]
    field_validation: Validation,
}

/// As in a request to the API server.
#[derive(Clone, Copy, Default, Deserialize)]
enum Validation {
    Ignore,
    #[default]
    Warn,
    Strict,
}

impl Validation {
    fn field_validation(self) -> FieldValidation {
        match self {
            Validation::Ignore => FieldValidation::Ignore,
            Validation::Warn => FieldValidation::Warn,
            Validation::Strict => FieldValidation::Strict,
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct UpdateLine {
    before: Value,
    patch: Value,
    #[serde(default)]
    patch_type: Option<PatchFormat>,
    #[serde(default)]
    subresource: Option<Subresource>,
}

#[derive(Deserialize)]
struct RolloutLine {
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
pub(crate) enum BatchAnswer {
    Create {
        name: Option<String>,
        code: i32,
        stderr: String,
        stored: Option<Value>,
        /// The texts of kubectl's lines `Warning: …`, which `stderr` does not have.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        warnings: Vec<String>,
    },
    Change {
        name: Option<String>,
        code: i32,
        stdout: String,
        stderr: String,
        after: Value,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        warnings: Vec<String>,
    },
}

/// Answers one line.
pub(crate) fn answer(line: &str) -> Result<BatchAnswer, RefusedLine> {
    let refused = |error: String| RefusedLine { name: name(line), error };
    let whole: Value = serde_json::from_str(line).map_err(|error| refused(at_column(&error)))?;
    let has = |member: &str| whole.get(member).is_some_and(|value| !value.is_null());
    let name = whole.get("name").and_then(Value::as_str).map(str::to_owned);
    let answer = if has("command") {
        rollout(name, read(&whole).map_err(refused)?)
    } else if has("patch") {
        Ok(update(name, read(&whole).map_err(refused)?))
    } else if has("object") {
        Ok(create(name, &read(&whole).map_err(refused)?))
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

fn create(name: Option<String>, line: &Create) -> BatchAnswer {
    let Answered { result, warnings } =
        requests::create(&line.object, line.field_validation.field_validation());
    match result {
        Ok(stored) => {
            BatchAnswer::Create { name, code: 0, stderr: String::new(), stored: Some(stored), warnings }
        }
        Err(refused) => {
            let source = line.filename.as_deref().map(|filename| (ManifestVerb::Create, filename));
            let stderr = format!("{}\n", refused.text(source));
            BatchAnswer::Create { name, code: 1, stderr, stored: None, warnings }
        }
    }
}

fn update(name: Option<String>, line: UpdateLine) -> BatchAnswer {
    let patch_type = line.patch_type.unwrap_or_default();
    let subresource = line.subresource.unwrap_or_default();
    let Answered { result, warnings } = requests::patch(&line.before, &line.patch, patch_type, subresource);
    match result {
        Ok(patched) => {
            let (stdout, after) = (patched.message(), patched.after);
            BatchAnswer::Change { name, code: 0, stdout, stderr: String::new(), after, warnings }
        }
        Err(refused) => {
            let stderr = format!("{}\n", refused.text(None));
            BatchAnswer::Change { name, code: 1, stdout: String::new(), stderr, after: line.before, warnings }
        }
    }
}

fn rollout(name: Option<String>, line: RolloutLine) -> Result<BatchAnswer, String> {
    let Before { daemon_set, revisions } = line.before;
    let revisions = revisions.unwrap_or_default();
    let now = || line.now.or_else(|| restarted_at(&line.after)).unwrap_or_else(system_clock);
    let answer = kubectl_command::answer(&line.command, &daemon_set, &revisions, now)?;
    let after = serde_json::json!({
        "daemonSet": answer.after.unwrap_or(daemon_set),
        "revisions": revisions,
    });
    let (code, stdout, stderr) = (answer.code, answer.stdout, answer.stderr);
    Ok(BatchAnswer::Change { name, code, stdout, stderr, after, warnings: Vec::new() })
}

/// When the real kubectl restarted it.
fn restarted_at(after: &Value) -> Option<Timestamp> {
    let annotations = after.pointer("/daemonSet/spec/template/metadata/annotations")?;
    annotations.get("kubectl.kubernetes.io/restartedAt")?.as_str()?.parse().ok()
}
