//! One DaemonSet, read once for any number of nodes.

use super::shape::NodeShape;
use super::{Runs, UnknownFact, WhyNot};
use daemonset::internal::{
    CompiledTemplate, Decided, Fact, NodeFacts, Placement, Problems, TaintView, TaintsView, checked_selector,
    checked_template, node_placement, strategy_in_force,
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
        let mut facts = self.template.depends_on(node);
        facts.sort_unstable();
        facts.dedup();
        let mut facts: Vec<UnknownFact> = facts.into_iter().map(UnknownFact::from).collect();
        let taints =
            node.possible_taints.iter().filter(|taint| self.template.keeps_out(TaintView::from(*taint)));
        facts.extend(taints.map(|taint| UnknownFact::Taint { taint: taint.clone() }));
        facts
    }

    /// The startup taints that a pod waits for.
    pub(super) fn waits_for(&self, node: &NodeShape) -> Vec<Taint> {
        let waits = |taint: &&Taint| self.template.keeps_out(TaintView::from(*taint));
        node.startup_taints.iter().filter(waits).cloned().collect()
    }
}

impl From<Fact<'_>> for UnknownFact {
    fn from(fact: Fact<'_>) -> Self {
        match fact {
            Fact::Name => UnknownFact::Name,
            Fact::Label(key) => UnknownFact::Label { key: key.to_owned() },
        }
    }
}
