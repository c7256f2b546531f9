//! The safety rules of a Kubernetes DaemonSet's controller as data: they hold for every plan, from the planner of the crate
//! `daemonset` or from another one.
//!
//! [`audit()`] is a guard between a planner and the API server. [`audit_custom`] judges plans with manifests that the caller makes,
//! [`audit_kept`] plans from changes, and an [`Auditor`] judges these at the cost of the changes. In one case a tracker does not keep
//! enough ([`NotKept::OtherBase`]), and a snapshot of all objects is to be audited: where the last plan knew another base of a rollout
//! than the audit.
//!
//! The rules are written independently of the code that plans: they have their own notion of owned, live, ready, available, updated
//! and in flight, and their own arithmetic on limits. They share with the planner only the checked input: placements, the selector,
//! tolerations, and the numbers for the labels and owners of pods; of a tracker also which waves match the labels of a node. Names, keys,
//! hashes, and the reasons for which a container waits in vain are the core's, too. The decision's own parts are private to its crate, and
//! this crate's `clippy.toml` forbids its public functions.
//!
//! Pure, as the core is: no I/O, no clock, no randomness, no environment.

mod beside;
mod changes;
mod claims;
mod context;
mod counted;
mod creates;
mod deletes;
mod excuse;
mod fit;
mod fleet;
mod goals;
mod in_place;
mod kept;
mod kind;
mod limits;
mod lineage;
mod list;
mod manifests;
mod memories;
mod named;
mod names;
mod pull_manifests;
mod pulls;
mod revisions;
mod stage;
mod status;
mod turn_rules;
mod turns;
mod violation;

pub use kept::{Auditor, NotKept, audit_kept};
pub use kind::{BudgetFigure, ViolationKind};
pub use violation::{Violation, ViolationSubject};

use context::Context;
use daemonset::{Action, CustomSnapshot, Snapshot};
use fleet::{Fleet, Sums};
use goals::Goals;
use turn_rules::Rooms;
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

/// The same, of a snapshot of all nodes with these goals.
fn audit_towards(snapshot: &Snapshot<'_>, goals: &Goals<'_>, actions: &[Action]) -> Vec<Violation> {
    let mut findings = Findings::new(snapshot, actions);
    list::check(snapshot, actions, &mut findings);
    status::check(snapshot, goals, Sums::default(), actions, &mut findings);
    if status::check_untouched(snapshot, actions, &mut findings) {
        return findings.in_order();
    }
    let context = Context::new(snapshot, goals, actions);
    let fleet = Fleet::new(&context);
    check_objects(&context, fleet, &mut findings);
    findings.in_order()
}

/// The rules about the objects of the actions.
fn check_objects(context: &Context<'_>, mut fleet: Fleet, findings: &mut Findings<'_>) {
    claims::check(context, findings);
    let ranked = turn_rules::ranked(context, &fleet);
    let losses = fleet.lose(context);
    let rooms = Rooms::new(context, &fleet, ranked);
    limits::check_deletes(context, &fleet, &losses, findings);
    turn_rules::check(context, &fleet, &rooms, findings);
    pulls::check(context, fleet.desired, findings);
    limits::check_leaving(context, &fleet, findings);
    deletes::check(context, &fleet, findings);
    changes::check(context, findings);
    let surged = creates::check(context, &mut fleet, findings);
    limits::check_surge(context, &fleet, &surged, findings);
    manifests::check(context, findings);
    revisions::check(context, &fleet, findings);
    goals::check(context, findings);
}

/// As [`audit()`], of a plan whose objects the caller makes.
///
/// ```
/// use daemonset::{Recording, TemplateManifests};
/// use daemonset_audit::audit_custom;
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
/// let recording: Recording =
///     from_value(json!({"now": "2026-01-01T12:00:00Z", "daemonSet": daemon_set, "nodes": [{"metadata": {"name": "a"}}]}))?;
/// let snapshot = recording.snapshot_with(&TemplateManifests).unwrap();
/// let plan = snapshot.plan().unwrap();
/// assert!(audit_custom(&snapshot, &plan.actions).is_empty());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[must_use = "a violation that nobody reads prevents nothing"]
pub fn audit_custom(snapshot: &CustomSnapshot<'_, '_>, actions: &[Action]) -> Vec<Violation> {
    audit(snapshot.checked(), actions)
}

/// The README's examples are tested as documentation is.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
