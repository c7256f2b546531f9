//! From watch events to the changes that a comparison sees.

use super::Comparison;
use daemonset::model::{ControllerRevision, DaemonSet, Node, Pod};
use kube::Resource;
use kube::runtime::watcher::Event;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A kind of object whose changes are compared.
pub trait ComparedObject: Sized {
    /// Passes a change to the comparison; `None` where the object did not exist before, or no longer does.
    fn compare(comparison: &dyn Comparison, before: Option<&Arc<Self>>, after: Option<&Self>);
}

impl ComparedObject for DaemonSet {
    fn compare(comparison: &dyn Comparison, before: Option<&Arc<Self>>, after: Option<&Self>) {
        comparison.daemon_set_changed(before.map(|ds| &**ds), after);
    }
}

impl ComparedObject for Pod {
    fn compare(comparison: &dyn Comparison, before: Option<&Arc<Self>>, after: Option<&Self>) {
        comparison.pod_changed(before, after);
    }
}

impl ComparedObject for ControllerRevision {
    fn compare(comparison: &dyn Comparison, before: Option<&Arc<Self>>, after: Option<&Self>) {
        comparison.revision_changed(before, after);
    }
}

/// A DaemonSet controller never writes nodes.
impl ComparedObject for Node {
    fn compare(_: &dyn Comparison, _: Option<&Arc<Self>>, _: Option<&Self>) {}
}

/// Passes the change of a watch event. [`compare_lists`] passes the changes of a list, once it is complete.
pub fn compare_event<K: ComparedObject>(
    comparison: &dyn Comparison,
    event: &Event<K>,
    before: Option<&Arc<K>>,
) {
    match event {
        Event::Apply(object) => K::compare(comparison, before, Some(object)),
        Event::Delete(_) => K::compare(comparison, before, None),
        Event::Init | Event::InitApply(_) | Event::InitDone => {}
    }
}

/// Passes the changes between two lists, which happened while there was no watch.
pub fn compare_lists<K: ComparedObject + Resource>(
    comparison: &dyn Comparison,
    before: &[Arc<K>],
    after: &[Arc<K>],
) {
    let uid = |object: &Arc<K>| object.meta().uid.clone();
    let mut before: BTreeMap<_, _> = before.iter().map(|object| (uid(object), object)).collect();
    for object in after {
        K::compare(comparison, before.remove(&uid(object)), Some(object));
    }
    for object in before.into_values() {
        K::compare(comparison, Some(object), None);
    }
}
