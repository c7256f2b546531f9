//! A drain in a line of `plan --batch`.

use crate::shell::lines::{RefusedLine, at_column, name};
use daemonset::model::{Node, ObjectRef};
use daemonset_drain::{DaemonOwner, Drain, DrainPolicy, Pod, drain};
use jiff::Timestamp;
use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

/// The objects of a drain, in place of a Recording's.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct DrainLine {
    #[serde(default)]
    name: Option<String>,
    now: Timestamp,
    node: Node,
    #[serde(default)]
    pods: Option<Vec<Pod>>,
    #[serde(default)]
    daemon_sets: Option<Vec<DaemonOwner>>,
    /// The policy.
    drain: Value,
}

/// The answer to a line.
#[derive(Serialize)]
pub(crate) struct LineAnswer {
    name: String,
    drain: DecidedDrain,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct DecidedDrain {
    state: &'static str,
    /// As `namespace/name`.
    evict: Vec<String>,
    left: usize,
    blocked_by: Vec<Blocked>,
    look_again: Option<Timestamp>,
}

#[derive(Serialize)]
struct Blocked {
    pod: String,
    reason: daemonset_drain::BlockReason,
}

/// Whether the line has a policy of a drain, and so is no Recording.
pub(crate) fn is_drain(line: &str) -> bool {
    #[derive(Deserialize)]
    struct Members {
        #[serde(default, deserialize_with = "is_there")]
        drain: bool,
    }
    // Lines are long: most are not read a second time.
    line.contains("\"drain\"") && serde_json::from_str::<Members>(line).is_ok_and(|members| members.drain)
}

/// Null is a policy, too.
fn is_there<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    IgnoredAny::deserialize(deserializer).map(|_| true)
}

/// Answers a line.
pub(crate) fn answer_line(line: &str) -> Result<LineAnswer, RefusedLine> {
    let refused = |error: String| RefusedLine { name: name(line), error };
    let deserializer = &mut serde_json::Deserializer::from_str(line);
    let read: Result<DrainLine, _> = serde_path_to_error::deserialize(deserializer);
    let read = read.map_err(|error| refused(at_column(&error)))?;
    let policy = DrainPolicy::try_from(read.drain).map_err(|invalid| {
        let problems = invalid.problems.iter().map(|problem| match problem.path.as_str() {
            "" => format!("drain: {problem}"),
            _ => format!("drain.{problem}"),
        });
        refused(problems.collect::<Vec<_>>().join("; "))
    })?;
    let (pods, daemon_sets) = (read.pods.unwrap_or_default(), read.daemon_sets.unwrap_or_default());
    let decided = drain(&read.node, &pods, &daemon_sets, &policy, read.now);
    Ok(LineAnswer { name: read.name.unwrap_or_default(), drain: DecidedDrain::new(&decided) })
}

impl DecidedDrain {
    fn new(decided: &Drain) -> Self {
        let name = |pod: &ObjectRef| format!("{}/{}", pod.namespace, pod.name);
        let blocked = decided.state.blocked_by().iter();
        DecidedDrain {
            state: decided.state.as_str(),
            evict: decided.evict.iter().map(|evict| name(&evict.pod)).collect(),
            left: decided.state.left(),
            blocked_by: blocked.map(|by| Blocked { pod: name(&by.pod), reason: by.reason }).collect(),
            look_again: decided.look_again,
        }
    }
}
