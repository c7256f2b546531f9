//! Updated or outdated, and on what evidence.
//!
//! Proposal: Controller; v1.36 `util.IsPodUpdated`.

use crate::history::{History, Role};
use crate::model::Labels;
use crate::policy::ClassificationPolicy;
use crate::snapshot::Snapshot;
use serde::{Deserialize, Serialize};

/// The label with the template generation that a pod was created at.
pub(crate) const TEMPLATE_GENERATION_LABEL: &str = "pod-template-generation";

/// Which rule says whether a pod is updated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Evidence {
    /// Its label `pod-template-generation` equals the DaemonSet's template generation: updated.
    TemplateGeneration,
    /// Its hash label names the current revision: updated.
    CurrentRevision,
    /// Its hash label names an old revision: outdated.
    OldRevision,
    /// Its hash label names no revision of the DaemonSet: outdated.
    UnknownRevision,
    /// It has no hash label: outdated.
    NoHash,
}

impl Evidence {
    /// Whether it says that the pod runs the current template.
    pub fn is_updated(self) -> bool {
        match self {
            Evidence::TemplateGeneration | Evidence::CurrentRevision => true,
            Evidence::OldRevision | Evidence::UnknownRevision | Evidence::NoHash => false,
        }
    }
}

/// The answer about one pod.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Class {
    pub(crate) evidence: Evidence,
    /// The revision that its hash label names, as a position in the history.
    pub(crate) revision: Option<u32>,
    /// Its generation says updated while its hash label names another known revision.
    pub(crate) conflict: bool,
    /// It has no hash label.
    pub(crate) unlabelled: bool,
}

/// Classifies a pod of the DaemonSet by its labels.
pub(crate) fn classify(snapshot: &Snapshot<'_>, history: &History<'_>, labels: &Labels) -> Class {
    let hash = labels.get(&snapshot.policy.unique_label_key);
    let revision = hash.and_then(|hash| history.position(hash));
    let by_hash = by_hash(history, hash.is_some(), revision);
    let same_generation = same_generation(snapshot, labels);
    let generation_counts = match snapshot.policy.classification {
        ClassificationPolicy::TemplateGenerationFirst => true,
        ClassificationPolicy::HashFirst => hash.is_none(),
    };
    Class {
        evidence: if same_generation && generation_counts { Evidence::TemplateGeneration } else { by_hash },
        revision,
        conflict: same_generation && by_hash == Evidence::OldRevision,
        unlabelled: hash.is_none(),
    }
}

fn by_hash(history: &History<'_>, labelled: bool, revision: Option<u32>) -> Evidence {
    match revision.and_then(|position| history.revision(position)).map(|revision| revision.role) {
        Some(Role::Current | Role::Duplicate) => Evidence::CurrentRevision,
        Some(Role::Old) => Evidence::OldRevision,
        None if labelled => Evidence::UnknownRevision,
        None => Evidence::NoHash,
    }
}

fn same_generation(snapshot: &Snapshot<'_>, labels: &Labels) -> bool {
    match (&snapshot.template_generation, labels.get(TEMPLATE_GENERATION_LABEL)) {
        (Some(generation), Some(label)) => generation == label,
        _ => false,
    }
}
