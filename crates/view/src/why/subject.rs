//! The node, the pod or the DaemonSet that the command line names.

use crate::cluster::{Models, Wanted};
use daemonset::model::{DaemonSet, Node, Pod};

/// Names at most so many neighbours.
const MOST_NAMES: usize = 3;
/// From 0, nothing in common, to 1.
const NEAR: f64 = 0.7;

pub enum Subject<'m> {
    Node(&'m Node),
    Pod(&'m Pod),
    DaemonSet(&'m DaemonSet),
}

impl<'m> Subject<'m> {
    /// A node comes before a pod of its name, and a pod before a DaemonSet.
    pub fn find(word: &str, models: &'m Models) -> Result<Self, String> {
        let (kind, name) = match word.split_once('/') {
            Some((kind @ ("node" | "nodes" | "no"), name)) => (Some(kind), name),
            Some((kind @ ("pod" | "pods" | "po"), name)) => (Some(kind), name),
            _ => (None, word),
        };
        let (nodes, pods) = match kind {
            None => (true, true),
            Some(kind) => (kind.starts_with('n'), kind.starts_with('p')),
        };
        let node = models.nodes.iter().find(|node| nodes && node.metadata.name.as_str() == name);
        if let Some(node) = node {
            return Ok(Subject::Node(node));
        }
        let is_named = |pod: &&Pod| {
            let meta = &pod.metadata;
            meta.name == name || word.split_once('/') == Some((meta.namespace.as_str(), meta.name.as_str()))
        };
        let found: Vec<&Pod> = models.pods.iter().filter(|_| pods).filter(is_named).collect();
        match found.as_slice() {
            [only] => Ok(Subject::Pod(only)),
            [] => Subject::daemon_set(word, models).unwrap_or_else(|| Err(unknown(name, models))),
            several => {
                let names =
                    several.iter().map(|pod| format!("{}/{}", pod.metadata.namespace, pod.metadata.name));
                Err(format!("several pods are named {name}: {}", names.collect::<Vec<_>>().join(", ")))
            }
        }
    }

    /// By `NAME`, `NAMESPACE/NAME` or `ds/NAME`.
    fn daemon_set(word: &str, models: &'m Models) -> Option<Result<Self, String>> {
        let wanted = Wanted::parse(word).ok()?;
        let found: Vec<&DaemonSet> = models.daemon_sets.iter().filter(|ds| wanted.is(ds)).collect();
        match found.as_slice() {
            [] => None,
            [only] => Some(Ok(Subject::DaemonSet(only))),
            several => {
                let names =
                    several.iter().map(|ds| format!("{}/{}", ds.metadata.namespace, ds.metadata.name));
                let names = names.collect::<Vec<_>>().join(", ");
                Some(Err(format!("several DaemonSets are named {word}: {names}")))
            }
        }
    }
}

/// With names that are nearly the same.
fn unknown(name: &str, models: &Models) -> String {
    let nodes = models.nodes.iter().map(|node| node.metadata.name.as_str());
    let pods = models.pods.iter().map(|pod| pod.metadata.name.as_str());
    let pods = pods.chain(models.daemon_sets.iter().map(|ds| ds.metadata.name.as_str()));
    let mut near: Vec<(f64, &str)> = nodes
        .chain(pods)
        .map(|other| (strsim::normalized_levenshtein(name, other), other))
        .filter(|(nearness, _)| *nearness >= NEAR)
        .collect();
    near.sort_by(|(a, x), (b, y)| b.total_cmp(a).then(x.cmp(y)));
    let near: Vec<&str> = near.into_iter().map(|(_, name)| name).take(MOST_NAMES).collect();
    let hint = match near.as_slice() {
        [] => format!(
            "there are {} and {}",
            crate::words::count(models.nodes.len(), "node"),
            crate::words::count(models.pods.len(), "pod")
        ),
        near => format!("did you mean {}?", near.join(", ")),
    };
    format!("no node, pod or DaemonSet is named {name}: {hint}")
}
