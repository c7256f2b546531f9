//! The command line.

use crate::rollout::cluster::BUILT_IN;
use crate::shell::source::Source;
use clap::{Args as Group, Subcommand};
use daemonset_kubectl::DryRun;
use jiff::Timestamp;
use std::path::PathBuf;

/// A manifest that changes what is in the built-in dump.
pub(crate) const MANIFEST: &str = include_str!("manifest.yaml");

/// Answers what kubectl and the API server answer about a DaemonSet, from files alone.
#[derive(Group)]
#[command(subcommand_negates_reqs = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) job: Option<Job>,
    /// Answer a create, an update or a kubectl command a line, and print one line of JSON for each; `-` is stdin.
    ///
    /// `{"name", "object"}` is created; `{"name", "before", "patch", "patchType", "subresource"}` is patched;
    /// `{"name", "command", "before": {"daemonSet", "revisions"}}` is a `kubectl rollout` command. A restart writes down the
    /// time `now` of its line; without it the restartedAt of the line's `after`; without that the system's.
    #[arg(long, value_name = "FILE.jsonl", required = true)]
    pub(crate) batch: Option<PathBuf>,
}

/// What is asked.
#[derive(Subcommand)]
pub(crate) enum Job {
    /// How far a rollout is: kubectl rollout status --watch=false
    Status {
        #[command(flatten)]
        from: From,
        /// Has no effect on a DaemonSet
        #[arg(long, default_value_t = 0, allow_negative_numbers = true)]
        revision: i64,
    },
    /// The revisions, or one of them: kubectl rollout history
    History {
        #[command(flatten)]
        from: From,
        /// The one to show
        #[arg(long, default_value_t = 0, allow_negative_numbers = true)]
        revision: i64,
    },
    /// Back to an older revision: kubectl rollout undo
    Undo {
        #[command(flatten)]
        from: From,
        /// The one to go back to; 0 is the one before the last
        #[arg(long, default_value_t = 0, allow_negative_numbers = true)]
        to_revision: i64,
        /// What is only tried
        #[arg(long, value_enum, default_value_t = Try::None)]
        dry_run: Try,
    },
    /// Every pod anew: kubectl rollout restart
    Restart {
        #[command(flatten)]
        from: From,
        /// The time to write down. Default: the system's
        #[arg(long, value_name = "RFC3339")]
        now: Option<Timestamp>,
    },
    /// What is different between two revisions
    Diff {
        /// A revision's number
        older: i64,
        /// Another's. Default: the DaemonSet's template as it is
        newer: Option<i64>,
        #[command(flatten)]
        from: From,
    },
    /// What will surprise whoever applies it
    Lint {
        #[command(flatten)]
        from: From,
        /// The DaemonSet to look at. Default: the one that is there
        #[arg(long, value_name = "FILE")]
        manifest: Option<PathBuf>,
    },
    /// What the API server stores, or refuses: kubectl create --dry-run=server
    Create {
        /// YAML or JSON; `-` is stdin. Default: one that is built in
        manifest: Option<PathBuf>,
        /// What to print
        #[arg(short, long, value_enum, default_value_t = Format::Text)]
        output: Format,
    },
    /// What is stored after a manifest replaces it, or a patch changes it: kubectl replace, kubectl patch
    Update {
        #[command(flatten)]
        change: Change,
        /// The patch instead of a manifest, as JSON or YAML
        #[arg(long, value_name = "PATCH", conflicts_with = "manifest")]
        patch: Option<String>,
        /// What kind of patch
        #[arg(long, value_enum, default_value_t, requires = "patch")]
        r#type: crate::rollout::requests::PatchType,
        /// `status` to change the status
        #[arg(long, value_enum, default_value_t, requires = "patch")]
        subresource: crate::rollout::requests::Subresource,
    },
    /// Whether applying a manifest restarts the fleet, and what of it does
    WouldRestart {
        #[command(flatten)]
        change: Change,
    },
}

/// What a job reads.
#[derive(Group)]
pub(crate) struct From {
    /// A List, as `kubectl get daemonsets,pods,nodes,controllerrevisions -A -o json` (or yaml) prints it, a Recording, or
    /// objects in YAML; `-` is stdin. Without it, a cluster that is built in
    file: Option<PathBuf>,
    /// Which DaemonSet, where there are several
    #[arg(long, value_name = "NAMESPACE/NAME")]
    pub(crate) daemonset: Option<String>,
    /// What to print
    #[arg(short, long, value_enum, default_value_t = Format::Text)]
    pub(crate) output: Format,
}

/// A manifest, and what is stored.
#[derive(Group)]
pub(crate) struct Change {
    /// YAML or JSON; `-` is stdin. Default: one that is built in
    manifest: Option<PathBuf>,
    /// Where the stored DaemonSet is. Default: a cluster that is built in
    #[arg(long, value_name = "DUMP")]
    from: Option<PathBuf>,
    /// Which stored DaemonSet. Default: the one that the manifest names
    #[arg(long, value_name = "NAMESPACE/NAME")]
    pub(crate) daemonset: Option<String>,
    /// What to print
    #[arg(short, long, value_enum, default_value_t = Format::Text)]
    pub(crate) output: Format,
}

/// How an answer is printed.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Format {
    /// As kubectl does
    Text,
    /// What there is behind the words
    Json,
}

/// `--dry-run`.
#[derive(Clone, Copy, clap::ValueEnum)]
pub(crate) enum Try {
    None,
    Client,
    Server,
}

impl Try {
    pub(crate) fn dry_run(self) -> DryRun {
        match self {
            Try::None => DryRun::None,
            Try::Client => DryRun::Client,
            Try::Server => DryRun::Server,
        }
    }
}

impl From {
    pub(crate) fn source(&self) -> Source {
        named_or(self.file.as_ref(), BUILT_IN)
    }
}

impl Change {
    pub(crate) fn manifest(&self) -> Source {
        named_or(self.manifest.as_ref(), MANIFEST)
    }

    pub(crate) fn stored(&self) -> Source {
        named_or(self.from.as_ref(), BUILT_IN)
    }
}

/// A file, or what is built in.
pub(crate) fn named_or(file: Option<&PathBuf>, built_in: &'static str) -> Source {
    file.cloned().map_or(Source::BuiltIn(built_in), Source::named)
}
