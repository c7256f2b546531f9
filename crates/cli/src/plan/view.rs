//! One plan, or an overview of several: as text, as JSON, and as a fingerprint that shows whether anything has changed.

use crate::cluster::{Input, Needs, Source};
use crate::plan::args::Asked;
use crate::plan::overview::Overview;
use crate::plan::planned::{Named, fingerprint};
use crate::plan::text;
use crate::shell::console::{Stop, print_json};
use daemonset::{Plan, Recording, plan};
use serde_json::{Value, json};
use std::io;

/// Everything to show.
pub(crate) enum View {
    One(Box<(Input, Plan)>),
    Several(Overview),
}

impl View {
    /// Reads the cluster and plans. Several DaemonSets of a file are an error that names them.
    pub(crate) fn read(asked: &Asked) -> Result<Self, Stop> {
        let Asked { source, choice, several } = asked;
        let stop = |message: String| source.stop(message);
        let input = match source {
            Source::Kubectl(_) if choice.daemon_set.is_none() => {
                let objects = source.objects(Needs::Plan)?;
                let number = objects.daemon_set_names().len();
                if number > 1 || (*several && number == 1) {
                    return Overview::new(objects, choice).map(View::Several).map_err(stop);
                }
                Input::from_cluster(objects, choice).map_err(stop)?
            }
            _ => source.input(choice)?,
        };
        let plan = plan(&input.snapshot().map_err(stop)?);
        Ok(View::One(Box::new((input, plan))))
    }

    /// With its styles.
    pub(crate) fn text(&self, source: &Source) -> String {
        match self {
            View::One(one) => text::text(source, &one.0, &one.1),
            View::Several(overview) => overview.text(source),
        }
    }

    pub(crate) fn print_json(&self) -> io::Result<()> {
        match self {
            View::One(one) => {
                let Recording { name, now, .. } = &one.0.recording;
                print_json(&Named { name, now: *now, policy_problems: &one.0.policy_problems, plan: &one.1 })
            }
            View::Several(overview) => print_json(&overview.json()),
        }
    }

    /// The same for two views that differ only in their time.
    pub(crate) fn fingerprint(&self) -> Value {
        match self {
            View::One(one) => {
                let Input { recording, policy_problems, .. } = &one.0;
                let plan = fingerprint(&one.1, &recording.daemon_set.status);
                json!([recording.policy, policy_problems, plan])
            }
            View::Several(overview) => overview.fingerprint(),
        }
    }
}
