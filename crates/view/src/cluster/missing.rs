//! Input by which a plan would be wrong: a kind of object is missing, or the instant is before the objects.

use crate::cluster::object::full_name;
use crate::cluster::{Objects, Wanted};
use daemonset::model::DaemonSetStatus;
use jiff::{SignedDuration, Timestamp};

/// Prints all that a plan reads.
const COMPLETE: &str = "kubectl get daemonsets,pods,nodes,controllerrevisions -A -o json";

/// Clocks differ by less, if somebody sets them.
const SKEW: SignedDuration = SignedDuration::from_mins(1);

impl Objects {
    /// An error for an instant of the command line at which the objects were others: nobody knows which.
    pub fn is_over_by(&self, given: Option<Timestamp>) -> Result<(), String> {
        let (Some(now), Some(newest), false) = (given, self.now(), self.is_recorded()) else { return Ok(()) };
        if now.duration_since(newest) >= -SKEW {
            return Ok(());
        }
        Err(format!(
            "--now {now}: something in it happened later, at {newest}: name that time or a later one"
        ))
    }

    /// An error that names the kind, and a DaemonSet that needs it.
    ///
    /// Without its pods a plan would create them all anew, and without its revisions it would call each pod outdated.
    pub fn lacks_no_kind(&self, wanted: Option<&Wanted>) -> Result<(), String> {
        // A recorded decision is made again with the objects that it had, and one that can't be read is there.
        if self.is_recorded() || self.unreadable.is_some() {
            return Ok(());
        }
        let chosen = self.daemon_sets.iter().filter(|item| item.is(wanted));
        for (item, model) in chosen.filter_map(|item| Some((item, item.model.as_ref()?))) {
            if let Some((kind, though)) = self.missing(&model.status) {
                let name = full_name(&item.raw);
                let holder = &self.holder;
                return Err(format!(
                    "no {kind} in {holder}, though DaemonSet {name} {though}: {COMPLETE} prints all that is needed"
                ));
            }
        }
        Ok(())
    }

    /// The kind, and the words of the status that tell of it.
    fn missing(&self, status: &DaemonSetStatus) -> Option<(&'static str, String)> {
        let on = |nodes: i32| crate::words::count(usize::try_from(nodes).unwrap_or_default(), "node");
        let is_reconciled = status.observed_generation > 0;
        let with_pods = status.current_number_scheduled.saturating_add(status.number_misscheduled);
        // A cluster may be empty, as far as its status says so.
        if self.nodes.is_empty() && !(is_reconciled && status.desired_number_scheduled == 0) {
            let runs = match status.desired_number_scheduled {
                0 => "runs on nodes".to_owned(),
                nodes => format!("should run on {} by its status", on(nodes)),
            };
            return Some(("Node", runs));
        }
        if self.pods.is_empty() && with_pods > 0 {
            return Some(("Pod", format!("has pods on {} by its status", on(with_pods))));
        }
        (self.revisions.is_empty() && is_reconciled)
            .then(|| ("ControllerRevision", "has been rolled out before by its status".to_owned()))
    }
}
