//! Claims pods and revisions: adopts, releases or ignores each of them.
//!
//! v1.36 `controller_ref_manager.go ClaimObject`.

use crate::kubernetes::ownership::ClaimVerdict;
use crate::snapshot::Snapshot;
use crate::snapshot::index::PodFacts;
use crate::snapshot::position::{PodIx, Position, RevisionIx};
use crate::view::PodView;

/// The pods and revisions that belong to the DaemonSet in this pass.
#[derive(Debug)]
pub(crate) struct Claim {
    pub(crate) pods: Claimed<PodIx>,
    pub(crate) revisions: Claimed<RevisionIx>,
}

/// Pods or revisions, by their positions in the snapshot.
#[derive(Debug)]
pub(crate) struct Claimed<I> {
    /// Includes the adopted ones, but not the released ones.
    pub(crate) owned: Vec<I>,
    pub(crate) adopted: Vec<I>,
    pub(crate) released: Vec<I>,
}

/// Claims all pods and revisions of the snapshot.
#[doc(alias = "ClaimObject")]
pub(crate) fn claim(snapshot: &Snapshot<'_>) -> Claim {
    let pods = snapshot.pods_with_facts();
    Claim {
        pods: Claimed::sort_out(pods.map(|(_, pod, facts)| verdict_on_pod(pod, facts))),
        revisions: claim_revisions(snapshot),
    }
}

/// Claims the revisions alone, which are all that the history needs.
pub(crate) fn claim_revisions(snapshot: &Snapshot<'_>) -> Claimed<RevisionIx> {
    Claimed::sort_out(snapshot.revision_facts.iter().map(|facts| facts.claim))
}

impl<I: Position> Claimed<I> {
    fn sort_out(verdicts: impl ExactSizeIterator<Item = ClaimVerdict>) -> Self {
        let owned = Vec::with_capacity(verdicts.len());
        let mut claimed = Claimed { owned, adopted: Vec::new(), released: Vec::new() };
        for (index, verdict) in verdicts.enumerate() {
            let position = I::new(index);
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

pub(crate) fn verdict_on_pod(pod: &PodView<'_>, facts: &PodFacts) -> ClaimVerdict {
    facts.ownership.verdict(|| facts.selected, pod.deleted_at.is_some())
}
