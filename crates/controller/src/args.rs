//! The command line.

use clap::{Parser, ValueEnum};
use std::net::SocketAddr;
use std::path::PathBuf;

/// A DaemonSet controller that replaces kube-controller-manager's and can explain each of its plans.
///
/// Run it in a cluster whose own DaemonSet controller is off (`--controllers=*,-daemonset-controller`). Beside that one, run
/// it only with --dry-run or --compare, which change nothing.
#[derive(Debug, Clone, Parser)]
#[command(version, about)]
pub struct Args {
    /// Work only on DaemonSets of this namespace.
    #[arg(long)]
    pub namespace: Option<String>,
    /// Work only on DaemonSets that match this label selector.
    #[arg(long, value_name = "LABELS")]
    pub selector: Option<String>,
    /// Print each plan, and change nothing.
    #[arg(long, conflicts_with = "compare")]
    pub dry_run: bool,
    /// Compare each plan with the actions of another controller, report the differences, and change nothing.
    #[arg(long)]
    pub compare: bool,
    /// With --compare: seconds until an action of ours that the other controller does not do is a difference.
    #[arg(long, requires = "compare", default_value_t = 30, value_name = "SECONDS")]
    pub grace: u64,
    /// With --compare: seconds that may lie between an action of the other controller and a plan of ours that contains it.
    #[arg(long, requires = "compare", default_value_t = 5, value_name = "SECONDS")]
    pub window: u64,
    /// With --compare: seconds without a change before statuses are compared.
    #[arg(long, requires = "compare", default_value_t = 5, value_name = "SECONDS")]
    pub quiet: u64,
    /// With --compare: exit with code 1 if there was a difference.
    #[arg(long, requires = "compare")]
    pub fail_on_difference: bool,
    /// Write the input of each decision into this directory, for replay.
    #[arg(long, value_name = "DIR")]
    pub record: Option<PathBuf>,
    /// Act only while this process holds the lease; use --leader-elect=false where only one process runs.
    #[arg(long, default_value_t = true, action = clap::ArgAction::Set, num_args = 0..=1, default_missing_value = "true")]
    pub leader_elect: bool,
    /// The namespace of the lease.
    #[arg(long, default_value = "kube-system", value_name = "NAMESPACE")]
    pub lease_namespace: String,
    /// The name of the lease.
    #[arg(long, default_value = "daemonset-controller", value_name = "NAME")]
    pub lease_name: String,
    /// Seconds that the lease is valid without renewal.
    #[arg(long, default_value_t = 15, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(3..=3600))]
    pub lease_seconds: u64,
    /// Address of /healthz, /readyz and /metrics.
    #[arg(long, default_value = "127.0.0.1:8080", value_name = "ADDRESS")]
    pub listen: SocketAddr,
    /// Number of DaemonSets that are reconciled at the same time.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u16).range(1..))]
    pub workers: u16,
    /// Milliseconds from the end of a DaemonSet's reconcile to its next one; changes in between lead to one reconcile.
    #[arg(long, default_value_t = 20, value_name = "MILLISECONDS")]
    pub rest: u64,
    /// Milliseconds between two status updates of a DaemonSet.
    #[arg(long, default_value_t = 500, value_name = "MILLISECONDS")]
    pub status_interval: u64,
    /// Format of the log.
    #[arg(long, value_enum, default_value_t = LogFormat::Text)]
    pub log_format: LogFormat,
}

/// The messages of the log where `RUST_LOG` chooses none. kube's own lines repeat each failed attempt, without the address and
/// in Debug form; this crate logs the failures itself.
pub const DEFAULT_LOG: &str = "info,kube_client=off,kube_client::client::tls=warn,kube_runtime=off";

/// Format of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// Lines for people.
    Text,
    /// One JSON object per line.
    Json,
}

impl Args {
    /// Whether this process changes the cluster.
    pub fn executes_plans(&self) -> bool {
        !self.dry_run && !self.compare
    }
}
