//! Planned pods and revisions equal those that Kubernetes' own controller sent, except for the hash, which is computed
//! differently.

use super::compare::{differences, pointers, remove, unescaped};
use super::{DUMPS, Dump, stored_template};
use daemonset::{Action, Recording, plan};
use serde_json::{Value, json};

/// The fields of a pod that the controller did not send, with the component that added them. In a path, `*` means each
/// element of a list, and a final word means the elements of a list whose names begin with it.
const ADDED_TO_PODS: [(&[&str], &str); 16] = [
    (&["metadata", "name"], "API server, from generateName"),
    (&["metadata", "uid"], "API server"),
    (&["metadata", "resourceVersion"], "API server"),
    (&["metadata", "creationTimestamp"], "API server"),
    (&["metadata", "generation"], "API server"),
    (&["metadata", "labels", "topology.kubernetes.io/region"], "admission (PodTopologyLabels), when bound"),
    (&["metadata", "labels", "topology.kubernetes.io/zone"], "admission (PodTopologyLabels), when bound"),
    (&["spec", "enableServiceLinks"], "API server: a default of pods, not of templates"),
    (&["spec", "nodeName"], "scheduler"),
    (&["spec", "preemptionPolicy"], "admission (Priority)"),
    (&["spec", "priority"], "admission (Priority), from priorityClassName"),
    (&["spec", "serviceAccount"], "API server: the old name of the next one"),
    (&["spec", "serviceAccountName"], "admission (ServiceAccount)"),
    (&["spec", "volumes", "kube-api-access-"], "admission (ServiceAccount)"),
    (&["spec", "containers", "*", "volumeMounts", "kube-api-access-"], "admission (ServiceAccount)"),
    (&["status"], "API server, scheduler, kubelet"),
];

/// The fields of a revision that the controller did not send.
const ADDED_TO_REVISIONS: [(&[&str], &str); 3] = [
    (&["metadata", "uid"], "API server"),
    (&["metadata", "resourceVersion"], "API server"),
    (&["metadata", "creationTimestamp"], "API server"),
];

const HASH: &str = "/metadata/labels/controller-revision-hash";

#[test]
fn planned_pods_equal_the_real_ones() {
    let mut compared = 0;
    let mut seen = [0; ADDED_TO_PODS.len()];
    for (name, dump, recording) in daemon_sets() {
        let empty = empty_fleet(&recording);
        for pod in dump.owned("Pod", &recording) {
            let expected = without(pod, &ADDED_TO_PODS, &mut seen);
            let different = differences(&planned_pod(&empty, pod, &dump), &expected);
            assert!(different.is_empty(), "{name}: {}: {different:#?}", pod["metadata"]["name"]);
            compared += 1;
        }
    }
    assert_eq!(compared, 239);
    assert!(
        seen.iter().all(|count| *count >= compared),
        "some have nothing at some of these paths: {seen:?}"
    );
}

#[test]
fn planned_revisions_equal_the_real_ones() {
    let mut compared = 0;
    let mut seen = [0; ADDED_TO_REVISIONS.len()];
    for (name, dump, recording) in daemon_sets() {
        for revision in dump.owned("ControllerRevision", &recording) {
            let expected = without(revision, &ADDED_TO_REVISIONS, &mut seen);
            let different = differences(&planned_revision(&recording, revision), &expected);
            assert!(different.is_empty(), "{name}: {}: {different:#?}", revision["metadata"]["name"]);
            compared += 1;
        }
    }
    assert_eq!(compared, 16);
    assert_eq!(seen, [compared; 3]);
}

/// The comparison finds each single change of a value and each removed member or element, and reports its path.
#[test]
fn planted_differences_are_found() {
    let mut planted = 0;
    for (dump, name) in [("steady", "logging/fluent-bit"), ("midrollout", "monitoring/node-exporter")] {
        let dump = Dump::load(dump);
        let recording = dump.daemon_set(name);
        let pod = dump.owned("Pod", &recording).next().unwrap();
        let revision = dump.owned("ControllerRevision", &recording).next().unwrap();
        let planned_pod = planned_pod(&empty_fleet(&recording), pod, &dump);
        planted += changes_found(pod, &planned_pod, &ADDED_TO_PODS);
        planted += changes_found(revision, &planned_revision(&recording, revision), &ADDED_TO_REVISIONS);
    }
    assert_eq!(planted, 984);
}

#[test]
fn only_the_value_of_the_hash_differs_from_kubernetes() {
    let dump = Dump::load("steady");
    let recording = dump.daemon_set("logging/fluent-bit");
    let pod = dump.owned("Pod", &recording).next().unwrap();
    let ours = planned_pod(&empty_fleet(&recording), pod, &dump);
    let mut changed = without(pod, &ADDED_TO_PODS, &mut [0; ADDED_TO_PODS.len()]);
    changed["metadata"]["labels"]["controller-revision-hash"] = json!("another");
    assert_eq!(differences(&ours, &without_hash(changed.clone())), [""; 0]);
    changed["metadata"]["labels"].as_object_mut().unwrap().remove("controller-revision-hash");
    assert_eq!(differences(&ours, &without_hash(changed)), [HASH]);
}

/// Plants every change except changes of the hash, and returns their number.
fn changes_found(real: &Value, ours: &Value, added: &[(&[&str], &str)]) -> usize {
    let changes: Vec<_> = every_change(real, ours).into_iter().filter(|(path, _)| path != HASH).collect();
    for (path, changed) in &changes {
        let found = differences(ours, &without(changed, added, &mut vec![0; added.len()]));
        assert!(found.contains(path), "{path} is changed, found is {found:?}");
    }
    changes.len()
}

/// Every DaemonSet of every dump.
fn daemon_sets() -> impl Iterator<Item = (String, Dump, Recording)> {
    DUMPS.into_iter().flat_map(|name| {
        let names = Dump::load(name).daemon_sets();
        names.into_iter().map(move |ds| {
            let dump = Dump::load(name);
            let recording = dump.daemon_set(&ds);
            (format!("{name}: {ds}"), dump, recording)
        })
    })
}

/// The DaemonSet before its first pod and revision, and the nodes before their taints, because some pods are older than
/// the taints.
fn empty_fleet(recording: &Recording) -> Recording {
    let mut empty = recording.clone();
    empty.pods.clear();
    empty.revisions.clear();
    for node in &mut empty.nodes {
        node.spec.taints.clear();
    }
    empty
}

/// The pod that the DaemonSet, as it was at the pod's creation, creates on the pod's node.
fn planned_pod(empty: &Recording, pod: &Value, dump: &Dump) -> Value {
    let labels = &pod["metadata"]["labels"];
    let hash = &labels["controller-revision-hash"];
    let of_pod = |revision: &&Value| revision["metadata"]["labels"]["controller-revision-hash"] == *hash;
    let revision = dump.owned("ControllerRevision", empty).find(of_pod).unwrap();
    let mut then = empty.clone();
    then.daemon_set.spec.template = stored_template(&revision["data"]);
    let generation = labels["pod-template-generation"].as_str().unwrap().to_owned();
    let annotations = &mut then.daemon_set.metadata.annotations;
    annotations.extend([("deprecated.daemonset.template.generation", generation)]);
    let plan = plan(&then.snapshot().unwrap());
    let mut created = plan.actions.iter().filter_map(|action| match action {
        Action::CreatePod { node, pod: manifest, .. } if pod["spec"]["nodeName"] == node.as_str() => {
            Some(manifest.to_value())
        }
        _ => None,
    });
    let manifest = created.next().unwrap();
    assert_eq!(created.next(), None);
    let label = manifest.pointer(HASH).unwrap();
    assert_eq!(*label, plan.report.current_revision.unwrap().hash);
    without_hash(manifest)
}

/// The revision that the DaemonSet, as it was at the revision's creation, creates after the older revisions.
fn planned_revision(recording: &Recording, revision: &Value) -> Value {
    let mut then = recording.clone();
    then.pods.clear();
    then.revisions.retain(|other| revision["revision"].as_i64() > Some(other.revision));
    then.daemon_set.spec.template = stored_template(&revision["data"]);
    let annotations = revision["metadata"]["annotations"].clone();
    then.daemon_set.metadata.annotations = serde_json::from_value(annotations).unwrap();
    let actions = plan(&then.snapshot().unwrap()).actions;
    match &actions[0] {
        Action::CreateRevision { revision, .. } => without_hash(revision.clone()),
        other => panic!("{other:?} instead of a revision"),
    }
}

/// The fields that the controller sent; counts the fields that others added.
fn without(object: &Value, added: &[(&[&str], &str)], seen: &mut [usize]) -> Value {
    let mut sent = object.clone();
    for ((path, _), seen) in added.iter().zip(seen) {
        *seen += remove(&mut sent, path);
    }
    without_hash(sent)
}

/// Replaces the hash by a fixed word, in the label and, for a revision, in the name that contains it.
fn without_hash(mut object: Value) -> Value {
    let Some(label) = object.pointer_mut(HASH) else { return object };
    let Value::String(hash) = std::mem::replace(label, json!("HASH")) else { return object };
    if let Some(name) = object.pointer_mut("/metadata/name") {
        *name = name.as_str().unwrap().replace(&format!("-{hash}"), "-HASH").into();
    }
    object
}

/// Copies of the real object, each with one changed field of those that the controller sent, and the path that the
/// comparison must report.
fn every_change(real: &Value, sent: &Value) -> Vec<(String, Value)> {
    let mut changes = Vec::new();
    for path in pointers(sent) {
        let mut changed = real.clone();
        let value = changed.pointer_mut(&path).unwrap();
        if pointers(value).is_empty() {
            *value = json!("planted");
            changes.push((path.clone(), changed));
        }
        let mut changed = real.clone();
        let (parent, key) = path.rsplit_once('/').unwrap();
        let found_at = match changed.pointer_mut(parent).unwrap() {
            Value::Array(list) => {
                list.remove(key.parse().unwrap());
                parent.to_owned()
            }
            members => {
                members.as_object_mut().unwrap().remove(&unescaped(key)).unwrap();
                path
            }
        };
        changes.push((found_at, changed));
    }
    changes
}
