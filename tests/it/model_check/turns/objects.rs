//! The objects of the model of turns, in an API server or in a cache: small, ordered, comparable.

use crate::model_check::objects::{Phase, node_name};
use std::collections::VecDeque;

/// An instant: even where a plan has written it, and odd for the birth of a pod between two plans. Their order alone matters, so that
/// they are numbered again in each state.
pub type Instant = u8;

/// The text that a gate repeats.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Request {
    pub number: u8,
    pub at: Instant,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Turn {
    pub request: Request,
    pub cordoned: bool,
}

/// The annotations of a node for one DaemonSet.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Turning {
    pub turn: Option<Turn>,
    /// The answer of its gate.
    pub gate: Option<Request>,
}

/// There are at most two DaemonSets.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Node {
    pub unschedulable: bool,
    /// Its kubelet does not report.
    pub unreachable: bool,
    pub of: [Turning; 2],
}

impl Node {
    pub fn turning(&self, ds: u8) -> &Turning {
        &self.of[usize::from(ds)]
    }

    pub fn turning_mut(&mut self, ds: u8) -> &mut Turning {
        &mut self.of[usize::from(ds)]
    }

    /// Whether a turn has cordoned it.
    pub fn is_cordoned_by_a_turn(&self) -> bool {
        self.of.iter().filter_map(|of| of.turn).any(|turn| turn.cordoned)
    }

    fn instants(&mut self, visit: &mut impl FnMut(&mut Instant)) {
        for Turning { turn, gate } in &mut self.of {
            turn.iter_mut().for_each(|turn| visit(&mut turn.request.at));
            gate.iter_mut().for_each(|gate| visit(&mut gate.at));
        }
    }
}

/// Identifies a pod. A serial is reused only when nothing refers to its pod any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PodId {
    pub ds: u8,
    pub node: u8,
    pub serial: u8,
}

impl PodId {
    pub fn uid(self) -> String {
        format!("uid-{}-{}-{}", node_name(self.node), self.ds, self.serial)
    }

    pub fn of_uid(uid: &str) -> Self {
        let parts: Vec<&str> = uid.trim_start_matches("uid-n").split('-').collect();
        let number = |part: &str| part.parse().unwrap();
        PodId { node: number(parts[0]), ds: number(parts[1]), serial: number(parts[2]) }
    }
}

/// The change of a pod in its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Changed {
    pub at: Instant,
    /// The version of its containers before.
    pub from: u8,
    /// Its new containers have started.
    pub has_started: bool,
}

/// The state of a pod that pulls images.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Pull {
    Pulling,
    /// The image is there.
    Done,
    /// Its time is over, without the image.
    Late,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Pod {
    pub id: PodId,
    /// The number of its name; `None` for a generated one.
    pub name: Option<u8>,
    /// The version of the template.
    pub version: u8,
    pub phase: Phase,
    pub birth: Instant,
    pub changed: Option<Changed>,
    /// For a pull pod, which is none of the DaemonSet's.
    pub pull: Option<Pull>,
}

impl Pod {
    /// Whether it serves: its containers are those of its template, and are Ready.
    pub fn is_available(&self) -> bool {
        let is_new = self.changed.is_none_or(|changed| changed.has_started);
        self.phase == Phase::Available && is_new
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Objects {
    pub nodes: Vec<Node>,
    pub pods: Vec<Pod>,
}

impl Objects {
    pub fn pod(&self, id: PodId) -> Option<&Pod> {
        self.pods.iter().find(|pod| pod.id == id)
    }

    /// The pods of a DaemonSet on a node.
    pub fn daemons(&self, ds: u8, node: u8) -> impl Iterator<Item = &Pod> {
        self.pods.iter().filter(move |pod| pod.id.ds == ds && pod.id.node == node && pod.pull.is_none())
    }

    pub fn pulls(&self) -> impl Iterator<Item = (&Pod, Pull)> {
        self.pods.iter().filter_map(|pod| Some((pod, pod.pull?)))
    }

    /// Adds the pod, or replaces the one with its id.
    pub fn put_pod(&mut self, pod: Pod) {
        self.remove_pod(pod.id);
        self.pods.push(pod);
        self.pods.sort_unstable();
    }

    pub fn remove_pod(&mut self, id: PodId) {
        self.pods.retain(|pod| pod.id != id);
    }

    fn instants(&mut self, visit: &mut impl FnMut(&mut Instant)) {
        self.nodes.iter_mut().for_each(|node| node.instants(visit));
        let changes = self.pods.iter_mut().filter_map(|pod| pod.changed.as_mut());
        changes.for_each(|changed| visit(&mut changed.at));
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PodEvent {
    Is(Pod),
    Gone(PodId),
}

/// Watch events that have not reached a cache. Events of one kind keep their order; pods and nodes are independent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Undelivered {
    pub pods: VecDeque<PodEvent>,
    pub nodes: VecDeque<(u8, Node)>,
}

impl Undelivered {
    pub fn is_empty(&self) -> bool {
        self.pods.is_empty() && self.nodes.is_empty()
    }
}

/// A cache with the watch events that it lacks.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Watched {
    pub cache: Objects,
    pub undelivered: Undelivered,
}

impl Watched {
    /// Visits the instants that plans have written.
    pub fn instants(&mut self, visit: &mut impl FnMut(&mut Instant)) {
        self.cache.instants(visit);
        self.undelivered.nodes.iter_mut().for_each(|(_, node)| node.instants(visit));
        for event in &mut self.undelivered.pods {
            if let PodEvent::Is(Pod { changed: Some(changed), .. }) = event {
                visit(&mut changed.at);
            }
        }
    }

    /// Visits the births of pods.
    pub fn births(&mut self, mut visit: impl FnMut(&mut Instant)) {
        self.cache.pods.iter_mut().for_each(|pod| visit(&mut pod.birth));
        for event in &mut self.undelivered.pods {
            if let PodEvent::Is(pod) = event {
                visit(&mut pod.birth);
            }
        }
    }

    /// Whether the cache shows a node as it is.
    pub fn has_newest(&self, node: u8) -> bool {
        self.undelivered.nodes.iter().all(|(changed, _)| *changed != node)
    }
}
