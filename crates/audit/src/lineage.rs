//! The DaemonSet's revisions: the one with the template, and the hashes that mean it.

use super::goals::Goals;
use daemonset::internal::{
    HashIx, IndexVec, NodeIx, Ownership, PodFacts, RevisionIx, content_hash, enumerate,
};
use daemonset::kubernetes::canonical_json;
use daemonset::policy::ClassificationPolicy;
use daemonset::{Action, RevisionView, Snapshot};
use serde_json::Value;
use std::cmp::Reverse;

/// The revisions that belong to the DaemonSet or may be adopted.
pub(super) struct Lineage<'s> {
    /// `None` while the goals themselves are derived.
    goals: Option<&'s Goals<'s>>,
    policy: ClassificationPolicy,
    pub(super) members: Vec<Member<'s>>,
    /// The one to keep of the members with the template; if no member has it, the released revision that has both the
    /// template and the name for it.
    current: Option<Member<'s>>,
    /// No member has the template: the current one, if there is one, is a released revision.
    pub(super) current_is_released: bool,
    /// The hash of the template's revision, be it there or created by the list.
    pub(super) current_hash: Option<&'s str>,
    /// For each hash label, whether it says that a pod is updated.
    updated: IndexVec<HashIx, bool>,
    /// The hash labels of the snapshot's pods.
    hashes: IndexVec<HashIx, &'s str>,
}

/// A revision of the DaemonSet.
#[derive(Clone, Copy)]
pub(super) struct Member<'s> {
    pub(super) position: RevisionIx,
    pub(super) view: &'s RevisionView<'s>,
    /// Its label, or its name where it has none.
    pub(super) hash: &'s str,
    /// It has the template.
    pub(super) equal: bool,
}

impl<'s> Lineage<'s> {
    pub(super) fn new(
        snapshot: &'s Snapshot<'s>,
        goals: Option<&'s Goals<'s>>,
        actions: &'s [Action],
    ) -> Self {
        let key = snapshot.spec().policy.unique_label_key.as_str();
        let ours = enumerate(snapshot.revisions()).filter(|(_, view)| belongs(snapshot, view));
        let members: Vec<Member<'s>> = ours
            .map(|(position, view)| Member {
                position,
                view,
                hash: view.labels.get(key).unwrap_or(view.name),
                equal: is_of_content(snapshot, view.data),
            })
            .collect();
        let by_rank =
            |member: &&Member<'s>| (Reverse(member.view.number), member.view.created_at, member.view.name);
        let kept = members.iter().filter(|member| member.equal).min_by_key(by_rank).copied();
        let current_is_released = kept.is_none();
        let current = kept.or_else(|| released(snapshot, key));
        let created = || actions.iter().find_map(|action| created_hash(action, key));
        let current_hash = current.map(|member| member.hash).or_else(created);
        let policy = snapshot.spec().policy.classification;
        let mut lineage = Lineage {
            goals,
            hashes: snapshot.index().hashes().collect(),
            policy,
            members,
            current,
            current_is_released,
            current_hash,
            updated: Vec::new().into(),
        };
        lineage.updated = snapshot.index().hashes().map(|hash| lineage.has_template(hash)).collect();
        lineage
    }

    /// The revision that has the template and is kept.
    pub(super) fn current(&self) -> Option<&Member<'s>> {
        self.current.as_ref()
    }

    /// The current revision, if it is the released one at this position: it is not the DaemonSet's until it has its labels
    /// back.
    pub(super) fn released(&self, position: RevisionIx) -> Option<&Member<'s>> {
        self.current().filter(|member| self.current_is_released && member.position == position)
    }

    /// Whether another controller has to create the current revision, to adopt it, or to make it the newest, before the update goes on.
    pub(super) fn is_awaited(&self, snapshot: &Snapshot<'_>) -> bool {
        let is_in_place = |current: &Member<'_>| {
            current.view.controller.is_some() && current.view.number > self.largest_old()
        };
        snapshot.drives() && (self.current_is_released || !self.current().is_some_and(is_in_place))
    }

    pub(super) fn member(&self, position: RevisionIx) -> Option<&Member<'s>> {
        let found = self.members.binary_search_by_key(&position, |member| member.position).ok()?;
        self.members.get(found)
    }

    /// The largest number of the revisions without the template; at least 0.
    pub(super) fn largest_old(&self) -> i64 {
        let old = self.members.iter().filter(|member| !member.equal);
        old.map(|member| member.view.number).max().unwrap_or(0).max(0)
    }

    /// Whether this hash means the template.
    pub(super) fn names_template(&self, hash: HashIx) -> bool {
        *self.updated.at(hash)
    }

    /// The hash label with this number.
    pub(super) fn hash(&self, hash: HashIx) -> &'s str {
        self.hashes.at(hash)
    }

    /// Whether this hash means the template.
    pub(super) fn has_template(&self, hash: &str) -> bool {
        self.current_hash == Some(hash)
            || self.members.iter().any(|member| member.equal && member.hash == hash)
    }

    /// Whether a pod is of the revision that is the goal of its node: updated, where that is the current one.
    pub(super) fn is_of_goal(&self, pod: &PodFacts) -> bool {
        // Without a base, the usual case, no node is looked up.
        let goals = self.goals.filter(|goals| goals.base().is_some());
        match goals.and_then(|goals| goals.base_of(pod.node?)) {
            Some(base) => pod.hash.is_some_and(|hash| *self.hashes.at(hash) == base.hash),
            None => self.is_updated(pod),
        }
    }

    /// The same of a pod that is not seen yet.
    pub(super) fn is_goal_of(&self, node: NodeIx, hash: &str) -> bool {
        match self.goals.and_then(|goals| goals.base_of(node)) {
            Some(base) => base.hash == hash,
            None => self.has_template(hash),
        }
    }

    /// Proposal: Controller; v1.36 `util.IsPodUpdated`.
    pub(super) fn is_updated(&self, pod: &PodFacts) -> bool {
        let by_hash = pod.hash.map(|hash| self.names_template(hash));
        if self.policy == ClassificationPolicy::HashFirst {
            by_hash.unwrap_or(pod.same_generation)
        } else {
            pod.same_generation || by_hash.unwrap_or(false)
        }
    }
}

/// It is the DaemonSet's, or may be adopted.
fn belongs(snapshot: &Snapshot<'_>, revision: &RevisionView<'_>) -> bool {
    let ours = match ownership(snapshot, revision) {
        Ownership::Controlled => true,
        Ownership::Orphan => revision.deleted_at.is_none(),
        Ownership::Foreign => false,
    };
    ours && snapshot.spec().selector.matches(revision.labels)
}

/// The revision that has the template and the name for it, is not terminating, and has no other controller: it is used
/// instead of a new one `[released-revision-comes-back]`.
fn released<'s>(snapshot: &'s Snapshot<'s>, key: &str) -> Option<Member<'s>> {
    let ds = &*snapshot.spec().daemon_set;
    let collisions = ds.status.collision_count.unwrap_or(0);
    let named = |view: &'s RevisionView<'s>| {
        let rest = view.name.strip_prefix(ds.metadata.name.as_str())?;
        rest.strip_prefix('-').filter(|hash| {
            **hash == content_hash(snapshot.spec().raw_template(), &snapshot.spec().inputs, collisions)
        })
    };
    let free = |view: &RevisionView<'_>| {
        ownership(snapshot, view) != Ownership::Foreign && view.deleted_at.is_none()
    };
    enumerate(snapshot.revisions()).filter(|(_, view)| free(view)).find_map(|(position, view)| {
        let equal = is_of_content(snapshot, view.data);
        let hash = if equal { named(view)? } else { return None };
        Some(Member { position, view, hash: view.labels.get(key).unwrap_or(hash), equal })
    })
}

/// The controller of a revision, seen from the DaemonSet.
pub(super) fn ownership(snapshot: &Snapshot<'_>, revision: &RevisionView<'_>) -> Ownership {
    let ds = &snapshot.spec().daemon_set.metadata;
    match revision.controller {
        _ if revision.namespace != ds.namespace => Ownership::Foreign,
        None => Ownership::Orphan,
        Some(uid) if uid == ds.uid.as_str() => Ownership::Controlled,
        Some(_) => Ownership::Foreign,
    }
}

/// The hash label of the revision that this action creates.
fn created_hash<'s>(action: &'s Action, key: &str) -> Option<&'s str> {
    let Action::CreateRevision { revision, .. } = action else { return None };
    revision.get("metadata")?.get("labels")?.get(key)?.as_str()
}

/// Whether data holds the template, and the inputs that the caller's manifests are made from.
pub(super) fn is_of_content(snapshot: &Snapshot<'_>, data: &Value) -> bool {
    let stored = data.get("ingredients").filter(|stored| !stored.is_null());
    let same = match (stored, &snapshot.spec().inputs) {
        (None, wanted) => wanted.is_null(),
        (Some(stored), wanted) => canonical_json::equal(stored, wanted),
    };
    same && is_of_template(data, snapshot.spec().raw_template())
}

/// Whether data holds the patch `{"spec":{"template":{…,"$patch":"replace"}}}` of this template `[null-is-absent]`.
fn is_of_template(data: &Value, template: &Value) -> bool {
    let stored = data.pointer("/spec/template").and_then(Value::as_object);
    let Some((stored, template)) = stored.zip(template.as_object()) else { return false };
    let held = stored.iter().filter(|(key, value)| *key != "$patch" && !value.is_null());
    let mut wanted = template.iter().filter(|(_, value)| !value.is_null());
    held.clone().all(|(key, _)| template.get(key).is_some_and(|value| !value.is_null()))
        && held.count() == wanted.clone().count()
        && wanted.all(|(key, value)| stored.get(key).is_some_and(|other| canonical_json::equal(other, value)))
}
