//! The flags of each program that watches and plans.

use crate::args::names::check_dns_label;
use crate::policy_file::{Override, policy};
use crate::rollout::policy::ProcessRole;
use clap::ValueEnum;
use daemonset::Policy;
use daemonset::kubernetes::label_requirements;
use serde_json::Value;
use std::net::SocketAddr;
use std::path::PathBuf;

/// The flags of each program that watches and plans.
#[derive(Debug, Clone, clap::Args)]
pub struct CommonArgs {
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
    /// Write the input of each decision into this directory, for replay.
    #[arg(long, value_name = "DIR")]
    pub record: Option<PathBuf>,
    /// Address of /healthz, /readyz and /metrics.
    #[arg(long, default_value = "127.0.0.1:8080", value_name = "ADDRESS")]
    pub listen: SocketAddr,
    /// Number of DaemonSets that are reconciled at the same time.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u16).range(1..))]
    pub workers: u16,
    /// Milliseconds from the end of a DaemonSet's reconcile to its next one; changes in between lead to one reconcile.
    #[arg(long, default_value_t = 75, value_name = "MILLISECONDS")]
    pub rest: u64,
    /// Format of the log.
    #[arg(long, value_enum, default_value_t = LogFormat::Text)]
    pub log_format: LogFormat,
}

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
externalController: {type: RollingUpdate, rollingUpdate: {maxUnavailable}}
  Updates a DaemonSet with OnDelete beside Kubernetes' own controller, which creates the pods. Want it in managed clusters, with
  --drive; without that flag the file is refused, and the annotation of a DaemonSet drives nothing.
  The same member may be written as drive: {type: RollingUpdate}.
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

impl CommonArgs {
    /// The policy that these flags choose. `own` are the checked flags that the program has beside them.
    ///
    /// # Errors
    /// Every problem of the command line that only a server would find otherwise, each as one line.
    pub fn check(
        &self,
        role: ProcessRole,
        own: &[(&str, Result<(), String>)],
    ) -> Result<Policy, Vec<String>> {
        let check_selector =
            |text: &str| label_requirements(text).map(drop).map_err(|error| error.to_string());
        let of_all = [
            ("--namespace", self.namespace.as_deref().map_or(Ok(()), check_dns_label)),
            ("--selector", self.selector.as_deref().map_or(Ok(()), check_selector)),
        ];
        let problem =
            |(flag, result): &(&str, Result<(), String>)| Some(format!("{flag}: {}", result.as_ref().err()?));
        let mut problems: Vec<String> = of_all.iter().chain(own).filter_map(problem).collect();
        let policy = policy(self.policy.as_deref(), self.overrides());
        if role != ProcessRole::Driver
            && policy.as_ref().is_ok_and(|policy| policy.external_controller.is_some())
        {
            problems.push("policy.externalController: only a process with --drive drives updates".to_owned());
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
}
