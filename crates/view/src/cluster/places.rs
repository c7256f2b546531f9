//! Where in a List the objects of a recording were, so that a problem names the place in the user's own file.

use daemonset::{InvalidInput, ProblemKind, Recording};

/// Paths such as `items[3]`.
pub struct Places {
    pub daemon_set: String,
    pub nodes: Vec<String>,
    pub pods: Vec<String>,
    pub revisions: Vec<String>,
}

/// An object of a List, and a field of it.
struct Place<'p> {
    /// `items[3]`; empty where the object is the whole file.
    item: &'p str,
    /// `Pod logging/agent-1`.
    name: String,
    field: &'p str,
}

impl Places {
    /// The problems, with their paths in the List and the names of the objects.
    pub fn message(&self, error: &InvalidInput, recording: &Recording) -> String {
        let mut placed = error.clone();
        for problem in &mut placed.problems {
            problem.path = match self.place(&problem.path, recording) {
                Some(Place { item: "", name, field }) => format!("{field} ({name})"),
                Some(Place { item, name, field }) => format!("{item}.{field} ({name})"),
                None => problem.path.clone(),
            };
            if let ProblemKind::Duplicate { first, .. } = &mut problem.kind {
                *first = match self.place(first, recording) {
                    Some(Place { item, name, .. }) => format!("{item} ({name})"),
                    None => first.clone(),
                };
            }
        }
        placed.to_string()
    }

    /// `None` for a path that is not in the List.
    fn place<'p>(&'p self, path: &'p str, recording: &Recording) -> Option<Place<'p>> {
        if path.starts_with("policy.") {
            return None;
        }
        let (place, name, field) = match entry_of_list(path, recording) {
            Some(("nodes", index, field)) => {
                let node = &recording.nodes.get(index)?.metadata;
                (self.nodes.get(index)?, format!("Node {}", node.name), field)
            }
            Some(("pods", index, field)) => {
                let pod = &recording.pods.get(index)?.metadata;
                (self.pods.get(index)?, format!("Pod {}/{}", pod.namespace, pod.name), field)
            }
            Some(("revisions", index, field)) => {
                let revision = &recording.revisions.get(index)?.metadata;
                let name = format!("ControllerRevision {}/{}", revision.namespace, revision.name);
                (self.revisions.get(index)?, name, field)
            }
            Some(_) | None => (&self.daemon_set, format!("DaemonSet {}", recording.name), path),
        };
        Some(Place { item: place, name, field: field.trim_start_matches('.') })
    }
}

/// `pods[3].metadata.uid` as `pods`, 3 and `.metadata.uid`. A revision may have its name in place of the number.
fn entry_of_list<'p>(path: &'p str, recording: &Recording) -> Option<(&'p str, usize, &'p str)> {
    let (list, rest) = path.split_once('[')?;
    let (index, field) = rest.split_once(']')?;
    let named = || recording.revisions.iter().position(|revision| revision.metadata.name == index);
    Some((list, index.parse().ok().or_else(named)?, field))
}
