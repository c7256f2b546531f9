//! Revisions: which ones must stay, and which labels may be set.

use crate::facts::lineage::Member;
use crate::facts::named::Subject;
use crate::fleet::Fleet;
use crate::fleet::context::Context;
use crate::goals::undo::is_undone_lately;
use crate::kind::ViolationKind;
use crate::violation::Findings;
use daemonset::Action;
use daemonset::internal::{PodIx, RevisionIx};
use daemonset::model::Labels;
use serde_json::Value;

/// `spec.revisionHistoryLimit` when absent.
const DEFAULT_LIMIT: i32 = 10;

/// Checks all actions on revisions, and the labels of pods.
pub(crate) fn check(context: &Context<'_>, fleet: &Fleet, findings: &mut Findings<'_>) {
    let mut history = HistoryCheck::new(context, fleet);
    for (index, action, subject) in context.actions() {
        let kind = match (action, subject) {
            (Action::CreateRevision { revision, .. }, _) => history.wrong_new(revision),
            (Action::LabelPod { labels, .. }, Subject::Pod(pod)) => wrong_pod_label(context, pod, labels),
            (_, Subject::Revision(revision)) => history.wrong_change(action, revision),
            _ => None,
        };
        if let Some(kind) = kind {
            findings.add(index, kind);
        }
    }
}

/// The history, with the changes of the actions that were checked so far.
struct HistoryCheck<'s> {
    context: &'s Context<'s>,
    /// The pods of each hash, sorted by hash.
    carried: Vec<(&'s str, Carrying)>,
    largest_old: i64,
    old: usize,
    old_deleted: Vec<RevisionIx>,
    created: bool,
}

/// The pods that depend on a hash.
#[derive(Clone, Copy)]
struct Carrying {
    /// A pod of the DaemonSet has it, or one that the snapshot does not show yet.
    live: bool,
    /// Without a revision of this hash, one of them would count as outdated.
    left_behind: bool,
}

impl<'s> HistoryCheck<'s> {
    fn new(context: &'s Context<'s>, fleet: &'s Fleet) -> Self {
        let members = &context.lineage.members;
        let others = fleet.others.carried.iter().map(|(hash, carried)| (&**hash, carried));
        let hashes = context.snapshot.index().hashes().zip(fleet.carried.iter()).chain(others);
        let seen = hashes.map(|(hash, carried)| {
            (hash, Carrying { live: carried.pods > 0, left_behind: carried.left_behind > 0 })
        });
        let unseen = context.unseen.iter();
        let unseen = unseen.map(|c| (c.revision, Carrying { live: true, left_behind: false }));
        let mut carried: Vec<_> = seen.chain(unseen).collect();
        carried.sort_unstable_by_key(|(hash, _)| *hash);
        HistoryCheck {
            context,
            carried,
            largest_old: context.lineage.largest_old(),
            old: members.iter().filter(|member| !member.equal).count(),
            old_deleted: Vec::new(),
            created: false,
        }
    }

    fn is_carried(&self, hash: &str, counts: impl Fn(Carrying) -> bool) -> bool {
        let first = self.carried.partition_point(|(other, _)| *other < hash);
        let same = self.carried.iter().skip(first).take_while(|(other, _)| *other == hash);
        same.into_iter().any(|(_, carrying)| counts(*carrying))
    }

    fn wrong_change(&mut self, action: &Action, revision: RevisionIx) -> Option<ViolationKind> {
        let context = self.context;
        let owned = context.owns_revision(revision);
        let member = context.lineage.member(revision).filter(|_| owned);
        match (action, member) {
            (Action::RenumberRevision { number, .. }, Some(member)) => self.wrong_number(member, *number),
            (Action::DeleteRevision { .. }, Some(member)) => self.must_stay(member),
            (Action::LabelRevision { labels, .. }, Some(member)) => {
                wrong_revision_label(context, member, labels)
            }
            (Action::LabelRevision { labels, .. }, None) => {
                let released = context.lineage.released(revision);
                released.and_then(|member| wrong_released_label(context, member, labels))
            }
            _ => None,
        }
    }

    fn wrong_new(&mut self, revision: &Value) -> Option<ViolationKind> {
        let second = std::mem::replace(&mut self.created, true);
        if second || self.context.lineage.current().is_some() {
            return Some(ViolationKind::RevisionExists);
        }
        let number = revision.get("revision").and_then(Value::as_i64).unwrap_or(0);
        self.too_low(number)
    }

    fn wrong_number(&self, member: &Member<'_>, number: i64) -> Option<ViolationKind> {
        let current =
            self.context.lineage.current().is_some_and(|current| current.position == member.position);
        let largest = self.largest_old;
        if current {
            self.too_low(number)
        } else {
            Some(ViolationKind::WrongRevisionNumber { number, largest })
        }
    }

    /// The number must be above all others, unless it is the largest that there is.
    fn too_low(&self, number: i64) -> Option<ViolationKind> {
        let largest = self.largest_old;
        let above = number > largest || number == i64::MAX;
        (!above).then_some(ViolationKind::WrongRevisionNumber { number, largest })
    }

    fn must_stay(&mut self, member: &Member<'_>) -> Option<ViolationKind> {
        let lineage = &self.context.lineage;
        let live = || Some(ViolationKind::LiveRevisionDeleted { hash: member.hash.to_owned() });
        if member.equal {
            let current = lineage.current().is_some_and(|current| current.position == member.position);
            let shared = lineage.current_hash == Some(member.hash);
            let orphans = !shared && self.is_carried(member.hash, |carrying| carrying.left_behind);
            return if current {
                Some(ViolationKind::CurrentRevisionDeleted)
            } else {
                live().filter(|_| orphans)
            };
        }
        if self.is_carried(member.hash, |carrying| carrying.live) {
            return live();
        }
        if self.context.goals.stable().is_some_and(|stable| stable.view.uid == member.view.uid) {
            return Some(ViolationKind::StableRevisionDeleted);
        }
        if is_undone_lately(self.context.snapshot, member) {
            return Some(ViolationKind::UndoneDeleted);
        }
        let Err(place) = self.old_deleted.binary_search(&member.position) else { return None };
        self.old_deleted.insert(place, member.position);
        let limit =
            self.context.snapshot.spec().daemon_set.spec.revision_history_limit.unwrap_or(DEFAULT_LIMIT);
        let (old, limit) = (self.old, limit.try_into().unwrap_or(0));
        let short = old - self.old_deleted.len().min(old) < limit;
        short.then_some(ViolationKind::HistoryCutShort { old, limit })
    }
}

/// Only a revision without the hash label gets one: its own name.
fn wrong_revision_label(
    context: &Context<'_>,
    member: &Member<'_>,
    labels: &Labels,
) -> Option<ViolationKind> {
    let key = &context.snapshot.spec().policy.unique_label_key;
    let right = !member.view.labels.contains_key(key) && is_only(labels, key, member.view.name);
    (!right).then_some(ViolationKind::WrongLabel)
}

/// A released revision gets labels of the template, and the hash only if it has none.
fn wrong_released_label(
    context: &Context<'_>,
    member: &Member<'_>,
    labels: &Labels,
) -> Option<ViolationKind> {
    let key = context.snapshot.spec().policy.unique_label_key.as_str();
    let template = &context.snapshot.spec().template.parsed.metadata.labels;
    let right = |(name, value): (&str, &str)| {
        if name == key {
            !member.view.labels.contains_key(key) && value == member.hash
        } else {
            template.get(name) == Some(value)
        }
    };
    (!labels.iter().all(right)).then_some(ViolationKind::WrongLabel)
}

/// A pod gets the current hash only if it is updated with and without it.
fn wrong_pod_label(context: &Context<'_>, pod: PodIx, labels: &Labels) -> Option<ViolationKind> {
    if !context.owns_pod(pod) {
        return None;
    }
    let facts = context.snapshot.facts(pod);
    let updated = match facts.hash {
        Some(hash) => context.lineage.names_template(hash),
        None => facts.same_generation,
    };
    let key = &context.snapshot.spec().policy.unique_label_key;
    let right = context.lineage.current_hash.is_some_and(|hash| is_only(labels, key, hash));
    (!(updated && right)).then_some(ViolationKind::WrongLabel)
}

fn is_only(labels: &Labels, key: &str, value: &str) -> bool {
    labels.len() == 1 && labels.get(key) == Some(value)
}
