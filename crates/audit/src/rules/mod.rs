//! The rules, a group each, and the order in which they are checked.

mod changes;
mod claims;
mod creates;
mod deletes;
mod fit;
mod limits;
mod list;
mod manifests;
mod opt_in;
mod pull_manifests;
mod pulls;
mod revisions;
mod rollout;
mod status;
mod turns;
mod undo;

use crate::fleet::context::Context;
use crate::fleet::{Fleet, Sums};
use crate::goals::Goals;
use crate::violation::Findings;
use daemonset::{Action, Snapshot};
use std::ops::ControlFlow;
use turns::Rooms;

/// The rules about the list and the status. They end the audit of a DaemonSet that must be left alone.
pub(crate) fn check_list(
    snapshot: &Snapshot<'_>,
    goals: &Goals<'_>,
    others: Sums,
    actions: &[Action],
    findings: &mut Findings<'_>,
) -> ControlFlow<()> {
    list::check(snapshot, actions, findings);
    status::check(snapshot, goals, others, actions, findings);
    if status::check_untouched(snapshot, actions, findings) {
        ControlFlow::Break(())
    } else {
        ControlFlow::Continue(())
    }
}

/// The rules about the objects of the actions.
pub(crate) fn check_objects(context: &Context<'_>, mut fleet: Fleet, findings: &mut Findings<'_>) {
    claims::check(context, findings);
    let ranked = turns::ranked(context, &fleet);
    let losses = fleet.lose(context);
    let rooms = Rooms::new(context, &fleet, ranked);
    limits::check_deletes(context, &fleet, &losses, findings);
    turns::check(context, &fleet, &rooms, findings);
    pulls::check(context, fleet.desired, findings);
    limits::check_leaving(context, &fleet, findings);
    deletes::check(context, &fleet, findings);
    changes::check(context, findings);
    let surged = creates::check(context, &mut fleet, findings);
    limits::check_surge(context, &fleet, &surged, findings);
    manifests::check(context, findings);
    revisions::check(context, &fleet, findings);
    rollout::check(context, findings);
}
