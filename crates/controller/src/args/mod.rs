//! The command lines: the controller's, and the flags that another program shares with it.

mod common;
mod names;

pub use common::{CommonArgs, LogFormat};

use crate::event_recorder::DRIVER;
use crate::other_controller::Reaction;
use crate::rollout::policy::ProcessRole;
use clap::error::ErrorKind;
use clap::{CommandFactory, Parser};
use daemonset::Policy;
use names::{check_dns_label, check_subdomain};
use std::ffi::OsString;

/// A DaemonSet controller that replaces kube-controller-manager's and can explain each of its plans.
///
/// Run it in a cluster whose own DaemonSet controller is off (`--controllers=*,-daemonset-controller`). Beside that one, run
/// it only with --dry-run, which changes nothing, or with --drive, which updates the DaemonSets that ask for it. The program
/// daemonset-compare tells before what would be different.
#[derive(Debug, Clone, Parser)]
#[command(version, about)]
pub struct Args {
    /// Print each plan, and change nothing.
    #[arg(long)]
    pub dry_run: bool,
    /// Beside the cluster's own DaemonSet controller: update the DaemonSets with OnDelete whose policy has `externalController`. Sends deletes of
    /// pods, marks on ControllerRevisions and events, and leaves all other DaemonSets alone.
    #[arg(long)]
    pub drive: bool,
    /// The flags that each program has.
    #[command(flatten)]
    pub common: CommonArgs,
    /// Act only while this process holds the lease; use --leader-elect=false where only one process runs.
    #[arg(long, default_value_t = true, action = clap::ArgAction::Set, num_args = 0..=1, default_missing_value = "true")]
    pub leader_elect: bool,
    /// Stop acting while another DaemonSet controller writes statuses, until a minute passes without one.
    #[arg(long, default_value_t = true, action = clap::ArgAction::Set, num_args = 0..=1, default_missing_value = "true")]
    pub stop_beside_another: bool,
    /// The namespace of the lease.
    #[arg(long, default_value = "kube-system", value_name = "NAMESPACE")]
    pub lease_namespace: String,
    /// The name of the lease; with --drive, daemonset-driver if none is given.
    #[arg(
        long,
        default_value = "daemonset-controller",
        default_value_if("drive", "true", DRIVER),
        value_name = "NAME"
    )]
    pub lease_name: String,
    /// Seconds that the lease is valid without renewal.
    #[arg(long, default_value_t = 15, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(3..=3600))]
    pub lease_seconds: u64,
    /// Milliseconds between two status updates of a DaemonSet.
    #[arg(long, default_value_t = 500, value_name = "MILLISECONDS")]
    pub status_interval: u64,
    /// Compare one in N acting plans with a plan from full lists, and execute that one if they differ; 0 turns this off.
    #[arg(long, default_value_t = 100, value_name = "N")]
    pub verify_one_in: u32,
}

impl Args {
    /// The flags of a command line, whose first word is the program.
    ///
    /// # Errors
    /// When they are not the flags of this program.
    pub fn read(words: impl IntoIterator<Item = impl Into<OsString>>) -> Result<Self, clap::Error> {
        let words: Vec<OsString> = words.into_iter().map(Into::into).collect();
        if words.iter().any(|word| word == "--compare") {
            // Before clap rejects the flags that belong to it, such as --grace, and says nothing of the program that has them.
            let message = "--compare is not a flag of this program: run daemonset-compare, which has the flags that belong to it";
            return Err(Args::command().error(ErrorKind::UnknownArgument, message));
        }
        Args::try_parse_from(words)
    }

    /// The policy that these flags choose.
    ///
    /// # Errors
    /// Every problem of the command line that only a server would find otherwise, each as one line.
    pub fn check(&self) -> Result<Policy, Vec<String>> {
        let of_lease = [
            ("--lease-namespace", check_dns_label(&self.lease_namespace)),
            ("--lease-name", check_subdomain(&self.lease_name)),
        ];
        self.common.check(self.role(), &of_lease)
    }

    /// The process that reads the policies of DaemonSets.
    pub fn role(&self) -> ProcessRole {
        if self.drive { ProcessRole::Driver } else { ProcessRole::Controller }
    }

    /// A driver is meant to run beside another controller, and a process that changes nothing may do so, too.
    pub fn reaction(&self) -> Reaction {
        match self.role() {
            ProcessRole::Controller if self.stop_beside_another && !self.dry_run => Reaction::StopActing,
            ProcessRole::Controller | ProcessRole::Driver | ProcessRole::Comparison => Reaction::ActAnyway,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(flags: &[&str]) -> Args {
        Args::parse_from(["daemonset-controller"].iter().chain(flags))
    }

    /// Whoever knew the flag learns where it has gone, also with flags that have gone with it.
    #[test]
    fn a_comparison_is_another_program() {
        let refused = Args::read(["daemonset-controller", "--grace=60", "--compare"]).unwrap_err();
        assert_eq!(refused.exit_code(), 2);
        assert!(refused.to_string().contains("run daemonset-compare"), "{refused}");
        assert!(Args::read(["daemonset-controller", "--dry-run"]).is_ok_and(|args| args.dry_run));
    }

    #[test]
    fn a_controller_stops_beside_another_one_unless_told_otherwise() {
        let reactions = [&[][..], &["--stop-beside-another=false"], &["--drive"], &["--dry-run"]]
            .map(|flags| args(flags).reaction());
        let [controller, others @ ..] = reactions;
        assert_eq!(controller, Reaction::StopActing);
        assert_eq!(others, [Reaction::ActAnyway; 3]);
    }

    #[test]
    fn a_driver_has_a_lease_of_its_own() {
        let lease = |flags: &[&str]| args(flags).lease_name;
        assert_eq!(
            (lease(&[]), lease(&["--drive"])),
            ("daemonset-controller".into(), "daemonset-driver".into())
        );
        assert_eq!(lease(&["--drive", "--lease-name=mine"]), "mine");
        let roles = [&[][..], &["--drive"], &["--drive", "--dry-run"]].map(|flags| args(flags).role());
        assert_eq!(roles, [ProcessRole::Controller, ProcessRole::Driver, ProcessRole::Driver]);
    }

    #[test]
    fn a_problem_of_a_name_is_found_beside_a_good_policy() {
        assert!(args(&["--burst", "7"]).check().is_ok_and(|policy| policy.burst == 7));
        let problems = args(&["--namespace", "Bad_NS", "--burst", "7"]).check().unwrap_err();
        assert!(matches!(&problems[..], [problem] if problem.starts_with("--namespace: ")), "{problems:?}");
    }
}
