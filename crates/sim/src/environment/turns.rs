//! Turns of nodes: the patches of their beginnings and ends.

use crate::environment::Environment;
use crate::environment::api_server::{ApiError, patched};
use crate::event::{Actor, Change};
use daemonset::TurnReason;
use daemonset::kubernetes::well_known::TURN_PREFIX;
use daemonset::model::{NodeName, ObjectRef};
use std::collections::BTreeMap;

/// The patch of a node.
pub(crate) struct NodePatch<'p> {
    pub(crate) unschedulable: Option<bool>,
    pub(crate) annotations: &'p BTreeMap<String, Option<String>>,
    pub(crate) reason: TurnReason,
}

impl Environment {
    /// Patches a node, and returns it with the version of the patch: the taint of a cordoned node follows by itself.
    pub(crate) fn patch_node(
        &mut self,
        name: &NodeName,
        patch: NodePatch<'_>,
        by: Actor,
    ) -> Result<ObjectRef, ApiError> {
        let NodePatch { unschedulable, annotations, reason } = patch;
        self.change_node(name, |node| {
            node.spec.unschedulable = unschedulable.unwrap_or(node.spec.unschedulable);
            node.metadata.annotations = patched(&node.metadata.annotations, annotations);
        });
        let metadata = &self.objects.nodes.get(name).ok_or(ApiError::NotFound)?.metadata;
        let patched = ObjectRef {
            name: name.as_str().to_owned(),
            uid: metadata.uid.clone(),
            resource_version: metadata.resource_version.clone(),
            ..ObjectRef::default()
        };
        for (key, value) in annotations {
            if let Some(turn) = key.strip_prefix(TURN_PREFIX) {
                self.record_turn(by, name, (turn, value.is_some()), (unschedulable, reason));
            }
        }
        match unschedulable {
            Some(true) => self.cordon(by, name),
            Some(false) => self.uncordon(by, name),
            None => {}
        }
        Ok(patched)
    }

    /// An end may hand its cordon over to another turn, for which nothing happens.
    fn record_turn(
        &mut self,
        by: Actor,
        node: &NodeName,
        (turn, is_there): (&str, bool),
        (unschedulable, reason): (Option<bool>, TurnReason),
    ) {
        let (node, turn) = (node.clone(), turn.to_owned());
        let change = match (reason, is_there) {
            (TurnReason::TurnBegins, true) => {
                self.has_turns = true;
                self.answer_turn(&node, &turn, self.now);
                Change::TurnBegan { node, turn, cordons: unschedulable == Some(true) }
            }
            (TurnReason::TurnEnds, false) => {
                Change::TurnEnded { node, turn, uncordons: unschedulable == Some(false) }
            }
            (TurnReason::TurnLosesCordon, true) => Change::TurnLostCordon { node, turn },
            _ => return,
        };
        self.record(by, change);
    }
}
