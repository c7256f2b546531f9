//! The safety rules of a Kubernetes DaemonSet's controller as data: they hold for every plan, from the planner of the crate
//! `daemonset` or from another one.
//!
//! [`audit()`] is a guard between a planner and the API server. The
//! crate `daemonset-incremental` has an `Auditor`, which judges plans from changes by these rules, at the cost of the changes.
//!
//! The rules are written independently of the code that plans: they have their own notion of owned, live, ready, available, updated
//! and in flight, read the strategy in force themselves, and have their own arithmetic on limits. They share with the planner only the
//! checked input: placements, the selector, tolerations, and the numbers for the labels and owners of pods. Names, keys and hashes are
//! the core's, too. The decision's own parts are private to its crate, and this crate's `clippy.toml` forbids its public functions.
//!
//! Pure, as the core is: no I/O, no clock, no randomness, no environment.

mod counted;
mod facts;
mod fleet;
mod goals;
mod kind;
mod rules;
mod violation;

pub use kind::{BudgetFigure, ViolationKind};
pub use violation::{Violation, ViolationSubject};

use daemonset::{Action, Snapshot};
use fleet::context::Context;
use fleet::{Fleet, Sums};
use goals::{Goals, Surroundings};
use violation::Findings;

/// The safety rules that these actions break, in the order of the actions; empty for every plan of
/// [`reconcile`](daemonset::reconcile()).
///
/// A guard between a planner, this one or another, and the API server, for callers that execute actions. It judges the
/// actions as if all of them were executed at once against this snapshot. It finds only harm, never idleness: an empty
/// list of actions breaks no rule.
///
/// A total function; its cost grows as nodes, pods and actions do, and is about half of the decision's.
///
/// ```
/// use daemonset::{Action, DeleteReason, Recording, model::ObjectRef, reconcile};
/// use daemonset_audit::{ViolationKind, audit};
/// use serde_json::{from_value, json};
///
/// # let daemon_set = json!({
/// #     "metadata": {"name": "agent", "namespace": "ns", "uid": "u1"},
/// #     "spec": {
/// #         "selector": {"matchLabels": {"app": "agent"}},
/// #         "template": {"metadata": {"labels": {"app": "agent"}}},
/// #         "updateStrategy": {"type": "RollingUpdate"},
/// #     },
/// # });
/// let recording: Recording = from_value(json!({
///     "now": "2026-01-01T12:00:00Z",
///     "daemonSet": daemon_set,
///     "nodes": [{"metadata": {"name": "a"}}],
///     "pods": [{"metadata": {"name": "web", "namespace": "ns", "uid": "p1"}, "spec": {"nodeName": "a"}}],
/// }))?;
/// let snapshot = recording.snapshot().unwrap();
/// assert!(audit(&snapshot, &reconcile(&snapshot)).is_empty());
///
/// let web = ObjectRef::from(&recording.pods[0].metadata);
/// let violations = audit(&snapshot, &[Action::delete_pod("a".into(), web, DeleteReason::ExcessPod)]);
/// assert_eq!(violations[0].kind, ViolationKind::ForeignObject);
/// assert_eq!(violations[0].to_string(), "action 0, pod ns/web: it is not the DaemonSet's, nor adopted in this list");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[must_use = "a violation that nobody reads prevents nothing"]
pub fn audit(snapshot: &Snapshot<'_>, actions: &[Action]) -> Vec<Violation> {
    if actions.is_empty() {
        return Vec::new();
    }
    audit_towards(snapshot, &Goals::new(snapshot, actions), actions)
}

/// The same, of a snapshot that lacks facts about its nodes, with these facts.
///
/// # Errors
/// If one of them is not known.
pub fn audit_in<S: Surroundings>(
    snapshot: &Snapshot<'_>,
    surroundings: &S,
    actions: &[Action],
) -> Result<Vec<Violation>, S::Error> {
    let goals = match &snapshot.spec().policy.rollout {
        None => Goals::unsteered(snapshot),
        Some(policy) => Goals::of_all(snapshot, policy, actions, surroundings)?,
    };
    Ok(audit_towards(snapshot, &goals, actions))
}

/// The same, of a snapshot of all nodes with these goals.
fn audit_towards(snapshot: &Snapshot<'_>, goals: &Goals<'_>, actions: &[Action]) -> Vec<Violation> {
    let mut findings = Findings::new(snapshot, actions);
    if rules::check_list(snapshot, goals, Sums::default(), actions, &mut findings).is_continue() {
        let context = Context::new(snapshot, goals, actions);
        rules::check_objects(&context, Fleet::new(&context), &mut findings);
    }
    findings.in_order()
}

/// The parts that crates of the same version use. They are no part of the API, and change in any release.
#[doc(hidden)]
pub mod internal {
    pub use crate::audit_in;
    pub use crate::counted::Counted;
    pub use crate::goals::Surroundings;
}

/// The README's examples are tested as documentation is.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
