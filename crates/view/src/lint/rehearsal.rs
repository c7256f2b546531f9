//! Deadlines that a simulation says can't be met.

use super::finding::{Finding, Rule, Severity};
use super::format::{count, duration};
use super::rollout::path;
use daemonset::Policy;
use daemonset::model::{DaemonSet, Node};
use daemonset::policy::RolloutPolicy;
use daemonset::report::{FailureEvidence, RolloutStage};
use daemonset_sim::{Behaviour, Cluster, Distribution, Resources, RolloutFigures, Settings, Summary};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

/// A rollout of a version that works, simulated on fresh nodes. Where it fails, a deadline of the policy is too short.
///
/// ```
/// use daemonset_view::lint::{LintRehearsal, Rule};
/// use daemonset::model::{DaemonSet, Node};
/// use daemonset::Policy;
/// use daemonset::policy::RolloutPolicy;
/// use serde_json::{from_value, json};
///
/// let daemon_set: DaemonSet = from_value(json!({
///     "metadata": {"name": "web", "namespace": "ns"},
///     "spec": {
///         "selector": {"matchLabels": {"app": "web"}},
///         "template": {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "c", "image": "web:1"}]}},
///         "updateStrategy": {"type": "RollingUpdate"},
///     },
/// }))?;
/// let nodes: Vec<Node> = from_value(json!([{"metadata": {"name": "a"}}, {"metadata": {"name": "b"}}]))?;
/// // A pod that is not available after 4 seconds fails the version, and no image is pulled so fast.
/// let rollout: RolloutPolicy = from_value(json!({"onFailure": {"availableWithinSeconds": 4}}))?;
/// let policy = Policy::default().rollout(rollout);
/// let finding = LintRehearsal::new(&daemon_set, &nodes, &policy).finding().unwrap();
/// assert_eq!((finding.rule, finding.path.as_str()), (Rule::DeadlineTooShort, "policy.rollout.onFailure.availableWithinSeconds"));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct LintRehearsal<'a> {
    daemon_set: &'a DaemonSet,
    nodes: &'a [Node],
    policy: &'a Policy,
    settings: Settings,
    seed: u64,
}

/// Enough to find the usual durations too long; the rare ones of a large fleet need a simulation of its own.
const MOST_NODES: usize = 100;

impl<'a> LintRehearsal<'a> {
    /// A rehearsal on these nodes, as if all were up; of many, the first 100 by name. With default settings and seed 1.
    pub fn new(daemon_set: &'a DaemonSet, nodes: &'a [Node], policy: &'a Policy) -> Self {
        LintRehearsal { daemon_set, nodes, policy, settings: Settings::default(), seed: 1 }
    }

    /// How fast images are pulled, containers start and pods become Ready.
    #[must_use]
    pub fn settings(mut self, settings: Settings) -> Self {
        self.settings = settings;
        self
    }

    /// The seed of the simulation.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// The deadline that a version which works has missed; `None` if it has met all, or if nothing can be simulated: without a
    /// [`FailurePolicy`](daemonset::policy::FailurePolicy), or under OnDelete that nobody drives.
    #[must_use]
    pub fn finding(&self) -> Option<Finding> {
        let rollout = self.policy.rollout.as_ref().filter(|rollout| rollout.on_failure.is_some())?;
        if self.policy.external_controller.is_none()
            && self.daemon_set.spec.update_strategy.kind == "OnDelete"
        {
            return None;
        }
        let summary = self.simulate(rollout);
        let figures = summary.rollout.as_ref()?;
        let (RolloutStage::Stopped { reason, .. } | RolloutStage::RolledBack { reason, .. }) = &figures.stage
        else {
            return None;
        };
        Some(self.missed(&summary, figures, reason))
    }

    fn simulate(&self, rollout: &RolloutPolicy) -> Summary {
        const PATIENCE: SignedDuration = SignedDuration::from_hours(1);
        const BOUND: SignedDuration = SignedDuration::from_hours(24 * 28);
        let mut settings = self.settings.clone().container_statuses(true);
        settings.controller.reads_annotations = false;
        let mut cluster = Cluster::with_settings(settings, self.seed, Timestamp::UNIX_EPOCH);
        let mut nodes: Vec<&Node> = self.nodes.iter().collect();
        nodes.sort_unstable_by_key(|node| &node.metadata.name);
        for node in nodes.into_iter().take(MOST_NODES) {
            cluster.add_node_with(fresh(node), Resources::UNLIMITED);
        }
        let mut daemon_set = DaemonSet { status: Default::default(), ..self.daemon_set.clone() };
        daemon_set.metadata.deletion_timestamp = None;
        cluster.create_daemon_set(daemon_set);
        // The version before is not judged.
        cluster.run_rollout(PATIENCE, BOUND);
        let on_failure = rollout.on_failure.clone();
        // Nobody is there to resume or to approve.
        let waves = rollout.waves.iter().map(|wave| wave.clone().needs_approval(false)).collect();
        let rollout = RolloutPolicy::default().waves(waves).on_failure(on_failure);
        // Neither to open the gates of turns.
        let policy = self.policy.clone().rollout(rollout).turn(None);
        cluster.configure_controller(|settings| settings.policy = policy);
        // The policy is added to a settled fleet.
        cluster.run_for(SignedDuration::from_mins(1));
        let started = cluster.now();
        cluster.release(self.settings.behaviour, release);
        let end = cluster.run_rollout(PATIENCE, BOUND);
        cluster.summary(started, end)
    }

    fn missed(&self, summary: &Summary, figures: &RolloutFigures, reason: &str) -> Finding {
        let evidence = figures.failing.first();
        let field = match evidence.map(|failing| &failing.evidence) {
            _ if reason == "ProgressDeadlineExceeded" => "progressDeadlineSeconds",
            Some(FailureEvidence::TooManyRestarts { .. }) => "maxRestarts",
            Some(FailureEvidence::Waiting { .. }) => "waitingSeconds",
            _ => "availableWithinSeconds",
        };
        let failed_at = figures.failed_at.unwrap_or(summary.ended);
        let on = evidence.map(|failing| format!(" on {}", failing.node)).unwrap_or_default();
        let path = format!("{}.onFailure.{field}", path(self.daemon_set));
        let Behaviour { pull, start, ready, .. } = self.settings.behaviour;
        let within =
            |spans: &[Distribution]| duration(spans.iter().map(|span| whole_seconds(span.most())).sum());
        Finding::new(Rule::DeadlineTooShort, Severity::Warning, path)
            .why(format_args!(
                "In a simulation on {} a version that works fails{on} after {}, with {reason}; its image is pulled within {}, and its pods are Ready within {} more",
                count(summary.nodes, "node"),
                duration(whole_seconds(failed_at.duration_since(summary.started))),
                within(&[pull]),
                within(&[start, ready])
            ))
            .remedy("Allow more time than a healthy pod needs, or simulate it with the durations of this daemon")
            .nodes(figures.failing.iter().map(|failing| failing.node.clone()).collect())
    }
}

fn whole_seconds(span: SignedDuration) -> u64 {
    u64::try_from(span.as_secs()).unwrap_or(0)
}

/// Another version of the template.
fn release(template: &mut Value) {
    let Some(template) = template.as_object_mut() else { return };
    let metadata = template.entry("metadata").or_insert_with(|| json!({}));
    if let Some(metadata) = metadata.as_object_mut() {
        metadata.insert("annotations".to_owned(), json!({"rehearsal": "1"}));
    }
}

/// A node of the same name, labels and taints, which is up.
fn fresh(node: &Node) -> Node {
    let mut fresh = Node::default();
    fresh.metadata.name = node.metadata.name.clone();
    fresh.metadata.labels = node.metadata.labels.clone();
    let stays = |key: &str| !matches!(key, "node.kubernetes.io/not-ready" | "node.kubernetes.io/unreachable");
    fresh.spec.taints = node.spec.taints.iter().filter(|taint| stays(&taint.key)).cloned().collect();
    fresh
}
