//! Pods on their nodes: from the first container to the end.

use super::chance::Purpose;
use super::event::{Actor, Change, PodTrouble};
use super::needs::Needs;
use super::queue::{Due, PodStep};
use super::watch::Seen;
use super::world::{Life, World, full_name};
use crate::action::DeleteReason;
use crate::kubernetes::tolerations::daemon_toleration_list;
use crate::model::{Pod, PodCondition, Uid};
use jiff::SignedDuration;
use std::sync::Arc;

/// The kubelet waits so long before it starts a container again, doubling up to the longest
/// (v1.36 `kubelet.go MaxContainerBackOff`).
const FIRST_RESTART: SignedDuration = SignedDuration::from_secs(10);
const LONGEST_RESTART: SignedDuration = SignedDuration::from_mins(5);

impl World {
    /// Stores a pod and sends it on its way.
    pub(super) fn add_pod(&mut self, by: Actor, mut pod: Pod, needs: Option<Needs>) -> Uid {
        if pod.metadata.uid.as_str().is_empty() {
            pod.metadata.uid = self.new_uid();
        }
        if pod.metadata.resource_version.is_empty() {
            pod.metadata.resource_version = self.new_version();
        }
        let uid = pod.metadata.uid.clone();
        self.pod_names.insert(full_name(&pod.metadata.namespace, &pod.metadata.name));
        let life = self.new_life(&pod, needs);
        if let Some(machine) = self.machines.get_mut(&life.node) {
            machine.pods.push(uid.clone());
        }
        self.lives.insert(uid.clone(), life);
        self.store(Seen::Pod(Arc::new(pod)));
        self.tell_of_pod(by, &uid, Change::PodCreated);
        uid
    }

    fn new_life(&mut self, pod: &Pod, needs: Option<Needs>) -> Life {
        let key = &self.settings.controller.policy.unique_label_key;
        let revision = pod.metadata.labels.get(key).unwrap_or_default().to_owned();
        let node = pod.target().cloned().unwrap_or_default();
        let (known, behaviour) = self.versions.of(&revision).unzip();
        let told = self.is_told(pod);
        let needs = needs.map(Arc::new).unwrap_or_else(|| {
            let mut needs = known.map_or_else(|| Needs::of(&serde_json::Value::Null), Arc::unwrap_or_clone);
            // A pod's object does not tell all of its own.
            needs.tolerations.extend(pod.spec.tolerations.iter().cloned());
            if told {
                needs.tolerations.extend(daemon_toleration_list(false));
            }
            Arc::new(needs)
        });
        let mut attempt = 0;
        if let Some(machine) = self.machines.get_mut(&node) {
            let tries = machine.tries.entry(revision.clone()).or_default();
            *tries += 1;
            attempt = *tries;
        }
        Life {
            node,
            revision,
            finalizers: needs.finalizers.clone(),
            needs,
            behaviour: behaviour.unwrap_or(self.settings.behaviour),
            started: false,
            stopped: false,
            attempt,
            restarts: 0,
            turn: 0,
            told,
        }
    }

    /// The kubelet pulls the image and starts the containers.
    pub(super) fn start(&mut self, uid: &Uid) {
        let Some(life) = self.lives.get_mut(uid) else { return };
        let Some(machine) = self.machines.get_mut(&life.node) else { return };
        if !machine.up || life.started {
            return;
        }
        life.started = true;
        life.turn += 1;
        let turn = life.turn;
        let whom = [life.node.as_str(), life.revision.as_str()];
        let draw = |purpose| self.chance.of(purpose, whom, life.attempt);
        let mut delay = life.behaviour.start.draw(&mut draw(Purpose::Start));
        if machine.pulled.insert(life.revision.clone()) {
            delay =
                delay.saturating_add(life.behaviour.pull.draw(&mut self.chance.of(Purpose::Pull, whom, 0)));
        }
        let step = if life.behaviour.evicted.strike(&mut draw(Purpose::Evict)) {
            PodStep::Evicted
        } else {
            PodStep::Started
        };
        self.queue.push(later(self.now, delay), Due::Pod { uid: uid.clone(), turn, step });
    }

    /// What was planned for a pod happens, unless its life has taken another turn.
    pub(super) fn pod_step(&mut self, uid: &Uid, turn: u32, step: PodStep) {
        if self.lives.get(uid).is_none_or(|life| life.turn != turn) {
            return;
        }
        match step {
            PodStep::Started | PodStep::Restarted => {
                // One that crashed before it ran is restarted without having been started.
                if self.pod(uid).is_some_and(|pod| pod.status.phase != "Running") {
                    self.change_pod(uid, |pod| pod.status.phase = "Running".to_owned());
                }
                self.probe(uid);
            }
            PodStep::Ready => self.become_ready(uid),
            PodStep::Crashed => {
                self.become_unready(uid, PodTrouble::Crashed);
                self.wait_for_restart(uid);
            }
            PodStep::Evicted => self.fail(uid),
            PodStep::Stopped => self.stopped(uid),
        }
    }

    /// The containers run: they become Ready, crash, take their node with them, or nothing comes of them.
    fn probe(&mut self, uid: &Uid) {
        let Some(life) = self.lives.get(uid) else { return };
        let whom = [life.node.as_str(), life.revision.as_str()];
        let time = life.attempt << 32 | u64::from(life.restarts);
        let behaviour = life.behaviour;
        let turn = life.turn;
        if behaviour.panics_node.strike(&mut self.chance.of(Purpose::PanicNode, whom, time)) {
            let node = life.node.clone();
            self.take_down(Actor::World, &node);
            return;
        }
        if behaviour.never_ready.strike(&mut self.chance.of(Purpose::Broken, whom, 0)) {
            return;
        }
        if behaviour.crash_at_start.strike(&mut self.chance.of(Purpose::Crash, whom, time)) {
            self.wait_for_restart(uid);
            return;
        }
        let delay = behaviour.ready.draw(&mut self.chance.of(Purpose::Ready, whom, time));
        self.queue.push(later(self.now, delay), Due::Pod { uid: uid.clone(), turn, step: PodStep::Ready });
    }

    fn wait_for_restart(&mut self, uid: &Uid) {
        let Some(life) = self.lives.get_mut(uid) else { return };
        let doublings = life.restarts.min(10);
        let delay = FIRST_RESTART.saturating_mul(1 << doublings).min(LONGEST_RESTART);
        life.restarts += 1;
        let turn = life.turn;
        self.queue
            .push(later(self.now, delay), Due::Pod { uid: uid.clone(), turn, step: PodStep::Restarted });
    }

    fn become_ready(&mut self, uid: &Uid) {
        self.set_ready(uid, true);
        self.tell_of_pod(Actor::World, uid, Change::PodReady);
        self.plan_crash(uid);
    }

    /// A pod runs already; it may be Ready.
    pub(super) fn take_up(&mut self, uid: &Uid) {
        if let Some(life) = self.lives.get_mut(uid) {
            life.started = true;
        }
        if self.pod(uid).is_some_and(|pod| is_ready(pod)) {
            self.tell_of_pod(Actor::World, uid, Change::PodReady);
            self.plan_crash(uid);
        }
    }

    /// A Ready pod may crash some day.
    pub(super) fn plan_crash(&mut self, uid: &Uid) {
        let Some(life) = self.lives.get(uid) else { return };
        let Some(lifetime) = life.behaviour.lifetime else { return };
        let whom = [life.node.as_str(), life.revision.as_str()];
        let time = life.attempt << 32 | u64::from(life.restarts);
        let delay = lifetime.draw(&mut self.chance.of(Purpose::Lifetime, whom, time));
        let turn = life.turn;
        self.queue.push(later(self.now, delay), Due::Pod { uid: uid.clone(), turn, step: PodStep::Crashed });
    }

    /// Whether it terminates or has finished, so that nothing more becomes of it.
    fn is_going(&self, uid: &Uid) -> bool {
        self.pod(uid).is_none_or(|pod| pod.metadata.deletion_timestamp.is_some() || is_finished(pod))
    }

    /// A container ends by itself; the kubelet starts it again.
    pub(super) fn crash_pod(&mut self, uid: &Uid) {
        let going = self.is_going(uid);
        if let Some(life) = self.lives.get_mut(uid).filter(|life| life.started && !going) {
            life.turn += 1;
            let turn = life.turn;
            self.pod_step(uid, turn, PodStep::Crashed);
        }
    }

    pub(super) fn become_unready(&mut self, uid: &Uid, reason: PodTrouble) {
        let was_ready = self.pod(uid).is_some_and(|pod| is_ready(pod));
        if was_ready {
            self.set_ready(uid, false);
            self.tell_of_pod(Actor::World, uid, |pod| Change::PodUnready { pod, reason });
        }
    }

    fn set_ready(&mut self, uid: &Uid, ready: bool) {
        let condition = PodCondition {
            kind: "Ready".to_owned(),
            status: if ready { "True" } else { "False" }.to_owned(),
            last_transition_time: Some(self.now),
        };
        self.change_pod(uid, |pod| pod.status.conditions = vec![condition]);
    }

    /// The pod ends as Failed: its phase never changes again.
    pub(super) fn fail(&mut self, uid: &Uid) {
        let going = self.is_going(uid);
        let Some(life) = self.lives.get_mut(uid).filter(|_| !going) else { return };
        life.turn += 1;
        let node = life.node.clone();
        self.change_pod(uid, |pod| {
            pod.status.phase = "Failed".to_owned();
            pod.status.conditions.clear();
        });
        self.tell_of_pod(Actor::World, uid, |pod| Change::PodFailed { pod, reason: PodTrouble::Evicted });
        self.retry_waiting(&node);
    }

    /// Asks for a pod's deletion. One that was never bound goes at once; for others the kubelet stops the containers.
    pub(super) fn delete_pod(&mut self, by: Actor, uid: &Uid, reason: Option<DeleteReason>) {
        let Some((pod, life)) = self.objects.pods.get(uid).zip(self.lives.get_mut(uid)) else { return };
        if pod.metadata.deletion_timestamp.is_some() {
            return;
        }
        life.turn += 1;
        let turn = life.turn;
        let unbound = !pod.is_bound();
        let finished = is_finished(pod);
        let grace = if unbound || finished { SignedDuration::ZERO } else { life.needs.grace };
        let whom = [life.node.as_str(), life.revision.as_str()];
        let stop =
            life.behaviour.stop.draw(&mut self.chance.of(Purpose::Stop, whom, life.attempt)).min(grace);
        let up = self.machines.get(&life.node).is_some_and(|machine| machine.up);
        let until = later(self.now, grace);
        self.change_pod(uid, |pod| pod.metadata.deletion_timestamp = Some(until));
        self.tell_of_pod(by, uid, |pod| Change::PodTerminating { pod, reason });
        if unbound || finished {
            self.stopped(uid);
        } else if up {
            self.queue
                .push(later(self.now, stop), Due::Pod { uid: uid.clone(), turn, step: PodStep::Stopped });
        }
    }

    /// All its containers have ended; only finalizers keep the object.
    pub(super) fn stopped(&mut self, uid: &Uid) {
        let Some(life) = self.lives.get_mut(uid) else { return };
        life.stopped = true;
        if life.finalizers.is_empty() {
            self.remove_pod(uid);
            return;
        }
        self.become_unready(uid, PodTrouble::Crashed);
        if self.pod(uid).is_some_and(|pod| !is_finished(pod)) {
            self.change_pod(uid, |pod| pod.status.phase = "Succeeded".to_owned());
        }
    }

    /// Takes its last finalizer from a pod.
    pub(super) fn finalize(&mut self, uid: &Uid) {
        let Some(life) = self.lives.get_mut(uid) else { return };
        life.finalizers.clear();
        if life.stopped {
            self.remove_pod(uid);
        }
    }

    /// The object is gone.
    pub(super) fn remove_pod(&mut self, uid: &Uid) {
        let Some(identity) = self.pod_ref(uid) else { return };
        self.tell_of_pod(Actor::World, uid, Change::PodGone);
        self.store(Seen::PodGone(uid.clone()));
        self.pod_names.swap_remove(&full_name(&identity.namespace, &identity.name));
        let Some(life) = self.lives.swap_remove(uid) else { return };
        if let Some(machine) = self.machines.get_mut(&life.node) {
            machine.pods.retain(|other| other != uid);
        }
        self.retry_waiting(&life.node);
    }
}

pub(super) fn is_ready(pod: &Pod) -> bool {
    pod.readiness().is_some_and(PodCondition::is_true)
}

/// Its phase never changes again.
pub(super) fn is_finished(pod: &Pod) -> bool {
    matches!(pod.status.phase.as_str(), "Failed" | "Succeeded")
}

pub(super) fn later(now: jiff::Timestamp, delay: SignedDuration) -> jiff::Timestamp {
    now.saturating_add(delay).unwrap_or(now)
}
