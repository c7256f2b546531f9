//! Whose pods and revisions are these: adopt, release, ignore.
//!
//! v1.36 `controller_ref_manager.go ClaimObject`.

use crate::kubernetes::Selector;
use crate::kubernetes::ownership::{ClaimVerdict, Ownership};
use crate::model::DaemonSet;
use crate::snapshot::Snapshot;
use crate::snapshot::index::PodFacts;
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
    fn sort_out(verdicts: impl ExactSizeIterator<Item = ClaimVerdict>) -> Self {
        let mut claimed = Claimed { owned: Vec::with_capacity(verdicts.len()), ..Claimed::default() };
        for (position, verdict) in (0_u32..).zip(verdicts) {
            match verdict {
                ClaimVerdict::Owned => claimed.owned.push(position),
                ClaimVerdict::Adopt => {
                    claimed.adopted.push(position);
                    claimed.owned.push(position);
                }
                ClaimVerdict::Release => claimed.released.push(position),
                ClaimVerdict::Ignore => {}
            }
        }
        claimed
    }
}

fn verdict_on_pod(pod: &PodView<'_>, facts: &PodFacts) -> ClaimVerdict {
    facts.tie.verdict(|| facts.selected, pod.deleted_at.is_some())
}

fn verdict_on_revision(ds: &DaemonSet, selector: &Selector<'_>, revision: &RevisionView<'_>) -> ClaimVerdict {
    let ds = &ds.metadata;
    if revision.namespace != ds.namespace {
        return ClaimVerdict::Ignore;
    }
    let ownership = Ownership::of(revision.controller, ds.uid.as_str());
    ownership.verdict(|| selector.matches(revision.labels), revision.deleted_at.is_some())
}
