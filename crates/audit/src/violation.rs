//! Violations of the safety rules.

use crate::kind::ViolationKind;
use daemonset::model::{NodeName, ObjectRef};
use daemonset::{Action, Snapshot};
use serde::Serialize;
use serde_json::Value;
use std::fmt;
use thiserror::Error;

/// One broken rule.
///
/// See the example of [`audit`](crate::audit()).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Error)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
#[error("action {action}, {subject}: {kind}")]
pub struct Violation {
    /// The position of the action in the list, from 0. Where several actions break a limit together, each one beyond the
    /// limit is a violation.
    pub action: usize,
    /// The object of that action.
    pub subject: ViolationSubject,
    /// The broken rule, with the figures.
    pub kind: ViolationKind,
}

/// The object of an action.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all_fields = "camelCase")]
#[non_exhaustive]
pub enum ViolationSubject {
    /// A pod, as the action names it.
    Pod {
        /// The pod.
        pod: ObjectRef,
    },
    /// A revision, as the action names it; a revision to create has no uid.
    Revision {
        /// The revision.
        revision: ObjectRef,
    },
    /// The node that a pod is created for.
    Node {
        /// The node.
        node: NodeName,
    },
    /// The DaemonSet: status, events and wake-ups.
    DaemonSet {
        /// The DaemonSet.
        daemon_set: ObjectRef,
    },
}

impl fmt::Display for ViolationSubject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ViolationSubject::Pod { pod } => write!(f, "pod {}/{}", pod.namespace, pod.name),
            ViolationSubject::Revision { revision } => {
                write!(f, "revision {}/{}", revision.namespace, revision.name)
            }
            ViolationSubject::Node { node } => write!(f, "node {node}"),
            ViolationSubject::DaemonSet { daemon_set: ds } => {
                write!(f, "DaemonSet {}/{}", ds.namespace, ds.name)
            }
        }
    }
}

/// Collects violations.
pub(crate) struct Findings<'s> {
    snapshot: &'s Snapshot<'s>,
    actions: &'s [Action],
    found: Vec<Violation>,
}

impl<'s> Findings<'s> {
    pub(crate) fn new(snapshot: &'s Snapshot<'_>, actions: &'s [Action]) -> Self {
        Findings { snapshot, actions, found: Vec::new() }
    }

    pub(crate) fn add(&mut self, action: usize, kind: ViolationKind) {
        let daemon_set =
            || ViolationSubject::DaemonSet { daemon_set: ObjectRef::from(&*self.snapshot.spec().daemon_set) };
        let subject = self.actions.get(action).and_then(subject).unwrap_or_else(daemon_set);
        self.found.push(Violation { action, subject, kind });
    }

    pub(crate) fn in_order(mut self) -> Vec<Violation> {
        self.found.sort_by_key(|violation| violation.action);
        self.found
    }
}

/// `None` for an action on the DaemonSet itself.
fn subject(action: &Action) -> Option<ViolationSubject> {
    match action {
        Action::AdoptPod { pod, .. }
        | Action::ReleasePod { pod, .. }
        | Action::LabelPod { pod, .. }
        | Action::UpdatePodInPlace { pod, .. }
        | Action::DeletePod { pod, .. } => Some(ViolationSubject::Pod { pod: pod.clone() }),
        Action::PatchNode { node, .. } => Some(ViolationSubject::Node { node: node.name.as_str().into() }),
        Action::AdoptRevision { revision, .. }
        | Action::ReleaseRevision { revision, .. }
        | Action::LabelRevision { revision, .. }
        | Action::AnnotateRevision { revision, .. }
        | Action::RenumberRevision { revision, .. }
        | Action::DeleteRevision { revision, .. } => {
            Some(ViolationSubject::Revision { revision: revision.clone() })
        }
        Action::CreateRevision { revision, .. } => {
            Some(ViolationSubject::Revision { revision: named_in(revision) })
        }
        Action::CreatePod { node, .. } => Some(ViolationSubject::Node { node: node.clone() }),
        Action::UpdateStatus { daemon_set, .. }
        | Action::RestoreTemplate { daemon_set, .. }
        | Action::RecordEvent { daemon_set, .. } => {
            Some(ViolationSubject::DaemonSet { daemon_set: daemon_set.clone() })
        }
        Action::Requeue { .. } => None,
    }
}

/// The name that a manifest gives itself.
fn named_in(manifest: &Value) -> ObjectRef {
    let text = |pointer| manifest.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
    ObjectRef { namespace: text("/metadata/namespace"), name: text("/metadata/name"), ..ObjectRef::default() }
}
