//! Whether a node should run a pod, and if not, which taint, selector or name says so.

use crate::case::Case;
use daemonset::model::{Node, Taint};
use daemonset::report::{NodePlacement, NodeVerdict};
use serde_json::Value;

impl Case<'_> {
    pub(super) fn placement(&self, verdict: &NodeVerdict) -> String {
        let name = &verdict.node;
        let mut text = match &verdict.placement {
            NodePlacement::Run => format!("{name} should run a pod."),
            NodePlacement::ContinueOnly { taint, .. } => format!(
                "{name} gets no new pod, though a pod that runs there may stay: the template does not tolerate the \
                 taint {}.",
                tainted(taint)
            ),
            NodePlacement::OtherNodeName => {
                format!(
                    "{name} must not run a pod: the template names the node {}.",
                    self.template_text("nodeName")
                )
            }
            NodePlacement::NodeSelectorMismatch => format!(
                "{name} must not run a pod: the template's nodeSelector does not match, as {}.",
                self.selector_mismatch(name.as_str())
            ),
            NodePlacement::NodeAffinityMismatch => {
                format!(
                    "{name} must not run a pod: the template's required node affinity does not match its labels."
                )
            }
            NodePlacement::UntoleratedNoExecute { taint, .. } => format!(
                "{name} must not run a pod: the template does not tolerate the taint {}.",
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

    fn template_text(&self, member: &str) -> String {
        let spec = self.planned.daemon_set.spec.template.get("spec");
        spec.and_then(|spec| spec.get(member)).and_then(Value::as_str).unwrap_or_default().to_owned()
    }

    /// `disk=ssd is wanted, and its label disk is hdd`.
    fn selector_mismatch(&self, name: &str) -> String {
        let node = self.models.nodes.iter().find(|node| node.metadata.name.as_str() == name);
        let wanted = self.planned.daemon_set.spec.template.pointer("/spec/nodeSelector");
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
        missing.collect::<Vec<_>>().join("; ")
    }
}

/// `key=value:NoSchedule`, as kubectl writes it.
fn tainted(taint: &Taint) -> String {
    let equals = if taint.value.is_empty() { "" } else { "=" };
    format!("{}{equals}{}:{}", taint.key, taint.value, taint.effect)
}
