//! The policy of a rollout as people write it: in annotations of the DaemonSet.

use super::check_rollout;
use super::policy::{MARK_PREFIX, Policy};
use super::rollout::{FailurePolicy, RolloutPolicy, Wave};
use super::strategy;
use super::{DownNodesPolicy, LifecyclePolicy};
use crate::action::{Action, EventReason, EventType};
use crate::model::{DaemonSet, UpdateStrategy};
use crate::problem::Problems;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use thiserror::Error;

/// An annotation that steers a rollout and can't be read, or whose policy is invalid.
///
/// A caller counts the rollout as paused until it is repaired: [`policy`](Self::policy), and records the [`event`](Self::event).
///
/// ```
/// use daemonset::{Policy, model::DaemonSet};
/// use serde_json::{from_value, json};
///
/// let ds: DaemonSet = from_value(json!({"metadata": {"annotations": {"rollout.daemonset/policy": r#"{"waves": [{"upto": 1}]}"#}}}))?;
/// let invalid = Policy::from_annotations(&ds).unwrap_err();
/// assert_eq!((invalid.annotation.as_str(), invalid.path.as_str()), ("rollout.daemonset/policy", "waves[0].upto"));
/// assert!(invalid.policy(Policy::default()).rollout.is_some_and(|rollout| rollout.paused));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("annotation {annotation}: {}{message}", if path.is_empty() { String::new() } else { format!("{path}: ") })]
#[non_exhaustive]
pub struct InvalidRolloutPolicy {
    /// The annotation.
    pub annotation: String,
    /// The field in its value, such as `waves[0].upTo`; empty for the whole.
    pub path: String,
    /// The problem.
    pub message: String,
}

impl InvalidRolloutPolicy {
    fn whole(annotation: &str, message: impl Into<String>) -> Self {
        InvalidRolloutPolicy {
            annotation: annotation.to_owned(),
            path: String::new(),
            message: message.into(),
        }
    }

    /// The policy to go on with: the caller's other choices, and the rollout is paused.
    #[must_use]
    pub fn policy(&self, policy: Policy) -> Policy {
        policy.rollout(RolloutPolicy::default().paused(true))
    }

    /// The event for the author of the annotation.
    #[must_use]
    pub fn event(&self, ds: &DaemonSet) -> Action {
        let message = format!("The rollout is paused, since its policy can't be read: {self}");
        Action::record_event(ds.object_ref(), EventType::Warning, EventReason::InvalidRolloutPolicy, message)
    }
}

/// The value of the annotation `rollout.daemonset/policy`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Written {
    paused: Option<bool>,
    approved: Option<BTreeMap<i64, u32>>,
    waves: Option<Vec<Wave>>,
    on_failure: Option<FailurePolicy>,
    drive: Option<UpdateStrategy>,
    down_nodes: Option<DownNodesPolicy>,
    lifecycle: Option<LifecyclePolicy>,
    conditions: Option<bool>,
}

impl Policy {
    /// The policy that the annotations of a DaemonSet ask for; the default without any of them.
    ///
    /// `rollout.daemonset/policy` holds the fields of a [`RolloutPolicy`] and, beside them, `drive`, `downNodes`, `lifecycle` and
    /// `conditions`, as JSON; [`with_annotations`](Self::with_annotations) reads YAML, too. `rollout.daemonset/paused: "true"` pauses, and
    /// `rollout.daemonset/approved: "<number>=<count>"` approves so many waves of the revision with this number, whatever the policy says.
    ///
    /// ```
    /// use daemonset::{Policy, model::DaemonSet};
    /// use serde_json::{from_value, json};
    ///
    /// let ds: DaemonSet = from_value(json!({"metadata": {"annotations": {
    ///     "rollout.daemonset/policy": r#"{"waves": [{"upTo": 1}, {"needsApproval": true}]}"#,
    ///     "rollout.daemonset/approved": "7=2",
    /// }}}))?;
    /// let rollout = Policy::from_annotations(&ds).unwrap().rollout.unwrap();
    /// assert_eq!((rollout.waves.len(), rollout.approved[&7], rollout.paused), (2, 2, false));
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    ///
    /// # Errors
    /// Anything that is not understood: an unknown annotation with this prefix, an unknown field, a value of another form, and a
    /// policy that [`check`](crate::SnapshotBuilder::check) would refuse.
    pub fn from_annotations(ds: &DaemonSet) -> Result<Self, InvalidRolloutPolicy> {
        let json = |text: &str| serde_json::from_str(text).map_err(|error| error.to_string());
        Policy::default().with_annotations(ds, json)
    }

    /// These choices with those that the annotations of a DaemonSet ask for, as [`from_annotations`](Self::from_annotations). `read` turns
    /// the text of a policy into a value: a caller with a YAML reader gives that one.
    ///
    /// # Errors
    /// As [`from_annotations`](Self::from_annotations), and those of `read`.
    pub fn with_annotations(
        self,
        ds: &DaemonSet,
        read: impl FnOnce(&str) -> Result<Value, String>,
    ) -> Result<Self, InvalidRolloutPolicy> {
        let Annotations { policy, paused, approved } = Annotations::find(ds)?;
        let mut merged = self;
        let mut source = "";
        if let Some((key, text)) = policy {
            source = key;
            merged = written(key, text, read)?.merge_into(merged);
        }
        if let Some((key, text)) = paused {
            let is_paused = parse_paused(text).ok_or_else(|| {
                InvalidRolloutPolicy::whole(
                    key,
                    format!("Invalid value: {text:?}: must be \"true\" or \"false\""),
                )
            })?;
            if is_paused {
                merged.rollout.get_or_insert_default().paused = true;
            }
        }
        if let Some((key, text)) = approved {
            let (number, count) = parse_approved(text).ok_or_else(|| {
                let must = "must be the number of a revision and a count of waves, as \"7=2\"";
                InvalidRolloutPolicy::whole(key, format!("Invalid value: {text:?}: {must}"))
            })?;
            merged.rollout.get_or_insert_default().approved.insert(number, count);
        }
        checked(ds, merged, source)
    }
}

impl Written {
    fn merge_into(self, policy: Policy) -> Policy {
        let rollout = RolloutPolicy {
            paused: self.paused.unwrap_or_default(),
            approved: self.approved.unwrap_or_default(),
            waves: self.waves.unwrap_or_default(),
            on_failure: self.on_failure,
        };
        Policy {
            drive: self.drive.or(policy.drive),
            down_nodes: self.down_nodes.unwrap_or(policy.down_nodes),
            lifecycle: self.lifecycle.unwrap_or(policy.lifecycle),
            conditions: self.conditions.unwrap_or(policy.conditions),
            rollout: Some(rollout),
            ..policy
        }
    }
}

fn written(
    key: &str,
    text: &str,
    read: impl FnOnce(&str) -> Result<Value, String>,
) -> Result<Written, InvalidRolloutPolicy> {
    let value = read(text).map_err(|message| InvalidRolloutPolicy::whole(key, message))?;
    if !value.is_object() {
        return Err(InvalidRolloutPolicy::whole(key, "must be an object with the fields of a policy"));
    }
    serde_path_to_error::deserialize(value).map_err(|error: serde_path_to_error::Error<serde_json::Error>| {
        InvalidRolloutPolicy {
            annotation: key.to_owned(),
            path: error.path().to_string(),
            message: error.inner().to_string(),
        }
    })
}

/// The annotations with this prefix, each with its key.
#[derive(Default)]
struct Annotations<'a> {
    policy: Option<(&'a str, &'a str)>,
    paused: Option<(&'a str, &'a str)>,
    approved: Option<(&'a str, &'a str)>,
}

impl<'a> Annotations<'a> {
    /// A misspelt `paused` must not let a rollout go on.
    fn find(ds: &'a DaemonSet) -> Result<Self, InvalidRolloutPolicy> {
        let mut found = Annotations::default();
        for (key, text) in ds.metadata.annotations.iter() {
            let name = key.strip_prefix(MARK_PREFIX).and_then(|rest| rest.strip_prefix('/'));
            match name {
                None => {}
                Some("policy") => found.policy = Some((key, text)),
                Some("paused") => found.paused = Some((key, text)),
                Some("approved") => found.approved = Some((key, text)),
                Some(_) => {
                    let message = "unknown annotation: must be policy, paused or approved";
                    return Err(InvalidRolloutPolicy::whole(key, message));
                }
            }
        }
        Ok(found)
    }
}

fn parse_paused(text: &str) -> Option<bool> {
    match text {
        "true" => Some(true),
        "false" => Some(false),
        _ => None,
    }
}

/// Digits only: Rust's own parser would take a sign.
fn parse_approved(text: &str) -> Option<(i64, u32)> {
    let (number, count) = text.split_once('=')?;
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_number = is_digits(number.strip_prefix('-').unwrap_or(number)) && is_digits(count);
    is_number.then(|| Some((number.parse().ok()?, count.parse().ok()?)))?
}

/// A policy that the check of a snapshot would refuse would leave the DaemonSet without any plan.
fn checked(ds: &DaemonSet, policy: Policy, source: &str) -> Result<Policy, InvalidRolloutPolicy> {
    let mut problems = Problems::default();
    check_rollout::rollout(ds, &policy, &mut problems);
    strategy::drive(ds, &policy, &mut problems);
    let Err(invalid) = problems.into_result() else { return Ok(policy) };
    let first = invalid.problems.into_iter().next();
    let (path, message) = first.map_or_else(Default::default, |first| (first.path, first.kind.to_string()));
    let path =
        path.strip_prefix("policy.rollout.").or(path.strip_prefix("policy.")).unwrap_or(&path).to_owned();
    Err(InvalidRolloutPolicy { annotation: source.to_owned(), path, message })
}
