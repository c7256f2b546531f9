//! The command line.

use crate::input::{BUILT_IN, Choice};
use crate::shell::source::Source;
use clap::Args as Group;
use daemonset::Policy;
use jiff::Timestamp;
use std::path::{Path, PathBuf};

/// Plans a DaemonSet: who runs what on which node, what happens now, and why.
#[derive(Group)]
pub(crate) struct Args {
    /// A List, as `kubectl get daemonsets,pods,nodes,controllerrevisions -A -o json` prints it, or a Recording; `-` is
    /// stdin. Without it, an example that is built in
    file: Option<PathBuf>,
    /// Which DaemonSet, where the List has several
    #[arg(long, value_name = "NAMESPACE/NAME")]
    daemonset: Option<String>,
    /// The instant to plan at. Default: the newest creation or condition change in a List; a Recording's own
    #[arg(long, value_name = "RFC3339")]
    now: Option<String>,
    /// The policy, as JSON. Default: a Recording's own, or what Kubernetes does
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,
    /// What to print
    #[arg(short, long, value_enum, default_value_t = Format::Text)]
    output: Format,
    /// Plan one Recording a line, and print one line of JSON for each; `-` is stdin
    #[arg(long, value_name = "FILE.jsonl", conflicts_with_all = ["file", "daemonset", "now", "policy", "output"])]
    batch: Option<PathBuf>,
    /// Plan N times, and print how many nanoseconds each step takes
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    #[arg(conflicts_with_all = ["batch", "output"])]
    time: Option<u32>,
}

/// How a plan is printed.
#[derive(Clone, Copy, clap::ValueEnum)]
pub(crate) enum Format {
    /// For a person
    Text,
    /// The whole plan
    Json,
}

/// What the command line asks for.
pub(crate) enum Job {
    Batch(Source),
    Time { source: Source, choice: Choice, times: u32 },
    Plan { source: Source, choice: Choice, format: Format },
}

impl Args {
    /// The job that these arguments ask for.
    pub(crate) fn job(self) -> Result<Job, String> {
        if let Some(file) = self.batch {
            return Ok(Job::Batch(Source::named(file)));
        }
        let choice = Choice {
            daemon_set: self.daemonset.map(daemon_set_name).transpose()?,
            now: self.now.as_deref().map(instant).transpose()?,
            policy: self.policy.as_deref().map(policy).transpose()?,
        };
        let source = self.file.map_or(Source::BuiltIn(BUILT_IN), Source::named);
        Ok(match self.time {
            Some(times) => Job::Time { source, choice, times },
            None => Job::Plan { source, choice, format: self.output },
        })
    }
}

fn daemon_set_name(text: String) -> Result<String, String> {
    match text.split_once('/') {
        Some((namespace, name)) if !namespace.is_empty() && !name.is_empty() && !name.contains('/') => {
            Ok(text)
        }
        _ => Err(format!("--daemonset {text:?}: must be NAMESPACE/NAME")),
    }
}

fn instant(text: &str) -> Result<Timestamp, String> {
    text.parse()
        .map_err(|error| format!("--now {text:?}: must be a time such as 2026-01-01T00:00:00Z: {error}"))
}

fn policy(file: &Path) -> Result<Policy, String> {
    let told = |error: &dyn std::fmt::Display| format!("--policy {}: {error}", file.display());
    let bytes = std::fs::read(file).map_err(|error| told(&error))?;
    let deserializer = &mut serde_json::Deserializer::from_slice(&bytes);
    let policy = serde_path_to_error::deserialize(&mut *deserializer).map_err(|error| told(&error))?;
    deserializer.end().map_err(|error| told(&error))?;
    Ok(policy)
}
