//! One run: from the recorded cluster to the end of the rollout.

use daemonset::Recording;
use daemonset::model::Taint;
use daemonset::policy::Powers;
use daemonset_sim::{Behaviour, Cluster, RolloutEnd, Runtime, Settings, Steering, Summary, Workload, resize};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;
use std::cell::Cell;

/// Shown before the rollout begins, and after it has ended.
const MARGIN: SignedDuration = SignedDuration::from_secs(15);
/// How long a rollout that is stuck is watched.
const STANDSTILL: SignedDuration = SignedDuration::from_mins(2);
/// From so many nodes on the controller looks once a second, as a busy one does.
const MANY_NODES: usize = 1000;

/// Everything about a run but its setting.
pub(crate) struct Scene {
    pub(crate) nodes: Option<u32>,
    pub(crate) settings: Settings,
    pub(crate) release: Release,
    /// After the start of the rollout.
    pub(crate) pause_at: Option<SignedDuration>,
    pub(crate) resume_at: Option<SignedDuration>,
    /// Each has a pod on each node.
    pub(crate) workloads: u32,
    pub(crate) disruption_budget: Option<u32>,
    pub(crate) seed: u64,
    pub(crate) patience: SignedDuration,
    pub(crate) bound: SignedDuration,
}

/// Whether a new version comes.
#[derive(Clone, Copy)]
pub(crate) enum Release {
    None,
    /// It behaves so.
    New(Behaviour),
}

/// A run that is over.
pub(crate) struct Ran {
    /// The setting that was tried.
    pub(crate) label: String,
    pub(crate) cluster: Cluster,
    /// The start of the picture.
    pub(crate) start: Timestamp,
    pub(crate) summary: Summary,
    /// The taint of nodes that lack their available pod.
    pub(crate) absence_taint: Option<Taint>,
    /// The policy that steers the rollout, in words.
    pub(crate) policy: Option<String>,
}

impl Scene {
    /// The cluster that settings are tried in.
    pub(crate) fn grown(&self, recorded: &Recording) -> Recording {
        match self.nodes {
            Some(nodes) => resize(recorded, nodes as usize),
            None => recorded.clone(),
        }
    }

    pub(crate) fn run(
        &self,
        recording: Recording,
        (label, runtime): (&str, Option<Runtime>),
        policy: Option<String>,
        progress: &Progress,
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
            settings.controller.powers = Powers::all();
            settings.container_statuses = true;
        }
        let mut cluster = Cluster::from_recording(settings, self.seed, &recording);
        self.add_workloads(&mut cluster);
        // Pods that have just become Ready when the dump was taken are available by then.
        let min_ready = SignedDuration::from_secs(recording.daemon_set.spec.min_ready_seconds.into());
        // The cluster has copies of all objects, of which there may be hundreds of thousands.
        drop(recording);
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
        let bar = progress.begin(label);
        let end = cluster.watch_rollout(self.patience, self.bound, |cluster| bar.show(cluster));
        let summary = cluster.summary(asked, end);
        // A standstill is shown as such.
        let is_over = matches!(end, RolloutEnd::Complete | RolloutEnd::RolledBack);
        cluster.run_for(if is_over { MARGIN } else { STANDSTILL });
        bar.end();
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
            *image = format!("{name}:next").into();
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

/// Shows bars on stderr; indicatif hides them where that is no terminal.
pub(crate) struct Progress;

/// The bar of one run: nodes that run the new version.
pub(crate) struct Bar {
    bar: ProgressBar,
    /// Reconciles at the last look: between them nothing new is to be shown.
    seen: Cell<u64>,
}

impl Progress {
    pub(crate) fn begin(&self, label: &str) -> Bar {
        let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr());
        let template = "{bar:40} {pos}/{len} nodes updated, {msg}";
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        bar.set_message(label.to_owned());
        Bar { bar, seen: Cell::new(0) }
    }
}

impl Bar {
    pub(crate) fn show(&self, cluster: &Cluster) {
        if self.seen.replace(cluster.reconciles()) == cluster.reconciles() {
            return;
        }
        let status = cluster.status();
        let number = |nodes: i32| u64::from(nodes.max(0).unsigned_abs());
        self.bar.set_length(number(status.desired_number_scheduled));
        self.bar.set_position(number(status.updated_number_scheduled));
    }

    pub(crate) fn end(&self) {
        self.bar.finish_and_clear();
    }
}
