//! The command line of `plan`.

use crate::cluster::policy::unreadable_fields;
use crate::cluster::{Choice, MIDROLLOUT, Source, Target, TargetArgs, read_policy};
use crate::shell::console::{Format, Stop, duration};
use clap::Args as Group;
use daemonset::Policy;
use jiff::{SignedDuration, Timestamp};
use std::path::{Path, PathBuf};

/// Plans a DaemonSet: the pods of each node, the actions that come next, and their reasons.
#[derive(Group)]
pub(crate) struct Args {
    #[command(flatten)]
    target: TargetArgs,
    /// The instant to plan at. Default: the system's clock for a cluster; the newest time at which something happened in a List;
    /// a Recording's own
    #[arg(long, value_name = "RFC3339")]
    now: Option<String>,
    /// The policy, in YAML or JSON. Default: a Recording's own, or what Kubernetes does and the
    /// rollout that the annotations of the DaemonSet ask for
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,
    /// The format of the answer
    #[arg(short, long, value_enum, default_value_t)]
    output: Format,
    /// Follow a rollout until Ctrl-C: one screen on a terminal, else each plan that differs from the one before
    #[arg(short, long, conflicts_with_all = ["now", "output", "batch", "time"])]
    watch: bool,
    /// How often `--watch` looks: at the changes that kubectl has told, and where it can't watch, at all objects
    #[arg(long, value_name = "TIME", default_value = "2s", value_parser = duration, requires = "watch")]
    interval: SignedDuration,
    /// Plan one Recording a line, and print one line of JSON for each; `-` is stdin
    #[arg(long, value_name = "FILE.jsonl", conflicts_with_all = ["target", "file", "daemonset", "example", "context", "kubeconfig", "cluster", "user", "act_as", "act_as_group", "request_timeout", "namespace", "all_namespaces", "selector", "now", "policy", "output"])]
    batch: Option<PathBuf>,
    /// Plan N times, and print how many nanoseconds each step takes
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    #[arg(conflicts_with_all = ["batch", "output", "selector"])]
    time: Option<u32>,
    /// Apply N rounds of six events, one at a time, to a kept state, and print how many nanoseconds a change and its plan take
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    #[arg(conflicts_with_all = ["batch", "output", "selector", "time", "watch"])]
    time_events: Option<u32>,
}

/// The work that the command line asks for.
pub(crate) enum PlanJob {
    Batch(Source),
    Time { source: Source, choice: Choice, times: u32 },
    TimeEvents { source: Source, choice: Choice, times: u32 },
    Plan { asked: PlanQuestion, format: Format },
    Watch { asked: PlanQuestion, interval: SignedDuration },
}

/// Which plans to make.
pub(crate) struct PlanQuestion {
    pub(crate) source: Source,
    pub(crate) choice: Choice,
    /// Whether an overview of several DaemonSets is wanted even where there is only one.
    pub(crate) several: bool,
}

impl Args {
    /// Reads the policy, and asks kubectl for its current context at most.
    pub(crate) fn job(self) -> Result<PlanJob, Stop> {
        if let Some(file) = self.batch {
            return Ok(PlanJob::Batch(Source::named(file)));
        }
        if let Some(name) = &self.target.daemonset {
            with_namespace(name).map_err(Stop::Input)?;
        }
        let now = self.now.as_deref().map(instant).transpose().map_err(Stop::Input)?;
        let policy = self.policy.as_deref().map(policy).transpose().map_err(Stop::Input)?;
        // A benchmark never waits for a cluster that nobody named.
        let Target { source, wanted } = match self.time.or(self.time_events) {
            Some(_) if self.target.is_open() => self.target.resolve_in_example(MIDROLLOUT)?,
            _ => self.target.resolve(MIDROLLOUT)?,
        };
        let is_named = wanted.as_ref().is_some_and(|wanted| wanted.name.is_some());
        let several = !is_named && self.target.cluster.chooses_several();
        let choice = Choice { daemon_set: wanted, now, policy };
        if let Some(times) = self.time {
            return Ok(PlanJob::Time { source, choice, times });
        }
        if let Some(times) = self.time_events {
            return Ok(PlanJob::TimeEvents { source, choice, times });
        }
        let asked = PlanQuestion { source, choice, several };
        match (&asked.source, self.watch) {
            (_, false) => Ok(PlanJob::Plan { asked, format: self.output }),
            (Source::Kubectl(_), true) => Ok(PlanJob::Watch { asked, interval: self.interval }),
            (source, true) => Err(source.stop("--watch: only a cluster that kubectl reads can change")),
        }
    }
}

fn with_namespace(text: &str) -> Result<(), String> {
    match text.split_once('/') {
        Some((namespace, name)) if !namespace.is_empty() && !name.is_empty() && !name.contains('/') => Ok(()),
        _ => Err(format!("--daemonset {text:?}: must be NAMESPACE/NAME")),
    }
}

fn instant(text: &str) -> Result<Timestamp, String> {
    text.parse()
        .map_err(|error| format!("--now {text:?}: must be a time such as 2026-01-01T00:00:00Z: {error}"))
}

fn policy(file: &Path) -> Result<Policy, String> {
    let invalid = |error: &dyn std::fmt::Display| format!("--policy {}: {error}", file.display());
    let bytes = std::fs::read(file).map_err(|error| invalid(&error))?;
    let documents = read_policy(&bytes).map_err(|error| invalid(&error))?;
    let [value] = documents.as_slice() else { return Err(invalid(&"must be one document")) };
    let policy: Result<Policy, _> = serde_path_to_error::deserialize(value);
    policy.map_err(|error| match unreadable_fields(value.clone()) {
        several if several.len() > 1 => invalid(&several.join("; ")),
        _ => invalid(&error),
    })
}
