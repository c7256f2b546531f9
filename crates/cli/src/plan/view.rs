//! One plan, or an overview of several: as text, as JSON, and as a fingerprint that shows whether anything has changed.

use crate::cluster::{Input, Needs, Source};
use crate::plan::args::Asked;
use crate::plan::output::Named;
use crate::plan::overview::Overview;
use crate::plan::{actions, text};
use crate::shell::console::{Stop, print_json};
use daemonset::model::DaemonSetStatus;
use daemonset::{Plan, plan};
use serde_json::{Value, json};
use std::io;

/// Everything to show.
pub(crate) enum View {
    One { input: Box<Input>, plan: Plan },
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
        Ok(View::One { input: Box::new(input), plan })
    }

    /// With its styles.
    pub(crate) fn text(&self, source: &Source) -> String {
        match self {
            View::One { input, plan } => text::text(source, input, plan),
            View::Several(overview) => overview.text(source),
        }
    }

    pub(crate) fn print_json(&self) -> io::Result<()> {
        match self {
            View::One { input, plan } => print_json(&Named::new(input, plan)),
            View::Several(overview) => print_json(&overview.json()),
        }
    }

    /// The same for two views that differ only in their time.
    pub(crate) fn fingerprint(&self) -> Value {
        match self {
            View::One { input, plan } => fingerprint(plan, &input.recording.daemon_set.status),
            View::Several(overview) => overview.fingerprint(),
        }
    }
}

/// Without the versions of objects, which grow where nothing else changes, and without the time of the next look.
pub(crate) fn fingerprint(plan: &Plan, before: &DaemonSetStatus) -> Value {
    let mut report = json!(plan.report);
    forget_versions(&mut report);
    json!([report, plan.status, plan.warnings, actions::lines(&plan.actions, before)])
}

fn forget_versions(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.remove("resourceVersion");
            members.values_mut().for_each(forget_versions);
        }
        Value::Array(items) => items.iter_mut().for_each(forget_versions),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
