//! How long an object may take to end: only pods are given time.
//!
//! v1.36 `apiserver/pkg/registry/rest/delete.go BeforeDelete`; `registry/core/pod/strategy.go CheckGracefulDelete`.

use super::Object;
use super::options::{DeleteOptions, Kind};
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

/// What the grace period makes of a DELETE.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Grace {
    /// None is given, or it is over: the object goes as soon as no finalizer holds it.
    Over,
    /// The object is given so many seconds, until an instant.
    Given { seconds: i64, until: Timestamp },
    /// It is ending already, and not asked to be quicker: nothing changes.
    Running,
}

pub(super) fn grace(
    kind: Kind,
    raw: &Value,
    object: &Object,
    options: &DeleteOptions,
    now: Timestamp,
) -> Grace {
    let asked = options.grace_period_seconds.map(at_least_one_if_negative);
    match (kind, object.metadata.deletion_timestamp) {
        (Kind::DaemonSet | Kind::ControllerRevision, _) => Grace::Over,
        (Kind::Pod, None) => {
            let seconds = of_pod(raw, asked);
            Grace::Given { seconds, until: later(now, seconds) }
        }
        (Kind::Pod, Some(deadline)) => shortened(object, deadline, asked, now),
    }
}

/// Once it runs, a grace period can only be shortened.
fn shortened(object: &Object, deadline: Timestamp, asked: Option<i64>, now: Timestamp) -> Grace {
    let given = object.metadata.deletion_grace_period_seconds.map(at_least_one_if_negative);
    match (given, asked) {
        // An earlier deletion got this far and no further: it can be ended now.
        (None | Some(0), _) => Grace::Over,
        (Some(_), None) => Grace::Running,
        (Some(given), Some(asked)) if asked >= given => Grace::Running,
        (Some(given), Some(asked)) => {
            let until = later(deadline, asked.saturating_sub(given));
            // What was asked for is over already: one second, so that the kubelet still ends it.
            let seconds = if until < now { asked.min(1) } else { asked };
            Grace::Given { seconds, until: until.max(now) }
        }
    }
}

/// What is asked for, else the pod's own; nothing runs that must be ended before it is bound, or after it has finished.
fn of_pod(pod: &Value, asked: Option<i64>) -> i64 {
    let text = |pointer| pod.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    let own = pod.pointer("/spec/terminationGracePeriodSeconds").and_then(Value::as_i64);
    let runs = !text("/spec/nodeName").is_empty() && !matches!(text("/status/phase"), "Failed" | "Succeeded");
    if runs { at_least_one_if_negative(asked.or(own).unwrap_or(0)) } else { 0 }
}

fn at_least_one_if_negative(seconds: i64) -> i64 {
    if seconds < 0 { 1 } else { seconds }
}

fn later(instant: Timestamp, seconds: i64) -> Timestamp {
    instant.saturating_add(SignedDuration::from_secs(seconds)).unwrap_or(instant)
}
