//! The spec and the revisions as the controller may have seen them together, read by definitions of their own.

use daemonset::model::{ControllerRevision, DaemonSetSpec};
use jiff::Timestamp;
use serde_json::Value;
use std::collections::BTreeMap;

/// A revision, as far as a rollout is concerned.
#[derive(Debug, Clone, PartialEq)]
pub struct Revision {
    pub name: String,
    pub hash: String,
    pub number: i64,
    template: Value,
    /// The values of its marks.
    pub marks: BTreeMap<String, String>,
}

impl Revision {
    pub fn new(revision: &ControllerRevision) -> Self {
        let mut template = revision.data["spec"]["template"].clone();
        template.as_object_mut().map(|members| members.remove("$patch"));
        let mark = |(key, value): (&str, &str)| {
            Some((key.strip_prefix("rollout.daemonset/")?.to_owned(), value.to_owned()))
        };
        Revision {
            name: revision.metadata.name.clone(),
            hash: revision.metadata.labels.get("controller-revision-hash").unwrap_or_default().to_owned(),
            number: revision.revision,
            template,
            marks: revision.metadata.annotations.iter().filter_map(mark).collect(),
        }
    }

    /// The mark of this name, under whatever number.
    fn mark(&self, name: &str) -> Option<Mark<'_>> {
        let mut parts = self.marks.get(name)?.splitn(3, ' ');
        let (number, at) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
        Some(Mark { number, at, rest: parts.next().unwrap_or_default() })
    }

    pub fn has_failed(&self) -> bool {
        self.mark("failed").is_some_and(|mark| mark.number == self.number)
    }
}

#[derive(Debug, Clone, Copy)]
pub struct Mark<'r> {
    number: i64,
    at: Timestamp,
    pub rest: &'r str,
}

/// A spec and a list of revisions.
#[derive(Debug, Clone, Copy)]
pub struct View<'w> {
    pub spec: &'w DaemonSetSpec,
    pub revisions: &'w [Revision],
    /// The name of the revision that this plan finds to have failed: its verdict takes effect at once.
    pub just_failed: Option<&'w str>,
}

impl<'w> View<'w> {
    pub fn current(self) -> Option<&'w Revision> {
        let same = self.revisions.iter().filter(|revision| revision.template == self.spec.template);
        same.max_by_key(|revision| revision.number)
    }

    fn old(self) -> impl Iterator<Item = &'w Revision> {
        self.revisions.iter().filter(move |revision| revision.template != self.spec.template)
    }

    /// Whether a revision has failed, also by the verdict of this plan.
    pub fn has_failed(self, revision: &Revision) -> bool {
        revision.has_failed() || self.just_failed == Some(revision.name.as_str())
    }

    /// The number of the current revision after a plan.
    pub fn number(self) -> i64 {
        let largest = self.old().map(|revision| revision.number).max().unwrap_or(0).max(0);
        let number = self.current().map_or(0, |current| current.number);
        if number > largest { number } else { largest + 1 }
    }

    /// A valid mark of the current revision.
    pub fn mark(self, name: &str) -> Option<Mark<'w>> {
        self.current()?.mark(name).filter(|mark| mark.number == self.number())
    }

    /// The index of the valid mark `wave`.
    pub fn wave(self) -> Option<usize> {
        self.mark("wave")?.rest.parse().ok()
    }

    /// Whether the current revision has failed.
    pub fn is_failed(self) -> bool {
        let just_failed = || self.current().is_some_and(|current| self.just_failed == Some(&current.name));
        self.mark("failed").is_some() || just_failed()
    }

    pub fn is_over(self) -> bool {
        self.mark("completed").is_some() && !self.is_failed()
    }

    /// The hashes of the revisions that may be base: those that were completed last. Which of several without that mark it
    /// is depends on pods.
    pub fn bases(self) -> Vec<&'w str> {
        let usable = || self.old().filter(move |revision| !self.has_failed(revision));
        let completed = |revision: &Revision| revision.mark("completed").map(|mark| mark.at);
        let last = usable().map(completed).max().flatten();
        usable()
            .filter(|revision| completed(revision) == last)
            .map(|revision| revision.hash.as_str())
            .collect()
    }
}
