//! Whether a node should run the pod.
//!
//! v1.36 `daemon_controller.go NodeShouldRunDaemonPod, predicates`.

use crate::input::DaemonTolerations;
use crate::input::lookup::Recent;
use crate::input::pod_wants::PodWants;
use crate::input::template::{RequiredAffinity, Template};
use crate::position::neutral;
use daemonset_objects::NodeView;
use daemonset_objects::internal::{
    KeyLengths, LabelsView, NodeFacts, Problems, TaintView, TolerationsView, Truth, tolerated,
    tolerated_by_pod,
};
use daemonset_objects::kubernetes::well_known::{TAINT_NOT_READY, TAINT_UNREACHABLE};
use daemonset_objects::model::Toleration;
use serde_json::Value;
use std::sync::OnceLock;

/// Whether a node should run the pod.
#[doc(alias = "nodeShouldRunDaemonPod")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Placement {
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
pub struct Taints {
    pub first: u16,
}

/// Why a node is excluded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mismatch {
    NodeName,
    NodeSelector,
    NodeAffinity,
    NoExecuteTaint(Taints),
}

/// A placement, as far as the facts about the node are known.
#[derive(Debug, Clone, Copy)]
pub struct Decided {
    /// Where unknown facts decide: the placement if they do not exclude the node.
    pub placement: Placement,
    /// Whether unknown facts can still exclude the node.
    pub is_open: bool,
}

/// A pod template with the parts that decide where its pods run.
#[derive(Debug, Clone)]
pub struct CompiledTemplate {
    pub parsed: Template,
    /// Its required node affinity.
    pub affinity: Option<RequiredAffinity>,
    /// Its tolerations and those of every daemon pod.
    pub tolerations: Vec<Toleration>,
    /// Found at the first use: few policies ask.
    wants: OnceLock<Box<PodWants>>,
}

impl CompiledTemplate {
    /// Compiles a template; its fields that can't be evaluated are problems.
    pub fn new(parsed: Template, daemon: &DaemonTolerations, problems: &mut Problems) -> Self {
        let affinity = parsed.spec.affinity.required().map(|a| RequiredAffinity::compile(a, problems));
        let mut tolerations = parsed.spec.tolerations.clone();
        tolerations.extend(daemon.list(parsed.spec.host_network));
        CompiledTemplate { parsed, affinity, tolerations, wants: OnceLock::new() }
    }

    /// The images and the requests of its pod, from the template as it is stored.
    pub(crate) fn wants(&self, raw: &Value) -> &PodWants {
        self.wants.get_or_init(|| Box::new(PodWants::of_template(raw)))
    }

    /// The placements of nodes of which everything is known.
    pub(crate) fn placements(&self, nodes: &[NodeView<'_>]) -> Vec<Placement> {
        let mut labels = NodeLabels::new(self);
        let placement = |node| {
            let decided = self.by_taints(node, labels.mismatch(node));
            debug_assert!(!decided.is_open, "every fact about a node of the snapshot is known");
            decided.placement
        };
        nodes.iter().map(placement).collect()
    }

    /// Whether both decide alike about every node.
    pub fn places_as(&self, other: &CompiledTemplate) -> bool {
        self.parsed.spec.node_name == other.parsed.spec.node_name
            && self.parsed.spec.node_selector == other.parsed.spec.node_selector
            && self.affinity == other.affinity
            && self.tolerations == other.tolerations
    }

    /// The first rule that applies decides.
    #[inline]
    pub fn decide(&self, node: &impl NodeFacts) -> Decided {
        self.by_taints(node, self.mismatch(node))
    }

    /// The first rule about the name and the labels of the node that excludes it. Without one, `Ok` says whether unknown facts
    /// can still exclude it.
    #[inline]
    fn mismatch(&self, node: &impl NodeFacts) -> Result<bool, Mismatch> {
        let mut is_open = false;
        let mut excludes = |rule: Truth| {
            is_open |= rule == Truth::Maybe;
            rule == Truth::No
        };
        if excludes(self.has_node_name(node)) {
            return Err(Mismatch::NodeName);
        }
        if excludes(self.matches_selector(node)) {
            return Err(Mismatch::NodeSelector);
        }
        if excludes(self.matches_affinity(node)) {
            return Err(Mismatch::NodeAffinity);
        }
        Ok(is_open)
    }

    /// The taints decide unless the name or the labels exclude the node.
    #[inline]
    fn by_taints(&self, node: &impl NodeFacts, mismatch: Result<bool, Mismatch>) -> Decided {
        let certain = |placement| Decided { placement, is_open: false };
        let is_open = match mismatch {
            Ok(is_open) => is_open,
            Err(mismatch) => return certain(Placement::Exclude(mismatch)),
        };
        if let Some(taint) = self.first_untolerated(node, "NoExecute") {
            return certain(Placement::Exclude(Mismatch::NoExecuteTaint(taint)));
        }
        if let Some(taint) = self.first_untolerated(node, "NoSchedule") {
            return certain(Placement::ContinueOnly(taint));
        }
        let is_open = is_open || node.possible_taints().any(|taint| self.keeps_out(taint));
        Decided { placement: Placement::Run, is_open }
    }

    #[inline]
    pub fn has_node_name(&self, node: &impl NodeFacts) -> Truth {
        let name = &self.parsed.spec.node_name;
        if name.is_empty() { Truth::Yes } else { node.name().is(name) }
    }

    #[inline]
    fn matches_selector(&self, node: &impl NodeFacts) -> Truth {
        Truth::all(self.parsed.spec.node_selector.iter().map(|(key, value)| node.label(key).is(value)))
    }

    #[inline]
    fn matches_affinity(&self, node: &impl NodeFacts) -> Truth {
        self.affinity.as_ref().map_or(Truth::Yes, |affinity| affinity.matches(node))
    }

    #[inline]
    fn first_untolerated(&self, node: &impl NodeFacts, effect: &str) -> Option<Taints> {
        let untolerated =
            |taint: TaintView<'_>| taint.effect == effect && !tolerated(taint, &self.tolerations);
        let first = node.taints().position(untolerated)?;
        // Only a report reads the position: of more taints than that it may name a wrong one.
        Some(Taints { first: u16::try_from(first).unwrap_or(u16::MAX) })
    }

    /// Whether a taint keeps new pods of the template from a node.
    pub fn keeps_out(&self, taint: TaintView<'_>) -> bool {
        matches!(taint.effect, "NoSchedule" | "NoExecute") && !tolerated(taint, &self.tolerations)
    }
}

/// Decides about the labels of nodes.
///
/// The nodes of a cluster have many labels and few different values of those that a template asks for. A rule reads labels by
/// their keys, so that two nodes are alike for the rules if they have the same labels among those whose keys are as long as
/// the keys of the rules.
struct NodeLabels<'r, 'n> {
    template: &'r CompiledTemplate,
    /// `None` where the rules read the names of nodes, which are all different.
    lengths: Option<KeyLengths>,
    recent: Recent<LabelsThatMatter<'n>, Result<bool, Mismatch>>,
    /// The labels of the last node that matter; kept so that a node without news costs no allocation.
    labels: LabelsThatMatter<'n>,
}

/// The labels of a node that may matter: the length of the key, and key and value.
type LabelsThatMatter<'n> = Vec<(u32, &'n [u8])>;

impl<'r, 'n> NodeLabels<'r, 'n> {
    fn new(template: &'r CompiledTemplate) -> Self {
        let CompiledTemplate { parsed, affinity, .. } = template;
        let by_name =
            !parsed.spec.node_name.is_empty() || affinity.as_ref().is_some_and(RequiredAffinity::reads_name);
        let of_selector = parsed.spec.node_selector.iter().map(|(key, _)| key);
        let of_affinity = affinity.iter().flat_map(RequiredAffinity::label_keys);
        let lengths = (!by_name).then(|| of_selector.chain(of_affinity).collect());
        NodeLabels { template, lengths, recent: Recent::default(), labels: Vec::new() }
    }

    fn mismatch(&mut self, node: &NodeView<'n>) -> Result<bool, Mismatch> {
        let (Some(lengths), LabelsView::Packed(labels)) = (self.lengths, node.labels) else {
            return self.template.mismatch(node);
        };
        self.labels.clear();
        self.labels.extend(labels.with_key_lengths(lengths));
        if let Some(known) = self.recent.get(&self.labels) {
            return known;
        }
        let mismatch = self.template.mismatch(node);
        self.recent.add(self.labels.clone(), mismatch);
        mismatch
    }
}

/// Whether a pod stays only by its own tolerations, since the template has withdrawn them (kubernetes#118823). A taint for a
/// condition of the node proves nothing, since it comes and goes.
pub fn toleration_withdrawn(
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

/// Whether a node is down: its condition Ready is False or Unknown, and it has the taint for that.
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
