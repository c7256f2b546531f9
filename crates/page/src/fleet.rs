//! The first screen: a cell for each node, the budget, and the actions of the plan.

use crate::session::PLUGIN;
use daemonset::Plan;
use daemonset::report::{NodePlacement, NodeVerdict};
use daemonset_view::cluster::Input;
use daemonset_view::plan::budget::{self, Spent};
use daemonset_view::plan::phrase::{Attention, PhraseContext, outcome, state, urgency};
use daemonset_view::plan::{actions, next};
use daemonset_view::turning::Details;
use jiff::Timestamp;
use serde::Serialize;
use std::collections::BTreeMap;

/// Everything on it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FleetPage {
    name: String,
    now: Timestamp,
    /// Lines with their labels.
    head: Vec<(&'static str, String)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    budget: Option<Spent>,
    /// In order.
    actions: Vec<String>,
    warnings: Vec<String>,
    next: String,
    cells: Cells,
}

/// The nodes, a list for each property: thousands of them travel to the page at each step of the slider.
#[derive(Default, Serialize)]
struct Cells {
    nodes: Vec<String>,
    /// The look of each.
    looks: Vec<NodeLook>,
    /// The sentence of each, as a position in `sentences`.
    said: Vec<usize>,
    sentences: Vec<String>,
    /// The first wave that has the node, where a policy steers the rollout; 0 for none, else from 1.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    waves: Vec<usize>,
    /// Positions of nodes in turn.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    turns: Vec<usize>,
}

/// The look of a node's cell.
#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "lowercase")]
enum NodeLook {
    /// This plan does something.
    Acts,
    Stuck,
    Waits,
    Held,
    /// It has its pod.
    Calm,
    /// It should have none.
    None,
}

impl FleetPage {
    pub(crate) fn new(
        input: &Input,
        plan: &Plan,
        details: &Details,
        head: Vec<(&'static str, String)>,
    ) -> Self {
        let recording = &input.recording;
        let nodes = &plan.report.nodes;
        let context = PhraseContext::new(input, plan, PLUGIN);
        let strategy = plan.report.strategy.zip(plan.report.budget.as_ref());
        FleetPage {
            name: recording.name.clone(),
            now: recording.now,
            head,
            budget: strategy.and_then(|(strategy, figures)| budget::spent(strategy, figures, nodes)),
            actions: actions::lines(&plan.actions, &recording.daemon_set.status, context.steered.as_ref()),
            warnings: plan.warnings.iter().map(ToString::to_string).collect(),
            next: next(plan, recording.now),
            cells: Cells::new(plan, details, context),
        }
    }
}

impl Cells {
    fn new(plan: &Plan, details: &Details, context: PhraseContext<'_>) -> Self {
        let mut cells = Cells::default();
        let mut known: BTreeMap<String, usize> = BTreeMap::new();
        for (position, node) in plan.report.nodes.iter().enumerate() {
            let sentence = sentence(node, context);
            let number = *known.entry(sentence).or_insert_with_key(|sentence| {
                cells.sentences.push(sentence.clone());
                cells.sentences.len() - 1
            });
            cells.said.push(number);
            cells.nodes.push(node.node.to_string());
            cells.looks.push(look(node));
            if details.get(&node.node).is_some_and(|detail| detail.turn.is_some()) {
                cells.turns.push(position);
            }
        }
        let waves = plan.report.rollout.iter().flat_map(|rollout| &rollout.waves).enumerate();
        let mut first: BTreeMap<&str, usize> = BTreeMap::new();
        for (number, wave) in waves {
            for node in wave.nodes.iter() {
                first.entry(node.as_str()).or_insert(number + 1);
            }
        }
        if !first.is_empty() {
            let of = |node: &String| first.get(node.as_str()).copied().unwrap_or_default();
            cells.waves = cells.nodes.iter().map(of).collect();
        }
        cells
    }
}

/// As the last columns of the plan's table: the pods, then the next step of the node.
fn sentence(node: &NodeVerdict, context: PhraseContext<'_>) -> String {
    let states = node.pods.iter().map(|pod| state(pod, context).text(context.now));
    let states: Vec<String> = states.collect();
    let outcome = outcome(node, context.steered, context.notes).text(context.now);
    if states.is_empty() { outcome } else { format!("{}; {outcome}", states.join(" + ")) }
}

fn look(node: &NodeVerdict) -> NodeLook {
    match urgency(&node.outcome) {
        Attention::Acts => NodeLook::Acts,
        Attention::Stuck => NodeLook::Stuck,
        Attention::Waits => NodeLook::Waits,
        Attention::Held => NodeLook::Held,
        Attention::Calm if node.placement != NodePlacement::Run && node.pods.is_empty() => NodeLook::None,
        Attention::Calm => NodeLook::Calm,
    }
}
