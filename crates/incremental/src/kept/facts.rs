//! The facts about nodes and pods that decisions read, packed: a kept state holds them instead of the objects.

use super::relation::PodRelation;
use daemonset::internal::{
    ContainersView, LabelsView, LifecycleView, NodeObject, Ownership, Phase, Placement, PodObject, Spec,
    TaintsView, TolerationsView, is_of_turn, one_per_node,
};
use daemonset::kubernetes::well_known::PULL_OWNER_LABEL;
use daemonset::model::{self, ContainerImage, Labels, NodeName, PodStatus, ResourceList, Taint, Toleration};
use daemonset::policy::RuleReads;
use daemonset::{Lifecycle, NodeView, PodView};
use jiff::Timestamp;
use std::borrow::Cow;
use std::collections::BTreeSet;

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
#[derive(Debug)]
pub(super) struct KeptNode {
    pub(super) name: NodeName,
    rare: Option<Box<RareNode>>,
    ready_since: Seconds,
    pub(super) placement: Placement,
    ready: Option<bool>,
    unschedulable: bool,
    unreachable: bool,
}

/// Facts that few nodes have, or that few policies read.
#[derive(Debug, PartialEq)]
struct RareNode {
    taints: Box<[Taint]>,
    /// The state in which the node may be left alone.
    lifecycle: Option<(Lifecycle, Option<Timestamp>)>,
    /// Of `ready_since`.
    nanoseconds: i32,
    free: Option<ResourceList>,
    /// The annotations of turns, the images that matter, and the identity that a patch needs.
    object: Option<Box<model::Node>>,
}

/// The parts of objects that few policies read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reads<'p> {
    spec: Option<&'p Spec<'static>>,
    /// Nodes are patched.
    patches: bool,
    /// The images that a node may have to pull.
    images: Option<&'p BTreeSet<String>>,
    free: bool,
    /// Each pod of the DaemonSet is read whole.
    whole_pods: bool,
}

impl<'p> Reads<'p> {
    /// Of a policy without any such choice.
    #[cfg(test)]
    pub(super) const NONE: Reads<'static> =
        Reads { spec: None, patches: false, images: None, free: false, whole_pods: false };

    pub(super) fn new(spec: &'p Spec<'static>, images: &'p BTreeSet<String>) -> Self {
        // Without `..`: what a rule reads must be kept. The names are read from the objects.
        let RuleReads { patches, images: of_nodes, free, whole_pods, names: _ } = RuleReads::of(&spec.policy);
        Reads { spec: Some(spec), patches, images: of_nodes.then_some(images), free, whole_pods }
    }

    /// The name of the pod of a node, where each has one.
    pub(super) fn own_name(self, node: &str) -> Box<str> {
        self.spec.map(|spec| one_per_node(spec, node)).unwrap_or_default().into()
    }

    fn object_of_node(self, view: &NodeView<'_>) -> Option<Box<model::Node>> {
        let of_turns = || view.annotations.iter().filter(|(key, _)| is_of_turn(key));
        // Most nodes have no annotation, as far as a view goes.
        let has_turns = !view.annotations.is_empty() && of_turns().next().is_some();
        let patches = self.patches || has_turns;
        if !patches && self.images.is_none() {
            return None;
        }
        let mut node = model::Node::default();
        if has_turns {
            node.metadata.annotations = of_turns().collect();
        }
        if patches {
            let (uid, version) = view.object.identity();
            (node.metadata.uid, node.metadata.resource_version) = (uid.into(), version.to_owned());
        }
        if let Some(wanted) = self.images {
            let images = view.object.images();
            let names = images.iter().flat_map(|image| &image.names).filter(|name| wanted.contains(*name));
            node.status.images = names.map(|name| ContainerImage { names: vec![name.clone()] }).collect();
        }
        Some(Box::new(node))
    }

    fn object_of_pod(self, view: &PodView<'_>, ownership: Ownership) -> Option<Box<model::Pod>> {
        let is_read = match ownership {
            Ownership::Controlled => self.whole_pods || view.in_place().is_some(),
            // It may be adopted, or pull images.
            Ownership::Orphan => self.whole_pods || is_of_turns(view),
            Ownership::Foreign => false,
        };
        is_read.then(|| {
            let mut pod = view.object.model().into_owned();
            // The version of the view is newer.
            pod.metadata.resource_version.clear();
            Box::new(pod)
        })
    }
}

/// Whether a pod without a controller may be of turns: it was changed in its place, or pulls images.
pub(super) fn is_of_turns(view: &PodView<'_>) -> bool {
    view.in_place().is_some() || view.labels.contains_key(PULL_OWNER_LABEL)
}

impl KeptNode {
    pub(super) fn new(name: NodeName, view: &NodeView<'_>, placement: Placement, reads: Reads<'_>) -> Self {
        // Without `..`: a fact that a rule reads must be kept.
        let NodeView {
            name: _,
            // The placement and the waves are kept instead.
            labels: _,
            taints,
            unschedulable,
            object: _,
            annotations: _,
            free,
            unreachable,
            ready,
            ready_since,
            lifecycle,
        } = *view;
        let (ready_since, nanoseconds) = Seconds::of(ready_since);
        let (free, object) = (free.filter(|_| reads.free), reads.object_of_node(view));
        let is_plain = taints.iter().next().is_none()
            && lifecycle.is_none()
            && nanoseconds == 0
            && free.is_none()
            && object.is_none();
        let rare = || RareNode {
            taints: taints.iter().map(Taint::from).collect(),
            lifecycle: lifecycle.map(|lifecycle| (lifecycle.state, lifecycle.since)),
            nanoseconds,
            free: free.cloned(),
            object,
        };
        KeptNode {
            name,
            rare: (!is_plain).then(|| Box::new(rare())),
            ready_since,
            placement,
            ready,
            unschedulable,
            unreachable,
        }
    }

    /// Whether other facts differ in the resource version at most.
    pub(super) fn is_but_for_version(&self, other: &KeptNode) -> bool {
        // Without `..`: a new fact is compared.
        let KeptNode { name: _, rare, ready_since, placement, ready, unschedulable, unreachable } = self;
        (ready_since, placement, ready) == (&other.ready_since, &other.placement, &other.ready)
            && (unschedulable, unreachable) == (&other.unschedulable, &other.unreachable)
            && match (rare, &other.rare) {
                (Some(one), Some(other)) => one.is_but_for_version(other),
                (one, other) => one.is_none() && other.is_none(),
            }
    }

    /// Its labels are not kept: its placement is.
    pub(super) fn view(&self) -> NodeView<'_> {
        let rare = self.rare.as_deref();
        let object = rare.and_then(|rare| rare.object.as_deref());
        NodeView {
            name: self.name.as_str(),
            labels: LabelsView::none(),
            taints: TaintsView::Model(rare.map_or(&[], |rare| &rare.taints)),
            unschedulable: self.unschedulable,
            ready: self.ready,
            ready_since: self.ready_since.instant(rare.map_or(0, |rare| rare.nanoseconds)),
            object: object.map_or(NodeObject::Unknown, NodeObject::Model),
            annotations: object.map_or_else(LabelsView::none, |node| (&node.metadata.annotations).into()),
            free: rare.and_then(|rare| rare.free.as_ref()),
            unreachable: self.unreachable,
            lifecycle: rare
                .and_then(|rare| rare.lifecycle)
                .map(|(state, since)| LifecycleView { state, since }),
        }
    }
}

impl RareNode {
    fn is_but_for_version(&self, other: &RareNode) -> bool {
        let RareNode { taints, lifecycle, nanoseconds, free, object } = self;
        let is_same_object = match (object, &other.object) {
            (Some(one), Some(other)) => {
                let parts =
                    |node: &model::Node| (node.metadata.uid.clone(), node.metadata.annotations.clone());
                parts(one) == parts(other) && one.status.images == other.status.images
            }
            (one, other) => one.is_none() && other.is_none(),
        };
        let plain = (taints, lifecycle, nanoseconds, free);
        plain == (&other.taints, &other.lifecycle, &other.nanoseconds, &other.free) && is_same_object
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
    /// [`SELECTED`] and the others.
    flags: u8,
}

/// The selector matches it.
const SELECTED: u8 = 1;
const BOUND: u8 = 2;
/// It has no controller, and was changed in its place or pulls images.
const OF_TURNS: u8 = 4;

// A large cluster has a hundred thousand of them.
const _: () = assert!(size_of::<KeptPod>() <= 64);

/// Facts that the pods of one template share.
#[derive(Debug, PartialEq)]
pub(super) struct SharedByPods {
    pub(super) labels: Labels,
    pub(super) tolerations: Vec<Toleration>,
    /// The hash label, which each decision reads.
    pub(super) hash: Option<Box<str>>,
    /// The label of the template generation.
    pub(super) generation: Option<Box<str>>,
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
    /// The whole pod, where a decision may read it.
    object: Option<Box<model::Pod>>,
}

impl KeptPod {
    pub(super) fn new(
        view: &PodView<'_>,
        relation: PodRelation<'_>,
        shared: Slot,
        node: Slot,
        reads: Reads<'_>,
    ) -> Self {
        // Without `..`: a fact that a rule reads must be kept.
        let PodView {
            // That of the DaemonSet: no other pod is kept.
            namespace: _,
            name,
            uid,
            resource_version,
            // Many pods share them.
            labels: _,
            tolerations: _,
            // Their part in the ownership is kept.
            controller: _,
            mirror: _,
            target,
            containers,
            object: _,
            created_at,
            deleted_at,
            ready_since,
            grace_seconds,
            phase,
            ready,
            bound,
        } = *view;
        let (created_at, created_nanoseconds) = Seconds::of(created_at);
        let (ready_since, ready_nanoseconds) = Seconds::of(ready_since);
        let PodRelation { ownership, selected, .. } = relation;
        let (name_end, uid_end) = (name.len(), name.len() + uid.len());
        let mut text = String::with_capacity(uid_end + resource_version.len());
        [name, uid, resource_version].into_iter().for_each(|part| text.push_str(part));
        let target = target.filter(|_| node == NOWHERE);
        let (status, object) = (containers.to_status(), reads.object_of_pod(view, ownership));
        let nanoseconds = [created_nanoseconds, ready_nanoseconds];
        let is_plain = target.is_none()
            && deleted_at.is_none()
            && (grace_seconds, nanoseconds) == (0, [0; 2])
            && status.is_none()
            && object.is_none();
        let rare = || {
            let target = target.map(Into::into);
            RarePod { target, deleted_at, grace_seconds, status, nanoseconds, object }
        };
        let of_turns = ownership == Ownership::Orphan && is_of_turns(view);
        KeptPod {
            text: text.into_boxed_str(),
            name_end: name_end as u32,
            uid_end: uid_end as u32,
            rare: (!is_plain).then(|| Box::new(rare())),
            created_at,
            ready_since,
            shared,
            node,
            next: NOWHERE,
            phase,
            ownership,
            ready,
            flags: if selected { SELECTED } else { 0 }
                | if bound { BOUND } else { 0 }
                | if of_turns { OF_TURNS } else { 0 },
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
        // Without `..`: a new fact is compared. The version is the end of the text.
        let KeptPod {
            text: _,
            name_end,
            uid_end,
            rare,
            created_at,
            ready_since,
            shared,
            node,
            next: _,
            phase,
            ownership,
            ready,
            flags,
        } = self;
        (name_end, uid_end, node, shared) == (&other.name_end, &other.uid_end, &other.node, &other.shared)
            && (created_at, ready_since) == (&other.created_at, &other.ready_since)
            && (phase, ownership, ready, flags)
                == (&other.phase, &other.ownership, &other.ready, &other.flags)
            && (self.name(), self.uid()) == (other.name(), other.uid())
            && *rare == other.rare
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

    /// It has no controller, and was changed in its place or pulls images.
    pub(super) fn is_of_turns(&self) -> bool {
        self.flags & OF_TURNS != 0
    }

    pub(super) fn is_terminating(&self) -> bool {
        self.rare.as_ref().is_some_and(|rare| rare.deleted_at.is_some())
    }

    /// The node that it is for, if that node is not known.
    pub(super) fn missing_target(&self) -> Option<&str> {
        self.rare.as_ref()?.target.as_deref()
    }

    /// The view that decisions read. Its target is the name of its node.
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
            labels: frame.shared.map_or_else(LabelsView::none, |shared| (&shared.labels).into()),
            controller: match self.ownership {
                Ownership::Controlled => Some(frame.uid),
                Ownership::Orphan => None,
                // Another one, or its kubelet: no decision asks which.
                Ownership::Foreign => Some(""),
            },
            target: frame.node.or(self.missing_target()),
            tolerations: TolerationsView::Model(frame.shared.map_or(&[], |shared| &shared.tolerations)),
            containers: ContainersView::Model(
                rare.and_then(|rare| rare.status.as_ref()).unwrap_or(&NO_STATUS),
            ),
            object: rare.and_then(|rare| rare.object.as_deref()).map_or(PodObject::Unknown, PodObject::Model),
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
