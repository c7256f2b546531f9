//! The conditions `Available` and `Progressing` of a DaemonSet's status ([`Policy::conditions`](crate::Policy::conditions)).
//!
//! Kubernetes has the field (kubernetes#55272) and no condition for it. Their meaning follows KEP-2804, and that of a
//! Deployment's conditions; unlike there, some nodes may be without an available pod.

use crate::plan::progress::{Progress, Reason};
use jiff::Timestamp;
use serde_json::{Map, Value};

/// The types of the conditions that are this crate's, in the order in which they are added.
pub(crate) const TYPES: [&str; 2] = ["Available", "Progressing"];

/// A condition without its time.
struct Condition {
    reason: Reason,
    message: String,
}

/// The conditions after a plan: the previous ones in their order, with `Available` and `Progressing` changed or, where they
/// are missing, added. A condition of another type stays as it is, and so does anything that is no condition.
///
/// A message depends on the state alone, never on `now`: otherwise each plan would write the status again.
pub(crate) fn conditions(progress: &Progress, previous: &[Value], now: Timestamp) -> Vec<Value> {
    // Each is taken out when it has found its place. The others are added at the end.
    let mut new = [available(progress), progressing(progress, previous)].map(Some);
    let mut conditions = Vec::with_capacity(previous.len() + new.len());
    for old in previous {
        if !TYPES.into_iter().any(|name| is_of_type(old, name)) {
            conditions.push(old.clone());
            continue;
        }
        // Of two conditions of one type, which no API server stores, the second one goes.
        let is_this = |new: &&mut Option<Condition>| {
            new.as_ref().is_some_and(|new| is_of_type(old, new.reason.words().0))
        };
        let found = new.iter_mut().find(is_this).and_then(Option::take);
        conditions.extend(found.map(|condition| condition.after(old.as_object(), now)));
    }
    conditions.extend(new.into_iter().flatten().map(|condition| condition.after(None, now)));
    conditions
}

/// Whether this value is a condition of this type.
pub(crate) fn is_of_type(condition: &Value, name: &str) -> bool {
    condition.get("type").and_then(Value::as_str) == Some(name)
}

impl Condition {
    /// The condition in the place of the old one, whose other members stay. The time stays while the status does, if it can
    /// be read.
    fn after(self, old: Option<&Map<String, Value>>, now: Timestamp) -> Value {
        let (kind, status, reason) = self.reason.words();
        let mut members = old.cloned().unwrap_or_default();
        let same_status = members.get("status").and_then(Value::as_str) == Some(status);
        if !(same_status && has_time(&members)) {
            // As the API server writes times: in whole seconds.
            members.insert("lastTransitionTime".to_owned(), Value::from(format!("{now:.0}")));
        }
        // Members that this crate does not know stay as they are.
        members.insert("message".to_owned(), Value::from(self.message));
        for (member, text) in [("reason", reason), ("status", status), ("type", kind)] {
            members.insert(member.to_owned(), Value::from(text));
        }
        Value::Object(members)
    }
}

fn has_time(condition: &Map<String, Value>) -> bool {
    let time = condition.get("lastTransitionTime").and_then(Value::as_str);
    time.is_some_and(|time| time.parse::<Timestamp>().is_ok())
}

/// Whether no more target nodes than the limit allows are without an available pod. Excused nodes do not count.
fn available(progress: &Progress) -> Condition {
    let (reason, may) = if progress.unavailable <= progress.limit {
        (Reason::EnoughAvailable, String::new())
    } else {
        (Reason::TooManyUnavailable, format!(", and at most {} may", progress.limit))
    };
    let message = if progress.desired == 0 { NO_TARGETS.to_owned() } else { lack(progress, &may) };
    Condition { reason, message }
}

/// Whether the current revision is on all nodes.
///
/// It is about the rollout: a node that joins, reboots or loses its pod afterwards does not begin another one. So a
/// rollout that is complete stays so until the template changes or a live outdated pod is on a target node.
fn progressing(progress: &Progress, previous: &[Value]) -> Condition {
    let Progress { revision, begins, desired, done, outdated, .. } = progress;
    let complete = format!("{revision} is rolled out");
    let stays_complete = !begins && *outdated == 0 && was_complete(previous, &complete);
    // A version that has failed is not rolled out, although each node may have an available pod of it.
    let has_failed = progress.reason.is_of_failure();
    // Before the figures are compared: of no nodes all are done, and nothing has been rolled out.
    if *desired == 0 {
        return Condition { reason: Reason::Complete, message: NO_TARGETS.to_owned() };
    }
    if !has_failed && (done == desired || stays_complete) {
        return Condition { reason: Reason::Complete, message: complete };
    }
    let has = if *done == 1 { "has" } else { "have" };
    let (waiting, held) = (waiting(progress), held(progress));
    let mut message =
        format!("{done} of {desired} nodes {has} an available pod of {revision}{waiting}{held}");
    if progress.unavailable > 0 || progress.excused > 0 || progress.causes.deleted_by_update > 0 {
        message.push_str("; ");
        message.push_str(&lack(progress, ""));
    }
    message.push_str(&progress.why);
    Condition { reason: progress.reason, message }
}

/// `, 165 are not reached by the rollout`, or nothing.
fn held(progress: &Progress) -> String {
    match progress.held {
        0 => String::new(),
        1 => ", 1 is not reached by the rollout".to_owned(),
        nodes => format!(", {nodes} are not reached by the rollout"),
    }
}

const NO_TARGETS: &str = "no node should run the pod";

/// Whether the stored condition says that this revision is complete. The status of the plan that began a rollout may not have
/// been written: then the message is about another revision.
fn was_complete(previous: &[Value], message: &str) -> bool {
    let stored = previous.iter().find(|old| is_of_type(old, "Progressing"));
    let is = |member: &str, value: &str| {
        stored.and_then(|old| old.get(member)).and_then(Value::as_str) == Some(value)
    };
    let (_, status, reason) = Reason::Complete.words();
    // A fleet without nodes was complete, too: the first node that joins begins no rollout.
    is("status", status) && is("reason", reason) && (is("message", message) || is("message", NO_TARGETS))
}

/// `, 165 wait for the budget`, or nothing.
fn waiting(progress: &Progress) -> String {
    let waiting = progress.waiting;
    let verb = if waiting == 1 { "waits" } else { "wait" };
    match (waiting, progress.on_delete) {
        (0, _) => String::new(),
        (_, false) => format!(", {waiting} {verb} for the budget"),
        (_, true) => format!(", {waiting} {verb} for a person to delete the old pod"),
    }
}

/// `3 of 288 nodes lack an available pod: 2 node down, 1 pulling; 4 more excused`.
fn lack(progress: &Progress, may: &str) -> String {
    let Progress { desired, unavailable, excused, mut causes, .. } = *progress;
    // Taken nodes are no target nodes: they are told apart from the causes of these.
    let taken = std::mem::take(&mut causes.deleted_by_update);
    let verb = if unavailable == 1 { "lacks" } else { "lack" };
    let mut text = format!("{unavailable} of {desired} nodes {verb} an available pod{may}");
    if unavailable > 0 {
        text.push_str(&format!(": {causes}"));
    }
    if excused > 0 {
        text.push_str(&format!("; {excused} more excused"));
    }
    if taken > 0 {
        text.push_str(&format!("; {taken} more taken down by the update"));
    }
    text
}
