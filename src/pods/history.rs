//! The revisions of a DaemonSet: the current one, the corrections that they need, and those to delete.
//!
//! v1.36 `update.go constructHistory, dedupCurHistories, cleanupHistory, snapshot`.

use crate::input::Snapshot;
use crate::input::rollout::marks::{MarkChange, UndoneMark};
use crate::pods::claim::ClaimedRevisions;
use crate::position::{HistoryIx, IndexVec, RevisionIx, neutral};
use daemonset_objects::RevisionView;
use daemonset_objects::internal::{content_hash, revision};
use daemonset_objects::kubernetes::canonical_json;
use daemonset_objects::model::Labels;
use jiff::Timestamp;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::cmp::Reverse;

/// `spec.revisionHistoryLimit` when absent.
const DEFAULT_HISTORY_LIMIT: i32 = 10;

/// The revisions that belong to the DaemonSet, as they will be after the plan's history actions.
#[derive(Debug)]
pub struct History<'a> {
    /// Includes the current one, also when this plan creates it.
    pub revisions: IndexVec<HistoryIx, Revision<'a>>,
    current: HistoryIx,
    /// The revision of each hash, sorted by hash. Of several revisions with the same hash, a pod with this label counts as
    /// running the current one, then a duplicate, then the old one with the largest number.
    by_hash: Vec<(Cow<'a, str>, HistoryIx)>,
    /// The current revision's new number, where it must change.
    pub renumbered: Option<i64>,
    /// The DaemonSet is about to show another template, which was restored: until then, and not beyond this instant, nothing is
    /// renumbered or marked.
    pub awaits_template: Option<Timestamp>,
    /// The labels that the current revision lacks, where it is no longer the DaemonSet's because it lost them.
    pub missing_labels: Option<Labels>,
}

/// A revision, and its role for the template.
#[derive(Debug)]
pub struct Revision<'a> {
    /// `None` when this plan creates it.
    pub view: Option<RevisionView<'a>>,
    pub hash: Cow<'a, str>,
    pub number: i64,
    pub role: RevisionRole,
}

neutral!(Revision<'_>, Revision { view: None, hash: Cow::Borrowed(""), number: 0, role: RevisionRole::Old });

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RevisionRole {
    Current,
    /// Equal to the current one, and to be deleted.
    Duplicate,
    Old,
}

/// The name of the revision to create is taken.
#[derive(Debug)]
pub struct NameCollision;

impl<'a> History<'a> {
    /// Finds the current revision by content; then, among released ones, by name and content; else plans a new one.
    ///
    /// # Errors
    /// When the new revision's name is taken: by another content, by another owner's revision
    /// `[foreign-revision-of-the-same-name]`, or by one that is being deleted.
    pub fn new(snapshot: &'a Snapshot<'a>, claim: &ClaimedRevisions) -> Result<Self, NameCollision> {
        let mut revisions: IndexVec<HistoryIx, Revision<'a>> =
            claim.owned.iter().map(|position| owned(snapshot, *position)).collect();
        // By the old ones alone: the number of the current one must not push itself up, plan after plan.
        let next = next_number(&revisions);
        let mut missing_labels = None;
        let current = match best_equal(&revisions) {
            Some(current) => current,
            None => {
                let (revision, missing) = named_as_new(snapshot, next)?;
                missing_labels = missing;
                revisions.push(revision)
            }
        };
        // A released revision is renumbered by the plan after its adoption.
        let awaits_template = planted::awaits_template(awaits_template(snapshot, &revisions, current));
        // The restored revision may have its new number already: the one before must not overtake it.
        let is_renumbered =
            revisions.at(current).number < next && missing_labels.is_none() && awaits_template.is_none();
        let renumbered = is_renumbered.then_some(next);
        revisions.change(current, |revision| {
            revision.role = RevisionRole::Current;
            revision.number = renumbered.unwrap_or(revision.number);
        });
        // After the roles are known: of revisions with the same hash the role decides.
        let by_hash = index_by_hash(&revisions);
        Ok(History { revisions, current, by_hash, renumbered, awaits_template, missing_labels })
    }

    pub fn current_hash(&self) -> &str {
        &self.current().hash
    }

    pub fn current(&self) -> &Revision<'a> {
        self.revisions.at(self.current)
    }

    /// Whether a driven update waits for the current one, which the other controller creates, adopts and makes the newest. Before, that
    /// controller may not know the template, or the snapshot may show a template that is replaced already.
    pub fn awaits_current(&self, drives: bool) -> bool {
        let is_owned = self.current().view.is_some_and(|view| view.controller.is_some());
        drives && !(is_owned && self.missing_labels.is_none() && self.renumbered.is_none())
    }

    /// The name of the current one, also when this plan creates it.
    pub fn current_name(&self, snapshot: &Snapshot<'_>) -> String {
        let current = self.current();
        current.view.map_or_else(
            || revision::name(&snapshot.spec.daemon_set, &current.hash),
            |view| view.name.to_owned(),
        )
    }

    /// The revision that a pod labelled with this hash runs.
    pub fn position(&self, hash: &str) -> Option<HistoryIx> {
        let found = self.by_hash.binary_search_by(|(known, _)| known.as_ref().cmp(hash)).ok()?;
        self.by_hash.get(found).map(|(_, position)| *position)
    }

    pub fn revision(&self, position: HistoryIx) -> &Revision<'a> {
        self.revisions.at(position)
    }

    /// Whether the pods of a revision need the hash of the current one: it equals that one, and goes.
    pub fn relabels_pods_of(&self, revision: &Revision<'_>) -> bool {
        revision.role == RevisionRole::Duplicate && revision.hash != self.current_hash()
    }

    /// Duplicates of the current revision, by name.
    pub fn duplicates(&self) -> Vec<&Revision<'a>> {
        self.by_name(|revision| revision.role == RevisionRole::Duplicate)
    }

    /// Old revisions beyond the limit, oldest first; never live history, nor a revision that a rollout needs. These still count against
    /// the limit.
    pub fn beyond_limit(
        &self,
        limit: Option<i32>,
        is_live_history: impl Fn(HistoryIx) -> bool,
        is_needed: impl Fn(HistoryIx, &Revision<'a>) -> bool,
    ) -> Vec<&Revision<'a>> {
        let mut old: Vec<_> = self.old().collect();
        // Before the filter: revisions that stay in any case use up the limit, too.
        let excess = beyond_limit(old.len(), limit);
        old.sort_unstable_by_key(|(_, r)| (r.number, r.age()));
        // The hash decides, not the revision itself: pods name the hash, and several revisions may share it.
        let live = |r: &Revision<'_>| self.position(&r.hash).is_some_and(&is_live_history);
        let may_go = old.into_iter().filter(|(position, r)| !is_needed(*position, r) && !live(r));
        may_go.map(|(_, revision)| revision).take(excess).collect()
    }

    /// The old revisions.
    pub(crate) fn old(&self) -> impl Iterator<Item = (HistoryIx, &Revision<'a>)> {
        self.revisions.enumerated().filter(|(_, revision)| revision.role == RevisionRole::Old)
    }

    /// Revisions of the DaemonSet without the hash label, by name.
    pub fn unlabelled(&self, key: &str) -> Vec<&Revision<'a>> {
        // A released current revision gets the hash label together with the others that it lacks.
        let is_released = |r: &Revision<'_>| r.role == RevisionRole::Current && self.missing_labels.is_some();
        let lacks = |r: &Revision<'_>| r.view.is_some_and(|view| !view.labels.contains_key(key));
        self.by_name(|revision| lacks(revision) && !is_released(revision))
    }

    fn by_name(&self, is_chosen: impl Fn(&Revision<'a>) -> bool) -> Vec<&Revision<'a>> {
        let mut chosen: Vec<_> = self.revisions.iter().filter(|revision| is_chosen(revision)).collect();
        chosen.sort_unstable_by_key(|revision| revision.name());
        chosen
    }
}

/// How many of `old` old revisions are beyond the limit. Kubernetes refuses a negative limit; here it counts as 0.
pub fn beyond_limit(old: usize, limit: Option<i32>) -> usize {
    let limit = limit.unwrap_or(DEFAULT_HISTORY_LIMIT);
    old.saturating_sub(usize::try_from(limit).unwrap_or(0))
}

impl<'a> Revision<'a> {
    pub fn name(&self) -> &'a str {
        self.view.map_or("", |view| view.name)
    }

    /// The order of revisions with the same number: oldest creation first, then name.
    fn age(&self) -> (Option<Timestamp>, &'a str) {
        (self.view.and_then(|view| view.created_at), self.name())
    }
}

/// The full object to create for a template without a revision (v1.36 `update.go snapshot`).
pub(crate) fn manifest(snapshot: &Snapshot<'_>, hash: &str, number: i64) -> Value {
    let ds = &snapshot.spec.daemon_set;
    let labels =
        snapshot.spec.template.parsed.metadata.labels.with(&snapshot.spec.policy.unique_label_key, hash);
    // In kubectl's form, which an undo applies as a patch: all of the template is replaced.
    let mut template = canonical_json::normalized(snapshot.spec.raw_template());
    if let Value::Object(members) = &mut template {
        members.insert("$patch".to_owned(), Value::from("replace"));
    }
    let mut metadata = json!({
        "name": revision::name(ds, hash),
        "namespace": ds.metadata.namespace,
        "labels": labels,
        "ownerReferences": [ds.owner_reference()],
    });
    let annotations = annotations(snapshot, number);
    if let (Value::Object(members), false) = (&mut metadata, annotations.is_empty()) {
        members.insert("annotations".to_owned(), json!(annotations));
    }
    let mut data = json!({"spec": {"template": template}});
    if let (Value::Object(members), false) = (&mut data, snapshot.spec.inputs.is_null()) {
        let inputs = canonical_json::normalized(&snapshot.spec.inputs);
        members.insert(revision::INPUTS.to_owned(), inputs);
    }
    let mut revision = json!({
        "apiVersion": "apps/v1",
        "kind": "ControllerRevision",
        "metadata": metadata,
        "data": data,
        "revision": number,
    });
    // serde_json keeps the order of insertion where another crate of the build switches that on.
    revision.sort_all_objects();
    revision
}

/// The DaemonSet's annotations. Where a rollout is steered, without those that steer it, and with the mark of its beginning.
fn annotations(snapshot: &Snapshot<'_>, number: i64) -> Labels {
    let (annotations, policy) = (&snapshot.spec.daemon_set.metadata.annotations, &snapshot.spec.policy);
    let Some(rollout) = &policy.rollout else { return annotations.clone() };
    let is_ours = |key: &str| key.strip_prefix(&policy.mark_prefix).is_some_and(|rest| rest.starts_with('/'));
    let others: Labels = annotations.iter().filter(|(key, _)| !is_ours(key)).collect();
    // Other marks wait until their revision exists. This one is a part of the create: a rollout begins with its revision.
    let started = MarkChange::Started;
    match started.value(number, snapshot.now).filter(|_| !rollout.paused) {
        Some(value) => others.with(snapshot.spec.mark_keys.of(started), &value),
        None => others,
    }
}

/// An owned revision. One with the template counts as a duplicate: the current one is chosen among all of these.
fn owned<'a>(snapshot: &'a Snapshot<'a>, position: RevisionIx) -> Revision<'a> {
    let view = snapshot.revision(position);
    let has_content = snapshot.revision_facts.at(position).has_content;
    Revision {
        view: Some(*view),
        hash: hash_of(view, &snapshot.spec.policy.unique_label_key),
        number: view.number,
        role: if has_content { RevisionRole::Duplicate } else { RevisionRole::Old },
    }
}

/// The hash label of a revision. Without that label the revision gets its own name as label.
fn hash_of<'a>(view: &RevisionView<'a>, key: &str) -> Cow<'a, str> {
    Cow::Borrowed(view.labels.get(key).unwrap_or(view.name))
}

/// One more than the largest number of an old revision; 1 when there is none, or all are negative.
fn next_number(revisions: &IndexVec<HistoryIx, Revision<'_>>) -> i64 {
    let old = revisions.iter().filter(|r| r.role == RevisionRole::Old).map(|r| r.number);
    // Stored numbers may be negative: a history begins at 1 all the same.
    old.max().unwrap_or(0).max(0).saturating_add(1)
}

/// The one to keep of the revisions equal to the template.
fn best_equal(revisions: &IndexVec<HistoryIx, Revision<'_>>) -> Option<HistoryIx> {
    let equal = revisions.enumerated().filter(|(_, r)| r.role == RevisionRole::Duplicate);
    equal.min_by_key(|(_, r)| r.view.as_ref().map(revision::rank)).map(|(position, _)| position)
}

/// Until when the DaemonSet may be about to show another template: its patch is in flight, or the revisions are newer than it. `None` if
/// it is not.
fn awaits_template(
    snapshot: &Snapshot<'_>,
    revisions: &IndexVec<HistoryIx, Revision<'_>>,
    current: HistoryIx,
) -> Option<Timestamp> {
    // Without a rollout no mark and no memory of one counts.
    snapshot.spec.policy.rollout.as_ref()?;
    let in_flight = snapshot.memory.as_ref().and_then(|memory| memory.restored_until(snapshot));
    in_flight.max(is_older_until(snapshot, revisions, current))
}

/// Until when the DaemonSet may be older than the revisions: they show that the template of the current one was replaced, since this
/// generation is undone, and another revision has overtaken it.
fn is_older_until(
    snapshot: &Snapshot<'_>,
    revisions: &IndexVec<HistoryIx, Revision<'_>>,
    current: HistoryIx,
) -> Option<Timestamp> {
    let Revision { view, number, .. } = revisions.at(current);
    let undone = UndoneMark::read(view.as_ref()?.annotations, &snapshot.spec.mark_keys)?;
    let mut others = revisions.enumerated().filter(|(position, _)| *position != current);
    let is_overtaken = others.any(|(_, other)| other.number > *number);
    // Whatever number the mark has: a generation never comes back. But the writer of the mark may not have seen the number of the other
    // one, so that the DaemonSet is no older: after the time of an undo nobody waits for it.
    let is_undone = undone.generation == snapshot.spec.daemon_set.metadata.generation;
    undone.counts_until(snapshot.now).filter(|_| is_undone && is_overtaken)
}

/// The revision with the name that a new one would get: a new one if the name is free, or the current one that was
/// released, with the labels that it lacks `[released-revision-comes-back]`.
///
/// v1.36 `update.go snapshot`, where the create is answered with `AlreadyExists`.
fn named_as_new<'a>(
    snapshot: &'a Snapshot<'a>,
    number: i64,
) -> Result<(Revision<'a>, Option<Labels>), NameCollision> {
    let ds = &*snapshot.spec.daemon_set;
    let collisions = ds.status.collision_count.unwrap_or(0);
    let content = (snapshot.spec.raw_template(), &snapshot.spec.inputs);
    let hash = content_hash(content.0, content.1, collisions);
    let name = revision::name(ds, &hash);
    // Among all revisions of the namespace: the API server knows no owners when it refuses a name.
    let has_that_name = |r: &&RevisionView<'_>| r.namespace == ds.metadata.namespace && r.name == name;
    let Some(view) = snapshot.revisions.iter().find(has_that_name) else {
        return Ok((
            Revision { view: None, hash: Cow::Owned(hash), number, role: RevisionRole::Current },
            None,
        ));
    };
    if !revision::can_be_current(ds, content, view) {
        return Err(NameCollision);
    }
    let missing = missing_labels(snapshot, view, &hash);
    let hash =
        view.labels.get(&snapshot.spec.policy.unique_label_key).map_or(Cow::Owned(hash), Cow::Borrowed);
    Ok((
        Revision { view: Some(*view), hash, number: view.number, role: RevisionRole::Current },
        Some(missing),
    ))
}

/// The labels of a new revision that this one lacks: with them it is adopted by the usual rules. It keeps a hash label
/// that it has, as every revision does.
fn missing_labels(snapshot: &Snapshot<'_>, revision: &RevisionView<'_>, hash: &str) -> Labels {
    let key = snapshot.spec.policy.unique_label_key.as_str();
    let wanted = snapshot.spec.template.parsed.metadata.labels.with(key, hash);
    let lacks = |(wanted, value): &(&str, &str)| match revision.labels.get(wanted) {
        // Its pods carry the hash that it has: another one would make them outdated.
        Some(_) if *wanted == key => false,
        Some(found) => found != *value,
        None => true,
    };
    wanted.iter().filter(lacks).collect()
}

/// For each hash the revision that a pod with this label counts as running.
///
/// Revisions share a hash when one lacks the label and is named as another one's hash, or when somebody has copied a
/// revision. The current one comes first, so that its pods are never outdated; then a duplicate, which has the same
/// template; then the newest old one.
fn index_by_hash<'a>(revisions: &IndexVec<HistoryIx, Revision<'a>>) -> Vec<(Cow<'a, str>, HistoryIx)> {
    let mut index: Vec<_> = revisions.enumerated().collect();
    index.sort_by_key(|(_, r)| (r.hash.clone(), r.role, Reverse(r.number), r.age()));
    index.dedup_by(|(_, later), (_, first)| later.hash == first.hash);
    index.into_iter().map(|(position, r)| (r.hash.clone(), position)).collect()
}

/// The deliberate error in this file.
mod planted {
    use jiff::Timestamp;

    crate::planted::planted! {
        awaits_template(right: Option<Timestamp>): RestoreNotAwaited => None;
    }
}
