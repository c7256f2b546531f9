//! Watch caches: what the controller sees of the API server, late and in the order of each kind.

use super::chance::Distribution;
use crate::kubernetes::hash::Hasher;
use crate::model::{ControllerRevision, DaemonSet, Node, NodeName, Pod, Uid};
use fastrand::Rng;
use indexmap::IndexMap;
use jiff::Timestamp;
use std::collections::VecDeque;
use std::sync::Arc;

/// Kinds of objects; each has a watch of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs, reason = "the names of the API's own kinds")]
pub enum Kind {
    DaemonSets,
    Nodes,
    Pods,
    Revisions,
}

/// One event of a watch.
#[derive(Debug, Clone)]
pub(super) enum Seen {
    DaemonSet(Arc<DaemonSet>),
    Node(Arc<Node>),
    NodeGone(NodeName),
    Pod(Arc<Pod>),
    PodGone(Uid),
    Revision(Arc<ControllerRevision>),
    RevisionGone(Uid),
}

impl Seen {
    fn kind(&self) -> Kind {
        match self {
            Seen::DaemonSet(_) => Kind::DaemonSets,
            Seen::Node(_) | Seen::NodeGone(_) => Kind::Nodes,
            Seen::Pod(_) | Seen::PodGone(_) => Kind::Pods,
            Seen::Revision(_) | Seen::RevisionGone(_) => Kind::Revisions,
        }
    }
}

/// Objects by name or uid, shared with whoever else looks at them.
#[derive(Debug, Clone, Default)]
pub(super) struct Objects {
    pub(super) daemon_set: Option<Arc<DaemonSet>>,
    pub(super) nodes: IndexMap<NodeName, Arc<Node>, Hasher>,
    pub(super) pods: IndexMap<Uid, Arc<Pod>, Hasher>,
    pub(super) revisions: IndexMap<Uid, Arc<ControllerRevision>, Hasher>,
}

impl Objects {
    pub(super) fn apply(&mut self, seen: Seen) {
        match seen {
            Seen::DaemonSet(daemon_set) => self.daemon_set = Some(daemon_set),
            Seen::Node(node) => {
                self.nodes.insert(node.metadata.name.clone(), node);
            }
            Seen::NodeGone(name) => {
                self.nodes.swap_remove(&name);
            }
            Seen::Pod(pod) => {
                self.pods.insert(pod.metadata.uid.clone(), pod);
            }
            Seen::PodGone(uid) => {
                self.pods.swap_remove(&uid);
            }
            Seen::Revision(revision) => {
                self.revisions.insert(revision.metadata.uid.clone(), revision);
            }
            Seen::RevisionGone(uid) => {
                self.revisions.swap_remove(&uid);
            }
        }
    }
}

/// An event that is on its way.
#[derive(Debug)]
struct Pending {
    due: Timestamp,
    since: Timestamp,
    seen: Seen,
}

/// The events of one kind that are on their way.
#[derive(Debug)]
struct Stream {
    lag: Distribution,
    /// Events are held back until it is thawed.
    frozen: bool,
    /// When each is seen, and since when it is so.
    pending: VecDeque<Pending>,
    last_due: Option<Timestamp>,
}

impl Stream {
    fn new(lag: Distribution) -> Self {
        Stream { lag, frozen: false, pending: VecDeque::new(), last_due: None }
    }

    fn send(&mut self, now: Timestamp, seen: Seen, rng: &mut Rng) {
        let due = now.saturating_add(self.lag.draw(rng)).unwrap_or(now);
        // A watch keeps its order.
        let due = self.last_due.map_or(due, |last| due.max(last));
        self.last_due = Some(due);
        self.pending.push_back(Pending { due, since: now, seen });
    }

    fn next_due(&self) -> Option<Timestamp> {
        self.pending.front().filter(|_| !self.frozen).map(|pending| pending.due)
    }
}

/// What the controller sees.
#[derive(Debug)]
pub(super) struct Cache {
    pub(super) objects: Objects,
    streams: [(Kind, Stream); 4],
    rng: Rng,
    /// All that ever was sent, where lists from older servers are wanted.
    log: Option<Vec<(Timestamp, Seen)>>,
}

impl Cache {
    pub(super) fn new(lag: Distribution, rng: Rng) -> Self {
        let kinds = [Kind::DaemonSets, Kind::Nodes, Kind::Pods, Kind::Revisions];
        let streams = kinds.map(|kind| (kind, Stream::new(lag)));
        Cache { objects: Objects::default(), streams, rng, log: None }
    }

    pub(super) fn keep_log(&mut self) {
        self.log.get_or_insert_default();
    }

    pub(super) fn send(&mut self, now: Timestamp, seen: Seen) {
        if let Some(log) = &mut self.log {
            log.push((now, seen.clone()));
        }
        let kind = seen.kind();
        if let Some((_, stream)) = self.streams.iter_mut().find(|(k, _)| *k == kind) {
            stream.send(now, seen, &mut self.rng);
        }
    }

    /// When it sees something next.
    pub(super) fn next_due(&self) -> Option<Timestamp> {
        self.streams.iter().filter_map(|(_, stream)| stream.next_due()).min()
    }

    /// Since when it is behind: the oldest change that it has not seen.
    pub(super) fn behind_since(&self, kind: Kind) -> Option<Timestamp> {
        let (_, stream) = self.streams.iter().find(|(k, _)| *k == kind)?;
        stream.pending.front().map(|pending| pending.since)
    }

    /// Sees what is due.
    pub(super) fn catch_up(&mut self, now: Timestamp) {
        for (_, stream) in &mut self.streams {
            while stream.next_due().is_some_and(|due| due <= now) {
                if let Some(Pending { seen, .. }) = stream.pending.pop_front() {
                    self.objects.apply(seen);
                }
            }
        }
    }

    /// Lists anew from the API server, as a process does that starts.
    pub(super) fn relist(&mut self, objects: &Objects) {
        self.objects = objects.clone();
        for (_, stream) in &mut self.streams {
            stream.pending.clear();
        }
    }

    /// Lists from a server that is behind by so much, and watches on from there. Only what was logged can be listed.
    pub(super) fn relist_from_the_past(&mut self, now: Timestamp, shown_until: Timestamp) {
        let Some(log) = self.log.take() else { return };
        self.objects = Objects::default();
        for (_, stream) in &mut self.streams {
            stream.pending.clear();
            stream.last_due = None;
        }
        for (at, seen) in &log {
            if *at <= shown_until {
                self.objects.apply(seen.clone());
            } else {
                self.send(now, seen.clone());
            }
        }
        self.log = Some(log);
    }

    pub(super) fn set_lag(&mut self, kind: Kind, lag: Distribution) {
        if let Some((_, stream)) = self.streams.iter_mut().find(|(k, _)| *k == kind) {
            stream.lag = lag;
        }
    }

    pub(super) fn freeze(&mut self, kind: Kind, frozen: bool) {
        if let Some((_, stream)) = self.streams.iter_mut().find(|(k, _)| *k == kind) {
            stream.frozen = frozen;
        }
    }
}
