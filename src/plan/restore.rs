//! The template of the stable revision, put back into the DaemonSet.

use crate::action::{Action, RestoreReason};
use crate::input::Snapshot;
use crate::plan::steps::Steps;
use crate::rollout::stable::Stable;
use crate::rollout::undo::UndoProgress;
use serde_json::{Value, json};

/// The restore that is due, if there is one.
pub(crate) fn restore(snapshot: &Snapshot<'_>, steps: &Steps<'_>) -> Option<Action> {
    let rollout = steps.fleet.goals.rollout()?;
    let stable = rollout.stable.as_ref()?;
    // The marks of this undo are on the stable revision and on the current revision, and the snapshot shows them.
    let is_due = rollout.known.decision.undo == Some(UndoProgress::Due);
    is_due.then(|| Action::RestoreTemplate {
        daemon_set: snapshot.spec.daemon_set.as_ref().into(),
        revision: stable.view.object_ref(),
        patch: patch(stable),
        reason: RestoreReason::RolledBack,
    })
}

/// A strategic merge patch. It has no other part of the revision's data: the right to write revisions gives a say over the template, and
/// over no other field of the DaemonSet.
fn patch(stable: &Stable<'_>) -> Value {
    let mut template = stable.raw_template().clone();
    // A revision holds the directive, but another writer of revisions may have left it out: then fields would be merged.
    if let Value::Object(members) = &mut template {
        members.insert("$patch".to_owned(), Value::from("replace"));
    }
    let mut patch = json!({"spec": {"template": template}});
    // Whatever order serde_json keeps: plans are compared by their text.
    patch.sort_all_objects();
    patch
}
