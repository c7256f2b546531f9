//! Grace periods, which only pods have.
//!
//! v1.36 `apiserver/pkg/registry/rest/delete.go BeforeDelete`; `registry/core/pod/strategy.go CheckGracefulDelete`.

use super::Object;
use super::options::{DeleteOptions, Kind};
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

/// The grace period that a DELETE gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Grace {
    /// No grace period, or it is over: the object is removed as soon as no finalizer holds it.
    Over,
    /// A grace period in seconds, and its end.
    Given { seconds: i64, until: Timestamp },
    /// A grace period is running, and the request does not shorten it: nothing changes.
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
            let seconds = pod_grace_period(raw, asked);
            Grace::Given { seconds, until: later(now, seconds) }
        }
        (Kind::Pod, Some(deadline)) => shortened(object, deadline, asked, now),
    }
}

/// A running grace period can only be shortened.
fn shortened(object: &Object, deadline: Timestamp, asked: Option<i64>, now: Timestamp) -> Grace {
    let given = object.metadata.deletion_grace_period_seconds.map(at_least_one_if_negative);
    match (given, asked) {
        // An earlier deletion stopped here: the object can be removed now.
        (None | Some(0), _) => Grace::Over,
        (Some(_), None) => Grace::Running,
        (Some(given), Some(asked)) if asked >= given => Grace::Running,
        (Some(given), Some(asked)) => {
            let until = later(deadline, asked.saturating_sub(given));
            // The requested period has passed already. One second is left, so that the kubelet still stops the pod.
            let seconds = if until < now { asked.min(1) } else { asked };
            Grace::Given { seconds, until: until.max(now) }
        }
    }
}

/// The requested period, else the pod's own. A pod that is not bound to a node yet, or has finished, runs nothing
/// that needs time to stop.
fn pod_grace_period(pod: &Value, asked: Option<i64>) -> i64 {
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
