//! The goal of one node.

/// The goal of one node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NodeGoal {
    /// The current revision.
    Current,
    /// The stable revision, since the rollout is rolled back.
    Stable,
    /// The stable revision, since the rollout has not reached the node: it is not updated.
    HeldOnStable,
    /// As [`HeldOnStable`](Self::HeldOnStable), but there is no stable revision: a missing pod is created from the current revision.
    HeldOnCurrent,
}

impl NodeGoal {
    pub fn is_held(self) -> bool {
        // "Held" and "the stable revision" are two questions: a held node need not have a stable revision, and a node on its way to the stable revision is not held.
        match self {
            NodeGoal::HeldOnStable | NodeGoal::HeldOnCurrent => true,
            NodeGoal::Current | NodeGoal::Stable => false,
        }
    }

    pub fn is_stable(self) -> bool {
        match self {
            NodeGoal::Stable | NodeGoal::HeldOnStable => true,
            NodeGoal::Current | NodeGoal::HeldOnCurrent => false,
        }
    }
}
