//! The DaemonSet alone, as the rules look at it: whatever its template holds, a look into it can't fail.

use crate::model::DaemonSet;
use crate::problem::Problems;
use crate::snapshot::strategy;
use crate::snapshot::strategy::Strategy;
use crate::snapshot::template::Template;
use serde_json::Value;

/// Where the pod's spec is.
pub(super) const POD: &str = "spec.template.spec";

/// The DaemonSet, with what is read of it more than once.
pub(super) struct Manifest<'a> {
    pub(super) daemon_set: &'a DaemonSet,
    pub(super) strategy: Strategy,
    pub(super) template: Template,
}

/// An item of a list in the pod's spec.
pub(super) struct Item<'a> {
    /// Such as `spec.template.spec.containers[0]`.
    pub(super) path: String,
    pub(super) value: &'a Value,
}

/// Whether a container counts for the pod's readiness.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Life {
    /// As long as the pod.
    Pod,
    /// Until it is done, before the others start.
    Start,
}

impl<'a> Manifest<'a> {
    pub(super) fn of(daemon_set: &'a DaemonSet) -> Self {
        // What is wrong here is told by the snapshot's check.
        let mut unsaid = Problems::default();
        let strategy = strategy::strategy(daemon_set, &mut unsaid);
        let template = Template::parse(&daemon_set.spec.template, &mut unsaid);
        Manifest { daemon_set, strategy, template }
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
    pub(super) fn list(&self, field: &str) -> Vec<Item<'a>> {
        let value = self.daemon_set.spec.template.get("spec").and_then(|spec| spec.get(field));
        items(value, &format!("{POD}.{field}"))
    }

    /// All containers, and how long each of them lives: a restartable init container as long as the pod
    /// (v1.36 `podutil.IsRestartableInitContainer`).
    pub(super) fn containers(&self) -> Vec<(Item<'a>, Life)> {
        let restarts = |item: &Item<'_>| item.text("restartPolicy") == "Always";
        let init = self.list("initContainers").into_iter().map(|item| {
            let life = if restarts(&item) { Life::Pod } else { Life::Start };
            (item, life)
        });
        init.chain(self.list("containers").into_iter().map(|item| (item, Life::Pod))).collect()
    }
}

impl<'a> Item<'a> {
    /// The items of a list in this one.
    pub(super) fn list(&self, field: &str) -> Vec<Item<'a>> {
        items(self.value.get(field), &format!("{}.{field}", self.path))
    }

    pub(super) fn has(&self, field: &str) -> bool {
        self.value.get(field).is_some_and(|value| !value.is_null())
    }

    pub(super) fn text(&self, field: &str) -> &'a str {
        self.value.get(field).and_then(Value::as_str).unwrap_or_default()
    }
}

fn items<'a>(list: Option<&'a Value>, path: &str) -> Vec<Item<'a>> {
    let items = list.and_then(Value::as_array).into_iter().flatten().enumerate();
    items.map(|(index, value)| Item { path: format!("{path}[{index}]"), value }).collect()
}
