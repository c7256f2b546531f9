//! The end of pods: deletion, grace period, finalizers, removal.

use crate::environment::pod_lifecycle::is_finished;
use crate::environment::{Environment, namespaced_name};
use crate::event::{Actor, Change, PodTrouble};
use crate::event_queue::{PodTransition, Timer, later};
use crate::random::Purpose;
use crate::watch::WatchEvent;
use daemonset::DeleteReason;
use daemonset::model::Uid;
use jiff::SignedDuration;

impl Environment {
    /// Deletes a pod. An unbound or finished pod is removed at once; the containers of others are stopped by the
    /// kubelet.
    pub(crate) fn delete_pod(&mut self, by: Actor, uid: &Uid, reason: Option<DeleteReason>) {
        self.delete_pod_within(by, uid, reason, None);
    }

    /// As [`Self::delete_pod`], with another grace period than the pod's own.
    pub(crate) fn delete_pod_within(
        &mut self,
        by: Actor,
        uid: &Uid,
        reason: Option<DeleteReason>,
        grace_seconds: Option<u32>,
    ) {
        let Some((pod, runtime)) = self.objects.pods.get(uid).zip(self.runtimes.get_mut(uid)) else { return };
        if pod.metadata.deletion_timestamp.is_some() {
            return;
        }
        runtime.epoch += 1;
        let epoch = runtime.epoch;
        let unbound = !pod.is_bound();
        let finished = is_finished(pod);
        let within = grace_seconds.map(|seconds| SignedDuration::from_secs(seconds.into()));
        let within = within.unwrap_or(runtime.requirements.grace);
        let grace = if unbound || finished { SignedDuration::ZERO } else { within };
        let subject = [runtime.node.as_str(), runtime.revision.as_str()];
        let stop = runtime
            .behaviour
            .stop
            .sample(&mut self.random.stream(Purpose::Stop, subject, runtime.attempt))
            .min(grace);
        let up = self.kubelets.get(&runtime.node).is_some_and(|kubelet| kubelet.up);
        let until = later(self.now, grace);
        self.change_pod(uid, |pod| {
            pod.metadata.deletion_timestamp = Some(until);
            pod.metadata.deletion_grace_period_seconds = Some(grace.as_secs());
        });
        self.record_pod(by, uid, |pod| Change::PodTerminating { pod, reason });
        self.update_absence_taint_for(uid);
        self.replicate_missing();
        if unbound || finished {
            self.stopped(uid);
        } else if up {
            self.queue.push(
                later(self.now, stop),
                Timer::Pod { uid: uid.clone(), epoch, transition: PodTransition::Stopped },
            );
        }
    }

    /// All containers have ended. The object is removed unless finalizers keep it.
    pub(crate) fn stopped(&mut self, uid: &Uid) {
        let Some(runtime) = self.runtimes.get_mut(uid) else { return };
        runtime.stopped = true;
        if runtime.finalizers.is_empty() {
            self.remove_pod(uid);
            return;
        }
        self.become_unready(uid, PodTrouble::Crashed);
        if self.pod(uid).is_some_and(|pod| !is_finished(pod)) {
            self.change_pod(uid, |pod| pod.status.phase = "Succeeded".into());
        }
    }

    /// Removes all finalizers of a pod.
    pub(crate) fn finalize(&mut self, uid: &Uid) {
        let Some(runtime) = self.runtimes.get_mut(uid) else { return };
        runtime.finalizers.clear();
        if runtime.stopped {
            self.remove_pod(uid);
        }
    }

    /// Removes the object.
    pub(crate) fn remove_pod(&mut self, uid: &Uid) {
        let Some(identity) = self.pod_ref(uid) else { return };
        self.record_pod(Actor::Environment, uid, Change::PodGone);
        self.tell_drain(uid);
        self.store(WatchEvent::PodGone(uid.clone()));
        self.pod_names.swap_remove(&namespaced_name(&identity.namespace, &identity.name));
        let Some(runtime) = self.runtimes.swap_remove(uid) else { return };
        if let Some(kubelet) = self.kubelets.get_mut(&runtime.node) {
            kubelet.pods.retain(|other| other != uid);
        }
        self.update_absence_taint(&runtime.node);
        self.retry_unbound_pods(&runtime.node);
    }
}
