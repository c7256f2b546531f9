//! The garbage collector's finalizers of an object after a DELETE.
//!
//! v1.36 `apiserver/pkg/registry/generic/registry/store.go deletionFinalizersForGarbageCollection`.

use super::options::{DeleteOptions, Propagation};
use super::{FOREGROUND_DELETION, ORPHAN};
use std::collections::BTreeSet;

/// The finalizers after this DELETE: the one of the policy comes last, the other one is removed. A list that has the
/// right ones already keeps its order.
pub(super) fn after_delete(finalizers: &[String], options: &DeleteOptions) -> Vec<String> {
    let others = finalizers.iter().filter(|one| !is_collectors(one)).cloned();
    let wanted = match policy(finalizers, options) {
        Propagation::Orphan => Some(ORPHAN),
        Propagation::Foreground => Some(FOREGROUND_DELETION),
        Propagation::Background => None,
    };
    let after: Vec<String> = others.chain(wanted.map(str::to_owned)).collect();
    let same = after.iter().collect::<BTreeSet<_>>() == finalizers.iter().collect::<BTreeSet<_>>();
    if same { finalizers.to_vec() } else { after }
}

/// The policy of the request. Without one, the policy of the object's first policy finalizer, so that a policy set
/// beforehand holds. Without that, background, the default of DaemonSets, revisions and pods in every version served
/// today (v1.36 `registry/apps/daemonset/strategy.go DefaultGarbageCollectionPolicy`).
fn policy(finalizers: &[String], options: &DeleteOptions) -> Propagation {
    let set_beforehand = || finalizers.iter().find_map(|one| policy_of(one));
    options.asked().or_else(set_beforehand).unwrap_or(Propagation::Background)
}

/// The policy of one of the garbage collector's finalizers; `None` for another finalizer.
fn policy_of(finalizer: &str) -> Option<Propagation> {
    match finalizer {
        ORPHAN => Some(Propagation::Orphan),
        FOREGROUND_DELETION => Some(Propagation::Foreground),
        _ => None,
    }
}

fn is_collectors(finalizer: &str) -> bool {
    policy_of(finalizer).is_some()
}
