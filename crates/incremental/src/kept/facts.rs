//! The facts about nodes and pods that decisions read, packed: a kept state holds them instead of the objects.

use super::relation::PodRelation;
use daemonset::internal::{
    ContainersView, LabelsView, LifecycleView, NodeObject, Ownership, Phase, Placement, PodObject,
    TaintsView, TolerationsView,
};
use daemonset::model::{NodeName, PodStatus, Taint, Toleration};
use daemonset::{Lifecycle, NodeView, PodView};
use jiff::Timestamp;
use std::borrow::Cow;
use std::sync::Arc;

/// The place of an element in a slab; four bytes, since there are several for each node and pod.
pub(super) type Slot = u32;

/// No place.
pub(super) const NOWHERE: Slot = Slot::MAX;

/// An optional instant in whole seconds: eight bytes instead of the sixteen of an optional [`Timestamp`].
///
/// The API server writes instants in whole seconds. The rest of another one is among the rare facts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Seconds(i64);

impl Seconds {
    /// Earlier than the earliest instant.
    const NONE: Seconds = Seconds(i64::MIN);

    /// The whole seconds of an instant, and the nanoseconds beyond them.
    fn of(at: Option<Timestamp>) -> (Self, i32) {
        at.map_or((Seconds::NONE, 0), |at| (Seconds(at.as_second()), at.subsec_nanosecond()))
    }

    fn instant(self, nanoseconds: i32) -> Option<Timestamp> {
        if self == Seconds::NONE { None } else { Timestamp::new(self.0, nanoseconds).ok() }
    }
}

/// The facts about a node.
#[derive(Debug, PartialEq)]
pub(super) struct KeptNode {
    pub(super) name: NodeName,
    rare: Option<Box<RareNode>>,
    ready_since: Seconds,
    pub(super) placement: Placement,
    ready: Option<bool>,
    unschedulable: bool,
}

/// Facts that few nodes have.
#[derive(Debug, PartialEq)]
struct RareNode {
    taints: Box<[Taint]>,
    /// The state in which the node may be left alone.
    lifecycle: Option<(Lifecycle, Option<Timestamp>)>,
    /// Of `ready_since`.
    nanoseconds: i32,
}

impl KeptNode {
    pub(super) fn new(name: NodeName, view: &NodeView<'_>, placement: Placement) -> Self {
        let (ready_since, nanoseconds) = Seconds::of(view.ready_since);
        let NodeView { taints, lifecycle, .. } = view;
        let is_plain = taints.iter().next().is_none() && lifecycle.is_none() && nanoseconds == 0;
        let rare = (!is_plain).then(|| RareNode {
            taints: taints.iter().map(Taint::from).collect(),
            lifecycle: lifecycle.map(|lifecycle| (lifecycle.state, lifecycle.since)),
            nanoseconds,
        });
        KeptNode {
            name,
            rare: rare.map(Box::new),
            ready_since,
            placement,
            ready: view.ready,
            unschedulable: view.unschedulable,
        }
    }

    /// Its labels are not kept: its placement is.
    pub(super) fn view(&self) -> NodeView<'_> {
        let rare = self.rare.as_deref();
        NodeView {
            name: self.name.as_str(),
            labels: LabelsView::NONE,
            taints: TaintsView::Model(rare.map_or(&[], |rare| &rare.taints)),
            unschedulable: self.unschedulable,
            ready: self.ready,
            ready_since: self.ready_since.instant(rare.map_or(0, |rare| rare.nanoseconds)),
            // A node with more than that is planned from lists.
            object: NodeObject::Unknown,
            annotations: LabelsView::NONE,
            free: None,
            unreachable: false,
            lifecycle: rare
                .and_then(|rare| rare.lifecycle)
                .map(|(state, since)| LifecycleView { state, since }),
        }
    }
}

/// The facts about a pod that can concern the DaemonSet.
#[derive(Debug)]
pub(super) struct KeptPod {
    /// Name, uid and resource version, one after the other.
    text: Box<str>,
    name_end: u32,
    uid_end: u32,
    rare: Option<Box<RarePod>>,
    created_at: Seconds,
    ready_since: Seconds,
    /// The facts that it shares with other pods, among the kept ones.
    pub(super) shared: Slot,
    /// Its node, among the kept nodes.
    pub(super) node: Slot,
    /// The next pod of the node, among the kept pods.
    pub(super) next: Slot,
    phase: Phase,
    pub(super) ownership: Ownership,
    ready: Option<bool>,
    /// Whether the selector matches it, and whether it is bound.
    flags: u8,
}

const SELECTED: u8 = 1;
const BOUND: u8 = 2;

// A large cluster has a hundred thousand of them.
const _: () = assert!(size_of::<KeptPod>() <= 64);

/// Facts that the pods of one template share.
#[derive(Debug, PartialEq)]
pub(super) struct SharedByPods {
    /// The hash label.
    pub(super) hash: Option<Arc<str>>,
    /// The label of the template generation.
    pub(super) generation: Option<Arc<str>>,
    pub(super) tolerations: Vec<Toleration>,
}

/// Facts that few pods have.
#[derive(Debug, Default, PartialEq)]
struct RarePod {
    /// Of a pod whose node is not known.
    target: Option<Box<str>>,
    deleted_at: Option<Timestamp>,
    grace_seconds: u32,
    /// With the containers that have restarted, or wait.
    status: Option<PodStatus>,
    /// Of `created_at` and `ready_since`.
    nanoseconds: [i32; 2],
}

impl KeptPod {
    pub(super) fn new(view: &PodView<'_>, relation: PodRelation<'_>, shared: Slot, node: Slot) -> Self {
        let (created_at, created_nanoseconds) = Seconds::of(view.created_at);
        let (ready_since, ready_nanoseconds) = Seconds::of(view.ready_since);
        let PodRelation { ownership, selected, .. } = relation;
        let (name_end, uid_end) = (view.name.len(), view.name.len() + view.uid.len());
        let mut text = String::with_capacity(uid_end + view.resource_version.len());
        [view.name, view.uid, view.resource_version].into_iter().for_each(|part| text.push_str(part));
        let target = view.target.filter(|_| node == NOWHERE);
        let PodView { deleted_at, grace_seconds, .. } = *view;
        let nanoseconds = [created_nanoseconds, ready_nanoseconds];
        let status = view.containers.to_status();
        let is_plain = target.is_none()
            && deleted_at.is_none()
            && (grace_seconds, nanoseconds) == (0, [0; 2])
            && status.is_none();
        let rare = if is_plain {
            None
        } else {
            let target = target.map(Into::into);
            Some(Box::new(RarePod { target, deleted_at, grace_seconds, status, nanoseconds }))
        };
        KeptPod {
            text: text.into_boxed_str(),
            name_end: name_end as u32,
            uid_end: uid_end as u32,
            rare,
            created_at,
            ready_since,
            shared,
            node,
            next: NOWHERE,
            phase: view.phase,
            ownership,
            ready: view.ready,
            flags: if selected { SELECTED } else { 0 } | if view.bound { BOUND } else { 0 },
        }
    }

    /// Puts it on a node, before another pod.
    pub(super) fn enter_node(&mut self, node: Slot, next: Slot) {
        (self.node, self.next) = (node, next);
        if let Some(rare) = &mut self.rare {
            rare.target = None;
            if **rare == RarePod::default() {
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
    pub(super) fn is_but_for_version(&self, other: &KeptPod) -> bool {
        let identity = |pod: &KeptPod| (pod.name_end, pod.uid_end, pod.node, pod.shared);
        let times = |pod: &KeptPod| (pod.created_at, pod.ready_since);
        let state = |pod: &KeptPod| (pod.phase, pod.ownership, pod.ready, pod.flags);
        identity(self) == identity(other)
            && times(self) == times(other)
            && state(self) == state(other)
            && (self.name(), self.uid()) == (other.name(), other.uid())
            && self.rare == other.rare
    }

    pub(super) fn take_version_of(&mut self, other: KeptPod) {
        self.text = other.text;
    }

    pub(super) fn name(&self) -> &str {
        self.text.get(..self.name_end as usize).unwrap_or_default()
    }

    pub(super) fn uid(&self) -> &str {
        self.text.get(self.name_end as usize..self.uid_end as usize).unwrap_or_default()
    }

    /// The selector matches it.
    pub(super) fn is_selected(&self) -> bool {
        self.flags & SELECTED != 0
    }

    pub(super) fn is_terminating(&self) -> bool {
        self.rare.as_ref().is_some_and(|rare| rare.deleted_at.is_some())
    }

    /// The node that it is for, if that node is not known.
    pub(super) fn missing_target(&self) -> Option<&str> {
        self.rare.as_ref()?.target.as_deref()
    }

    /// The view that decisions read: of its labels only the hash is kept. Its target is the name of its node.
    pub(super) fn view<'f>(&'f self, frame: Frame<'f>) -> PodView<'f> {
        static NO_STATUS: PodStatus = PodStatus {
            phase: Cow::Borrowed(""),
            reason: String::new(),
            conditions: Vec::new(),
            container_statuses: Vec::new(),
            init_container_statuses: Vec::new(),
        };
        let rare = self.rare.as_deref();
        let [created_nanoseconds, ready_nanoseconds] = rare.map_or([0; 2], |rare| rare.nanoseconds);
        PodView {
            namespace: frame.namespace,
            name: self.name(),
            uid: self.uid(),
            resource_version: self.text.get(self.uid_end as usize..).unwrap_or_default(),
            labels: LabelsView::Hash(frame.shared.and_then(|shared| shared.hash.as_ref())),
            controller: match self.ownership {
                Ownership::Controlled => Some(frame.uid),
                Ownership::Orphan | Ownership::Foreign => None,
            },
            target: frame.node.or(self.missing_target()),
            tolerations: TolerationsView::Model(frame.shared.map_or(&[], |shared| &shared.tolerations)),
            containers: ContainersView::Model(
                rare.and_then(|rare| rare.status.as_ref()).unwrap_or(&NO_STATUS),
            ),
            // A pod that is changed in its place is planned from lists.
            object: PodObject::Unknown,
            created_at: self.created_at.instant(created_nanoseconds),
            deleted_at: rare.and_then(|rare| rare.deleted_at),
            ready_since: self.ready_since.instant(ready_nanoseconds),
            grace_seconds: rare.map_or(0, |rare| rare.grace_seconds),
            phase: self.phase,
            ready: self.ready,
            bound: self.flags & BOUND != 0,
            // The mirror of a static pod is its kubelet's: no decision looks at it.
            mirror: false,
        }
    }
}

/// The parts of a pod's view that are kept once for many pods.
#[derive(Debug, Clone, Copy)]
pub(super) struct Frame<'f> {
    pub(super) namespace: &'f str,
    /// The DaemonSet's uid.
    pub(super) uid: &'f str,
    pub(super) shared: Option<&'f SharedByPods>,
    /// The name of its node.
    pub(super) node: Option<&'f str>,
}
