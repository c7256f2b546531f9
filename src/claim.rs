//! Whose pods and revisions are these: adopt, release, ignore.
//!
//! v1.36 `controller_ref_manager.go ClaimObject`.

use crate::model::Labels;
use crate::snapshot::Snapshot;
use crate::view::{PodView, RevisionView};

/// What belongs to the DaemonSet in this pass, as positions in the snapshot's lists.
#[derive(Debug, Default)]
pub(crate) struct Claim {
    pub(crate) pods: Claimed,
    pub(crate) revisions: Claimed,
}

#[derive(Debug, Default)]
pub(crate) struct Claimed {
    /// Owned, the adopted ones included and the released ones not.
    pub(crate) owned: Vec<u32>,
    pub(crate) adopted: Vec<u32>,
    pub(crate) released: Vec<u32>,
}

/// What the DaemonSet and an object are to each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Owned,
    Adopt,
    Release,
    Ignore,
}

/// Sorts out all pods and revisions of the snapshot.
pub(crate) fn claim(snapshot: &Snapshot<'_>) -> Claim {
    Claim {
        pods: Claimed::sort_out(snapshot.pods.iter().map(|pod| verdict_on_pod(snapshot, pod))),
        revisions: Claimed::sort_out(snapshot.revisions.iter().map(|r| verdict_on_revision(snapshot, r))),
    }
}

impl Claimed {
    fn sort_out(verdicts: impl ExactSizeIterator<Item = Verdict>) -> Self {
        let mut claimed = Claimed { owned: Vec::with_capacity(verdicts.len()), ..Claimed::default() };
        for (position, verdict) in (0_u32..).zip(verdicts) {
            match verdict {
                Verdict::Owned => claimed.owned.push(position),
                Verdict::Adopt => {
                    claimed.adopted.push(position);
                    claimed.owned.push(position);
                }
                Verdict::Release => claimed.released.push(position),
                Verdict::Ignore => {}
            }
        }
        claimed
    }
}

fn verdict_on_pod(snapshot: &Snapshot<'_>, pod: &PodView<'_>) -> Verdict {
    // A mirror pod is only the picture of a static pod: its kubelet owns it, and a delete would not end it.
    if pod.namespace != snapshot.daemon_set.metadata.namespace || pod.mirror {
        return Verdict::Ignore;
    }
    verdict(snapshot, pod.controller, pod.labels, pod.deleted_at.is_some())
}

fn verdict_on_revision(snapshot: &Snapshot<'_>, revision: &RevisionView<'_>) -> Verdict {
    if revision.namespace != snapshot.daemon_set.metadata.namespace {
        return Verdict::Ignore;
    }
    verdict(snapshot, revision.controller, revision.labels, revision.deleted_at.is_some())
}

fn verdict(snapshot: &Snapshot<'_>, controller: Option<&str>, labels: &Labels, deleted: bool) -> Verdict {
    let ours = snapshot.daemon_set.metadata.uid.as_str();
    match controller {
        Some(uid) if uid != ours => Verdict::Ignore,
        Some(_) if snapshot.selector.matches(labels) => Verdict::Owned,
        Some(_) => Verdict::Release,
        None if !deleted && snapshot.selector.matches(labels) => Verdict::Adopt,
        None => Verdict::Ignore,
    }
}
