//! Whether a pod is updated or outdated, with the evidence.
//!
//! Proposal: Controller; v1.36 `util.IsPodUpdated`.

use crate::input::index::PodFacts;
use crate::input::{ClassificationPolicy, Snapshot};
use crate::pods::history::{History, RevisionRole};
use crate::position::{HashIx, HistoryIx, IndexVec, neutral};
use serde::{Deserialize, Serialize};

/// The rule that decides whether a pod is updated.
#[doc(alias = "IsPodUpdated")]
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
    /// Whether the pod runs the current template.
    pub fn is_updated(self) -> bool {
        match self {
            Evidence::TemplateGeneration | Evidence::CurrentRevision => true,
            Evidence::OldRevision | Evidence::UnknownRevision | Evidence::NoHash => false,
        }
    }
}

/// The classification of one pod.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Class {
    pub evidence: Evidence,
    /// The revision that its hash label names.
    pub revision: Option<HistoryIx>,
    /// Its generation says updated while its hash label names another known revision.
    pub conflict: bool,
    /// It has no hash label.
    pub unlabelled: bool,
}

/// Classifies the pods of the DaemonSet by their labels.
#[derive(Debug)]
pub(crate) struct Classifier {
    policy: ClassificationPolicy,
    /// The meaning of each hash label; most pods share a few.
    meanings: IndexVec<HashIx, HashMeaning>,
}

/// The meaning of a hash label.
#[derive(Debug, Clone, Copy)]
pub struct HashMeaning {
    pub evidence: Evidence,
    pub revision: Option<HistoryIx>,
}

impl HashMeaning {
    pub fn new(history: &History<'_>, hash: &str) -> Self {
        let revision = history.position(hash);
        let role = revision.map(|position| history.revision(position).role);
        let evidence = match role {
            // A duplicate has the same template: its pods run the current one, and only their label changes.
            Some(RevisionRole::Current | RevisionRole::Duplicate) => Evidence::CurrentRevision,
            Some(RevisionRole::Old) => Evidence::OldRevision,
            None => Evidence::UnknownRevision,
        };
        HashMeaning { evidence, revision }
    }
}

const NO_HASH: HashMeaning = HashMeaning { evidence: Evidence::NoHash, revision: None };

neutral!(HashMeaning, NO_HASH);

impl Classifier {
    pub(crate) fn new(snapshot: &Snapshot<'_>, history: &History<'_>) -> Self {
        Classifier {
            policy: snapshot.spec.policy.classification,
            meanings: snapshot.index.hashes().map(|hash| HashMeaning::new(history, hash)).collect(),
        }
    }

    pub(crate) fn class(&self, pod: &PodFacts) -> Class {
        // The evidence of the hash is found even where the generation decides: the report tells when the two disagree.
        let meaning = pod.hash.map_or(NO_HASH, |hash| *self.meanings.at(hash));
        let generation_counts = match self.policy {
            ClassificationPolicy::TemplateGenerationFirst => true,
            // A generation may come again with another template, after the DaemonSet was deleted without its pods.
            ClassificationPolicy::HashFirst => pod.hash.is_none(),
        };
        let by_generation = pod.same_generation && generation_counts;
        Class {
            evidence: if by_generation { Evidence::TemplateGeneration } else { meaning.evidence },
            revision: meaning.revision,
            // An unknown revision is no contradiction: it may have been the current one until somebody deleted it.
            conflict: pod.same_generation && meaning.evidence == Evidence::OldRevision,
            unlabelled: pod.hash.is_none(),
        }
    }
}
