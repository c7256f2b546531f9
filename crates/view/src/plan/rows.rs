//! The rows of the table: one for each pod, or one for many nodes that are alike.

use crate::goal::GoalPhrase;
use crate::plan::phrase::{Attention, Phrase, PhraseContext, outcome, state};
use crate::words;
use daemonset::report::NodeVerdict;
use std::collections::BTreeMap;

/// More nodes than this are grouped.
const MOST_NODES: usize = 40;
/// More groups than this are left out.
const MOST_GROUPS: usize = 40;

/// The rows of the table.
pub struct Rows {
    pub shown: Vec<Row>,
    /// How many nodes are in no row.
    pub left_out: usize,
}

/// One line of the table.
pub struct Row {
    pub node: String,
    pub placement: String,
    pub pod: String,
    pub revision: String,
    pub state: Cell,
    pub now: Cell,
}

/// A text, and how much it wants to be seen.
pub struct Cell {
    pub text: String,
    pub urgency: Attention,
}

/// By node name; where there are many, nodes that are alike share a row, and those that need attention come first.
pub fn rows(nodes: &[NodeVerdict], context: PhraseContext<'_>) -> Rows {
    if nodes.len() <= MOST_NODES {
        let shown = nodes.iter().flat_map(|node| of_node(node, context)).collect();
        return Rows { shown, left_out: 0 };
    }
    let mut groups: BTreeMap<Likeness, Vec<&NodeVerdict>> = BTreeMap::new();
    for node in nodes {
        groups.entry(Likeness::of(node, context)).or_default().push(node);
    }
    let left_out = groups.values().skip(MOST_GROUPS).map(Vec::len).sum();
    let groups = groups.into_iter().take(MOST_GROUPS);
    let shown = groups.flat_map(|(likeness, nodes)| match nodes.as_slice() {
        [only] => of_node(only, context),
        several => vec![of_group(likeness, several, context)],
    });
    Rows { shown: shown.collect(), left_out }
}

/// A row for each pod; the first one has the node's name.
fn of_node(node: &NodeVerdict, context: PhraseContext<'_>) -> Vec<Row> {
    let row = |pod: &str, revision: &str, state, now| Row {
        node: node.node.to_string(),
        placement: words::placement(node),
        pod: pod.to_owned(),
        revision: revision.to_owned(),
        state,
        now,
    };
    let due = |due: Phrase| Cell { text: due.text(context.now), urgency: due.urgency };
    if node.pods.is_empty() {
        return vec![row("-", "-", Cell::nothing("-"), due(outcome(node, context.steered, context.notes)))];
    }
    let deletes = node.pods.iter().any(|pod| pod.deleted.is_some());
    let rows = node.pods.iter().enumerate().map(|(position, pod)| {
        let now = match pod.deleted {
            Some(reason) => {
                let goal = GoalPhrase::of(context.steered.as_ref(), node);
                Cell { text: format!("DELETE: {}", goal.deleting(reason)), urgency: Attention::Acts }
            }
            None if deletes => Cell::nothing("stays"),
            None if position == 0 => due(outcome(node, context.steered, context.notes)),
            None => Cell::nothing(""),
        };
        row(&pod.pod.name, &words::class(pod, context.current), due(state(pod, context)), now)
    });
    let mut rows: Vec<Row> = rows.collect();
    for again in rows.iter_mut().skip(1) {
        again.node.clear();
        again.placement.clear();
    }
    rows
}

/// The common part of the nodes of a row; rows are sorted by it.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Likeness {
    urgency: Attention,
    state_urgency: Attention,
    outcome: String,
    states: Vec<String>,
    revision: String,
    placement: String,
}

impl Likeness {
    fn of(node: &NodeVerdict, context: PhraseContext<'_>) -> Self {
        let states: Vec<Phrase> = node.pods.iter().map(|pod| state(pod, context)).collect();
        let outcome = outcome(node, context.steered, context.notes);
        let revisions: Vec<String> = node.pods.iter().map(|pod| words::class(pod, context.current)).collect();
        Likeness {
            urgency: outcome.urgency,
            state_urgency: states.iter().map(|state| state.urgency).min().unwrap_or(Attention::Calm),
            outcome: outcome.what,
            states: states.into_iter().map(|state| state.what).collect(),
            revision: revisions.join(" + "),
            placement: words::placement(node),
        }
    }
}

fn of_group(likeness: Likeness, nodes: &[&NodeVerdict], context: PhraseContext<'_>) -> Row {
    let examples = if likeness.urgency < Attention::Held { 10 } else { 3 };
    let names = words::names(nodes.iter().map(|node| &node.node), examples);
    let outcomes: Vec<Phrase> =
        nodes.iter().map(|node| outcome(node, context.steered, context.notes)).collect();
    let pods = nodes.iter().flat_map(|node| &node.pods);
    let states: Vec<Phrase> = pods.map(|pod| state(pod, context)).collect();
    let or_dash = |text: String| if text.is_empty() { "-".to_owned() } else { text };
    let state = match likeness.states.as_slice() {
        [_] => Phrase::together(&states, context.now),
        others => or_dash(others.join(" + ")),
    };
    Row {
        node: format!("{} nodes: {names}", nodes.len()),
        placement: likeness.placement,
        pod: if states.is_empty() { "-".to_owned() } else { words::count(states.len(), "pod") },
        revision: or_dash(likeness.revision),
        state: Cell { text: state, urgency: likeness.state_urgency },
        now: Cell { text: Phrase::together(&outcomes, context.now), urgency: likeness.urgency },
    }
}

impl Cell {
    fn nothing(text: &str) -> Self {
        Cell { text: text.to_owned(), urgency: Attention::Calm }
    }
}
