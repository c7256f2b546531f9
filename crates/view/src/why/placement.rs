//! Whether a node should run a pod, and if not, which taint, selector or name says so.

use crate::case::Case;
use crate::goal::GoalPhrase;
use crate::words::count;
use daemonset::model::{Node, Taint};
use daemonset::report::{NodePlacement, NodeVerdict, Warning};
use serde_json::Value;
use std::collections::BTreeMap;

impl Case<'_> {
    pub(super) fn placement(&self, verdict: &NodeVerdict) -> String {
        let name = &verdict.node;
        let mut text = match (&verdict.placement, self.exclusion(verdict)) {
            (NodePlacement::Run, _) => format!("{name} should run a pod."),
            (NodePlacement::ContinueOnly { .. }, Some(exclusion)) => {
                format!("{name} gets no new pod, though a pod that runs there may stay: {exclusion}.")
            }
            (_, Some(exclusion)) => format!("{name} must not run a pod: {exclusion}."),
            (other, None) => format!("{name}: {other:?}."),
        };
        if verdict.unschedulable {
            text.push_str(" It is cordoned, which makes no difference to a DaemonSet.");
        }
        if verdict.node_ready == Some(false) {
            text.push_str(" The node itself is not Ready.");
        }
        text
    }

    /// The rule of the template that keeps new pods from the node.
    fn exclusion(&self, verdict: &NodeVerdict) -> Option<String> {
        let goal = self.goal(verdict);
        let template = goal.template();
        Some(match &verdict.placement {
            NodePlacement::ContinueOnly { taint, .. } | NodePlacement::UntoleratedNoExecute { taint, .. } => {
                format!("{template} does not tolerate the taint {}", tainted(taint))
            }
            NodePlacement::OtherNodeName => format!("{template} names the node {}", self.node_name(goal)),
            NodePlacement::NodeSelectorMismatch => format!(
                "{template}'s nodeSelector does not match{}",
                self.selector_mismatch(goal, verdict.node.as_str())
            ),
            NodePlacement::NodeAffinityMismatch => {
                format!("{template}'s required node affinity does not match its labels")
            }
            _ => return None,
        })
    }

    /// Whether some node should run the pod.
    pub fn has_targets(&self) -> bool {
        !self.plan.warnings.contains(&Warning::NoTargetNodes)
    }

    /// Why no node should run the pod, where that is so: the rule that excludes the most nodes.
    pub fn without_targets(&self) -> Option<String> {
        if self.has_targets() {
            return None;
        }
        let nodes = &self.plan.report.nodes;
        let mut excluded: BTreeMap<String, usize> = BTreeMap::new();
        for exclusion in nodes.iter().filter_map(|node| self.exclusion(node)) {
            *excluded.entry(exclusion).or_default() += 1;
        }
        // Of two the first one by its words.
        let most = excluded.into_iter().rev().max_by_key(|(_, excluded)| *excluded);
        Some(match most {
            Some((exclusion, most)) => {
                format!(
                    "no node should run the pod: for {most} of {}, {exclusion}",
                    count(nodes.len(), "node")
                )
            }
            None => format!("no node should run the pod: there are {}", count(nodes.len(), "node")),
        })
    }

    /// The pod template of the version that a node should have.
    fn template_of(&self, goal: GoalPhrase<'_>) -> Option<&Value> {
        match goal {
            GoalPhrase::Current => Some(&self.planned.daemon_set.spec.template),
            GoalPhrase::Stable { name, .. } => self.revision(name)?.data.pointer("/spec/template"),
        }
    }

    fn node_name(&self, goal: GoalPhrase<'_>) -> &str {
        let name = self.template_of(goal).and_then(|template| template.pointer("/spec/nodeName"));
        name.and_then(Value::as_str).unwrap_or_default()
    }

    /// `, as disk=ssd is wanted and the node has disk=hdd`
    fn selector_mismatch(&self, goal: GoalPhrase<'_>, name: &str) -> String {
        let node = self.models.nodes.iter().find(|node| node.metadata.name.as_str() == name);
        let wanted = self.template_of(goal).and_then(|template| template.pointer("/spec/nodeSelector"));
        let wanted = wanted.and_then(Value::as_object).into_iter().flatten();
        let missing = wanted.filter_map(|(key, value)| {
            let value = value.as_str().unwrap_or_default();
            let has = node.and_then(|node: &Node| node.metadata.labels.get(key));
            match has {
                Some(has) if has == value => None,
                Some(has) => Some(format!("{key}={value} is wanted and the node has {key}={has}")),
                None => Some(format!("{key}={value} is wanted and the node has no label {key}")),
            }
        });
        let missing: Vec<String> = missing.collect();
        if missing.is_empty() { String::new() } else { format!(", as {}", missing.join("; ")) }
    }
}

/// `key=value:NoSchedule`, as kubectl writes it.
fn tainted(taint: &Taint) -> String {
    let equals = if taint.value.is_empty() { "" } else { "=" };
    format!("{}{equals}{}:{}", taint.key, taint.value, taint.effect)
}
