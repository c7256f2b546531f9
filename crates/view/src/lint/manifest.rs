//! The DaemonSet as the rules read it: accessors that never fail, for any content of the template.

use super::rollout;
use daemonset::Policy;
use daemonset::internal::{Problems, Strategy, Template, strategy_in_force};
use daemonset::model::DaemonSet;
use serde_json::Value;

/// The path of the pod's spec.
pub(super) const POD: &str = "spec.template.spec";

/// The DaemonSet, with its parsed template and the strategy in force.
pub(super) struct Manifest<'a> {
    pub(super) daemon_set: &'a DaemonSet,
    /// The one to drive, if the policy has one.
    pub(super) strategy: Strategy,
    /// The path of the strategy in force.
    strategy_path: String,
    pub(super) template: Template,
}

/// An item of a list in the pod's spec.
pub(super) struct ManifestItem<'a> {
    /// The path of the item, such as `spec.template.spec.containers[0]`.
    pub(super) path: String,
    pub(super) value: &'a Value,
}

/// How long a container runs; only containers that run as long as the pod count for its readiness.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lifetime {
    /// As long as the pod.
    Pod,
    /// Until it completes, before the other containers start.
    Startup,
}

impl<'a> Manifest<'a> {
    pub(super) fn new(daemon_set: &'a DaemonSet, policy: &Policy) -> Self {
        // The snapshot's check reports the same problems.
        let mut ignored = Problems::default();
        let strategy = strategy_in_force(daemon_set, policy, &mut ignored);
        let strategy_path = match &policy.external_controller {
            Some(_) => rollout::external_controller_field(daemon_set),
            None => "spec.updateStrategy".to_owned(),
        };
        let template = Template::parse(&daemon_set.spec.template, &mut ignored);
        Manifest { daemon_set, strategy, strategy_path, template }
    }

    /// The path of the limit in force.
    pub(super) fn max_unavailable(&self) -> String {
        format!("{}.rollingUpdate.maxUnavailable", self.strategy_path)
    }

    pub(super) fn surges(&self) -> bool {
        match self.strategy {
            Strategy::Surge { .. } => true,
            Strategy::OnDelete | Strategy::Replace(_) => false,
        }
    }

    /// A field of the pod's spec, by JSON pointer.
    pub(super) fn pod(&self, pointer: &str) -> Option<&'a Value> {
        self.daemon_set.spec.template.get("spec")?.pointer(pointer).filter(|value| !value.is_null())
    }

    /// The items of a list in the pod's spec.
    pub(super) fn list(&self, field: &str) -> Vec<ManifestItem<'a>> {
        let value = self.daemon_set.spec.template.get("spec").and_then(|spec| spec.get(field));
        items(value, &format!("{POD}.{field}"))
    }

    /// All containers with their lifetimes. A restartable init container runs as long as the pod
    /// (v1.36 `podutil.IsRestartableInitContainer`).
    pub(super) fn containers(&self) -> Vec<(ManifestItem<'a>, Lifetime)> {
        let restarts = |item: &ManifestItem<'_>| item.text("restartPolicy") == "Always";
        let init = self.list("initContainers").into_iter().map(|item| {
            let lifetime = if restarts(&item) { Lifetime::Pod } else { Lifetime::Startup };
            (item, lifetime)
        });
        init.chain(self.list("containers").into_iter().map(|item| (item, Lifetime::Pod))).collect()
    }
}

impl<'a> ManifestItem<'a> {
    /// The items of a list in this one.
    pub(super) fn list(&self, field: &str) -> Vec<ManifestItem<'a>> {
        items(self.value.get(field), &format!("{}.{field}", self.path))
    }

    pub(super) fn has(&self, field: &str) -> bool {
        self.value.get(field).is_some_and(|value| !value.is_null())
    }

    pub(super) fn text(&self, field: &str) -> &'a str {
        self.value.get(field).and_then(Value::as_str).unwrap_or_default()
    }
}

fn items<'a>(list: Option<&'a Value>, path: &str) -> Vec<ManifestItem<'a>> {
    let items = list.and_then(Value::as_array).into_iter().flatten().enumerate();
    items.map(|(index, value)| ManifestItem { path: format!("{path}[{index}]"), value }).collect()
}
