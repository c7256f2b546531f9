//! The revision that has the name of the one to create: in the way, or the current one that has lost its labels.
//!
//! v1.36 `update.go snapshot`, where the create is answered with `AlreadyExists`.

use crate::model::Labels;
use crate::snapshot::Snapshot;
use crate::view::RevisionView;

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
