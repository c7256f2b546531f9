//! The place of a comparison: a program gives one to the worker, which then asks it instead of an executor and changes nothing.
//!
//! The program `daemonset-compare` has the comparison itself.

mod reverted;
pub(crate) mod watch_events;

pub use reverted::Reverted;

use daemonset::Plan;
use daemonset::model::{ControllerRevision, DaemonSet, Pod};
use std::sync::Arc;

/// Compares plans with the actions of another controller.
///
/// It sees each change before the caches have it; `None` where the object did not exist before, or no longer does.
pub trait Comparison: Send + Sync {
    /// A DaemonSet has changed.
    fn daemon_set_changed(&self, before: Option<&DaemonSet>, after: Option<&DaemonSet>);

    /// A pod has changed.
    fn pod_changed(&self, before: Option<&Arc<Pod>>, after: Option<&Pod>);

    /// A revision has changed.
    fn revision_changed(&self, before: Option<&Arc<ControllerRevision>>, after: Option<&ControllerRevision>);

    /// Reconciles a DaemonSet. `plan` plans the cluster without the reverted actions, as often as it is called; `None` where no plan
    /// can be made.
    fn reconcile(&self, ds: &DaemonSet, plan: &mut dyn FnMut(&Reverted) -> Option<Plan>);

    /// Whether the other controller seems to have reset the back-off of this DaemonSet's failed pods since the last call.
    fn take_back_off_reset(&self, ds: &DaemonSet) -> bool;
}
