//! The command line.

use crate::cluster::{ClusterArgs, STEADY, Source, Wanted, is_file};
use crate::shell::console::{Format, Stop, duration};
use crate::simulate::{BUILT_IN_NODES, policy_file};
use clap::Args as Group;
use daemonset_pictures::scene::Scene;
use daemonset_pictures::setting::Setting;
use daemonset_pictures::world::{self, World};
use daemonset_sim::{Distribution, Probability};
use daemonset_view::policy::PolicyChoice;
use jiff::SignedDuration;
use std::path::PathBuf;

/// Simulates a rollout before it happens: its duration, the nodes that are down at once, those left over, and why.
#[derive(Group)]
pub(crate) struct Args {
    /// The DaemonSet: NAME, NAMESPACE/NAME or ds/NAME. Or a FILE, as for `--from`
    #[arg(value_name = "NAME|FILE")]
    target: Option<String>,
    /// The cluster to start from: a List, as `kubectl get daemonsets,pods,nodes,controllerrevisions -A -o json` prints it,
    /// or a Recording; `-` is stdin. Without it, a real cluster that is built in
    #[arg(short = 'f', long, visible_alias = "filename", value_name = "FILE")]
    from: Option<PathBuf>,
    /// Which DaemonSet, where the List has several
    #[arg(long, value_name = "NAMESPACE/NAME")]
    daemonset: Option<String>,
    #[command(flatten)]
    cluster: ClusterArgs,
    /// How many nodes: those of the cluster again and again, or the first of them. Default: 60 of the built-in cluster,
    /// all of another one
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    nodes: Option<u32>,
    /// OnDelete, RollingUpdate or SurgingRollingUpdate. Default: the DaemonSet's
    #[arg(long, value_name = "TYPE")]
    strategy: Option<String>,
    /// As in the DaemonSet: 3 or 10%
    #[arg(long, value_name = "LIMIT")]
    max_unavailable: Option<String>,
    /// As in the DaemonSet: 3 or 10%; maxUnavailable is then 0
    #[arg(long, value_name = "LIMIT")]
    max_surge: Option<String>,
    /// As in the DaemonSet
    #[arg(long, value_name = "SECONDS")]
    min_ready_seconds: Option<u32>,
    /// The policy that steers the rollout (waves, failures, pauses), in YAML or JSON: the content of the annotation
    /// rollout.daemonset/policy. Default: the DaemonSet's own annotations
    #[arg(long, value_name = "FILE", value_parser = policy_file)]
    policy: Option<PolicyChoice>,
    /// A person approves each wave that waits for approval, after so long. Default: nobody does
    #[arg(long, value_name = "TIME", value_parser = duration)]
    approve_after: Option<SignedDuration>,
    /// A person pauses the rollout, so long after its start
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pause_at: Option<SignedDuration>,
    /// A person lets the rollout go on, so long after its start
    #[arg(long, value_name = "TIME", value_parser = duration)]
    resume_at: Option<SignedDuration>,
    /// Run several settings beside each other, each such as maxUnavailable=10%, maxSurge=2,minReadySeconds=30, pull=10%,
    /// inPlace=IfPossible, policy=FILE or policy=none. With --policy and without a SETTING: a run without the policy and one with it
    #[arg(long, value_name = "SETTING", num_args = 0.., conflicts_with = "trace")]
    compare: Option<Vec<String>>,
    /// Compare by the time for which each node has no Ready pod
    #[arg(long, requires = "compare")]
    downtime: bool,
    /// From a container's start to Ready: 10s, 5s..20s (each as likely), or 8s,p99=1m (a median with a long tail)
    #[arg(long, value_name = "TIME", default_value = world::STARTUP)]
    startup: Distribution,
    /// Pulling the new image, once a node
    #[arg(long, value_name = "TIME", default_value = world::PULL)]
    pull: Distribution,
    /// From a pod's deletion to its end
    #[arg(long, value_name = "TIME", default_value = world::STOP)]
    stop: Distribution,
    /// A gate of the policy's turns that is opened so long after a turn has begun, such as backup=2m. Default: nobody opens it. The
    /// drain opens drained, if the policy has one
    #[arg(long, value_name = "NAME=TIME", value_parser = gate)]
    gate: Vec<(String, Distribution)>,
    /// So many workloads of other people have a pod on each node; a drain evicts it, and it moves
    #[arg(long, value_name = "N", default_value_t = 0)]
    workloads: u32,
    /// How many pods of each of them evictions may make unavailable at a time. Default: no limit
    #[arg(long, value_name = "N", requires = "workloads")]
    disruption_budget: Option<u32>,
    /// How likely a start of the new version crashes; the kubelet then waits and starts again
    #[arg(long, value_name = "PERCENT", default_value = "0%")]
    failure_rate: Probability,
    /// How likely a new pod is evicted before it is Ready
    #[arg(long, value_name = "PERCENT", default_value = "0%")]
    evicted: Probability,
    /// The new version never becomes Ready on so many of the nodes; without a number, never on any node
    #[arg(long, value_name = "PERCENT", num_args = 0..=1, default_missing_value = "100%", default_value = "0%")]
    broken: Probability,
    /// The new version crashes at every start on so many of the nodes; without a number, on all
    #[arg(long, value_name = "PERCENT", num_args = 0..=1, default_missing_value = "100%", default_value = "0%")]
    crash_loops: Probability,
    /// The new version's image can't be pulled on so many of the nodes; without a number, on all
    #[arg(long, value_name = "PERCENT", num_args = 0..=1, default_missing_value = "100%", default_value = "0%")]
    pull_fails: Probability,
    /// A pod of the new version crashes so long after it has become Ready. Default: it does not
    #[arg(long, value_name = "TIME")]
    lifetime: Option<Distribution>,
    /// How likely a start of the new version takes its whole node down
    #[arg(long, value_name = "PERCENT", default_value = "0%")]
    panics_node: Probability,
    /// A node joins, leaves, or goes down for some minutes, every so often: 2m, 1m..5m
    #[arg(long, value_name = "TIME")]
    churn: Option<Distribution>,
    /// A node carries this NoSchedule taint, which the template does not tolerate, while it lacks the available pod that it
    /// has had; without a KEY, agent-not-ready
    #[arg(long, value_name = "KEY", num_args = 0..=1, default_missing_value = world::ABSENCE_TAINT)]
    absence_taint: Option<String>,
    /// How likely the controller crashes before an action
    #[arg(long, value_name = "PERCENT", default_value = "0%")]
    crash: Probability,
    /// How far its caches are behind
    #[arg(long, value_name = "TIME", default_value = world::LAG)]
    lag: Distribution,
    /// The same seed, the same luck: nodes are as fast in one run as in the next
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Release no new version: go on from where the cluster is
    #[arg(long)]
    as_is: bool,
    /// Call it stuck when nothing has happened for so long
    #[arg(long, value_name = "TIME", default_value = "30m", value_parser = duration)]
    patience: SignedDuration,
    /// Give up after so long
    #[arg(long, value_name = "TIME", default_value = "24h", value_parser = duration)]
    bound: SignedDuration,
    /// Draw a timeline
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Draw a timeline with details under the pointer
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Write every change of the world, one JSON object a line
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// The format of the answer
    #[arg(short, long, value_enum, default_value_t)]
    output: Format,
}

/// `backup=2m`.
fn gate(text: &str) -> Result<(String, Distribution), String> {
    let (name, time) = text.split_once('=').ok_or("must be NAME=TIME")?;
    Ok((name.to_owned(), time.parse().map_err(|error| format!("{error}"))?))
}

/// The simulation, and the files that show it.
pub(crate) struct Simulation {
    pub(crate) source: Source,
    pub(crate) daemon_set: Option<Wanted>,
    pub(crate) scene: Scene,
    pub(crate) setting: Setting,
    /// Several beside each other; where it is empty, only `setting`.
    pub(crate) compare: Vec<Setting>,
    /// They are compared by the time for which each node has no Ready pod.
    pub(crate) downtime: bool,
    pub(crate) svg: Option<PathBuf>,
    pub(crate) html: Option<PathBuf>,
    pub(crate) trace: Option<PathBuf>,
    pub(crate) format: Format,
}

impl Simulation {
    /// Whether a file has a policy to try.
    pub(crate) fn has_policy_file(&self) -> bool {
        [&self.setting].into_iter().chain(&self.compare).any(|setting| setting.policy_file().is_some())
    }
}

impl Args {
    /// The simulation that these arguments ask for.
    pub(crate) fn simulation(self) -> Result<Simulation, Stop> {
        let mut setting = Setting::default();
        let limits = [
            ("type", self.strategy.clone()),
            ("maxUnavailable", self.max_unavailable.clone()),
            ("maxSurge", self.max_surge.clone()),
            ("minReadySeconds", self.min_ready_seconds.map(|seconds| seconds.to_string())),
        ];
        for (key, value) in limits {
            if let Some(value) = value {
                setting.set(key, &value).map_err(Stop::Input)?;
            }
        }
        let compare = self.compared()?;
        if let Some(policy) = self.policy.clone() {
            setting.choose(policy);
        }
        let (source, daemon_set) = self.cluster()?;
        Ok(Simulation {
            scene: self.scene(&source),
            source,
            daemon_set,
            setting,
            compare,
            downtime: self.downtime,
            svg: self.svg,
            html: self.html,
            trace: self.trace,
            format: self.output,
        })
    }

    /// The settings beside each other.
    fn compared(&self) -> Result<Vec<Setting>, Stop> {
        match (&self.compare, &self.policy) {
            (None, _) => Ok(Vec::new()),
            (Some(settings), None) if settings.is_empty() => {
                Err(Stop::Input("--compare: name a setting, or a --policy to compare".to_owned()))
            }
            (Some(settings), Some(policy)) if settings.is_empty() => {
                let alone = |policy: PolicyChoice| {
                    let mut setting = Setting::default();
                    setting.choose(policy);
                    setting
                };
                Ok([PolicyChoice::None, policy.clone()].map(alone).into())
            }
            (Some(settings), _) => {
                let parsed: Result<Vec<Setting>, String> =
                    settings.iter().map(|text| Setting::parse(text, policy_file)).collect();
                parsed.map_err(Stop::Input)
            }
        }
    }

    /// Without a file, a name and a cluster flag it is the built-in cluster.
    fn cluster(&self) -> Result<(Source, Option<Wanted>), Stop> {
        let (mut file, mut name) = (self.from.clone(), self.daemonset.clone());
        match &self.target {
            Some(word) if is_file(word) && file.is_none() => file = Some(word.into()),
            Some(word) if !is_file(word) && name.is_none() => name = Some(word.clone()),
            Some(word) => return Err(Stop::Input(format!("{word}: named twice"))),
            None => {}
        }
        let wanted = name.as_deref().map(Wanted::parse).transpose().map_err(Stop::Input)?;
        let named = self.target.as_deref().is_some_and(|word| !is_file(word));
        if file.is_none() && !named && !self.cluster.chooses() {
            return Ok((Source::example(STEADY), wanted));
        }
        let target = self.cluster.source(file, wanted, STEADY)?;
        Ok((target.source, target.wanted))
    }

    fn scene(&self, source: &Source) -> Scene {
        let world = World {
            startup: self.startup,
            pull: self.pull,
            stop: self.stop,
            failure_rate: self.failure_rate,
            evicted: self.evicted,
            broken: self.broken,
            crash_loops: self.crash_loops,
            pull_fails: self.pull_fails,
            panics_node: self.panics_node,
            lifetime: self.lifetime,
            churn: self.churn,
            absence_taint: self.absence_taint.clone(),
            crash: self.crash,
            lag: self.lag,
            approve_after: self.approve_after,
            gates: self.gate.clone(),
            as_is: self.as_is,
        };
        let (settings, release) = world.settings();
        Scene {
            nodes: self.nodes.or(matches!(source, Source::Example { .. }).then_some(BUILT_IN_NODES)),
            settings,
            release,
            pause_at: self.pause_at,
            resume_at: self.resume_at,
            workloads: self.workloads,
            disruption_budget: self.disruption_budget,
            seed: self.seed,
            patience: self.patience,
            bound: self.bound,
        }
    }
}
