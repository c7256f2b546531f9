//! The cause among the objects of a node: its condition, its pods, and their containers.

use crate::case::Case;
use crate::cause::{Cause, Outage, Trouble};
use crate::cluster::{AGAIN_AND_AGAIN, CRASH_LOOP, ContainerNotes, Ended, Gate, Said};
use crate::steered::is_live;
use daemonset::model::Pod;
use daemonset::report::{NodeOutcome, NodeVerdict, PodState, PodVerdict, WaitKind, Warning};
use jiff::Timestamp;

impl Case<'_> {
    /// `None` for a node that has its available pod, or gets another one now.
    pub fn cause(&self, node: &NodeVerdict) -> Option<Cause> {
        let late = late(node);
        let gone = node.pods.iter().find(|pod| self.is_overdue(pod));
        let deleted = node.pods.iter().find(|pod| pod.deleted.is_some() || is_terminating(pod));
        if let Some(silent) = self.silent(node, late, deleted) {
            return Some(silent);
        }
        let not_scheduled = |pod| {
            self.port_taken(node, pod)
                .or_else(|| self.port_held(node, pod))
                .or_else(|| self.not_scheduled(node, pod))
        };
        let of_pod = late.and_then(|pod| self.failed(node, pod));
        let of_pod = of_pod
            .or_else(|| late.and_then(|pod| self.of_containers(node, pod).or_else(|| not_scheduled(pod))));
        let of_node = || self.not_ready_node(node, late);
        let not_ready = || late.map(|pod| self.not_ready(node, pod));
        let of_pod = of_pod.or_else(|| self.ready_for_a_moment(node)).or_else(|| self.flaps(node));
        of_pod.or_else(of_node).or_else(|| gone.map(|pod| self.not_gone(node, pod))).or_else(not_ready)
    }

    /// Pods about which an event may tell more.
    pub fn pods_with_open_causes(&self) -> Vec<String> {
        let causes = self.plan.report.nodes.iter().filter_map(|node| self.cause(node));
        causes.filter(Cause::is_open).filter_map(|cause| cause.pod().map(str::to_owned)).collect()
    }

    /// Since when the pods of the node fail again and again.
    pub fn fails_since(&self, node: &NodeVerdict) -> Option<Timestamp> {
        let is_so = |cause: &Cause| match cause {
            Cause::PodFailed { times, .. } => *times >= AGAIN_AND_AGAIN.into(),
            Cause::CrashLoop { restarts, .. } => *restarts >= AGAIN_AND_AGAIN,
            cause => matches!(cause, Cause::NodeFlaps { .. }),
        };
        self.cause(node).filter(is_so)?.since()
    }

    fn silent(
        &self,
        node: &NodeVerdict,
        late: Option<&PodVerdict>,
        deleted: Option<&PodVerdict>,
    ) -> Option<Cause> {
        let outage = self.outage(node).filter(|outage| outage.silent)?;
        let counts =
            node.counts.down_after_update || late.is_some() || deleted.is_some() || node.pods.is_empty();
        if !counts || node.outcome == NodeOutcome::NotTarget && !node.counts.down_after_update {
            return None;
        }
        let pod = deleted.or(late).map(|pod| pod.pod.name.clone());
        Some(Cause::NodeSilent {
            since: outage.since,
            said: self.said_of_node(node),
            pod,
            ends: deleted.is_some(),
        })
    }

    fn not_ready_node(&self, node: &NodeVerdict, late: Option<&PodVerdict>) -> Option<Cause> {
        let outage = self.outage(node).filter(|_| late.is_some() || node.counts.down_after_update)?;
        let pod = late.map(|pod| pod.pod.name.clone());
        Some(Cause::NodeNotReady { since: outage.since, said: self.said_of_node(node), pod })
    }

    /// Its Ready condition begins anew each time, and so does minReadySeconds.
    fn flaps(&self, node: &NodeVerdict) -> Option<Cause> {
        let waits = matches!(node.outcome.wait_kind(), Some(WaitKind::Ready | WaitKind::MinReadySeconds));
        let how = self.models.events.flaps(node.node.as_str(), self.now).filter(|_| waits)?;
        let pod = node.pods.iter().find(|pod| is_live(pod.state));
        let notes = pod.and_then(|pod| self.models.notes.pod(&pod.pod.uid));
        let restarts =
            notes.into_iter().flat_map(|notes| &notes.containers).map(|container| container.restarts).max();
        let pod = pod.map(|pod| pod.pod.name.clone());
        Some(Cause::NodeFlaps { since: Some(how.first), how, pod, restarts: restarts.unwrap_or_default() })
    }

    /// A pod whose container crashes again and again, and is Ready for a moment after each start.
    fn ready_for_a_moment(&self, node: &NodeVerdict) -> Option<Cause> {
        let is_ready =
            |pod: &&PodVerdict| matches!(pod.state, PodState::Available { .. } | PodState::Ready { .. });
        node.pods.iter().filter(|pod| pod.updated).filter(is_ready).find_map(|pod| {
            let notes = self.models.notes.pod(&pod.pod.uid)?;
            let created = notes.created?;
            let container = notes.containers.iter().find(|it| it.is_ready_for_a_moment(created, self.now))?;
            Some(self.crash_loop(node, pod, container))
        })
    }

    /// Since the pod was created, where the restarts are so many: each start may make the condition Ready begin anew.
    fn crash_loop(&self, node: &NodeVerdict, pod: &PodVerdict, container: &ContainerNotes) -> Cause {
        let ContainerNotes { name, waits, ended, restarts, .. } = container;
        let created = self.models.notes.pod(&pod.pod.uid).and_then(|notes| notes.created);
        let since = created.filter(|created| container.mean_run(*created, self.now).is_some());
        let trouble = self.trouble(node, pod);
        let said = waits.as_ref().filter(|said| said.reason == CRASH_LOOP);
        let said = said.or(ended.as_ref().map(|Ended { said, .. }| said)).cloned().unwrap_or_default();
        Cause::CrashLoop {
            trouble: Trouble { since: since.or(trouble.since), ..trouble },
            container: name.clone(),
            restarts: *restarts,
            said,
            ended: ended.as_ref().map(|ended| ended.said.to_string()).filter(|said| !said.is_empty()),
            exit_code: ended.as_ref().and_then(|ended| ended.exit_code),
        }
    }

    fn outage(&self, node: &NodeVerdict) -> Option<Outage> {
        Outage::of(self.models.node(&node.node)?)
    }

    fn said_of_node(&self, node: &NodeVerdict) -> Said {
        self.models.notes.node(node.node.as_str()).map(|notes| notes.not_ready.clone()).unwrap_or_default()
    }

    /// The kubelet has rejected or evicted it, since the first time.
    fn failed(&self, node: &NodeVerdict, pod: &PodVerdict) -> Option<Cause> {
        let failed = self.models.notes.pod(&pod.pod.uid)?.failed.clone()?;
        let before =
            self.models.events.failed_pods(self.planned.daemon_set.metadata.uid.as_str(), node.node.as_str());
        let since = before.as_ref().map(|before| before.first).into_iter().chain(failed.at).min();
        Some(Cause::PodFailed {
            trouble: Trouble { since, ..self.trouble(node, pod) },
            said: failed.said,
            times: before.map_or(1, |before| before.times),
            ran: failed.ran,
        })
    }

    /// The first container that tells why: one that crashes has come further than one without its image.
    fn of_containers(&self, node: &NodeVerdict, pod: &PodVerdict) -> Option<Cause> {
        let containers = &self.models.notes.pod(&pod.pod.uid)?.containers;
        let crashing = containers.iter().find(|container| container.crashes());
        let crash = crashing.map(|container| self.crash_loop(node, pod, container));
        let holds = || containers.iter().find_map(|container| not_done(self.trouble(node, pod), container));
        let unmade =
            || containers.iter().find_map(|container| not_started(self.trouble(node, pod), container));
        crash.or_else(unmade).or_else(holds)
    }

    fn not_scheduled(&self, node: &NodeVerdict, pod: &PodVerdict) -> Option<Cause> {
        let said = self.models.notes.pod(&pod.pod.uid)?.scheduler.clone()?;
        Some(Cause::NotScheduled { trouble: self.trouble(node, pod), said })
    }

    /// The scheduler has found no free port for the pod, beside an old pod of the node.
    fn port_taken(&self, node: &NodeVerdict, pod: &PodVerdict) -> Option<Cause> {
        let said = self.models.notes.pod(&pod.pod.uid)?.scheduler.as_ref()?;
        let lacks_port = said.message.contains(NO_FREE_PORT) && pod.updated;
        let ports = self.plan.warnings.iter().filter_map(|warning| match warning {
            Warning::HostPortWithSurge { port, .. } => Some(*port),
            _ => None,
        });
        let ports: Vec<u32> = ports.filter(|_| lacks_port).collect();
        let old = node.pods.iter().find(|other| !other.updated && is_live(other.state))?;
        let (trouble, by) = (self.trouble(node, pod), old.pod.name.clone());
        (!ports.is_empty()).then_some(Cause::PortTaken { trouble, ports, by })
    }

    /// The scheduler has found no free port for the pod, and a pod on its node has it.
    fn port_held(&self, node: &NodeVerdict, pod: &PodVerdict) -> Option<Cause> {
        let notes = self.models.notes.pod(&pod.pod.uid)?;
        notes.scheduler.as_ref().filter(|said| said.message.contains(NO_FREE_PORT))?;
        let ended = |other: &Pod| matches!(other.status.phase.as_ref(), "Failed" | "Succeeded");
        let others = self.models.pods_on(&node.node).filter(|other| !ended(other));
        let held = |other: &Pod| {
            let theirs = &self.models.notes.pod(&other.metadata.uid)?.host_ports;
            notes
                .host_ports
                .iter()
                .find(|own| theirs.iter().any(|port| port.conflicts_with(own)))
                .map(|own| own.port)
        };
        let (port, other) = others
            .filter(|other| other.metadata.uid != pod.pod.uid)
            .find_map(|other| Some((held(other)?, other)))?;
        let owner = other.metadata.owner_references.iter().find(|owner| owner.controller == Some(true));
        Some(Cause::PortHeld {
            trouble: self.trouble(node, pod),
            port,
            namespace: other.metadata.namespace.clone(),
            by: other.metadata.name.clone(),
            owner: owner.map(|owner| format!("{} {}", owner.kind, owner.name)),
            overdue: other.metadata.deletion_timestamp.filter(|at| *at <= self.now),
        })
    }

    fn is_overdue(&self, pod: &PodVerdict) -> bool {
        matches!(pod.state, PodState::Terminating { overdue_at: Some(at), .. } if at <= self.now)
    }

    fn not_gone(&self, node: &NodeVerdict, pod: &PodVerdict) -> Cause {
        let notes = self.models.notes.pod(&pod.pod.uid);
        let finalizers = notes.map(|notes| notes.finalizers.clone()).unwrap_or_default();
        Cause::NotGone { trouble: self.trouble(node, pod), finalizers }
    }

    fn not_ready(&self, node: &NodeVerdict, pod: &PodVerdict) -> Cause {
        let notes = self.models.notes.pod(&pod.pod.uid);
        let all = || notes.into_iter().flat_map(|notes| &notes.containers);
        let waits = all().find_map(|container| container.waits.clone());
        // A recording of lean pods has no names.
        let unready = all().filter(|container| container.holds_ready && !container.name.is_empty());
        let containers: Vec<String> = unready.map(|container| container.name.clone()).collect();
        let gates =
            notes.filter(|_| containers.is_empty() && waits.is_none()).map(|notes| notes.gates.as_slice());
        let gates = gates.unwrap_or_default();
        let of_gate = gates.first().map(Gate::said_or_missing);
        let of_pod = || notes.map(|notes| notes.not_ready.clone()).filter(|_| containers.is_empty());
        Cause::NotReady {
            trouble: self.trouble(node, pod),
            pending: matches!(pod.state, PodState::Pending { .. }),
            said: waits.or(of_gate).or_else(of_pod).unwrap_or_default(),
            containers,
            gates: gates.iter().map(|gate| gate.name.clone()).collect(),
        }
    }

    fn trouble(&self, node: &NodeVerdict, pod: &PodVerdict) -> Trouble {
        let since = match pod.state {
            PodState::NotReady { since, .. } | PodState::Pending { since, .. } => since,
            PodState::Terminating { overdue_at, .. } => overdue_at,
            _ => None,
        };
        let notes = self.models.notes.node(node.node.as_str());
        let pressure = notes.map(|notes| notes.pressure.clone()).unwrap_or_default();
        let event = self.models.events.warning(pod.pod.uid.as_str()).cloned();
        Trouble { pod: pod.pod.name.clone(), updated: pod.updated, since, pressure, event }
    }
}

/// The scheduler's words (v1.36 `scheduler/framework/plugins/nodeports/node_ports.go ErrReason`).
pub(super) const NO_FREE_PORT: &str = "didn't have free ports";

/// A pod that should be Ready; an updated one comes first.
fn late(node: &NodeVerdict) -> Option<&PodVerdict> {
    let is_late = |pod: &&PodVerdict| {
        matches!(pod.state, PodState::NotReady { .. } | PodState::Pending { .. } | PodState::Failed)
    };
    let has_available =
        node.pods.iter().any(|pod| pod.updated && matches!(pod.state, PodState::Available { .. }));
    let mut late = node.pods.iter().filter(is_late).filter(|_| !has_available);
    late.clone().find(|pod| pod.updated).or_else(|| {
        // An outdated pod beside a live updated one goes anyway.
        let has_updated = node.pods.iter().any(|pod| pod.updated && is_live(pod.state));
        late.next().filter(|_| !has_updated)
    })
}

fn is_terminating(pod: &PodVerdict) -> bool {
    matches!(pod.state, PodState::Terminating { .. })
}

/// It runs, and no later container starts before it has ended.
fn not_done(trouble: Trouble, container: &ContainerNotes) -> Option<Cause> {
    let ContainerNotes { name, holds_start, is_sidecar, .. } = container;
    let since = (*holds_start)?.started_at.or(trouble.since);
    Some(Cause::InitNotDone {
        trouble: Trouble { since, ..trouble },
        container: name.clone(),
        sidecar: *is_sidecar,
    })
}

/// Its image can't be had, or the kubelet can't make it.
fn not_started(trouble: Trouble, container: &ContainerNotes) -> Option<Cause> {
    let ContainerNotes { name, image, .. } = container;
    let said = container.cannot_start()?.clone();
    let container = name.clone();
    Some(match said.lacks_image() {
        true => Cause::ImageNotPulled { trouble, container, image: image.clone(), said },
        false => Cause::ContainerNotStarted { trouble, container, said },
    })
}
