//! The facts about nodes and pods that decisions read, packed: a kept state holds them instead of the objects.

use crate::kubernetes::ownership::Ownership;
use crate::model::{PodStatus, Taint, Toleration};
use crate::snapshot::placement::Placement;
use crate::view::{
    ContainersView, LabelsView, Lifecycle, LifecycleView, NodeView, Phase, PodView, ReadyCondition,
    TaintsView, TolerationsView,
};
use jiff::Timestamp;
use std::sync::Arc;

/// The place of an element in a slab; four bytes, since there are several for each node and pod.
pub(super) type Slot = u32;

/// No place.
pub(super) const NOWHERE: Slot = Slot::MAX;

/// An optional instant in twelve bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Moment {
    seconds: [u32; 2],
    nanoseconds: i32,
}

impl From<Option<Timestamp>> for Moment {
    fn from(at: Option<Timestamp>) -> Self {
        let Some(at) = at else { return Moment { seconds: [0; 2], nanoseconds: i32::MIN } };
        let seconds = at.as_second() as u64;
        Moment { seconds: [(seconds >> 32) as u32, seconds as u32], nanoseconds: at.subsec_nanosecond() }
    }
}

impl From<Moment> for Option<Timestamp> {
    fn from(Moment { seconds: [high, low], nanoseconds }: Moment) -> Self {
        let seconds = (u64::from(high) << 32 | u64::from(low)) as i64;
        (nanoseconds != i32::MIN).then(|| Timestamp::new(seconds, nanoseconds).ok()).flatten()
    }
}

/// The facts about a node.
#[derive(Debug)]
pub(super) struct NodeFacts {
    pub(super) name: Arc<str>,
    rare: Option<Box<RareNodeFacts>>,
    ready_since: Moment,
    pub(super) placement: Placement,
    ready: Option<bool>,
    unschedulable: bool,
}

/// Facts that few nodes have.
#[derive(Debug, Default, PartialEq)]
struct RareNodeFacts {
    taints: Box<[Taint]>,
    /// The state in which the node may be left alone.
    lifecycle: Option<(Lifecycle, Option<Timestamp>)>,
}

impl NodeFacts {
    pub(super) fn new(name: Arc<str>, view: &NodeView<'_>, placement: Placement) -> Self {
        let rare = RareNodeFacts {
            taints: view.taints.iter().map(Taint::from).collect(),
            lifecycle: view.lifecycle.map(|lifecycle| (lifecycle.state, lifecycle.since)),
        };
        NodeFacts {
            name,
            rare: (rare != RareNodeFacts::default()).then(|| Box::new(rare)),
            ready_since: view.ready_since.into(),
            placement,
            ready: view.ready,
            unschedulable: view.unschedulable,
        }
    }

    /// Its labels are not kept: its placement is.
    pub(super) fn view(&self) -> NodeView<'_> {
        let rare = self.rare.as_deref();
        NodeView {
            name: &self.name,
            labels: LabelsView::NONE,
            taints: TaintsView::Model(rare.map_or(&[], |rare| &rare.taints)),
            unschedulable: self.unschedulable,
            ready: self.ready,
            ready_since: self.ready_since.into(),
            lifecycle: rare
                .and_then(|rare| rare.lifecycle)
                .map(|(state, since)| LifecycleView { state, since }),
        }
    }

    /// Whether other facts about the same node are equal, so that nothing has changed.
    pub(super) fn is(&self, other: &NodeFacts) -> bool {
        let state =
            |facts: &NodeFacts| (facts.placement, facts.ready, facts.ready_since, facts.unschedulable);
        state(self) == state(other) && self.rare == other.rare
    }
}

/// The facts about a pod that can concern the DaemonSet.
#[derive(Debug)]
pub(super) struct PodFacts {
    /// Name, uid and resource version, one after the other.
    text: Box<str>,
    name_end: u32,
    uid_end: u32,
    rare: Option<Box<RarePodFacts>>,
    created_at: Moment,
    deleted_at: Moment,
    ready_since: Moment,
    grace_seconds: u32,
    /// The hash label, among the kept labels.
    pub(super) hash: Slot,
    /// The label of the template generation, among the kept labels.
    pub(super) generation: Slot,
    /// Its node, among the kept nodes.
    pub(super) node: Slot,
    /// The next pod of the node, among the kept pods.
    pub(super) next: Slot,
    phase: Phase,
    pub(super) ownership: Ownership,
    pub(super) selected: bool,
    ready: ReadyCondition,
    bound: bool,
    mirror: bool,
}

/// Facts that few pods have.
#[derive(Debug, Default, PartialEq)]
struct RarePodFacts {
    /// Of a pod whose node is not known.
    target: Option<Box<str>>,
    /// Where it is not the DaemonSet's.
    namespace: Option<Box<str>>,
    tolerations: Vec<Toleration>,
    /// Containers that have restarted, or wait.
    status: PodStatus,
}

/// The relation of a pod to the DaemonSet and to what is kept.
#[derive(Debug, Clone, Copy)]
pub(super) struct Relation {
    pub(super) ownership: Ownership,
    pub(super) selected: bool,
    pub(super) hash: Slot,
    pub(super) generation: Slot,
    pub(super) node: Slot,
}

impl PodFacts {
    pub(super) fn new(view: &PodView<'_>, relation: Relation, namespace: &str) -> Self {
        let Relation { ownership, selected, hash, generation, node } = relation;
        let name_end = view.name.len();
        let uid_end = name_end + view.uid.len();
        let rare = RarePodFacts {
            target: view.target.filter(|_| node == NOWHERE).map(Into::into),
            namespace: (view.namespace != namespace).then(|| view.namespace.into()),
            tolerations: view.tolerations.to_vec(),
            status: PodStatus {
                reason: view.containers.pod_reason().to_owned(),
                container_statuses: view.containers.regular(),
                init_container_statuses: view.containers.init(),
                ..PodStatus::default()
            },
        };
        PodFacts {
            text: [view.name, view.uid, view.resource_version].concat().into(),
            name_end: name_end as u32,
            uid_end: uid_end as u32,
            rare: (rare != RarePodFacts::default()).then(|| Box::new(rare)),
            created_at: view.created_at.into(),
            deleted_at: view.deleted_at.into(),
            ready_since: view.ready_since.into(),
            grace_seconds: view.grace_seconds,
            hash,
            generation,
            node,
            next: NOWHERE,
            phase: view.phase,
            ownership,
            selected,
            ready: view.ready,
            bound: view.bound,
            mirror: view.mirror,
        }
    }

    /// Puts it on a node, before another pod.
    pub(super) fn enter_node(&mut self, node: Slot, next: Slot) {
        (self.node, self.next) = (node, next);
        if let Some(rare) = &mut self.rare {
            rare.target = None;
            if **rare == RarePodFacts::default() {
                self.rare = None;
            }
        }
    }

    /// Takes it off its node, which is gone.
    pub(super) fn leave_node(&mut self, name: &str) {
        (self.node, self.next) = (NOWHERE, NOWHERE);
        self.rare.get_or_insert_default().target = Some(name.into());
    }

    /// Whether other facts differ in the resource version at most.
    pub(super) fn is_but_for_version(&self, other: &PodFacts) -> bool {
        let identity = |pod: &PodFacts| (pod.name_end, pod.uid_end, pod.node, pod.hash, pod.generation);
        let times = |pod: &PodFacts| (pod.created_at, pod.deleted_at, pod.ready_since, pod.grace_seconds);
        let state =
            |pod: &PodFacts| (pod.phase, pod.ownership, pod.selected, pod.ready, pod.bound, pod.mirror);
        identity(self) == identity(other)
            && times(self) == times(other)
            && state(self) == state(other)
            && (self.name(), self.uid()) == (other.name(), other.uid())
            && self.rare == other.rare
    }

    pub(super) fn take_version_of(&mut self, other: PodFacts) {
        self.text = other.text;
    }

    pub(super) fn name(&self) -> &str {
        self.text.get(..self.name_end as usize).unwrap_or_default()
    }

    pub(super) fn uid(&self) -> &str {
        self.text.get(self.name_end as usize..self.uid_end as usize).unwrap_or_default()
    }

    pub(super) fn is_terminating(&self) -> bool {
        self.deleted_at != Moment::from(None)
    }

    /// The node that it is for, if that node is not known.
    pub(super) fn missing_target(&self) -> Option<&str> {
        self.rare.as_ref()?.target.as_deref()
    }

    /// The view that decisions read: of its labels only the hash is kept. Its target is the name of its node.
    pub(super) fn view<'f>(&'f self, frame: Frame<'f>) -> PodView<'f> {
        static NO_STATUS: PodStatus = PodStatus {
            phase: String::new(),
            reason: String::new(),
            conditions: Vec::new(),
            container_statuses: Vec::new(),
            init_container_statuses: Vec::new(),
        };
        let rare = self.rare.as_deref();
        PodView {
            namespace: rare.and_then(|rare| rare.namespace.as_deref()).unwrap_or(frame.namespace),
            name: self.name(),
            uid: self.uid(),
            resource_version: self.text.get(self.uid_end as usize..).unwrap_or_default(),
            labels: LabelsView::Hash(frame.hash),
            controller: match self.ownership {
                Ownership::Controlled => Some(frame.uid),
                Ownership::Orphan | Ownership::Foreign => None,
            },
            target: frame.node.or(self.missing_target()),
            tolerations: TolerationsView::Model(rare.map_or(&[], |rare| &rare.tolerations)),
            containers: ContainersView::Model(rare.map_or(&NO_STATUS, |rare| &rare.status)),
            created_at: self.created_at.into(),
            deleted_at: self.deleted_at.into(),
            ready_since: self.ready_since.into(),
            grace_seconds: self.grace_seconds,
            phase: self.phase,
            ready: self.ready,
            bound: self.bound,
            mirror: self.mirror,
        }
    }
}

/// The parts of a pod's view that are kept once for many pods.
#[derive(Debug, Clone, Copy)]
pub(super) struct Frame<'f> {
    pub(super) namespace: &'f str,
    /// The DaemonSet's uid.
    pub(super) uid: &'f str,
    pub(super) hash: Option<&'f Arc<str>>,
    /// The name of its node.
    pub(super) node: Option<&'f str>,
}
