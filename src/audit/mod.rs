//! The safety rules as data: what no plan may do, whoever made it.
//!
//! Written independently of the code that plans: it has its own notion of owned, live, ready, available, updated and in
//! flight, and its own arithmetic on limits. It shares with the planner only what the snapshot's check found out:
//! placements, the selector, and what labels and owners are as numbers.

mod claims;
mod creates;
mod deletes;
mod docket;
mod fleet;
mod kind;
mod life;
mod limits;
mod lineage;
mod list;
mod manifests;
mod memories;
mod named;
mod revisions;
mod status;
mod violation;

pub use kind::{BudgetFigure, ViolationKind};
pub use violation::{Violation, ViolationSubject};

use crate::action::Action;
use crate::snapshot::Snapshot;
use docket::Docket;
use fleet::Fleet;
use violation::Findings;

/// The safety rules that these actions break, in the order of the actions; empty for every plan of
/// [`reconcile`](crate::reconcile).
///
/// For whoever executes actions: a guard between a planner, this one or another, and the API server. The actions are
/// judged as if all of them were executed at once against this snapshot. Only harm is found, never idleness: an empty
/// list of actions breaks no rule.
///
/// A total function; its cost grows as nodes, pods and actions do, and is about half of the decision's.
#[must_use = "a violation that nobody reads prevents nothing"]
pub fn audit(snapshot: &Snapshot<'_>, actions: &[Action]) -> Vec<Violation> {
    let mut findings = Findings::new(snapshot, actions);
    if actions.is_empty() {
        return findings.in_order();
    }
    list::check(snapshot, actions, &mut findings);
    status::check(snapshot, actions, &mut findings);
    if status::check_untouched(snapshot, actions, &mut findings) {
        return findings.in_order();
    }
    let docket = Docket::of(snapshot, actions);
    claims::check(&docket, &mut findings);
    let mut fleet = Fleet::of(&docket);
    let losses = fleet.lose(&docket.deletes);
    limits::check_deletes(&docket, &fleet, &losses, &mut findings);
    deletes::check(&docket, &fleet, &mut findings);
    let surged = creates::check(&docket, &mut fleet, &mut findings);
    limits::check_surge(&docket, &fleet, &surged, &mut findings);
    manifests::check(&docket, &mut findings);
    revisions::check(&docket, &fleet, &mut findings);
    findings.in_order()
}
