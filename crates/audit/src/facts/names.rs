//! The names of new pods, made apart from the planner.

use daemonset::internal::{cut_name, name_hash};
use daemonset::policy::PodNames;
use daemonset::{PodManifest, Snapshot};
use std::collections::BTreeSet;

/// The names of the pods in the DaemonSet's namespace.
pub(crate) fn taken<'s>(snapshot: &'s Snapshot<'_>) -> BTreeSet<&'s str> {
    let namespace = snapshot.spec().daemon_set.metadata.namespace.as_str();
    snapshot.pods().iter().filter(|pod| pod.namespace == namespace).map(|pod| pod.name).collect()
}

/// Whether a new pod has the name that the policy gives it, and no other pod has it. The API server makes the names that it generates.
pub(crate) fn is_right(snapshot: &Snapshot<'_>, pod: &PodManifest, taken: &BTreeSet<&str>) -> bool {
    let spec = snapshot.spec();
    let (uid, node) = (spec.daemon_set.metadata.uid.as_str(), pod.node().as_str());
    let named = |parts: &[&str]| {
        let hash = name_hash(parts.iter().copied());
        format!("{}-{hash}", cut_name(&spec.daemon_set.metadata.name, 52))
    };
    match (spec.policy.pod_names, pod.name()) {
        (PodNames::OnePerNode, name) => {
            name == Some(&named(&[uid, node])) && !name.is_some_and(|n| taken.contains(n))
        }
        (PodNames::Deterministic, Some(name)) => {
            // The first that is free. Pods that a part of the objects lacks may have the ones before it: they are few.
            let mut attempts = (0..MOST_ATTEMPTS)
                .map(|attempt| named(&[uid, node, pod.revision_hash(), &attempt.to_string()]));
            !taken.contains(name) && attempts.any(|attempt| attempt == name)
        }
        (PodNames::Deterministic, None) => false,
        _ => true,
    }
}

/// The name of the pull pod of a node and a revision.
pub(crate) fn of_pull(snapshot: &Snapshot<'_>, node: &str, hash: &str) -> String {
    format!("{}-pull-{}", cut_name(&snapshot.spec().daemon_set.metadata.name, 47), name_hash([hash, node]))
}

/// How many names of one node and one revision are looked at.
const MOST_ATTEMPTS: u32 = 100;
