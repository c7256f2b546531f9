//! The states of one node over time.

/// A node's run.
#[derive(Debug, PartialEq)]
pub(crate) struct Row {
    pub(crate) node: String,
    /// In order, without overlap; a gap is a time when there was no such node.
    pub(crate) spans: Vec<Span>,
}

/// For a while, nothing changes on the node.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Span {
    pub(crate) from: i64,
    pub(crate) to: i64,
    pub(crate) state: State,
    /// The node should have a pod.
    pub(crate) target: bool,
    /// Some pod is available.
    pub(crate) available: bool,
    /// Two unfinished pods or more.
    pub(crate) doubled: bool,
    /// The pods, for the details under the pointer.
    pub(crate) pods: Vec<String>,
    /// The revision of the pod that decides the state.
    pub(crate) revision: Option<usize>,
    /// The state of each pod, in words.
    pub(crate) words: String,
}

/// The state of a node in the rollout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum State {
    /// Its pod is available, and of that revision.
    Available(usize),
    /// Two pods, one of them available.
    Doubled,
    /// Ready for less than minReadySeconds.
    Settling,
    /// Created, pending or not Ready.
    Starting,
    /// It should have a pod, and does not.
    NoPod,
    /// All it has is a pod that must go.
    Terminating,
    /// Its container or its pod failed.
    Failed,
    /// The node itself is not Ready.
    NodeUnready,
    /// It has no pod, and needs no pod.
    Idle,
}

impl State {
    /// Whether there is something to draw.
    pub(crate) fn shows(self) -> bool {
        self != State::Idle
    }
}
