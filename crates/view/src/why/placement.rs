//! Whether a node should run a pod, and if not, which taint, selector or name says so.

use crate::case::Case;
use crate::goal::Goal;
use daemonset::model::{Node, Taint};
use daemonset::report::{NodePlacement, NodeVerdict};
use serde_json::Value;

impl Case<'_> {
    pub(super) fn placement(&self, verdict: &NodeVerdict) -> String {
        let name = &verdict.node;
        let goal = self.goal(verdict);
        let template = goal.template();
        let mut text = match &verdict.placement {
            NodePlacement::Run => format!("{name} should run a pod."),
            NodePlacement::ContinueOnly { taint, .. } => format!(
                "{name} gets no new pod, though a pod that runs there may stay: {template} does not tolerate the \
                 taint {}.",
                tainted(taint)
            ),
            NodePlacement::OtherNodeName => {
                format!("{name} must not run a pod: {template} names the node {}.", self.node_name(goal))
            }
            NodePlacement::NodeSelectorMismatch => format!(
                "{name} must not run a pod: {template}'s nodeSelector does not match{}.",
                self.selector_mismatch(goal, name.as_str())
            ),
            NodePlacement::NodeAffinityMismatch => {
                format!(
                    "{name} must not run a pod: {template}'s required node affinity does not match its labels."
                )
            }
            NodePlacement::UntoleratedNoExecute { taint, .. } => format!(
                "{name} must not run a pod: {template} does not tolerate the taint {}.",
                tainted(taint)
            ),
            other => format!("{name}: {other:?}."),
        };
        if verdict.unschedulable {
            text.push_str(" It is cordoned, which makes no difference to a DaemonSet.");
        }
        if verdict.node_ready == Some(false) {
            text.push_str(" The node itself is not Ready.");
        }
        text
    }

    /// The pod template of the version that a node should have.
    fn template_of(&self, goal: Goal<'_>) -> Option<&Value> {
        match goal {
            Goal::Current => Some(&self.planned.daemon_set.spec.template),
            Goal::Base { name, .. } => self.revision(name)?.data.pointer("/spec/template"),
        }
    }

    fn node_name(&self, goal: Goal<'_>) -> &str {
        let name = self.template_of(goal).and_then(|template| template.pointer("/spec/nodeName"));
        name.and_then(Value::as_str).unwrap_or_default()
    }

    /// `, as disk=ssd is wanted and the node has disk=hdd`
    fn selector_mismatch(&self, goal: Goal<'_>, name: &str) -> String {
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
