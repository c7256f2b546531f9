//! The lifecycle of running pods: creation, start, readiness, crashes, failure.

use crate::environment::{Environment, PodRuntime, is_pull_pod, namespaced_name};
use crate::event::{Actor, Change, PodIdentity, PodTrouble};
use crate::event_queue::{PodTransition, Timer, later};
use crate::random::Purpose;
use crate::requirements::PodRequirements;
use crate::watch::WatchEvent;
use daemonset::internal::daemon_toleration_list;
use daemonset::kubernetes::well_known::PULL_REVISION_LABEL;
use daemonset::model::{Container, Pod, PodCondition, Uid};
use jiff::SignedDuration;
use std::sync::Arc;

/// The kubelet's delay before it restarts a container: it doubles with each crash, up to the longest
/// (v1.36 `kubelet.go MaxContainerBackOff`).
const FIRST_RESTART: SignedDuration = SignedDuration::from_secs(10);
const LONGEST_RESTART: SignedDuration = SignedDuration::from_mins(5);

impl Environment {
    /// Stores a pod. Without `requirements` they are those of the pod's revision.
    pub(crate) fn add_pod(
        &mut self,
        by: Actor,
        mut pod: Pod,
        requirements: Option<Arc<PodRequirements>>,
    ) -> Uid {
        if pod.metadata.uid.as_str().is_empty() {
            pod.metadata.uid = self.new_uid();
        }
        if pod.metadata.resource_version.is_empty() {
            pod.metadata.resource_version = self.new_version();
        }
        let uid = pod.metadata.uid.clone();
        self.pod_names.insert(namespaced_name(&pod.metadata.namespace, &pod.metadata.name));
        let runtime = self.new_runtime(&pod, requirements);
        if let Some(kubelet) = self.kubelets.get_mut(&runtime.node) {
            kubelet.pods.push(uid.clone());
        }
        self.runtimes.insert(uid.clone(), runtime);
        self.store(WatchEvent::Pod(Arc::new(pod)));
        self.record_pod(by, &uid, Change::PodCreated);
        self.tell_drain(&uid);
        self.update_absence_taint_for(&uid);
        uid
    }

    fn new_runtime(&mut self, pod: &Pod, requirements: Option<Arc<PodRequirements>>) -> PodRuntime {
        let labels = &pod.metadata.labels;
        let hash = match is_pull_pod(pod) {
            true => labels.get(PULL_REVISION_LABEL),
            false => labels.get(&self.settings.controller.policy.unique_label_key),
        };
        let revision = hash.unwrap_or_default().to_owned();
        let node = pod.target().cloned().unwrap_or_default();
        let (known, behaviour) = self.versions.get(&revision).unzip();
        let in_history = self.belongs_in_history(pod);
        let requirements = requirements.unwrap_or_else(|| {
            let mut requirements = known.map_or_else(
                || PodRequirements::from_template(&serde_json::Value::Null),
                Arc::unwrap_or_clone,
            );
            // The model of a pod keeps only the tolerations that decisions read, so that those of its revision and of
            // every daemon pod are added.
            requirements.tolerations.extend(pod.spec.tolerations.iter().cloned());
            if in_history {
                requirements.tolerations.extend(daemon_toleration_list(false));
            }
            Arc::new(requirements)
        });
        let identity = in_history.then(|| {
            let (pod, uid) = (pod.metadata.name.clone(), pod.metadata.uid.clone());
            Arc::new(PodIdentity { node: node.clone(), pod, uid, revision: revision.clone() })
        });
        let mut attempt = 0;
        // A pod that only pulls is no try of its revision.
        if let Some(kubelet) = self.kubelets.get_mut(&node).filter(|_| !is_pull_pod(pod)) {
            let attempts = kubelet.attempts.entry(revision.clone()).or_default();
            *attempts += 1;
            attempt = *attempts;
        }
        PodRuntime {
            node,
            revision,
            finalizers: requirements.finalizers.clone(),
            requirements,
            behaviour: behaviour.unwrap_or(self.settings.behaviour),
            started: false,
            stopped: false,
            attempt,
            restarts: 0,
            changing: Vec::new(),
            keeps_ready: false,
            workload: None,
            epoch: 0,
            identity,
        }
    }

    /// The kubelet pulls the image, if the node does not have it, and starts the containers.
    pub(crate) fn start(&mut self, uid: &Uid) {
        let Some(runtime) = self.runtimes.get_mut(uid) else { return };
        let Some(kubelet) = self.kubelets.get_mut(&runtime.node) else { return };
        if !kubelet.up || runtime.started {
            return;
        }
        if kubelet.shuts_down {
            self.fail(uid, PodTrouble::NodeShutdown);
            return;
        }
        runtime.started = true;
        runtime.epoch += 1;
        runtime.changing.clear();
        runtime.keeps_ready = false;
        self.start_containers(uid);
    }

    /// Pulls what the node lacks, and starts the containers of a pod, or those that are being changed.
    pub(crate) fn start_containers(&mut self, uid: &Uid) {
        let Some((pod, runtime)) = self.objects.pods.get(uid).zip(self.runtimes.get(uid)) else { return };
        let changing = &runtime.changing;
        let is_meant = |container: &&Container| changing.is_empty() || changing.contains(&container.name);
        let containers: Vec<Container> = pod.spec.containers.iter().filter(is_meant).cloned().collect();
        let (attempt, epoch, behaviour) = (runtime.attempt, runtime.epoch, runtime.behaviour);
        let (node, revision) = (runtime.node.clone(), runtime.revision.clone());
        let pulled = self.pull(uid, &containers);
        if self.only_pulls(uid, pulled) {
            return;
        }
        let draw = |purpose| self.random.stream(purpose, [node.as_str(), revision.as_str()], attempt);
        let start = behaviour.start.sample(&mut draw(Purpose::Start));
        let transition = match pulled {
            Err(_) => PodTransition::PullFailed,
            Ok(_) if behaviour.evicted.sample(&mut draw(Purpose::Evict)) => PodTransition::Evicted,
            Ok(_) => PodTransition::Started,
        };
        let (Ok(pull) | Err(pull)) = pulled;
        let at = later(self.now, start.saturating_add(pull));
        self.queue.push(at, Timer::Pod { uid: uid.clone(), epoch, transition });
    }

    /// Applies a transition, unless its timer is stale.
    pub(crate) fn apply_transition(&mut self, uid: &Uid, epoch: u32, transition: PodTransition) {
        if self.runtimes.get(uid).is_none_or(|runtime| runtime.epoch != epoch) {
            return;
        }
        match transition {
            PodTransition::Started | PodTransition::Restarted => {
                // A pod that crashed at its first start is restarted while it is still Pending.
                let is_running = self.pod(uid).is_some_and(|pod| pod.status.phase == "Running");
                if !is_running {
                    self.change_pod(uid, |pod| pod.status.phase = "Running".into());
                }
                if transition == PodTransition::Restarted {
                    self.report_container(uid, "");
                }
                self.containers_started(uid);
                self.probe(uid);
            }
            PodTransition::Ready => self.become_ready(uid),
            PodTransition::Crashed => {
                self.become_unready(uid, PodTrouble::Crashed);
                self.wait_for_restart(uid);
            }
            PodTransition::Evicted => self.fail(uid, PodTrouble::Evicted),
            PodTransition::Stopped => self.stopped(uid),
            PodTransition::PullFailed => {
                self.lose_kept_readiness(uid);
                self.report_container(uid, "ImagePullBackOff");
            }
            PodTransition::Killed => self.killed(uid),
            PodTransition::PulledOnly => self.pulled_only(uid),
            PodTransition::DeadlineExceeded => self.deadline_exceeded(uid),
        }
    }

    /// The condition Ready has stayed True for longer than the kubelet could take the containers for running.
    fn lose_kept_readiness(&mut self, uid: &Uid) {
        if self.runtimes.get_mut(uid).is_some_and(|runtime| std::mem::take(&mut runtime.keeps_ready)) {
            self.set_ready(uid, false);
        }
    }

    /// The containers run. They take their node down, never become Ready, crash, or become Ready after a while.
    fn probe(&mut self, uid: &Uid) {
        let Some(runtime) = self.runtimes.get(uid) else { return };
        let subject = [runtime.node.as_str(), runtime.revision.as_str()];
        let number = runtime.attempt << 32 | u64::from(runtime.restarts);
        let behaviour = runtime.behaviour;
        let epoch = runtime.epoch;
        if behaviour.panics_node.sample(&mut self.random.stream(Purpose::PanicNode, subject, number)) {
            let node = runtime.node.clone();
            self.take_down(Actor::Environment, &node);
            return;
        }
        let never_ready =
            behaviour.never_ready.sample(&mut self.random.stream(Purpose::NeverReady, subject, 0));
        let crashes = behaviour.crash_loops.sample(&mut self.random.stream(Purpose::CrashLoop, subject, 0))
            || behaviour.crash_at_start.sample(&mut self.random.stream(Purpose::Crash, subject, number));
        let delay = behaviour.ready.sample(&mut self.random.stream(Purpose::Ready, subject, number));
        let keeps_ready = runtime.keeps_ready;
        if never_ready || crashes {
            self.lose_kept_readiness(uid);
        }
        match (never_ready, crashes) {
            (true, _) => {}
            (false, true) => self.wait_for_restart(uid),
            (false, false) if keeps_ready => {
                // Nothing tells the API server that its containers are others. A later crash does.
                if let Some(runtime) = self.runtimes.get_mut(uid) {
                    runtime.keeps_ready = false;
                }
                self.record_pod(Actor::Environment, uid, Change::PodReady);
                self.plan_crash(uid);
            }
            (false, false) => self.queue.push(
                later(self.now, delay),
                Timer::Pod { uid: uid.clone(), epoch, transition: PodTransition::Ready },
            ),
        }
    }

    fn wait_for_restart(&mut self, uid: &Uid) {
        self.report_container(uid, "CrashLoopBackOff");
        let Some(runtime) = self.runtimes.get_mut(uid) else { return };
        let doublings = runtime.restarts.min(10);
        let delay = FIRST_RESTART.saturating_mul(1 << doublings).min(LONGEST_RESTART);
        runtime.restarts += 1;
        let epoch = runtime.epoch;
        self.queue.push(
            later(self.now, delay),
            Timer::Pod { uid: uid.clone(), epoch, transition: PodTransition::Restarted },
        );
    }

    fn become_ready(&mut self, uid: &Uid) {
        self.set_ready(uid, true);
        self.record_pod(Actor::Environment, uid, Change::PodReady);
        self.plan_crash(uid);
    }

    /// Takes over a pod that was created running, and possibly Ready.
    pub(crate) fn adopt_started_pod(&mut self, uid: &Uid) {
        if let Some(runtime) = self.runtimes.get_mut(uid) {
            runtime.started = true;
        }
        if self.pod(uid).is_some_and(|pod| is_ready(pod)) {
            self.record_pod(Actor::Environment, uid, Change::PodReady);
            self.plan_crash(uid);
        }
    }

    /// Schedules the crash of a Ready pod whose version has a limited lifetime.
    pub(crate) fn plan_crash(&mut self, uid: &Uid) {
        let Some(runtime) = self.runtimes.get(uid) else { return };
        let Some(lifetime) = runtime.behaviour.lifetime else { return };
        let subject = [runtime.node.as_str(), runtime.revision.as_str()];
        let number = runtime.attempt << 32 | u64::from(runtime.restarts);
        let delay = lifetime.sample(&mut self.random.stream(Purpose::Lifetime, subject, number));
        let epoch = runtime.epoch;
        self.queue.push(
            later(self.now, delay),
            Timer::Pod { uid: uid.clone(), epoch, transition: PodTransition::Crashed },
        );
    }

    /// Whether a pod is gone, terminating or finished, so that it no longer runs on.
    pub(crate) fn is_ending(&self, uid: &Uid) -> bool {
        self.pod(uid).is_none_or(|pod| pod.metadata.deletion_timestamp.is_some() || is_finished(pod))
    }

    /// A container crashes; the kubelet restarts it.
    pub(crate) fn crash_pod(&mut self, uid: &Uid) {
        let ending = self.is_ending(uid);
        // Containers that are being changed end anyway.
        let runs = |runtime: &&mut PodRuntime| runtime.started && !ending && runtime.changing.is_empty();
        if let Some(runtime) = self.runtimes.get_mut(uid).filter(runs) {
            runtime.epoch += 1;
            let epoch = runtime.epoch;
            self.apply_transition(uid, epoch, PodTransition::Crashed);
        }
    }

    pub(crate) fn become_unready(&mut self, uid: &Uid, reason: PodTrouble) {
        let was_ready = self.pod(uid).is_some_and(|pod| is_ready(pod));
        if was_ready {
            self.set_ready(uid, false);
            self.record_pod(Actor::Environment, uid, |pod| Change::PodUnready { pod, reason });
        }
    }

    pub(crate) fn set_ready(&mut self, uid: &Uid, ready: bool) {
        let condition = PodCondition {
            kind: "Ready".into(),
            status: if ready { "True" } else { "False" }.into(),
            last_transition_time: Some(self.now),
        };
        self.change_pod(uid, |pod| pod.status.conditions = vec![condition]);
        self.update_absence_taint_for(uid);
    }

    /// The pod's phase becomes Failed, which is final.
    pub(crate) fn fail(&mut self, uid: &Uid, reason: PodTrouble) {
        let ending = self.is_ending(uid);
        let Some(runtime) = self.runtimes.get_mut(uid).filter(|_| !ending) else { return };
        runtime.epoch += 1;
        let node = runtime.node.clone();
        self.change_pod(uid, |pod| {
            pod.status.phase = "Failed".into();
            pod.status.reason = reason.status_reason().to_owned();
            pod.status.conditions.clear();
        });
        self.record_pod(Actor::Environment, uid, |pod| Change::PodFailed { pod, reason });
        self.replicate_missing();
        self.update_absence_taint(&node);
        self.retry_unbound_pods(&node);
    }
}

pub(crate) fn is_ready(pod: &Pod) -> bool {
    pod.readiness().is_some_and(PodCondition::is_true)
}

/// Whether the phase is final.
pub(crate) fn is_finished(pod: &Pod) -> bool {
    matches!(pod.status.phase.as_ref(), "Failed" | "Succeeded")
}
