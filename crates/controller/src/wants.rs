//! Which objects the caches keep whole: those that a policy reads more of than each plan does.
//!
//! A pod of a tenant may have 250 KB of annotations, and a node the names of fifty images: they cost memory only where a policy asks.

use daemonset::Policy;
use daemonset::internal::steering::POLICY;
use daemonset::kubernetes::well_known::{IN_PLACE_ANNOTATION, MIRROR_ANNOTATION, PULL_OWNER_LABEL};
use daemonset::model::{DaemonSet, Node, Pod, Uid};
use daemonset::policy::RuleReads;
use kube::runtime::watcher::Event;
use std::collections::HashSet;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use tokio::sync::watch;

/// The longest annotation of a change in place that is kept of a pod whose policy asks for none. One of a pod with a hundred containers
/// is shorter.
const LONGEST_CHANGE: usize = 32 * 1024;

/// The wishes of all policies; clones share them.
#[derive(Debug, Clone, Default)]
pub struct Wants {
    wishes: Arc<RwLock<Wishes>>,
    /// Whether the DaemonSets are listed. Their store can't tell: it wakes only one of those that wait for its first list.
    are_known: Arc<watch::Sender<bool>>,
}

#[derive(Debug, Default)]
struct Wishes {
    /// Those of the policy of `--policy`, for each DaemonSet.
    of_file: Wish,
    /// The DaemonSets whose annotation may ask for more.
    whole_pods: HashSet<Uid>,
    pull: HashSet<Uid>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Wish {
    /// Changes in place read the template's part of a pod, and fit reads its requests.
    whole_pods: bool,
    pull: bool,
}

impl Wish {
    fn of_policy(policy: &Policy) -> Self {
        Wish::of(RuleReads::of(policy))
    }

    /// Of a policy in an annotation, which is not read here: a word too much costs memory, and nothing else.
    fn of_text(text: &str) -> Self {
        Wish::of(RuleReads::of_rules(|rule| text.contains(rule.member())))
    }

    fn of(reads: RuleReads) -> Self {
        Wish { whole_pods: reads.whole_pods, pull: reads.images }
    }
}

impl Wants {
    /// Takes the wishes of the policy of `--policy`.
    pub(crate) fn set_policy_of_file(&self, policy: &Policy) {
        self.write().of_file = Wish::of_policy(policy);
    }

    /// Takes the wishes of a DaemonSet from its watch, before the events of its pods. `all` has the DaemonSets after a list.
    pub(crate) fn note(&self, event: &Event<DaemonSet>, all: impl FnOnce() -> Vec<Arc<DaemonSet>>) {
        match event {
            Event::Apply(ds) => self.write().set(ds),
            Event::Delete(ds) => self.write().forget(&ds.metadata.uid),
            Event::InitDone => {
                let all = all();
                let mut wishes = self.write();
                (wishes.whole_pods, wishes.pull) = Default::default();
                all.iter().for_each(|ds| wishes.set(ds));
                self.are_known.send_replace(true);
            }
            Event::Init | Event::InitApply(_) => {}
        }
    }

    /// Waits until the policies of all DaemonSets are known, which say which pods are kept whole.
    pub(crate) async fn wait_until_known(&self) {
        // The sender lives as long as `self`.
        let _ = self.are_known.subscribe().wait_for(|are_known| *are_known).await;
    }

    /// Drops the fields of a pod that nobody asks for, before the cache keeps it.
    pub(crate) fn make_pod_lean(&self, pod: &mut Pod) {
        if !self.read().keep_whole(pod) {
            make_lean(pod);
        }
    }

    /// Drops the fields of a node that nobody asks for, before the cache keeps it. The annotations of turns stay: a turn has an end
    /// whatever the policy is by then.
    pub(crate) fn make_node_lean(&self, node: &mut Node) {
        let wishes = self.read();
        if !wishes.of_file.pull && wishes.pull.is_empty() {
            node.status.images = Vec::new();
        }
    }

    fn read(&self) -> RwLockReadGuard<'_, Wishes> {
        self.wishes.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Wishes> {
        self.wishes.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Wishes {
    fn set(&mut self, ds: &DaemonSet) {
        let text = ds.metadata.annotations.get(POLICY).unwrap_or_default();
        let Wish { whole_pods, pull } = Wish::of_text(text);
        for (wishes, is_one) in [(&mut self.whole_pods, whole_pods), (&mut self.pull, pull)] {
            if is_one {
                wishes.insert(ds.metadata.uid.clone());
            } else {
                wishes.remove(&ds.metadata.uid);
            }
        }
    }

    fn forget(&mut self, uid: &Uid) {
        self.whole_pods.remove(uid);
        self.pull.remove(uid);
    }

    fn keep_whole(&self, pod: &Pod) -> bool {
        let owners = &pod.metadata.owner_references;
        let Some(controller) = owners.iter().find(|owner| owner.controller == Some(true)) else {
            return false;
        };
        (self.of_file.whole_pods && controller.kind == "DaemonSet")
            || self.whole_pods.contains(&controller.uid)
    }
}

/// A pull pod, and a pod that was changed in its place, keep their containers, whatever the policy is by now. No annotation of theirs is
/// read but the one of the change.
fn make_lean(pod: &mut Pod) {
    let annotations = &pod.metadata.annotations;
    let change = annotations.get(IN_PLACE_ANNOTATION).filter(|change| change.len() <= LONGEST_CHANGE);
    let is_read = change.is_some() || pod.metadata.labels.contains_key(PULL_OWNER_LABEL);
    let mirror = annotations.get(MIRROR_ANNOTATION).map(|value| (MIRROR_ANNOTATION, value));
    let change = change.map(|change| (IN_PLACE_ANNOTATION, change));
    pod.metadata.annotations = mirror.into_iter().chain(change).collect();
    if !is_read {
        pod.make_lean();
    }
}

/// Whether a policy reads more of a DaemonSet's pods than a lean one has.
pub(crate) fn reads_whole_pods(policy: &Policy) -> bool {
    RuleReads::of(policy).whole_pods
}

/// Whether the cache has a pod without its containers, each pod having one at least.
pub(crate) fn is_lean(pod: &Pod) -> bool {
    pod.spec.containers.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;
    use daemonset::policy::{FitPolicy, InPlacePolicy};
    use serde_json::{Value, from_value, json};

    fn pod(annotations: &Value, labels: &Value, owner: &str) -> Pod {
        let owners = json!([{"kind": "DaemonSet", "name": owner, "uid": owner, "controller": true}]);
        from_value(json!({
            "metadata": {"name": "p", "annotations": annotations, "labels": labels, "ownerReferences": owners},
            "spec": {"nodeName": "a", "containers": [{"name": "c", "image": "v1"}]},
        }))
        .unwrap()
    }

    fn daemon_set(name: &str, policy: &str) -> DaemonSet {
        from_value(json!({"metadata": {"name": name, "uid": name, "annotations": {"rollout.daemonset/policy": policy}}}))
            .unwrap()
    }

    /// How many annotations a pod keeps, and whether it keeps its containers.
    fn kept(wants: &Wants, mut pod: Pod) -> (usize, bool) {
        wants.make_pod_lean(&mut pod);
        (pod.metadata.annotations.len(), !is_lean(&pod))
    }

    #[test]
    fn a_pod_is_kept_whole_where_its_own_policy_asks_for_it() {
        let wants = Wants::default();
        let notes = json!({"note": "a", "other": "b"});
        let of = |owner: &str| pod(&notes, &json!({}), owner);
        assert_eq!(kept(&wants, of("a")), (0, false));
        wants.note(&Event::Apply(daemon_set("a", "inPlace: IfPossible")), Vec::new);
        assert_eq!((kept(&wants, of("a")), kept(&wants, of("b"))), ((2, true), (0, false)));
        wants.note(&Event::Apply(daemon_set("a", "waves: []")), Vec::new);
        assert_eq!(kept(&wants, of("a")), (0, false));
        wants.note(&Event::InitDone, || vec![Arc::new(daemon_set("b", "inPlace: IfPossible"))]);
        assert_eq!((kept(&wants, of("a")), kept(&wants, of("b"))), ((0, false), (2, true)));
        wants.note(&Event::Delete(daemon_set("b", "")), Vec::new);
        assert_eq!(kept(&wants, of("b")), (0, false));
        for policy in
            [Policy::default().in_place(InPlacePolicy::IfPossible), Policy::default().fit(FitPolicy::Hold)]
        {
            wants.set_policy_of_file(&policy);
            assert_eq!(kept(&wants, of("c")), (2, true));
        }
    }

    /// Who may create pods may write any of these.
    #[test]
    fn a_tenant_keeps_no_memory_busy_with_annotations() {
        let wants = Wants::default();
        let large = "a".repeat(250_000);
        let annotated = |key: &str, labels: Value| pod(&json!({"note": large, key: "{}"}), &labels, "a");
        assert_eq!(kept(&wants, annotated("x", json!({PULL_OWNER_LABEL: "u"}))), (0, true));
        assert_eq!(kept(&wants, annotated(IN_PLACE_ANNOTATION, json!({}))), (1, true), "its change alone");
        assert_eq!(kept(&wants, pod(&json!({IN_PLACE_ANNOTATION: large}), &json!({}), "a")), (0, false));
    }

    #[test]
    fn images_of_nodes_are_kept_where_a_policy_pulls() {
        let wants = Wants::default();
        let kept = || {
            let mut node: Node = from_value(json!({
                "metadata": {"name": "a", "annotations": {"turn.daemonset/x": "1 2026-01-01T00:00:00Z"}},
                "status": {"images": [{"names": ["v1"]}]},
            }))
            .unwrap();
            wants.make_node_lean(&mut node);
            (node.metadata.annotations.len(), node.status.images.len())
        };
        assert_eq!(kept(), (1, 0));
        wants.note(&Event::Apply(daemon_set("a", "pull: {}")), Vec::new);
        assert_eq!(kept(), (1, 1));
    }
}
