//! One plan, or an overview of several: as text, as JSON, and as a fingerprint that shows whether anything has changed.

use crate::cluster::{Input, Objects, Read, Source};
use crate::plan::args::PlanQuestion;
use crate::plan::overview::Overview;
use crate::plan::text;
use crate::shell::console::{Stop, print_json};
use daemonset::turns::plan_with_details;
use daemonset::{Plan, Recording};
use daemonset_view::plan::{Named, fingerprint};
use daemonset_view::turning::Details;
use serde_json::{Value, json};
use std::io;

/// Everything to show.
pub(crate) enum PlanView {
    One(Box<One>),
    Several(Overview),
}

/// A DaemonSet with its plan.
pub(crate) struct One {
    input: Input,
    plan: Plan,
    /// Of the nodes that have any.
    details: Details,
}

impl PlanView {
    /// Reads the cluster and plans.
    pub(crate) fn read(asked: &PlanQuestion) -> Result<Self, Stop> {
        match asked.source.read(&asked.choice)? {
            Read::Recording(input) => PlanView::one(*input, &asked.source),
            Read::Objects(objects) => PlanView::of(*objects, asked),
        }
    }

    /// An overview of several DaemonSets, where none is named.
    pub(crate) fn of(objects: Objects, asked: &PlanQuestion) -> Result<Self, Stop> {
        let PlanQuestion { source, choice, several } = asked;
        let wanted = choice.daemon_set.as_ref();
        let is_named = wanted.is_some_and(|wanted| wanted.name.is_some());
        let number = objects.number_of(wanted);
        if !is_named && (number > 1 || (*several && number == 1)) {
            return Overview::new(objects, choice, source).map(PlanView::Several);
        }
        PlanView::one(source.input_of(objects, choice)?, source)
    }

    fn one(input: Input, source: &Source) -> Result<Self, Stop> {
        let stop = |message: String| source.stop(message);
        let snapshot = input.snapshot().map_err(stop)?;
        let (plan, details) = plan_with_details(&snapshot);
        drop(snapshot);
        Ok(PlanView::One(Box::new(One { input, plan, details })))
    }

    /// With its styles.
    pub(crate) fn text(&self, source: &Source) -> String {
        match self {
            PlanView::One(one) => text::text(source, &one.input, &one.plan, &one.details),
            PlanView::Several(overview) => overview.text(source),
        }
    }

    pub(crate) fn print_json(&self) -> io::Result<()> {
        match self {
            PlanView::One(one) => {
                let One { input: Input { recording, policy_problems, .. }, plan, details } = &**one;
                let Recording { name, now, .. } = recording;
                print_json(&Named { name, now: *now, policy_problems, plan, details })
            }
            PlanView::Several(overview) => print_json(&overview.json()),
        }
    }

    /// The same for two views that differ only in their time.
    pub(crate) fn fingerprint(&self) -> Value {
        match self {
            PlanView::One(one) => {
                let Input { recording, policy_problems, .. } = &one.input;
                let plan = fingerprint(&one.plan, &recording.daemon_set.status);
                json!([recording.policy, policy_problems, plan])
            }
            PlanView::Several(overview) => overview.fingerprint(),
        }
    }
}
