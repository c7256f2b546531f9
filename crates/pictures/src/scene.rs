//! One run: from the recorded cluster to the end of the rollout.

use crate::run::Run;
use daemonset::Recording;
use daemonset::model::{OwnerReference, Taint};
use daemonset::policy::Permissions;
use daemonset_sim::{Behaviour, Cluster, RolloutEnd, Runtime, Settings, Steering, Summary, Workload, resize};
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

/// Shown before the rollout begins, and after it has ended.
const MARGIN: SignedDuration = SignedDuration::from_secs(15);
/// How long a rollout that is stuck is watched.
const STANDSTILL: SignedDuration = SignedDuration::from_mins(2);
/// From so many nodes on the controller looks once a second, as a busy one does.
const MANY_NODES: usize = 1000;

/// Everything about a run but its setting.
pub struct Scene {
    pub nodes: Option<u32>,
    pub settings: Settings,
    pub release: Release,
    /// After the start of the rollout.
    pub pause_at: Option<SignedDuration>,
    pub resume_at: Option<SignedDuration>,
    /// Each has a pod on each node.
    pub workloads: u32,
    pub disruption_budget: Option<u32>,
    pub seed: u64,
    pub patience: SignedDuration,
    pub bound: SignedDuration,
}

/// Whether a new version comes.
#[derive(Clone, Copy)]
pub enum Release {
    None,
    /// It behaves so.
    New(Behaviour),
}

/// A run that is over.
pub struct Ran {
    /// The setting that was tried.
    pub label: String,
    pub cluster: Cluster,
    /// The start of the picture.
    pub start: Timestamp,
    pub summary: Summary,
    /// The taint of nodes that lack their available pod.
    pub absence_taint: Option<Taint>,
    /// The policy that steers the rollout, in words.
    pub policy: Option<String>,
}

impl Ran {
    /// As it is drawn.
    pub fn picture(&self) -> Run<'_> {
        let summary = self.policy.iter().map(|policy| format!("Policy: {policy}")).collect();
        let (label, events) = (self.label.clone(), self.cluster.history());
        Run { label, events, start: self.start, end: self.cluster.now(), summary }
    }
}

impl Scene {
    /// The cluster that settings are tried in.
    pub fn grown(&self, recorded: &Recording) -> Recording {
        match self.nodes {
            Some(nodes) => resize(recorded, nodes as usize),
            None => recorded.clone(),
        }
    }

    /// Runs it, and shows the cluster at each of its steps.
    pub fn run(
        &self,
        recording: Recording,
        (label, runtime): (&str, Option<Runtime>),
        policy: Option<String>,
        mut look: impl FnMut(&Cluster),
    ) -> Ran {
        let mut settings = self.settings.clone();
        settings.runtime = runtime;
        if recording.nodes.len() >= MANY_NODES {
            settings.controller.pause = SignedDuration::from_secs(1);
        }
        // A pause steers a rollout, whatever the policy.
        if policy.is_some() || self.pause_at.is_some() {
            settings.controller.reads_annotations = true;
            // Those of the namespace were asked before.
            settings.controller.powers = Permissions::all();
            settings.container_statuses = true;
        }
        let mut cluster = Cluster::from_recording(settings, self.seed, &recording);
        self.add_workloads(&mut cluster);
        // Pods that have just become Ready when the dump was taken are available by then.
        let min_ready = SignedDuration::from_secs(recording.daemon_set.spec.min_ready_seconds.into());
        let uid = &recording.daemon_set.metadata.uid;
        let is_own = |owner: &OwnerReference| owner.uid == *uid;
        let is_installed = recording.pods.iter().any(|pod| pod.metadata.owner_references.iter().any(is_own));
        // The cluster has copies of all objects, of which there may be hundreds of thousands.
        drop(recording);
        if !is_installed && matches!(self.release, Release::New(_)) {
            // The next version is rolled out over pods that run.
            cluster.watch_rollout(self.patience, self.bound, &mut look);
        }
        let start = cluster.now();
        let mut asked = start;
        if let Release::New(behaviour) = self.release {
            cluster.run_for(MARGIN.saturating_add(min_ready));
            asked = cluster.now();
            let taint = self.settings.absence_taint.as_ref();
            cluster.release(behaviour, |template| {
                next_version(template);
                if let Some(taint) = taint {
                    repel(template, taint);
                }
            });
        }
        for (after, steering) in [(self.pause_at, Steering::Pause), (self.resume_at, Steering::Resume)] {
            if let Some(at) = after.and_then(|after| asked.checked_add(after).ok()) {
                cluster.steer_at(at, steering);
            }
        }
        let end = cluster.watch_rollout(self.patience, self.bound, &mut look);
        let summary = cluster.summary(asked, end);
        // A standstill is shown as such.
        let is_over = matches!(end, RolloutEnd::Complete | RolloutEnd::RolledBack);
        cluster.run_for(if is_over { MARGIN } else { STANDSTILL });
        let absence_taint = self.settings.absence_taint.clone();
        Ran { label: label.to_owned(), cluster, start, summary, absence_taint, policy }
    }
}

impl Scene {
    /// Workloads of other people, which a drain evicts.
    fn add_workloads(&self, cluster: &mut Cluster) {
        let replicas = u32::try_from(cluster.nodes().count()).unwrap_or(u32::MAX);
        let behaviour = self.settings.behaviour;
        for number in 1..=self.workloads {
            let workload = Workload::new(format!("workload-{number}"), replicas)
                .max_unavailable(self.disruption_budget)
                .ready(behaviour.ready)
                .stop(behaviour.stop);
            cluster.add_workload(workload);
        }
    }
}

/// The same template with another image.
fn next_version(template: &mut Value) {
    let image = template.pointer_mut("/spec/containers/0/image");
    match image {
        Some(image) => {
            let text = image.as_str().unwrap_or_default();
            let name = text.rsplit_once(':').map_or(text, |(name, _)| name);
            // Nightly builds have such a tag.
            let tag = if text.ends_with(":next") { "next-but-one" } else { "next" };
            *image = format!("{name}:{tag}").into();
        }
        // A template without containers; any change makes a version.
        None => {
            if let Some(metadata) = template.pointer_mut("/metadata").and_then(Value::as_object_mut) {
                metadata.insert("annotations".to_owned(), serde_json::json!({"version": "next"}));
            }
        }
    }
}

/// Takes the tolerations away that tolerate this taint.
fn repel(template: &mut Value, taint: &Taint) {
    let tolerations = template.pointer_mut("/spec/tolerations").and_then(Value::as_array_mut);
    let tolerates = |toleration: &Value| {
        let text = |field: &str| toleration.get(field).and_then(Value::as_str).unwrap_or_default();
        let (key, effect) = (text("key"), text("effect"));
        let is_meant = key == taint.key || (key.is_empty() && text("operator") == "Exists");
        is_meant && (effect.is_empty() || effect == taint.effect)
    };
    if let Some(tolerations) = tolerations {
        tolerations.retain(|toleration| !tolerates(toleration));
    }
}
