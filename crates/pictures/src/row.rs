//! The states of one node over time.

/// A node's run.
#[derive(Debug, PartialEq)]
pub struct Row {
    pub node: String,
    /// In order, without overlap; a gap is a time when there was no such node.
    pub spans: Vec<Span>,
}

/// For a while, nothing changes on the node.
#[derive(Debug, Clone, PartialEq)]
pub struct Span {
    pub from: i64,
    pub to: i64,
    pub state: State,
    /// The node should have a pod.
    pub target: bool,
    /// Some pod is available.
    pub available: bool,
    /// Two unfinished pods or more.
    pub surging: bool,
    /// The pods, for the details under the pointer.
    pub pods: Vec<String>,
    /// The revision of the pod that decides the state.
    pub revision: Option<usize>,
    /// The state of each pod, in words.
    pub words: String,
}

/// The state of a node in the rollout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// Its pod is available, and of that revision.
    Available(usize),
    /// Two pods, one of them available.
    Surging,
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
    pub fn shows(self) -> bool {
        self != State::Idle
    }
}
