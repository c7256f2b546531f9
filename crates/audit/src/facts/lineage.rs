//! The DaemonSet's revisions: the one with the template, and the hashes that mean it.

use daemonset::internal::{HashIx, IndexVec, Ownership, PodFacts, RevisionIx, content_hash, enumerate};
use daemonset::kubernetes::canonical_json;
use daemonset::policy::ClassificationPolicy;
use daemonset::{Action, RevisionView, Snapshot};
use serde_json::Value;
use std::cmp::Reverse;

/// The revisions that belong to the DaemonSet or may be adopted.
pub(crate) struct Lineage<'s> {
    policy: ClassificationPolicy,
    pub(crate) members: Vec<Member<'s>>,
    /// The one to keep of the members with the template; if no member has it, the released revision that has both the
    /// template and the name for it.
    current: Option<Member<'s>>,
    /// No member has the template: the current one, if there is one, is a released revision.
    pub(crate) current_is_released: bool,
    /// The hash of the template's revision, be it there or created by the list.
    pub(crate) current_hash: Option<&'s str>,
    /// For each hash label, whether it says that a pod is updated.
    updated: IndexVec<HashIx, bool>,
    /// The hash labels of the snapshot's pods.
    hashes: IndexVec<HashIx, &'s str>,
}

/// A revision of the DaemonSet.
#[derive(Clone, Copy)]
pub(crate) struct Member<'s> {
    pub(crate) position: RevisionIx,
    pub(crate) view: &'s RevisionView<'s>,
    /// Its label, or its name where it has none.
    pub(crate) hash: &'s str,
    /// It has the template.
    pub(crate) equal: bool,
}

impl<'s> Lineage<'s> {
    pub(crate) fn new(snapshot: &'s Snapshot<'s>, actions: &'s [Action]) -> Self {
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
    pub(crate) fn current(&self) -> Option<&Member<'s>> {
        self.current.as_ref()
    }

    /// The current revision, if it is the released one at this position: it is not the DaemonSet's until it has its labels
    /// back.
    pub(crate) fn released(&self, position: RevisionIx) -> Option<&Member<'s>> {
        self.current().filter(|member| self.current_is_released && member.position == position)
    }

    /// Whether another controller has to create the current revision, to adopt it, or to make it the newest, before the update goes on.
    pub(crate) fn is_awaited(&self, snapshot: &Snapshot<'_>) -> bool {
        let is_in_place = |current: &Member<'_>| {
            current.view.controller.is_some() && current.view.number > self.largest_old()
        };
        snapshot.drives() && (self.current_is_released || !self.current().is_some_and(is_in_place))
    }

    pub(crate) fn member(&self, position: RevisionIx) -> Option<&Member<'s>> {
        let found = self.members.binary_search_by_key(&position, |member| member.position).ok()?;
        self.members.get(found)
    }

    /// The largest number of the revisions without the template; at least 0.
    pub(crate) fn largest_old(&self) -> i64 {
        let old = self.members.iter().filter(|member| !member.equal);
        old.map(|member| member.view.number).max().unwrap_or(0).max(0)
    }

    /// Whether this hash means the template.
    pub(crate) fn names_template(&self, hash: HashIx) -> bool {
        *self.updated.at(hash)
    }

    /// The hash label with this number.
    pub(crate) fn hash(&self, hash: HashIx) -> &'s str {
        self.hashes.at(hash)
    }

    /// Whether this hash means the template.
    pub(crate) fn has_template(&self, hash: &str) -> bool {
        self.current_hash == Some(hash)
            || self.members.iter().any(|member| member.equal && member.hash == hash)
    }

    /// Proposal: Controller; v1.36 `util.IsPodUpdated`.
    pub(crate) fn is_updated(&self, pod: &PodFacts) -> bool {
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
pub(crate) fn ownership(snapshot: &Snapshot<'_>, revision: &RevisionView<'_>) -> Ownership {
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
pub(crate) fn is_of_content(snapshot: &Snapshot<'_>, data: &Value) -> bool {
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
