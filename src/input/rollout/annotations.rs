//! The policy of a rollout as people write it: in annotations of the DaemonSet.

use crate::action::{Action, EventReason, EventType};
use crate::input::policy::{
    DrainPolicy, POWERFUL, Permission, Permissions, Policy, PolicyAnnotation, TurnMode,
};
use crate::input::rollout::check::check_rollout;
use crate::input::rollout::policy::RolloutPolicy;
use crate::input::rollout::steering::{APPROVED, PAUSED, POLICY, PREFIX, external_controller_name};
use crate::input::{check, strategy, turn_check};
use daemonset_objects::internal::Problems;
use daemonset_objects::model::DaemonSet;
use daemonset_objects::{Problem, ProblemKind};
use serde::ser::{Serialize, SerializeStruct, Serializer};
use serde_json::{Map, Value};
use std::fmt;
use thiserror::Error;

/// The bytes of the annotations that a person types, `paused` and `approved`.
const MAX_SHORT_BYTES: usize = 64;

/// An annotation that steers a rollout and can't be read, or whose policy is invalid or not permitted.
///
/// A caller counts the rollout as paused until it is repaired: [`policy`](Self::policy), and records the [`event`](Self::event).
///
/// ```
/// use daemonset::{Policy, model::DaemonSet, policy::Permissions};
/// use serde_json::{from_value, json};
///
/// let ds: DaemonSet = from_value(json!({"metadata": {"annotations": {"rollout.daemonset/policy": r#"{"waves": [{"upto": 1}]}"#}}}))?;
/// let invalid = Policy::from_annotations(&ds, &Permissions::default()).unwrap_err();
/// let first = &invalid.problems[0];
/// assert_eq!((first.annotation.as_str(), first.problem.path.as_str()), ("rollout.daemonset/policy", "waves[0].upto"));
/// assert!(invalid.policy(Policy::default()).rollout.is_some_and(|rollout| rollout.paused));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub struct InvalidRolloutPolicy {
    /// All problems; never empty.
    pub problems: Vec<AnnotationProblem>,
}

/// A problem with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct AnnotationProblem {
    /// The annotation; empty where the policy has other sources.
    pub annotation: String,
    /// The problem. Its path is the field in the value of the annotation, such as `waves[0].upTo`; empty for the whole. Of a value that is
    /// too large: the name of the annotation without its prefix, such as `policy`; of too many entries: `rollout.waves`,
    /// `rollout.approved` or `rollout.onFailure.waitingReasons`. A field that needs a power which the namespace does not have is
    /// [`Forbidden`](ProblemKind::Forbidden).
    pub problem: Problem,
}

/// All problems, in one line.
impl fmt::Display for InvalidRolloutPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut named = "";
        for (index, AnnotationProblem { annotation, problem }) in self.problems.iter().enumerate() {
            if index > 0 {
                f.write_str("; ")?;
            }
            if annotation != named {
                write!(f, "annotation {annotation}: ")?;
            }
            write!(f, "{problem}")?;
            named = annotation;
        }
        Ok(())
    }
}

impl InvalidRolloutPolicy {
    /// # Errors
    /// These problems, if there are any.
    fn if_any(problems: Vec<AnnotationProblem>) -> Result<(), Self> {
        if problems.is_empty() { Ok(()) } else { Err(InvalidRolloutPolicy { problems }) }
    }

    /// The policy to go on with: the caller's other choices, the rollout is paused, and turns stay as they are: a typing error must not
    /// uncordon a node whose daemon is away.
    #[must_use]
    pub fn policy(&self, policy: Policy) -> Policy {
        policy.rollout(RolloutPolicy::default().paused(true)).turn(TurnMode::Keep)
    }

    /// The event for the author of the annotation.
    #[must_use]
    pub fn event(&self, ds: &DaemonSet) -> Action {
        let (reason, message) = (EventReason::InvalidRolloutPolicy, self.sentence());
        Action::record_event(ds.into(), EventType::Warning, reason, message)
    }

    /// The text of the event.
    #[doc(hidden)]
    pub fn sentence(&self) -> String {
        let because = if self.problems.iter().all(AnnotationProblem::is_not_permitted) {
            "is not permitted"
        } else {
            "can't be read"
        };
        format!("The rollout is paused, since its policy {because}: {self}")
    }
}

/// For crates of the same version: [`internal`](crate::internal).
#[doc(hidden)]
impl AnnotationProblem {
    pub fn new(annotation: &str, problem: Problem) -> Self {
        AnnotationProblem { annotation: annotation.to_owned(), problem }
    }

    /// Whether the namespace lacks a power.
    pub fn is_not_permitted(&self) -> bool {
        matches!(self.problem.kind, ProblemKind::Forbidden { .. })
    }
}

/// As `annotation`, `path` and `message`.
impl Serialize for AnnotationProblem {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let AnnotationProblem { annotation, problem: Problem { path, kind, .. } } = self;
        let mut form = to.serialize_struct("AnnotationProblem", 3)?;
        form.serialize_field("annotation", annotation)?;
        form.serialize_field("path", path)?;
        form.serialize_field("message", &kind.to_string())?;
        form.end()
    }
}

impl Policy {
    /// The most bytes of the annotation `rollout.daemonset/policy`.
    pub const MAX_ANNOTATION_BYTES: usize = 16 * 1024;

    /// The policy that the annotations of a DaemonSet ask for; the default without any of them.
    ///
    /// `rollout.daemonset/policy` holds the fields of a [`RolloutPolicy`] and, beside them, `externalController` (or `drive`, its older name), `downNodes`, `lifecycle`,
    /// `conditions`, `podNames`, `pull`, `inPlace`, `fit` and, as far as the namespace has the [`Permissions`], `turn`, `drain` and
    /// `priorityClassName`, as JSON; [`with_annotations`](Self::with_annotations) reads YAML, too. `rollout.daemonset/paused: "true"`
    /// pauses, and `rollout.daemonset/approved: "<number>=<count>"` approves this count of waves of the revision with this number,
    /// whatever the policy says.
    ///
    /// ```
    /// use daemonset::{Policy, model::DaemonSet, policy::Permissions};
    /// use serde_json::{from_value, json};
    ///
    /// let ds: DaemonSet = from_value(json!({"metadata": {"annotations": {
    ///     "rollout.daemonset/policy": r#"{"waves": [{"upTo": 1}, {"needsApproval": true}]}"#,
    ///     "rollout.daemonset/approved": "7=2",
    /// }}}))?;
    /// let rollout = Policy::from_annotations(&ds, &Permissions::default()).unwrap().rollout.unwrap();
    /// assert_eq!((rollout.waves.len(), rollout.approved[&7], rollout.paused), (2, 2, false));
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    ///
    /// A field that needs a power:
    ///
    /// ```
    /// use daemonset::{Policy, model::DaemonSet, policy::Permissions};
    /// use serde_json::{from_value, json};
    ///
    /// let text = r#"{"turn": {"cordon": true, "gates": ["drained"]}, "drain": {}}"#;
    /// let ds: DaemonSet = from_value(json!({"metadata": {"annotations": {"rollout.daemonset/policy": text}}}))?;
    /// let invalid = Policy::from_annotations(&ds, &Permissions::parse("turn")).unwrap_err();
    /// assert_eq!(invalid.problems[0].problem.path, "drain");
    /// assert!(Policy::from_annotations(&ds, &Permissions::parse("turn,evict")).is_ok());
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    ///
    /// # Errors
    /// Anything that is not understood: an unknown annotation with this prefix, an unknown field, a value of another form, and a
    /// policy that [`check`](crate::SnapshotBuilder::check) would refuse; and a field that the powers do not permit. A policy of more
    /// than [`MAX_ANNOTATION_BYTES`](Self::MAX_ANNOTATION_BYTES) is not read, and neither are the other annotations beyond 64 bytes.
    pub fn from_annotations(ds: &DaemonSet, powers: &Permissions) -> Result<Self, InvalidRolloutPolicy> {
        let json = |text: &str| serde_json::from_str(text).map_err(|error| error.to_string());
        Policy::default().with_annotations(ds, powers, json)
    }

    /// These choices with those that the annotations of a DaemonSet ask for, as [`from_annotations`](Self::from_annotations). `read` turns
    /// the text of a policy into a value: a caller with a YAML reader gives that one, with a limit on the text that aliases repeat.
    ///
    /// # Errors
    /// As [`from_annotations`](Self::from_annotations), and those of `read`.
    pub fn with_annotations(
        self,
        ds: &DaemonSet,
        powers: &Permissions,
        read: impl FnOnce(&str) -> Result<Value, String>,
    ) -> Result<Self, InvalidRolloutPolicy> {
        // All problems are collected before the first one ends this, so that a person repairs them in one edit.
        let mut problems = Vec::new();
        for (key, _) in ds.metadata.annotations.iter() {
            // A misspelt `paused` must not let a rollout go on.
            if key.starts_with(PREFIX) && ![POLICY, PAUSED, APPROVED].contains(&key) {
                let message = "unknown annotation: must be policy, paused or approved";
                problems.push(AnnotationProblem::new(key, Problem::unreadable("", message)));
            }
        }
        let (mut merged, mut external_controller) = (self, "drive");
        let text_of = |key| ds.metadata.annotations.get(key);
        if let Some(text) = text_of(POLICY) {
            match read_policy(text, powers, read) {
                Ok((annotation, name)) => {
                    annotation.merge_into(&mut merged);
                    external_controller = name;
                }
                Err(found) => {
                    problems.extend(found.into_iter().map(|found| AnnotationProblem::new(POLICY, found)))
                }
            }
        }
        // The short annotations come after the policy, whose rollout would replace theirs: a person who pauses prevails.
        if let Some(text) = text_of(PAUSED) {
            match parse_paused(text) {
                Ok(true) => merged.rollout.get_or_insert_default().paused = true,
                // As good as no annotation: it does not resume a rollout that the policy pauses.
                Ok(false) => {}
                Err(problem) => problems.push(AnnotationProblem::new(PAUSED, problem)),
            }
        }
        if let Some(text) = text_of(APPROVED) {
            let approval = parse_approved(text).map(|(number, count)| {
                merged.rollout.get_or_insert_default().approved.insert(number, count);
            });
            problems.extend(approval.err().map(|problem| AnnotationProblem::new(APPROVED, problem)));
        }
        // Only a whole policy is checked: a part that could not be read would bring problems that its author does not have.
        InvalidRolloutPolicy::if_any(problems)?;
        check_policy(ds, merged, &Value::Null, external_controller)
    }

    /// These choices, once the annotations are read, for a caller whose manifests have these
    /// [`inputs`](crate::manifests::Manifests::inputs).
    ///
    /// ```
    /// use daemonset::{Policy, model::DaemonSet, policy::Permissions};
    /// use serde_json::{Value, from_value, json};
    ///
    /// let text = r#"{"onFailure": {"action": "Undo"}}"#;
    /// let ds: DaemonSet = from_value(json!({"metadata": {"annotations": {"rollout.daemonset/policy": text}}}))?;
    /// let policy = Policy::from_annotations(&ds, &Permissions::default()).unwrap();
    /// assert!(policy.clone().for_inputs(&ds, &Value::Null).is_ok());
    /// let invalid = policy.for_inputs(&ds, &json!({"memory": "1Gi"})).unwrap_err();
    /// assert_eq!(invalid.problems[0].problem.path, "onFailure.action");
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    ///
    /// # Errors
    /// `Undo` with inputs, which a template alone does not bring back. The check of a snapshot refuses it as well, but then there is
    /// no plan at all.
    pub fn for_inputs(self, ds: &DaemonSet, inputs: &Value) -> Result<Self, InvalidRolloutPolicy> {
        check_policy(ds, self, inputs, "drive")
    }
}

/// The value of the annotation, and the name that it has for the external controller.
fn read_policy(
    text: &str,
    powers: &Permissions,
    read: impl FnOnce(&str) -> Result<Value, String>,
) -> Result<(PolicyAnnotation, &'static str), Vec<Problem>> {
    // Before the reader is asked: it takes memory in proportion to the text.
    check_length(Policy::MAX_ANNOTATION_BYTES, POLICY, text).map_err(|problem| vec![problem])?;
    let value = read(text).map_err(|message| vec![Problem::unreadable("", message)])?;
    let external_controller = external_controller_name(&value);
    // serde would read a list as the members in their order.
    let Value::Object(mut members) = value else {
        let must = "must be an object with the fields of a policy";
        return Err(vec![Problem::unreadable("", must)]);
    };
    let mut problems = not_permitted(&members, powers);
    // Read apart, since its own reader has all of its problems. A null stays, so that the other members keep their order.
    let drain = members.get_mut("drain").map(Value::take).filter(|drain| !drain.is_null());
    let annotation: Result<PolicyAnnotation, _> = serde_path_to_error::deserialize(Value::Object(members));
    let annotation = annotation.map_err(|error: serde_path_to_error::Error<serde_json::Error>| {
        let path = error.path().to_string();
        // A key that can't be read has no name there: the path ends in a question mark.
        let path = path.trim_end_matches(".?");
        problems.push(Problem::unreadable(path, error.inner()));
    });
    let Ok(mut annotation) = annotation else { return Err(problems) };
    let of_drain = |mut problem: Problem| {
        problem.path = format!("drain.{}", problem.path).trim_end_matches('.').to_owned();
        problem
    };
    match drain.map(DrainPolicy::try_from).transpose() {
        Ok(drain) => annotation.drain = drain,
        Err(invalid) => problems.extend(invalid.problems.into_iter().map(of_drain)),
    }
    if problems.is_empty() { Ok((annotation, external_controller)) } else { Err(problems) }
}

/// The fields that the powers do not permit, whatever is in them. One that is null is absent.
fn not_permitted(members: &Map<String, Value>, powers: &Permissions) -> Vec<Problem> {
    let is_there = |field: &str| members.get(field).is_some_and(|value| !value.is_null());
    let beyond = POWERFUL.iter().filter(|(field, power)| is_there(field) && !powers.has(*power));
    let problem = |(field, power): &(&str, Permission)| {
        let source = Permissions::ANNOTATION;
        let why =
            format!("needs the power {power}, which the annotation {source} of the Namespace does not give");
        Problem::forbidden(*field, why)
    };
    beyond.map(problem).collect()
}

fn check_length(most: usize, key: &str, text: &str) -> Result<(), Problem> {
    let is_short = text.len() <= most;
    is_short
        .then_some(())
        .ok_or_else(|| Problem::too_long(key.strip_prefix(PREFIX).unwrap_or_default(), most))
}

fn parse_paused(text: &str) -> Result<bool, Problem> {
    check_length(MAX_SHORT_BYTES, PAUSED, text)?;
    match text {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(Problem::invalid("", text, "must be \"true\" or \"false\"")),
    }
}

fn parse_approved(text: &str) -> Result<(i64, u32), Problem> {
    check_length(MAX_SHORT_BYTES, APPROVED, text)?;
    // Digits only: Rust's own parser would take a `+`, too.
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let parsed = text.split_once('=').and_then(|(number, count)| {
        let is_number = is_digits(number.strip_prefix('-').unwrap_or(number)) && is_digits(count);
        is_number.then(|| Some((number.parse().ok()?, count.parse().ok()?)))?
    });
    let must = "must be the number of a revision and a count of waves, as \"7=2\"";
    parsed.ok_or_else(|| Problem::invalid("", text, must))
}

/// A policy that the check of a snapshot would refuse would leave the DaemonSet without any plan.
fn check_policy(
    ds: &DaemonSet,
    policy: Policy,
    inputs: &Value,
    external_controller: &str,
) -> Result<Policy, InvalidRolloutPolicy> {
    let source = ds.metadata.annotations.get(POLICY).map_or("", |_| POLICY);
    let mut problems = Problems::default();
    check_rollout(ds, &policy, inputs, &mut problems);
    // The external controller is a member of the annotation, and no part of the rollout.
    strategy::beside_external_controller(ds, &policy, &mut problems);
    turn_check::check_alone(ds, &policy, &mut problems);
    check::priority_class(&policy, &mut problems);
    let Err(invalid) = problems.into_result() else { return Ok(policy) };
    let of_policy = |mut problem: Problem| {
        // The author knows no `policy.rollout`: the fields of the rollout are members of the value itself. A count keeps the
        // prefix, as `AnnotationProblem::problem` documents.
        let path = problem.path.strip_prefix("policy.").unwrap_or(&problem.path);
        let of_value = path.strip_prefix("rollout.").filter(|_| !problem.kind.is_of_count());
        let path = of_value.unwrap_or(path);
        let of_external = path.strip_prefix("drive").map(|rest| format!("{external_controller}{rest}"));
        problem.path = of_external.unwrap_or_else(|| path.to_owned());
        AnnotationProblem::new(source, problem)
    };
    InvalidRolloutPolicy::if_any(invalid.problems.into_iter().map(of_policy).collect())?;
    Ok(policy)
}
