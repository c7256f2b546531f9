//! One DaemonSet, read once for any number of nodes.

use super::shape::NodeShape;
use super::{Runs, UnknownFact, WhyNot};
use daemonset::internal::{
    CompiledRequirement, CompiledTemplate, Decided, NodeFacts, Placement, Problems, TaintView, TaintsView,
    Term, Truth, checked_selector, checked_template, node_placement, strategy_in_force,
};
use daemonset::kubernetes::Selector;
use daemonset::model::{DaemonSet, Taint};
use daemonset::{Policy, Problem};

/// The parts of a DaemonSet that decide where its pods run.
#[derive(Debug, Clone)]
pub(crate) struct Daemon {
    template: CompiledTemplate,
    /// Why it makes no pods, wherever it is asked.
    idle: Option<WhyNot>,
}

impl Daemon {
    /// # Errors
    /// The problems of selector, template and strategy, for which a plan refuses the DaemonSet, too. Its metadata may be
    /// incomplete: a manifest that is not stored yet has no uid.
    pub(crate) fn new(ds: &DaemonSet) -> Result<Self, Vec<Problem>> {
        let (policy, mut problems) = (Policy::default(), Problems::default());
        let selector: Selector<'_> = checked_selector(ds, &mut problems);
        let template = checked_template(&ds.spec.template, &selector, &mut problems);
        let template = CompiledTemplate::new(template, &policy.daemon_tolerations, &mut problems);
        strategy_in_force(ds, &policy, &mut problems);
        problems.into_result().map_err(|invalid| invalid.problems)?;
        let idle = if selector.is_empty() {
            Some(WhyNot::SelectingAll)
        } else {
            ds.metadata.deletion_timestamp.map(|_| WhyNot::BeingDeleted)
        };
        Ok(Daemon { template, idle })
    }

    /// The placement of a node, as the planner decides it.
    pub(crate) fn decide(&self, node: &impl NodeFacts) -> Decided {
        self.template.decide(node)
    }

    /// Whether a new pod would run on the node.
    pub(super) fn runs(&self, node: &NodeShape) -> Runs {
        if let Some(why) = &self.idle {
            return Runs::No { why: why.clone() };
        }
        match self.decide(node) {
            Decided { placement: Placement::Run, is_open: false } => Runs::Yes,
            Decided { placement: Placement::Run, is_open: true } => {
                Runs::Maybe { depends_on: self.depends_on(node) }
            }
            Decided { placement, .. } => {
                let placement = node_placement(placement, TaintsView::Model(&node.taints));
                Runs::No { why: WhyNot::Placement { placement } }
            }
        }
    }

    fn depends_on(&self, node: &NodeShape) -> Vec<UnknownFact> {
        let mut labels = self.unknown_labels(node);
        labels.sort_unstable();
        labels.dedup();
        let name = self.reads_unknown_name(node).then_some(UnknownFact::Name);
        let labels = labels.into_iter().map(|key| UnknownFact::Label { key: key.to_owned() });
        let mut facts: Vec<UnknownFact> = name.into_iter().chain(labels).collect();
        let taints =
            node.possible_taints.iter().filter(|taint| self.template.keeps_out(TaintView::from(*taint)));
        facts.extend(taints.map(|taint| UnknownFact::Taint { taint: taint.clone() }));
        facts
    }

    /// Whether the name of a node which nothing known excludes decides about it, and is not known.
    fn reads_unknown_name(&self, node: &NodeShape) -> bool {
        let is_open = |own: &CompiledRequirement| own.accepts_known(node.name()) == Truth::Maybe;
        self.template.has_node_name(node) == Truth::Maybe
            || self.open_terms(node).any(|term| term.fields.iter().any(is_open))
    }

    /// The unknown labels that decide about a node which nothing known excludes.
    fn unknown_labels<'d>(&'d self, node: &NodeShape) -> Vec<&'d str> {
        let selector = self.template.parsed.spec.node_selector.iter();
        let of_selector = selector.filter(|(key, value)| node.label(key).is(value) == Truth::Maybe);
        let is_open = |own: &&CompiledRequirement| own.accepts_known(node.label(own.key())) == Truth::Maybe;
        let of_affinity = self.open_terms(node).flat_map(|term| &term.expressions).filter(is_open);
        of_selector.map(|(key, _)| key).chain(of_affinity.map(CompiledRequirement::key)).collect()
    }

    /// The terms of the affinity that may match; none where it surely matches, or surely does not.
    fn open_terms<'d>(&'d self, node: &NodeShape) -> impl Iterator<Item = &'d Term> {
        let open = self.template.affinity.iter().filter(|affinity| affinity.matches(node) == Truth::Maybe);
        open.flat_map(|affinity| &affinity.terms).filter(|term| term.matches(node) == Truth::Maybe)
    }

    /// The startup taints that a pod waits for.
    pub(super) fn waits_for(&self, node: &NodeShape) -> Vec<Taint> {
        let waits = |taint: &&Taint| self.template.keeps_out(TaintView::from(*taint));
        node.startup_taints.iter().filter(waits).cloned().collect()
    }
}
