//! How much of a DaemonSet's work this controller does.

use crate::action::{Action, CreateReason, DeleteReason};
use crate::input::Snapshot;

/// How much of a DaemonSet's work this controller does: each question about it is a method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Authority {
    /// All of it.
    Whole,
    /// The update, beside another controller that creates the pods ([`Policy::external_controller`](field@crate::Policy::external_controller)).
    Update,
}

impl Authority {
    #[inline]
    pub(crate) fn of(snapshot: &Snapshot<'_>) -> Self {
        if snapshot.drives() { Authority::Update } else { Authority::Whole }
    }

    /// Whether it gives nodes their pods and tidies up. Otherwise the other controller does, and each pod that it creates has the newest
    /// template: none comes back as the stable revision.
    #[inline]
    pub(crate) const fn syncs_nodes(self) -> bool {
        matches!(self, Authority::Whole)
    }

    /// Whether it adopts pods and revisions. Otherwise it touches only objects that the other controller has adopted.
    #[inline]
    pub(crate) const fn adopts(self) -> bool {
        matches!(self, Authority::Whole)
    }

    /// Whether it writes the status.
    #[inline]
    pub(crate) const fn writes_status(self) -> bool {
        matches!(self, Authority::Whole)
    }

    /// Whether an action of a plan is its own: of the update these are the deletes, the marks, the undo, the turns, the pulls and the
    /// wake-up.
    pub(crate) const fn executes(self, action: &Action) -> bool {
        // Each action by name, so that a new one does not compile until it is given to one of the controllers.
        match (self, action) {
            (Authority::Whole, _)
            | (
                Authority::Update,
                Action::AnnotateRevision { .. }
                | Action::RestoreTemplate { .. }
                | Action::UpdatePodInPlace { .. }
                | Action::PatchNode { .. }
                | Action::Requeue { .. },
            ) => true,
            // Node sync decides nothing beside an external controller: by this line no slip of it could delete the other controller's pods.
            (Authority::Update, Action::DeletePod { reason, .. }) => {
                reason.is_update() || matches!(reason, DeleteReason::PullDone)
            }
            (Authority::Update, Action::CreatePod { reason, .. }) => {
                matches!(reason, CreateReason::PullImages)
            }
            (
                Authority::Update,
                Action::AdoptPod { .. }
                | Action::ReleasePod { .. }
                | Action::AdoptRevision { .. }
                | Action::ReleaseRevision { .. }
                | Action::CreateRevision { .. }
                | Action::LabelRevision { .. }
                | Action::RenumberRevision { .. }
                | Action::LabelPod { .. }
                | Action::DeleteRevision { .. }
                | Action::UpdateStatus { .. }
                | Action::RecordEvent { .. },
            ) => false,
        }
    }
}
