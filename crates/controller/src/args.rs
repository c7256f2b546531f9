//! What the command line asks for.

use clap::{Parser, ValueEnum};
use std::net::SocketAddr;
use std::path::PathBuf;

/// A DaemonSet controller: does what kube-controller-manager's DaemonSet controller does, and can say why.
///
/// Run it where that one does not run (`--controllers=*,-daemonset-controller`); beside it only with --dry-run or
/// --compare, which change nothing.
#[derive(Debug, Clone, Parser)]
#[command(version, about)]
pub struct Args {
    /// Only DaemonSets of this namespace.
    #[arg(long)]
    pub namespace: Option<String>,
    /// Only DaemonSets that this label selector chooses.
    #[arg(long, value_name = "LABELS")]
    pub selector: Option<String>,
    /// Print each plan, and change nothing.
    #[arg(long, conflicts_with = "compare")]
    pub dry_run: bool,
    /// Put each plan beside what another controller does, report where they differ, and change nothing.
    #[arg(long)]
    pub compare: bool,
    /// With --compare: seconds that an action of ours may wait for theirs before it is a difference.
    #[arg(long, requires = "compare", default_value_t = 30, value_name = "SECONDS")]
    pub grace: u64,
    /// With --compare: seconds that an action of theirs may be away from a plan of ours that has it.
    #[arg(long, requires = "compare", default_value_t = 5, value_name = "SECONDS")]
    pub window: u64,
    /// With --compare: seconds without a change before statuses are compared.
    #[arg(long, requires = "compare", default_value_t = 5, value_name = "SECONDS")]
    pub quiet: u64,
    /// With --compare: end with code 1 when there was a difference.
    #[arg(long, requires = "compare")]
    pub fail_on_difference: bool,
    /// Write what each decision was made from into this directory, for replay.
    #[arg(long, value_name = "DIR")]
    pub record: Option<PathBuf>,
    /// Act only while this process holds the lease; --leader-elect=false where there is only one.
    #[arg(long, default_value_t = true, action = clap::ArgAction::Set, num_args = 0..=1, default_missing_value = "true")]
    pub leader_elect: bool,
    /// The namespace of the lease.
    #[arg(long, default_value = "kube-system", value_name = "NAMESPACE")]
    pub lease_namespace: String,
    /// The name of the lease.
    #[arg(long, default_value = "daemonset-controller", value_name = "NAME")]
    pub lease_name: String,
    /// Seconds that a lease holds without being renewed.
    #[arg(long, default_value_t = 15, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(3..=3600))]
    pub lease_seconds: u64,
    /// Where /healthz, /readyz and /metrics are.
    #[arg(long, default_value = "127.0.0.1:8080", value_name = "ADDRESS")]
    pub listen: SocketAddr,
    /// DaemonSets that are reconciled at the same time.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u16).range(1..))]
    pub workers: u16,
    /// Milliseconds that a DaemonSet rests after a reconcile: what happens meanwhile is one change.
    #[arg(long, default_value_t = 20, value_name = "MILLISECONDS")]
    pub rest: u64,
    /// Milliseconds between two statuses of a DaemonSet.
    #[arg(long, default_value_t = 500, value_name = "MILLISECONDS")]
    pub status_interval: u64,
    /// The form of the log.
    #[arg(long, value_enum, default_value_t = LogFormat::Text)]
    pub log_format: LogFormat,
}

/// The form of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// For people.
    Text,
    /// One JSON object a line.
    Json,
}
