//! The annotations of a DaemonSet that steer its rollout: for callers that look before they read.

use crate::input::policy::{POWERFUL, Policy, PolicyAnnotation};
use serde::Deserialize;
use serde_json::Value;

/// Every annotation with this prefix steers; a misspelt one is a problem.
pub const PREFIX: &str = "rollout.daemonset/";
/// The policy.
pub const POLICY: &str = "rollout.daemonset/policy";
/// Whether a person pauses the rollout.
pub const PAUSED: &str = "rollout.daemonset/paused";
/// The waves that a person approves.
pub const APPROVED: &str = "rollout.daemonset/approved";

/// The most that the aliases of a policy in YAML may repeat: what a text of the largest size could say. A few lines could take a
/// gigabyte otherwise.
pub const MAX_REPEATED_EVENTS: usize = Policy::MAX_ANNOTATION_BYTES / 2;

/// Whether the text of a policy may have a field that needs a power of the namespace. A word too much leads to a look at the namespace,
/// and to nothing else.
pub fn may_need_powers(text: &str) -> bool {
    POWERFUL.iter().any(|(field, _)| text.contains(field))
}

/// The names of [`external_controller`](field@Policy::external_controller) in a policy, the older one last.
pub const EXTERNAL_CONTROLLER: [&str; 2] = ["externalController", "drive"];

/// The name that this policy uses for its [`external_controller`](field@Policy::external_controller), so that problems name the field as
/// their author wrote it.
pub fn external_controller_name(policy: &Value) -> &'static str {
    let [name, older] = EXTERNAL_CONTROLLER;
    if policy.get(older).is_some() { older } else { name }
}

/// Whether each field of a policy can be read; the check may still refuse the policy.
pub fn is_readable(policy: &Value) -> bool {
    policy.is_object() && PolicyAnnotation::deserialize(policy).is_ok()
}
