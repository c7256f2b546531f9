//! Metrics of the rollouts that a policy steers.

use crate::caches::Key;
use daemonset::Plan;
use daemonset::report::{RolloutStage, WaveProgress, WaveReport};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Waves of a DaemonSet that have series of their own; a policy may have any number.
pub const MAX_WAVES: usize = 20;

/// The metrics of all rollouts; clones share their values.
#[derive(Clone, Default)]
pub struct RolloutMetrics {
    stages: Family<StageLabels, Gauge>,
    nodes: Family<WaveLabels, Gauge>,
    updated: Family<WaveLabels, Gauge>,
    available: Family<WaveLabels, Gauge>,
    open: Family<WaveLabels, Gauge>,
    /// The series of each DaemonSet.
    series: Arc<Mutex<HashMap<Key, Series>>>,
}

#[derive(Debug, Clone, Hash, PartialEq, Eq, EncodeLabelSet)]
struct WaveLabels {
    namespace: String,
    daemonset: String,
    wave: u64,
}

#[derive(Debug, Clone, Hash, PartialEq, Eq, EncodeLabelSet)]
struct StageLabels {
    namespace: String,
    daemonset: String,
    stage: &'static str,
}

#[derive(Debug, Clone, Copy)]
struct Series {
    waves: usize,
    stage: &'static str,
}

impl RolloutMetrics {
    pub(crate) fn register(&self, registry: &mut Registry) {
        registry.register("rollout_stage", "1 for the stage of a steered rollout", self.stages.clone());
        registry.register("rollout_wave_nodes", "Nodes of a wave", self.nodes.clone());
        registry.register(
            "rollout_wave_updated",
            "Nodes of a wave with a pod of the new version",
            self.updated.clone(),
        );
        registry.register(
            "rollout_wave_available",
            "Nodes of a wave with an available pod of the new version",
            self.available.clone(),
        );
        registry.register(
            "rollout_wave_open",
            "1 if the nodes of the wave get the new version, else 0",
            self.open.clone(),
        );
    }

    /// Shows the rollout of this plan; without one the DaemonSet has no series.
    pub(crate) fn show(&self, key: &Key, plan: &Plan) {
        let Some(rollout) = &plan.report.rollout else { return self.forget(key) };
        let series = Series { waves: rollout.waves.len().min(MAX_WAVES), stage: stage(&rollout.stage) };
        let before = self.series.lock().unwrap_or_else(PoisonError::into_inner).insert(key.clone(), series);
        if let Some(before) = before {
            (series.waves..before.waves).for_each(|wave| self.remove_wave(key, wave));
            if before.stage != series.stage {
                self.stages.remove(&stage_labels(key, before.stage));
            }
        }
        self.stages.get_or_create(&stage_labels(key, series.stage)).set(1);
        for (index, wave) in rollout.waves.iter().take(MAX_WAVES).enumerate() {
            self.set_wave(&wave_labels(key, index), wave);
        }
    }

    /// Removes the series of a DaemonSet whose rollout is no longer steered here.
    pub(crate) fn forget(&self, key: &Key) {
        let Some(series) = self.series.lock().unwrap_or_else(PoisonError::into_inner).remove(key) else {
            return;
        };
        (0..series.waves).for_each(|wave| self.remove_wave(key, wave));
        self.stages.remove(&stage_labels(key, series.stage));
    }

    fn set_wave(&self, labels: &WaveLabels, wave: &WaveReport) {
        let nodes = i64::try_from(wave.nodes.len()).unwrap_or(i64::MAX);
        let is_open = matches!(
            wave.progress,
            WaveProgress::Updating | WaveProgress::Baking { .. } | WaveProgress::Done
        );
        self.nodes.get_or_create(labels).set(nodes);
        self.updated.get_or_create(labels).set(wave.updated.into());
        self.available.get_or_create(labels).set(wave.available.into());
        self.open.get_or_create(labels).set(is_open.into());
    }

    fn remove_wave(&self, key: &Key, wave: usize) {
        let labels = wave_labels(key, wave);
        for family in [&self.nodes, &self.updated, &self.available, &self.open] {
            family.remove(&labels);
        }
    }
}

fn wave_labels(key: &Key, wave: usize) -> WaveLabels {
    WaveLabels { namespace: key.namespace.clone(), daemonset: key.name.clone(), wave: wave as u64 }
}

fn stage_labels(key: &Key, stage: &'static str) -> StageLabels {
    StageLabels { namespace: key.namespace.clone(), daemonset: key.name.clone(), stage }
}

fn stage(stage: &RolloutStage) -> &'static str {
    match stage {
        RolloutStage::Complete => "Over",
        RolloutStage::Progressing => "GoingOn",
        RolloutStage::Paused => "Paused",
        RolloutStage::Stopped { .. } => "Stopped",
        RolloutStage::RolledBack { .. } => "RolledBack",
        _ => "Other",
    }
}
