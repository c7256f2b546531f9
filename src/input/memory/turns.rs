//! The part of a memory about turns, pulls and changes in place: accepted actions until a snapshot shows them, and refused ones.

use crate::action::{Action, CreateReason, DeleteReason};
use crate::input::memory::accepted::{ChangedPod, InFlight, PatchedNode, PullPodCall};
use daemonset_objects::internal::rfc3339;
use daemonset_objects::model::{NodeName, Uid};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::ops::{Deref, DerefMut};

/// The part of a memory about turns, pulls and changes in place.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct TurnMemory {
    /// Patches of nodes.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub patches: BTreeMap<NodeName, InFlight<PatchedNode>>,
    /// Creates of pull pods, by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub pulls: BTreeMap<String, InFlight<PullPodCall>>,
    /// Deletes of pull pods. They are no pods of the DaemonSet, whose deletes are kept apart.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub pull_deletes: BTreeMap<Uid, InFlight<PullPodCall>>,
    /// When the create of a pull pod was refused, by its name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub refused_pulls: BTreeMap<String, Timestamp>,
    /// Changes of pods in their place.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub in_place: BTreeMap<Uid, InFlight<ChangedPod>>,
    /// When the change of a pod in its place was refused.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub refused_in_place: BTreeMap<Uid, Timestamp>,
}

/// A [`TurnMemory`] that is most often empty: an empty one is copied and dropped at no cost.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(from = "TurnMemory", into = "TurnMemory")]
pub struct KeptTurns(Option<Box<TurnMemory>>);

impl KeptTurns {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.as_ref().is_none_or(|turns| **turns == NOTHING)
    }
}

const NOTHING: TurnMemory = TurnMemory {
    patches: BTreeMap::new(),
    pulls: BTreeMap::new(),
    pull_deletes: BTreeMap::new(),
    refused_pulls: BTreeMap::new(),
    in_place: BTreeMap::new(),
    refused_in_place: BTreeMap::new(),
};

impl Deref for KeptTurns {
    type Target = TurnMemory;

    fn deref(&self) -> &TurnMemory {
        static EMPTY: TurnMemory = NOTHING;
        self.0.as_deref().unwrap_or(&EMPTY)
    }
}

impl DerefMut for KeptTurns {
    fn deref_mut(&mut self) -> &mut TurnMemory {
        self.0.get_or_insert_default()
    }
}

impl PartialEq for KeptTurns {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for KeptTurns {}

impl From<TurnMemory> for KeptTurns {
    fn from(turns: TurnMemory) -> Self {
        KeptTurns(Some(Box::new(turns)).filter(|turns| **turns != NOTHING))
    }
}

impl From<KeptTurns> for TurnMemory {
    fn from(turns: KeptTurns) -> Self {
        turns.0.map(|turns| *turns).unwrap_or_default()
    }
}

impl TurnMemory {
    /// Whether such an action is in flight; `None` for an action of another kind.
    pub(crate) fn is_in_flight(&self, action: &Action) -> Option<bool> {
        match action {
            Action::PatchNode { node, .. } => Some(self.patches.contains_key(node.name.as_str())),
            Action::UpdatePodInPlace { pod, .. } => Some(self.in_place.contains_key(&pod.uid)),
            Action::CreatePod { pod, reason: CreateReason::PullImages, .. } => {
                Some(pod.name().is_some_and(|name| self.pulls.contains_key(name)))
            }
            Action::DeletePod { pod, reason: DeleteReason::PullDone, .. } => {
                Some(self.pull_deletes.contains_key(&pod.uid))
            }
            _ => None,
        }
    }
}

/// The annotation in the patch of a change.
pub(crate) const SINCE: &str = "/metadata/annotations/in-place.daemonset~1since";

/// Whether the annotation of a pod is that of a change at this instant, or of a later one.
pub(crate) fn shows_change(annotation: Option<&str>, at: Timestamp) -> bool {
    annotation.and_then(changed_at).is_some_and(|shown| at <= shown)
}

/// When a pod with this annotation was changed.
pub(crate) fn changed_at(annotation: &str) -> Option<Timestamp> {
    let since: Value = serde_json::from_str(annotation).ok()?;
    rfc3339(since.get("at")?.as_str()?)
}
