//! Whether a node should run the pod.
//!
//! v1.36 `daemon_controller.go NodeShouldRunDaemonPod, predicates`.

use super::position::neutral;
use super::template::{RequiredAffinity, TemplateSpec};
use crate::kubernetes::tolerations::{tolerated, tolerated_by_pod};
use crate::kubernetes::well_known::{TAINT_NOT_READY, TAINT_UNREACHABLE};
use crate::model::Toleration;
use crate::view::{NodeView, TaintView, TolerationsView};

/// Whether a node should run the pod.
#[doc(alias = "nodeShouldRunDaemonPod")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Placement {
    /// A target node: it should run a pod.
    Run,
    /// A pod that is there may stay, but none is created.
    ContinueOnly(Taints),
    /// No pod may be there.
    Exclude(Mismatch),
}

// A pod may stay, and none is created.
neutral!(Placement, Placement::ContinueOnly(Taints { first: 0 }));

/// The first taint of the node that the template does not tolerate, as a position in its list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Taints {
    pub(crate) first: u16,
}

/// Why a node is excluded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mismatch {
    NodeName,
    NodeSelector,
    NodeAffinity,
    NoExecuteTaint(Taints),
}

/// The parts of the template that placement depends on.
pub(crate) struct PlacementRules<'t> {
    pub(crate) template: &'t TemplateSpec,
    pub(crate) affinity: Option<&'t RequiredAffinity>,
    /// The template's tolerations and those of every daemon pod.
    pub(crate) tolerations: &'t [Toleration],
}

impl PlacementRules<'_> {
    /// The first rule that applies decides.
    pub(crate) fn placement(&self, node: &NodeView<'_>) -> Placement {
        let spec = self.template;
        if !spec.node_name.is_empty() && spec.node_name != node.name {
            return Placement::Exclude(Mismatch::NodeName);
        }
        if !spec.node_selector.iter().all(|(key, value)| node.labels.get(key) == Some(value)) {
            return Placement::Exclude(Mismatch::NodeSelector);
        }
        if self.affinity.is_some_and(|affinity| !affinity.matches(node.name, node.labels)) {
            return Placement::Exclude(Mismatch::NodeAffinity);
        }
        if let Some(taint) = first_untolerated(node, "NoExecute", self.tolerations) {
            return Placement::Exclude(Mismatch::NoExecuteTaint(taint));
        }
        match first_untolerated(node, "NoSchedule", self.tolerations) {
            Some(taint) => Placement::ContinueOnly(taint),
            None => Placement::Run,
        }
    }
}

fn first_untolerated(node: &NodeView<'_>, effect: &str, tolerations: &[Toleration]) -> Option<Taints> {
    let untolerated = |taint: TaintView<'_>| taint.effect == effect && !tolerated(taint, tolerations);
    let first = node.taints.iter().position(untolerated)?;
    Some(Taints { first: u16::try_from(first).unwrap_or(u16::MAX) })
}

/// Whether a pod stays only by its own tolerations, since the template has withdrawn them (kubernetes#118823). A taint for a
/// condition of the node proves nothing, since it comes and goes.
pub(crate) fn toleration_withdrawn(
    tolerations: &[Toleration],
    node: &NodeView<'_>,
    own: TolerationsView<'_>,
) -> bool {
    let mut held_by = node
        .taints
        .iter()
        .filter(|taint| taint.effect == "NoSchedule" && !tolerated(*taint, tolerations))
        .peekable();
    held_by.peek().is_some()
        && held_by.all(|taint| !taint.key.starts_with("node.kubernetes.io/") && tolerated_by_pod(taint, own))
}

/// Taints of a node that is not Ready or does not report (v1.36 `node_lifecycle_controller.go`). Each has the effects
/// NoSchedule, which daemon pods do not tolerate by default, and NoExecute, which they do.
const DOWN: [&str; 2] = [TAINT_NOT_READY, TAINT_UNREACHABLE];

/// Whether a node is down: its condition Ready is not True, and it has the taint for that.
#[inline]
pub(crate) fn is_down(node: &NodeView<'_>) -> bool {
    let tainted = |taint: TaintView<'_>| taint.effect == "NoSchedule" && DOWN.contains(&taint.key);
    node.ready == Some(false) && node.taints.iter().any(tainted)
}

/// Whether only the taints of being down keep a node from being a target.
pub(crate) fn kept_out_only_by_being_down(tolerations: &[Toleration], node: &NodeView<'_>) -> bool {
    let keeps_out = |taint: &TaintView<'_>| taint.effect == "NoSchedule" && !tolerated(*taint, tolerations);
    node.taints.iter().filter(keeps_out).all(|taint| DOWN.contains(&taint.key))
}
