//! The command line of `rollout`.

use crate::cluster::{ClusterArgs, Files, MIDROLLOUT, Source, Target, TargetArgs, Wanted, is_file};
use crate::manifest;
use crate::shell::console::{Format, Stop, duration};
use crate::stuck;
use clap::{Args as Group, Subcommand};
use jiff::{SignedDuration, Timestamp};
use kubectl_daemonset::kubectl::DryRun;
use std::path::PathBuf;

/// kubectl's answers about a rollout, whether it is stuck, and the steps of one that people steer; nothing is sent to the
/// cluster.
#[derive(Group)]
#[command(subcommand_negates_reqs = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) job: Option<RolloutJob>,
    /// Answer a create, an update or a kubectl command a line, and print one line of JSON for each; `-` is stdin.
    ///
    /// `{"name", "object"}` is created (as of the file `filename`, with `fieldValidation` Ignore, Warn or Strict); `{"name", "before", "patch", "patchType", "subresource"}` is patched;
    /// `{"name", "command", "before": {"daemonSet", "revisions"}}` is a `kubectl rollout` command. A restart writes down the
    /// time `now` of its line; without it the restartedAt of the line's `after`; without that the system's.
    #[arg(long, value_name = "FILE.jsonl", required = true)]
    pub(crate) batch: Option<PathBuf>,
}

/// The question.
#[derive(Subcommand)]
pub(crate) enum RolloutJob {
    /// How far a rollout is: kubectl rollout status, and the waves of a rollout policy; --watch waits for its end
    #[command(after_help = crate::help::STATUS)]
    Status {
        #[command(flatten)]
        from: From,
        /// Has no effect on a DaemonSet
        #[arg(long, default_value_t = 0, allow_negative_numbers = true)]
        revision: i64,
        /// The instant to look at, where a policy steers the rollout. Default: as for plan
        #[arg(long, value_name = "RFC3339")]
        now: Option<Timestamp>,
        /// Wait until the rollout is done, or goes on no more by itself
        #[arg(short, long, conflicts_with = "now")]
        watch: bool,
        #[command(flatten)]
        waiting: WaitArgs,
    },
    /// The waves of a rollout policy with their nodes, and where the rollout would stop
    #[command(after_help = crate::help::ROLLOUT_PLAN)]
    Plan(PlanArgs),
    /// Holds a rollout: no further node is updated. Prints the command, without doing it
    #[command(after_help = crate::help::PAUSE)]
    Pause {
        #[command(flatten)]
        from: From,
    },
    /// Lets a paused rollout go on. Prints the command, without doing it
    #[command(after_help = crate::help::RESUME)]
    Resume {
        #[command(flatten)]
        from: From,
    },
    /// Approves the wave that waits for it. Prints the command, without doing it
    #[command(after_help = crate::help::APPROVE)]
    Approve {
        #[command(flatten)]
        from: From,
        /// Approve all waves up to this one, counted from 0 as status shows them. Default: the one that waits for approval
        #[arg(long, value_name = "N")]
        wave: Option<usize>,
        /// The instant to look at. Default: as for plan
        #[arg(long, value_name = "RFC3339")]
        now: Option<Timestamp>,
    },
    /// The revisions, or one of them: kubectl rollout history
    #[command(after_help = crate::help::HISTORY)]
    History(HistoryArgs),
    /// Back to an older revision: kubectl rollout undo, without doing it
    #[command(after_help = crate::help::UNDO)]
    Undo {
        #[command(flatten)]
        from: From,
        /// The one to go back to; 0 is the one before the last
        #[arg(long, default_value_t = 0, allow_negative_numbers = true)]
        to_revision: i64,
        /// As for kubectl
        #[arg(long, value_enum, default_value_t = DryRunArg::None)]
        dry_run: DryRunArg,
    },
    /// Every pod anew: kubectl rollout restart, without doing it
    #[command(after_help = crate::help::RESTART)]
    Restart {
        #[command(flatten)]
        from: From,
        /// The time to write down. Default: the system's
        #[arg(long, value_name = "RFC3339")]
        now: Option<Timestamp>,
    },
    /// The difference between two revisions
    #[command(after_help = crate::help::DIFF)]
    Diff {
        /// A revision's number. Default: the newest that is unlike the DaemonSet's template as it is
        #[arg(value_name = "OLDER")]
        older: Option<String>,
        /// Another's. Default: the DaemonSet's template as it is
        #[arg(value_name = "NEWER")]
        newer: Option<String>,
        #[command(flatten)]
        from: From,
    },
    /// Whether a rollout moves, its obstacles, and how many rounds are left
    #[command(after_help = crate::help::STUCK)]
    Stuck(stuck::Args),
    #[command(hide = true)]
    Lint(manifest::LintArgs),
    #[command(hide = true)]
    Create(manifest::CreateArgs),
    #[command(hide = true)]
    Update(manifest::UpdateArgs),
    #[command(hide = true)]
    WouldRestart(manifest::ChangeArgs),
}

/// The wait of `status --watch`.
#[derive(Group, Clone)]
pub(crate) struct WaitArgs {
    /// How long `--watch` waits at most; 0s: for ever
    #[arg(long, value_name = "TIME", value_parser = timeout, requires = "watch")]
    timeout: Option<SignedDuration>,
    /// How often `--watch` looks: at the changes that kubectl has told, and where it can't watch, at all objects
    #[arg(long, value_name = "TIME", default_value = "2s", value_parser = duration, requires = "watch")]
    pub(crate) interval: SignedDuration,
}

impl WaitArgs {
    /// `None` for a wait without an end.
    pub(crate) fn timeout(&self) -> Option<SignedDuration> {
        self.timeout.filter(|timeout| timeout.is_positive())
    }
}

/// As kubectl has it, 0 is no limit.
fn timeout(text: &str) -> Result<SignedDuration, String> {
    match text.parse::<SignedDuration>() {
        Ok(timeout) if !timeout.is_negative() => Ok(timeout),
        Ok(_) => Err("must not be negative".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

/// The DaemonSet of a question.
#[derive(Group, Clone)]
pub(crate) struct From {
    #[command(flatten)]
    pub(crate) target: TargetArgs,
    /// The format of the answer
    #[arg(short, long, value_enum, default_value_t)]
    pub(crate) output: Format,
}

/// `rollout plan`: as for `lint`, there is a text of its own beside the cluster.
#[derive(Group)]
pub(crate) struct PlanArgs {
    /// A DaemonSet: NAME, NAMESPACE/NAME or ds/NAME. Or a FILE with the cluster
    #[arg(value_name = "NAME|FILE")]
    target: Option<String>,
    /// The policy to try, in YAML or JSON; `-` is stdin. Default: the DaemonSet's own, in annotation rollout.daemonset/policy
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,
    /// The cluster, as for plan, or the policy: the content tells
    #[arg(short = 'f', long = "filename", value_name = "FILE")]
    file: Option<PathBuf>,
    /// A List, as `kubectl get daemonsets,pods,nodes,controllerrevisions -A -o json` (or yaml) prints it, or a Recording;
    /// `-` is stdin. Default: the cluster that kubectl reads
    #[arg(long, value_name = "FILE")]
    from: Option<PathBuf>,
    /// Which DaemonSet, where there are several
    #[arg(long, value_name = "NAMESPACE/NAME")]
    daemonset: Option<String>,
    #[command(flatten)]
    cluster: ClusterArgs,
    /// The instant to look at. Default: as for plan
    #[arg(long, value_name = "RFC3339")]
    pub(crate) now: Option<Timestamp>,
    /// The format of the answer
    #[arg(short, long, value_enum, default_value_t)]
    pub(crate) output: Format,
}

impl PlanArgs {
    /// The DaemonSet, and the file with its policy.
    pub(crate) fn target(&self) -> Result<(Target, Option<Source>), Stop> {
        let files = Files { subject: self.policy.clone(), cluster: self.from.clone() };
        let Files { subject: policy, cluster: from } = files.sorted(self.file.as_ref(), "--policy")?;
        if from.is_some() && self.target.as_deref().is_some_and(is_file) {
            return Err(Stop::Input("--from: the file with the cluster is named already".to_owned()));
        }
        let target = TargetArgs::new(self.target.clone(), from, self.daemonset.clone(), self.cluster.clone());
        let (target, policy) = (target.resolve(MIDROLLOUT)?, policy.map(Source::named));
        match (&target.source, &policy) {
            (Source::Stdin, Some(Source::Stdin)) => {
                Err(Stop::Input("--policy -: stdin is the cluster already".to_owned()))
            }
            _ => Ok((target, policy)),
        }
    }
}

/// `rollout history`.
#[derive(Group, Clone)]
pub(crate) struct HistoryArgs {
    #[command(flatten)]
    target: TargetArgs,
    /// The format of the answer
    #[arg(short, long, value_enum, default_value_t)]
    output: HistoryFormat,
    /// The one to show
    #[arg(long, default_value_t = 0, allow_negative_numbers = true)]
    pub(crate) revision: i64,
}

/// How a history is printed.
#[derive(Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
enum HistoryFormat {
    /// For a person
    #[default]
    Text,
    /// For a program: the list of revisions
    Json,
    /// The DaemonSet that each revision restores, as kubectl prints it
    Yaml,
}

impl HistoryArgs {
    pub(crate) fn from(&self) -> From {
        let output = match self.output {
            HistoryFormat::Text => Format::Text,
            HistoryFormat::Json | HistoryFormat::Yaml => Format::Json,
        };
        From { target: self.target.clone(), output }
    }

    /// Whether whole objects are asked for.
    pub(crate) fn is_yaml(&self) -> bool {
        self.output == HistoryFormat::Yaml
    }
}

impl From {
    pub(crate) fn resolve(&self) -> Result<(Source, Option<Wanted>), Stop> {
        let target = self.target.resolve(MIDROLLOUT)?;
        Ok((target.source, target.wanted))
    }
}

/// `--dry-run`.
#[derive(Clone, Copy, clap::ValueEnum)]
pub(crate) enum DryRunArg {
    None,
    Client,
    Server,
}

impl DryRunArg {
    pub(crate) fn dry_run(self) -> DryRun {
        match self {
            DryRunArg::None => DryRun::None,
            DryRunArg::Client => DryRun::Client,
            DryRunArg::Server => DryRun::Server,
        }
    }
}
