//! Claims pods and revisions: adopts, releases or ignores each of them.
//!
//! v1.36 `controller_ref_manager.go ClaimObject`.

use crate::input::Snapshot;
use crate::position::{PodIx, RevisionIx};
use daemonset_objects::internal::ClaimVerdict;

/// The pods and revisions that belong to the DaemonSet in this pass.
#[derive(Debug)]
pub struct Claim {
    pub pods: ClaimedPods,
    pub revisions: ClaimedRevisions,
}

/// The pods that change their owner. The fleet has those that are owned.
#[derive(Debug, Default)]
pub struct ClaimedPods {
    /// How many are owned, the adopted ones included.
    pub owned: usize,
    pub adopted: Vec<PodIx>,
    pub released: Vec<PodIx>,
}

/// The revisions that belong to the DaemonSet, and those that change their owner.
#[derive(Debug, Default)]
pub struct ClaimedRevisions {
    /// Includes the adopted ones. The released ones are not among them.
    pub owned: Vec<RevisionIx>,
    pub adopted: Vec<RevisionIx>,
    pub released: Vec<RevisionIx>,
}

/// Claims all pods and revisions of the snapshot.
#[doc(alias = "ClaimObject")]
pub fn claim(snapshot: &Snapshot<'_>) -> Claim {
    let mut pods = ClaimedPods::default();
    for (position, pod, facts) in snapshot.pods_with_facts() {
        let verdict = facts.verdict(pod);
        // Owned pods are counted, not listed: most often they are all pods of a large fleet.
        pods.owned += usize::from(verdict.is_ours());
        match verdict {
            ClaimVerdict::Adopt => pods.adopted.push(position),
            ClaimVerdict::Release => pods.released.push(position),
            ClaimVerdict::Owned | ClaimVerdict::Ignore => {}
        }
    }
    Claim { pods, revisions: claim_revisions(snapshot) }
}

/// Claims the revisions alone, which are all that the history needs.
pub fn claim_revisions(snapshot: &Snapshot<'_>) -> ClaimedRevisions {
    let mut revisions = ClaimedRevisions::default();
    for (position, facts) in snapshot.revision_facts.enumerated() {
        match facts.claim {
            ClaimVerdict::Owned => revisions.owned.push(position),
            // It counts in this same plan: otherwise a DaemonSet that was orphaned would get a second current revision.
            ClaimVerdict::Adopt => {
                revisions.adopted.push(position);
                revisions.owned.push(position);
            }
            ClaimVerdict::Release => revisions.released.push(position),
            ClaimVerdict::Ignore => {}
        }
    }
    revisions
}
