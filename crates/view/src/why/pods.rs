//! The pods of a node: revision, state, and since when.

use crate::case::Case;
use crate::cluster::Said;
use daemonset::report::{Evidence, NodeVerdict, PodState, PodVerdict};
use jiff::SignedDuration;

impl Case<'_> {
    pub(super) fn pods(&self, node: &NodeVerdict) -> Vec<String> {
        match node.pods.as_slice() {
            [] => vec!["It has no pod of the DaemonSet.".to_owned()],
            pods => pods
                .iter()
                .flat_map(|pod| [Some(self.pod(node, pod)), self.conflict(pod)].into_iter().flatten())
                .collect(),
        }
    }

    /// Its revision, its state, and whether it goes.
    pub(super) fn pod(&self, node: &NodeVerdict, pod: &PodVerdict) -> String {
        let deleting = |reason| self.goal(node).deleting(reason);
        let deleted = pod.deleted.map(|reason| format!(" This plan deletes it: {}.", deleting(reason)));
        let object = &pod.pod;
        let (name, class, state) = (&object.name, self.class(pod), self.state(pod));
        format!("Pod {name} {class}; it {state}.{}", deleted.unwrap_or_default())
    }

    fn class(&self, pod: &PodVerdict) -> String {
        let current = self.plan.report.current_revision.as_ref().map(|current| current.number);
        let now_current =
            current.map(|number| format!(" (the current one is #{number})")).unwrap_or_default();
        let of = pod.revision.map(|number| format!(" #{number}")).unwrap_or_default();
        match pod.evidence {
            Evidence::TemplateGeneration if pod.revision.is_some() && pod.revision != current => {
                format!(
                    "is updated by its template generation, though its hash names revision{of}{now_current}"
                )
            }
            Evidence::TemplateGeneration if pod.revision.is_none() => {
                "is updated, by its template generation".to_owned()
            }
            Evidence::TemplateGeneration | Evidence::CurrentRevision => {
                format!("is updated, of revision{of}")
            }
            Evidence::OldRevision => format!("is outdated, of revision{of}{now_current}"),
            Evidence::UnknownRevision => {
                "is outdated: its hash label names no revision of the DaemonSet".to_owned()
            }
            Evidence::NoHash => "is outdated: it has no hash label".to_owned(),
            other => format!("is {}: {other:?}", if pod.updated { "updated" } else { "outdated" }),
        }
    }

    pub(super) fn conflict(&self, pod: &PodVerdict) -> Option<String> {
        let current = self.plan.report.current_revision.as_ref().map(|current| current.number);
        let conflict =
            pod.evidence == Evidence::TemplateGeneration && pod.revision.is_some() && pod.revision != current;
        conflict.then(|| {
            "Its template generation and its hash disagree: a plan that looks at the hash first would call it outdated."
                .to_owned()
        })
    }

    fn state(&self, pod: &PodVerdict) -> String {
        let state = pod.state;
        let unknown = self.models.notes.pod(&pod.pod.uid).and_then(|notes| notes.unknown.as_ref());
        if let (Some(said), PodState::Pending { .. }) = (unknown, state) {
            let said = if *said == Said::default() { String::new() } else { format!(": {said}") };
            return format!("is in phase Unknown{said}");
        }
        let min_ready = i64::from(self.planned.daemon_set.spec.min_ready_seconds);
        match state {
            PodState::Available { ready_since, .. } => {
                let ready = ready_since.map(|at| format!(" since {}", self.since(at)));
                match (min_ready, ready) {
                    (0, ready) => format!("is Ready and available{}", ready.unwrap_or_default()),
                    (seconds, ready) => {
                        format!(
                            "is Ready{}, longer than minReadySeconds ({seconds}s), and so available",
                            ready.unwrap_or_default()
                        )
                    }
                }
            }
            PodState::Ready { available_at: None, .. } => {
                "is Ready, but its Ready condition tells no time".to_owned()
            }
            PodState::Ready { available_at: Some(at), .. } => {
                let ready = at.checked_sub(SignedDuration::from_secs(min_ready)).ok();
                format!("is Ready{}, and available {}", self.maybe_since(ready), self.at(at))
            }
            PodState::NotReady { since, .. } => not_ready(self.maybe_since(since)),
            PodState::Pending { since, .. } => format!("is Pending{}", self.maybe_since(since)),
            PodState::Terminating { overdue_at: None, .. } => "is terminating".to_owned(),
            PodState::Terminating { overdue_at: Some(at), .. } if at <= self.now => {
                format!("is terminating, and overdue since {}", self.since(at))
            }
            PodState::Terminating { overdue_at: Some(at), .. } => {
                format!("is terminating, and should be gone {}", self.at(at))
            }
            PodState::Failed => "has failed".to_owned(),
            PodState::Succeeded => "has succeeded, as no daemon should".to_owned(),
            other => format!("is {other}"),
        }
    }
}

fn not_ready(since: String) -> String {
    match since.as_str() {
        "" => "runs, but is not Ready".to_owned(),
        since => format!("runs, but has not been Ready{since}"),
    }
}
