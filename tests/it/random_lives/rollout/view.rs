//! The spec and the revisions as the controller may have seen them together, read by definitions of their own.

use daemonset::model::{ControllerRevision, DaemonSetSpec};
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;
use std::collections::BTreeMap;

/// The longest time from a plan to its last action.
const A_PLAN: SignedDuration = SignedDuration::from_secs(60);

/// A revision, as far as a rollout is concerned.
#[derive(Debug, Clone, PartialEq)]
pub struct Revision {
    pub name: String,
    pub hash: String,
    pub number: i64,
    pub template: Value,
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

    /// The undo that has begun of it, under whatever number.
    pub fn undone(&self) -> Option<Undone> {
        let Mark { number, at, rest } = self.mark("undone")?;
        let is_number = !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit());
        Some(Undone { number, at, generation: is_number.then(|| rest.parse().ok()).flatten()? })
    }

    /// When it was chosen to come back in the place of the revision with this number.
    fn restored(&self, failed: i64) -> Option<Timestamp> {
        self.mark("restored").filter(|mark| mark.number == failed).map(|mark| mark.at)
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

/// The mark of a revision that is undone.
#[derive(Debug, Clone, Copy)]
pub struct Undone {
    pub number: i64,
    pub at: Timestamp,
    pub generation: i64,
}

impl Undone {
    fn is_young(self, t: Timestamp) -> bool {
        t.duration_since(self.at) < SignedDuration::from_hours(1)
    }
}

/// A spec with its generation, and a list of revisions.
#[derive(Debug, Clone, Copy)]
pub struct View<'w> {
    /// The instant at which they are seen.
    pub t: Timestamp,
    pub spec: &'w DaemonSetSpec,
    pub generation: i64,
    pub revisions: &'w [Revision],
    /// The name of the revision that this plan finds to have failed: its verdict takes effect at once.
    pub just_failed: Option<&'w str>,
    /// Whether this controller drives the update beside another one.
    pub drives: bool,
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

    /// Whether the revisions are newer than the spec: its template was undone, and another revision has overtaken it.
    pub fn awaits_template(self) -> bool {
        let Some(current) = self.current() else { return false };
        let is_undone = |undone: Undone| undone.generation == self.generation && undone.is_young(self.t);
        current.undone().is_some_and(is_undone) && self.old().any(|other| other.number > current.number)
    }

    /// The number of the current revision after a plan.
    pub fn number(self) -> i64 {
        if self.awaits_template() {
            return self.current().map_or(0, |current| current.number);
        }
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
        let has_ended = self.mark("completed").is_some() || self.is_way_back();
        has_ended && !self.is_failed() && !self.awaits_template()
    }

    /// Whether the current revision has come back in the place of a failed one, and no newer one has come since.
    pub fn is_way_back(self) -> bool {
        let Some(current) = self.current() else { return false };
        let others = || self.revisions.iter().filter(|other| other.name != current.name);
        let is_restored =
            current.mark("restored").is_some_and(|mark| others().all(|other| other.number <= mark.number));
        let largest = others().map(|other| other.number).max();
        let mut newest = others().filter(|other| Some(other.number) == largest);
        let is_put_back =
            self.drives && current.mark("completed").is_some() && newest.any(|other| self.has_failed(other));
        is_restored || is_put_back
    }

    /// The revisions that were chosen to come back in the place of the current one, which has failed and is undone. They have not
    /// failed themselves.
    pub fn restored(self) -> impl Iterator<Item = &'w Revision> {
        let is_marked = self.mark("failed").is_some();
        let undone = self.current().and_then(Revision::undone).filter(|_| is_marked);
        let failed = undone.map(|undone| undone.number).filter(|number| *number == self.number());
        let chosen =
            move |revision: &&Revision| failed.is_some_and(|failed| revision.restored(failed).is_some());
        self.old().filter(move |revision| !self.has_failed(revision)).filter(chosen)
    }

    /// Whether the template of the stable revision may be restored at this instant, if the policy asks for it.
    pub fn may_restore(self) -> bool {
        let undone = self.current().and_then(Revision::undone);
        let is_due = |undone: Undone| {
            // A plan is older than its execution.
            undone.generation == self.generation && undone.is_young(self.t - A_PLAN)
        };
        !self.awaits_template() && undone.is_some_and(is_due)
    }

    /// Whether an undo may begin at this instant, if the policy asks for it.
    pub fn may_begin_undo(self) -> bool {
        let is_young = |undone: &Undone| undone.is_young(self.t);
        let young = self.revisions.iter().filter_map(Revision::undone).filter(is_young).count();
        let is_new = self.current().is_some_and(|current| current.undone().is_none());
        self.is_failed()
            && is_new
            && young < 3
            && !self.stable_revisions().is_empty()
            && !self.awaits_template()
    }

    /// The hashes of the revisions that may be the stable revision: those that were chosen to come back, or else those that were completed last. Which
    /// of several without that mark it is depends on pods.
    pub fn stable_revisions(self) -> Vec<&'w str> {
        let restored: Vec<&str> = self.restored().map(|revision| revision.hash.as_str()).collect();
        if !restored.is_empty() {
            return restored;
        }
        let usable = || self.old().filter(move |revision| !self.has_failed(revision));
        let completed = |revision: &Revision| revision.mark("completed").map(|mark| mark.at);
        let last = usable().map(completed).max().flatten();
        usable()
            .filter(|revision| completed(revision) == last)
            .map(|revision| revision.hash.as_str())
            .collect()
    }
}
