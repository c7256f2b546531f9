//! The goal of one node.

/// The goal of one node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NodeGoal {
    /// The current revision.
    Current,
    /// The base, since the rollout is rolled back.
    Base,
    /// The base, since the rollout has not reached the node: it is not updated.
    HeldOnBase,
    /// As [`HeldOnBase`](Self::HeldOnBase), but there is no base: a missing pod is created from the current revision.
    HeldOnCurrent,
}

impl NodeGoal {
    pub fn is_held(self) -> bool {
        // "Held" and "base" are two questions: a held node need not have a base, and a node on its way to base is not held.
        match self {
            NodeGoal::HeldOnBase | NodeGoal::HeldOnCurrent => true,
            NodeGoal::Current | NodeGoal::Base => false,
        }
    }

    pub fn is_base(self) -> bool {
        match self {
            NodeGoal::Base | NodeGoal::HeldOnBase => true,
            NodeGoal::Current | NodeGoal::HeldOnCurrent => false,
        }
    }
}
