//! Whose pods and revisions are these: adopt, release, ignore.
//!
//! v1.36 `controller_ref_manager.go ClaimObject`.

use crate::index::PodFacts;
use crate::kubernetes::Selector;
use crate::kubernetes::ownership::Ownership;
use crate::model::DaemonSet;
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
    let Snapshot { daemon_set, selector, .. } = snapshot;
    let pods = snapshot.pods.iter().zip(&snapshot.index.pods);
    let revisions = snapshot.revisions.iter();
    Claim {
        pods: Claimed::sort_out(pods.map(|(pod, facts)| verdict_on_pod(pod, facts))),
        revisions: Claimed::sort_out(revisions.map(|r| verdict_on_revision(daemon_set, selector, r))),
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

fn verdict_on_pod(pod: &PodView<'_>, facts: &PodFacts) -> Verdict {
    verdict(facts.tie, || facts.selected, pod.deleted_at.is_some())
}

fn verdict_on_revision(ds: &DaemonSet, selector: &Selector<'_>, revision: &RevisionView<'_>) -> Verdict {
    let ds = &ds.metadata;
    if revision.namespace != ds.namespace {
        return Verdict::Ignore;
    }
    let tie = Ownership::of(revision.controller, ds.uid.as_str());
    verdict(tie, || selector.matches(revision.labels), revision.deleted_at.is_some())
}

/// Whether a revision is the DaemonSet's in this pass, adopted ones included.
#[cfg(feature = "k8s-openapi")]
pub(crate) fn belongs(ds: &DaemonSet, selector: &Selector<'_>, revision: &RevisionView<'_>) -> bool {
    match verdict_on_revision(ds, selector, revision) {
        Verdict::Owned | Verdict::Adopt => true,
        Verdict::Release | Verdict::Ignore => false,
    }
}

fn verdict(tie: Ownership, selected: impl Fn() -> bool, deleted: bool) -> Verdict {
    match tie {
        Ownership::Foreign => Verdict::Ignore,
        Ownership::Controlled if selected() => Verdict::Owned,
        Ownership::Controlled => Verdict::Release,
        Ownership::Orphan if !deleted && selected() => Verdict::Adopt,
        Ownership::Orphan => Verdict::Ignore,
    }
}
