//! Runs in which the model of Kubernetes' own controller (v1.36) decides.

use super::trial::{Beginning, Trial};
use crate::support::{Expectations, upstream};
use daemonset::{Action, Recording, Snapshot};
use daemonset_sim::Planner;

pub fn begin(beginning: Beginning) -> Trial {
    let mut settings = beginning.settings();
    settings.controller.remembers = false;
    Trial::decided_by(Upstream::default(), settings, beginning)
}

/// The model of Kubernetes' own controller, as the planner of a simulated one.
#[derive(Default)]
pub struct Upstream {
    expectations: Expectations,
    last: Option<Recording>,
}

impl Planner for Upstream {
    fn plan(&mut self, snapshot: &Snapshot<'_>) -> Vec<Action> {
        let recording = Recording::from(snapshot);
        if let Some(last) = &self.last {
            self.expectations.saw(last, &recording);
        }
        let actions = upstream(&recording, Some(&mut self.expectations));
        self.last = Some(recording);
        actions
    }

    fn reset(&mut self) {
        *self = Upstream::default();
    }
}
