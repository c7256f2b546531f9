//! From what the watches bring to what the comparison is told.

use super::Comparison;
use daemonset::model::{ControllerRevision, DaemonSet, Node, Pod};
use kube::Resource;
use kube::runtime::watcher::Event;
use std::collections::BTreeMap;
use std::sync::Arc;

/// An object whose changes are compared.
pub trait Compared: Sized {
    /// Tells of a change.
    fn compare(comparison: &Comparison, before: Option<&Arc<Self>>, after: Option<&Self>);
}

impl Compared for DaemonSet {
    fn compare(comparison: &Comparison, before: Option<&Arc<Self>>, after: Option<&Self>) {
        comparison.daemon_set(before.map(|ds| &**ds), after);
    }
}

impl Compared for Pod {
    fn compare(comparison: &Comparison, before: Option<&Arc<Self>>, after: Option<&Self>) {
        comparison.pod(before, after);
    }
}

impl Compared for ControllerRevision {
    fn compare(comparison: &Comparison, before: Option<&Arc<Self>>, after: Option<&Self>) {
        comparison.revision(before, after);
    }
}

/// A DaemonSet controller does nothing to nodes.
impl Compared for Node {
    fn compare(_: &Comparison, _: Option<&Arc<Self>>, _: Option<&Self>) {}
}

/// Tells of an event; what a list changes is told by [`lists`] when it is complete.
pub fn event<K: Compared>(comparison: &Comparison, event: &Event<K>, before: Option<&Arc<K>>) {
    match event {
        Event::Apply(object) => K::compare(comparison, before, Some(object)),
        Event::Delete(_) => K::compare(comparison, before, None),
        Event::Init | Event::InitApply(_) | Event::InitDone => {}
    }
}

/// Tells what happened while nobody watched.
pub fn lists<K: Compared + Resource>(comparison: &Comparison, before: &[Arc<K>], after: &[Arc<K>]) {
    let uid = |object: &Arc<K>| object.meta().uid.clone();
    let mut before: BTreeMap<_, _> = before.iter().map(|object| (uid(object), object)).collect();
    for object in after {
        K::compare(comparison, before.remove(&uid(object)), Some(object));
    }
    for object in before.into_values() {
        K::compare(comparison, Some(object), None);
    }
}
