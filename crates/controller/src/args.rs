//! The command line.

use crate::event_recorder::DRIVER;
use crate::label_selector::{check_dns_label, check_selector, check_subdomain};
use crate::other_controller::Reaction;
use crate::policy_file::{Override, policy};
use crate::rollout::policy::Role;
use clap::{Parser, ValueEnum};
use daemonset::Policy;
use serde_json::Value;
use std::net::SocketAddr;
use std::path::PathBuf;

/// A DaemonSet controller that replaces kube-controller-manager's and can explain each of its plans.
///
/// Run it in a cluster whose own DaemonSet controller is off (`--controllers=*,-daemonset-controller`). Beside that one, run
/// it only with --dry-run or --compare, which change nothing, or with --drive, which updates the DaemonSets that ask for it.
#[derive(Debug, Clone, Parser)]
#[command(version, about)]
pub struct Args {
    /// Work only on DaemonSets of this namespace.
    #[arg(long)]
    pub namespace: Option<String>,
    /// Work only on DaemonSets that match this label selector.
    #[arg(long, value_name = "LABELS")]
    pub selector: Option<String>,
    /// Take the choices of this file, YAML or JSON, where Kubernetes' behaviour does not fit (see --help).
    #[arg(long, value_name = "FILE", long_help = POLICY_HELP)]
    pub policy: Option<PathBuf>,
    /// When outdated pods that are not Ready are replaced: AtOnce or WithinBudget. Wins over the field `unready` of --policy.
    #[arg(long, value_name = "WHEN")]
    pub unready: Option<String>,
    /// The most creates, and the most deletes, in one plan. Wins over the field `burst` of --policy.
    #[arg(long, value_name = "PODS")]
    pub burst: Option<u32>,
    /// Print each plan, and change nothing.
    #[arg(long, conflicts_with = "compare")]
    pub dry_run: bool,
    /// Compare each plan with the actions of another controller, report the differences, and change nothing.
    #[arg(long)]
    pub compare: bool,
    /// Beside the cluster's own DaemonSet controller: update the DaemonSets with OnDelete whose policy has `drive`. Sends deletes of
    /// pods, marks on ControllerRevisions and events, and leaves all other DaemonSets alone.
    #[arg(long, conflicts_with = "compare")]
    pub drive: bool,
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
    /// Address of /healthz, /readyz and /metrics.
    #[arg(long, default_value = "127.0.0.1:8080", value_name = "ADDRESS")]
    pub listen: SocketAddr,
    /// Number of DaemonSets that are reconciled at the same time.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u16).range(1..))]
    pub workers: u16,
    /// Milliseconds from the end of a DaemonSet's reconcile to its next one; changes in between lead to one reconcile.
    #[arg(long, default_value_t = 75, value_name = "MILLISECONDS")]
    pub rest: u64,
    /// Milliseconds between two status updates of a DaemonSet.
    #[arg(long, default_value_t = 500, value_name = "MILLISECONDS")]
    pub status_interval: u64,
    /// Compare one in N acting plans with a plan from full lists, and execute that one if they differ; 0 turns this off.
    #[arg(long, default_value_t = 100, value_name = "N")]
    pub verify_one_in: u32,
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

/// When to want which value of each field of the policy.
const POLICY_HELP: &str = "\
Take the choices of this file, an object in YAML or JSON. A field that is not in it has its default, which is what Kubernetes
v1.36 does; an unknown field is refused. The policy is in the log at the start.

unready: AtOnce (default) or WithinBudget
  When outdated pods that are not Ready are replaced. AtOnce: without regard to maxUnavailable, so that a fix reaches a broken
  fleet fast. WithinBudget: only within maxUnavailable. Want it where the whole fleet may lose its readiness for a moment, such
  as agents that depend on one service: AtOnce would then restart all pods that a rollout has not reached yet. No effect with
  maxSurge.
classification: TemplateGenerationFirst (default) or HashFirst
  How to decide whether a pod is up to date when its two labels disagree. Want HashFirst where DaemonSets are deleted with
  --cascade=orphan and created again: their generations start from 1 again, and an old pod could look updated.
podNames: Generated (default), Deterministic or OnePerNode
  Want Deterministic where this process is killed often: a create that is repeated after a crash is then refused, because the
  name exists, instead of making a second pod for a moment. Want OnePerNode where two pods on a node do harm, such as to a device or a
  volume: the API server itself refuses a second one. Not with maxSurge.
burst: 250
  The most creates, and the most deletes, in one plan; at least 1. Want less where a large rollout loads the API server, an
  admission webhook or an image registry too much.
uniqueLabelKey: controller-revision-hash
  The label with the revision of a pod. Want another one only where existing pods and revisions carry it, such as
  daemonset-controller-hash.
inFlightExpirySeconds: 300
  How long an accepted create or delete counts while no watch shows it. Want more only where watches lag for minutes.
takenExpirySeconds: 3600
  How long a Ready node whose pod a rollout deleted is remembered while it has no Ready pod. Other such nodes are remembered, and
  count against the limit, until they are back or gone. Want more where a node may take hours to come back.
downNodes: Count (default) or ExcuseIfDownBefore
  Whether nodes that were down before a rollout reached them use up maxUnavailable. Want ExcuseIfDownBefore where a template
  tolerates everything and some nodes are always dead: no rollout would begin.
lifecycle: Ignore (default) or Respect
  Respect leaves nodes alone that are drained, shut down or about to be removed: they get no pod and keep their Ready one. Want it
  where nodes come and go all the time.
conditions: false (default) or true
  Whether the status has the conditions Available and Progressing. Want them where dashboards or GitOps tools read conditions.
rollout: {waves, paused, approved, onFailure}
  Which nodes get a new version, in which order, and when to stop. Want it where a broken version must not reach all nodes.
drive: {type: RollingUpdate, rollingUpdate: {maxUnavailable}}
  Updates a DaemonSet with OnDelete beside Kubernetes' own controller, which creates the pods. Want it in managed clusters, with
  --drive; without that flag the file is refused, and the annotation of a DaemonSet drives nothing.
priorityClassName: (none)
  The priority of created pods whose template names none. Want it where daemons must have their place before other pods. No
  revision changes, and no pod is outdated for it.
turn: {cordon, gates, timeoutSeconds, onTimeout}
  Each node takes its turn before its pod is replaced: cordoned, and with gates that others open on the node. Want it for drivers,
  networks and storage, whose update disturbs the pods on the node. It needs the right to patch nodes (deploy/turns).
drain: {podSelector, evictWithoutController, deleteEmptyDirData, graceSeconds, skipWaitForDeleteSeconds}
  A node in turn is drained, as by kubectl drain, and then its gate `drained` opens. Want it with turn: {cordon: true, gates:
  [drained]}. It needs the right to evict pods (deploy/drain). Without it somebody else opens that gate.
pull: {parallel, timeoutSeconds}
  New images are pulled on a node before its pod is replaced, by pods that run nothing. Want it where images are large and seconds
  without the daemon count.
inPlace: Never (default) or IfPossible
  Changes the images of a pod in its place, where the template differs in nothing else but labels and annotations. Want it where
  seconds without the daemon count.
fit: Ignore (default) or Hold
  Hold keeps a Ready pod while its successor would not fit on the node. Want it where a new version may request more. It costs a watch
  of all pods of the cluster, whose requests are kept in memory.
markPrefix: rollout.daemonset
  The prefix of the annotations of a ControllerRevision with the state of its rollout.
daemonTolerations: Kubernetes (default), None, or Given: [...]
  The tolerations that each pod gets beside the template's own. Want others only for node agents whose nodes are tainted in other
  ways than Kubernetes' own.
binding: NodeAffinity (default) or NodeName
  How a pod is tied to its node. Want NodeName only where no scheduler runs: nothing checks whether the pod fits then.";

impl Args {
    /// The policy that these flags choose.
    ///
    /// # Errors
    /// Every problem of the command line that only a server would find otherwise, each as one line.
    pub fn check(&self) -> Result<Policy, Vec<String>> {
        let mut problems = Vec::new();
        let mut check = |flag: &str, result: Result<(), String>| {
            problems.extend(result.err().map(|problem| format!("{flag}: {problem}")));
        };
        check("--namespace", self.namespace.as_deref().map_or(Ok(()), check_dns_label));
        check("--selector", self.selector.as_deref().map_or(Ok(()), check_selector));
        check("--lease-namespace", check_dns_label(&self.lease_namespace));
        check("--lease-name", check_subdomain(&self.lease_name));
        let policy = policy(self.policy.as_deref(), self.overrides());
        if !self.drive && policy.as_ref().is_ok_and(|policy| policy.drive.is_some()) {
            problems.push("policy.drive: only a process with --drive drives updates".to_owned());
        }
        match policy {
            Ok(policy) if problems.is_empty() => Ok(policy),
            Ok(_) => Err(problems),
            Err(further) => Err([problems, further].concat()),
        }
    }

    /// The fields of the policy that have a flag of their own.
    fn overrides(&self) -> Vec<Override> {
        let unready = self.unready.clone().map(Value::from);
        let flags = [("--unready", "unready", unready), ("--burst", "burst", self.burst.map(Value::from))];
        let given = flags
            .into_iter()
            .filter_map(|(flag, field, value)| Some(Override { flag, field, value: value? }));
        given.collect()
    }

    /// The process that reads the policies of DaemonSets.
    pub fn role(&self) -> Role {
        match (self.drive, self.compare) {
            (true, _) => Role::Driver,
            (false, true) => Role::Comparison,
            (false, false) => Role::Controller,
        }
    }

    /// A driver is meant to run beside another controller, and a process that changes nothing may do so, too.
    pub fn reaction(&self) -> Reaction {
        match self.role() {
            Role::Controller if self.stop_beside_another && self.executes_plans() => Reaction::StopActing,
            Role::Controller | Role::Driver | Role::Comparison => Reaction::ActAnyway,
        }
    }

    /// Whether this process changes the cluster.
    pub fn executes_plans(&self) -> bool {
        !self.dry_run && !self.compare
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(flags: &[&str]) -> Args {
        Args::parse_from(["daemonset-controller"].iter().chain(flags))
    }

    #[test]
    fn a_dry_run_and_a_comparison_change_nothing() {
        let executes = [&[][..], &["--dry-run"], &["--compare"]].map(|flags| args(flags).executes_plans());
        assert_eq!(executes, [true, false, false]);
    }

    #[test]
    fn a_controller_stops_beside_another_one_unless_told_otherwise() {
        let reactions =
            [&[][..], &["--stop-beside-another=false"], &["--drive"], &["--compare"], &["--dry-run"]]
                .map(|flags| args(flags).reaction());
        let [controller, others @ ..] = reactions;
        assert_eq!(controller, Reaction::StopActing);
        assert_eq!(others, [Reaction::ActAnyway; 4]);
    }

    #[test]
    fn a_driver_has_a_lease_of_its_own() {
        let lease = |flags: &[&str]| args(flags).lease_name;
        assert_eq!(
            (lease(&[]), lease(&["--drive"])),
            ("daemonset-controller".into(), "daemonset-driver".into())
        );
        assert_eq!(lease(&["--drive", "--lease-name=mine"]), "mine");
        let roles = [&[][..], &["--drive"], &["--drive", "--dry-run"], &["--compare"]]
            .map(|flags| args(flags).role());
        assert_eq!(roles, [Role::Controller, Role::Driver, Role::Driver, Role::Comparison]);
        assert!(Args::try_parse_from(["daemonset-controller", "--drive", "--compare"]).is_err());
    }

    #[test]
    fn a_problem_of_a_name_is_found_beside_a_good_policy() {
        assert!(args(&["--burst", "7"]).check().is_ok_and(|policy| policy.burst == 7));
        let problems = args(&["--namespace", "Bad_NS", "--burst", "7"]).check().unwrap_err();
        assert!(matches!(&problems[..], [problem] if problem.starts_with("--namespace: ")), "{problems:?}");
    }
}
