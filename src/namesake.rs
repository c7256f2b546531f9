//! The revision that has the name of the one to create: in the way, or the current one that has lost its labels.
//!
//! v1.36 `update.go snapshot`, where the create is answered with `AlreadyExists`.

use crate::history::has_template;
use crate::kubernetes::ownership::Ownership;
use crate::model::{DaemonSet, Labels};
use crate::snapshot::Snapshot;
use crate::view::RevisionView;
use serde_json::Value;

/// Whether it is the current revision, though its labels don't match the selector. The name and the content are the
/// DaemonSet's, and nobody else controls it: one that is the DaemonSet's still is released by this very pass.
pub(crate) fn is_current(ds: &DaemonSet, template: &Value, revision: &RevisionView<'_>) -> bool {
    let free = match Ownership::of(revision.controller, ds.metadata.uid.as_str()) {
        Ownership::Orphan | Ownership::Controlled => true,
        Ownership::Foreign => false,
    };
    free && revision.deleted_at.is_none() && has_template(revision.data, template)
}

/// The labels of a new revision that it lacks: with them it is adopted by the usual rules. A hash label that it has
/// stays, as that of every revision does.
pub(crate) fn missing_labels(snapshot: &Snapshot<'_>, revision: &RevisionView<'_>, hash: &str) -> Labels {
    let key = snapshot.policy.unique_label_key.as_str();
    let wanted = snapshot.template.metadata.labels.with(key, hash);
    let lacks = |(wanted, value): &(&str, &str)| match revision.labels.get(wanted) {
        Some(_) if *wanted == key => false,
        Some(found) => found != *value,
        None => true,
    };
    wanted.iter().filter(lacks).collect()
}

/// Whether it would be current for the template that it stores itself: to find that template where the DaemonSet's has
/// lost fields.
#[cfg(feature = "k8s-openapi")]
pub(crate) fn is_named_by_content(ds: &DaemonSet, revision: &RevisionView<'_>) -> bool {
    let named = |template: &Value| {
        let hash = crate::kubernetes::hash::template_hash(template, ds.status.collision_count.unwrap_or(0));
        revision.name == crate::history::revision_name(ds, &hash)
    };
    let stored = crate::typed::stored(revision.data);
    revision.namespace == ds.metadata.namespace
        && stored.is_some_and(|template| is_current(ds, &template, revision) && named(&template))
}
