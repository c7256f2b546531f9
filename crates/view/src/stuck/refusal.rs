//! Why the calls of a plan come to nothing.

use crate::case::Case;
use crate::cluster::Happened;
use crate::stuck::change::last_call;
use crate::stuck::finding::acts;
use daemonset::Action;
use daemonset::report::NodeVerdict;

impl Case<'_> {
    /// The last refusal, unless something was done after it. The pods that a quota allows become Ready after it, which tells nothing.
    pub fn refusal(&self) -> Option<Happened> {
        self.models.events.refusal(self.planned.daemon_set.metadata.uid.as_str(), || last_call(self))
    }

    /// Why the plan's action on this node does not happen, where that is known, and the commands that tell more of it.
    pub fn hindrance(&self, node: &NodeVerdict) -> Option<(String, Vec<String>)> {
        if !acts(node) {
            return None;
        }
        if self.namespace_ends() {
            let namespace = &self.planned.daemon_set.metadata.namespace;
            let text = format!("namespace {namespace} is being deleted: no pod is created in it");
            return Some((text, vec![self.describe_namespace()]));
        }
        let refusal = self.refusal()?;
        Some((self.refused(&refusal), self.commands_of_refusal(&refusal)))
    }

    /// Whether the plan creates pods in a namespace that takes none.
    pub fn namespace_ends(&self) -> bool {
        let namespace = &self.planned.daemon_set.metadata.namespace;
        self.models.ending_namespaces.contains(namespace) && self.creates_pods()
    }

    /// Whether it may be that its namespace takes no pods: of that Kubernetes' controller writes no event (v1.36
    /// `pkg/controller/controller_utils.go createPods`).
    pub fn may_lack_its_namespace(&self) -> bool {
        let namespace = &self.planned.daemon_set.metadata.namespace;
        self.creates_pods() && self.refusal().is_none() && !self.models.powers.knows(namespace)
    }

    fn creates_pods(&self) -> bool {
        self.plan.actions.iter().any(|action| matches!(action, Action::CreatePod { .. }))
    }

    /// `the API server refuses it: Error creating: … (21 times, the last time 18s ago)`.
    pub fn refused(&self, refusal: &Happened) -> String {
        format!("the API server refuses it: {} ({})", refusal.said.message, refusal.how_often(self.now))
    }

    /// The commands that tell more of it: its events, and the thing that refuses, by the words of the API server.
    pub fn commands_of_refusal(&self, refusal: &Happened) -> Vec<String> {
        let message = &refusal.said.message;
        let mut commands = vec![self.describe_daemon_set()];
        if message.contains("quota") {
            commands.push(self.get_quotas());
        }
        if message.contains("webhook") {
            commands.push(self.get_webhooks());
        }
        commands
    }
}
