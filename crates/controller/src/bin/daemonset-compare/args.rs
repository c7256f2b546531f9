//! The command line.

use crate::daemon_set::Timeouts;
use clap::Parser;
use daemonset::Policy;
use daemonset_controller::args::CommonArgs;
use daemonset_controller::rollout::policy::ProcessRole;
use std::time::Duration;

/// Compares the plans of daemonset-controller with the actions of another DaemonSet controller, and changes nothing.
///
/// Run it beside Kubernetes' own controller before daemonset-controller takes its place. Each difference is a line as soon as it
/// is certain; a summary comes each minute in which the counts change, and at the end.
#[derive(Debug, Clone, Parser)]
#[command(name = "daemonset-compare", version)]
pub(crate) struct Args {
    /// Seconds until an action of ours that the other controller does not do is a difference.
    #[arg(long, default_value_t = 30, value_name = "SECONDS")]
    grace: u64,
    /// Seconds that may lie between an action of the other controller and a plan of ours that contains it.
    #[arg(long, default_value_t = 5, value_name = "SECONDS")]
    window: u64,
    /// Seconds without a change before statuses are compared.
    #[arg(long, default_value_t = 5, value_name = "SECONDS")]
    quiet: u64,
    /// Exit with code 1 if there was a difference.
    #[arg(long)]
    pub(crate) fail_on_difference: bool,
    #[command(flatten)]
    pub(crate) common: CommonArgs,
}

impl Args {
    /// The policy that these flags choose.
    ///
    /// # Errors
    /// Every problem of the command line that only a server would find otherwise, each as one line.
    pub(crate) fn check(&self) -> Result<Policy, Vec<String>> {
        self.common.check(ProcessRole::Comparison, &[])
    }

    pub(crate) fn timeouts(&self) -> Timeouts {
        Timeouts {
            window: Duration::from_secs(self.window),
            grace: Duration::from_secs(self.grace),
            quiet: Duration::from_secs(self.quiet),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    /// The controller's tests look at the rest of the manifest.
    #[test]
    fn the_command_line_of_the_manifest_is_accepted() {
        let patch: Value =
            serde_saphyr::from_str(include_str!("../../../deploy/compare/compare.yaml")).unwrap();
        let container = patch.pointer("/spec/template/spec/containers/0").unwrap();
        let words = ["command", "args"].map(|field| container[field].as_array().unwrap());
        let words = words.into_iter().flatten().map(|word| word.as_str().unwrap());
        let args = Args::try_parse_from(words).unwrap();
        args.check().unwrap();
        assert!(args.common.listen.ip().is_unspecified());
    }

    #[test]
    fn what_only_a_driver_or_a_controller_may_do_is_refused() {
        let words = |flag: &'static str| ["daemonset-compare", flag];
        for flag in ["--drive", "--dry-run", "--compare", "--lease-name=a"] {
            assert!(Args::try_parse_from(words(flag)).is_err(), "{flag}");
        }
        let problems = Args::parse_from(words("--namespace=Bad_NS")).check().unwrap_err();
        assert!(matches!(&problems[..], [problem] if problem.starts_with("--namespace: ")), "{problems:?}");
    }
}
