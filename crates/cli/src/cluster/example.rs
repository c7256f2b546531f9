//! The clusters that are built in, as `kubectl get … -o json` printed them.

/// A cluster for a first look.
#[derive(Clone, Copy)]
pub(crate) struct Example {
    /// The List.
    pub(crate) json: &'static str,
    /// How messages call it.
    pub(crate) title: &'static str,
}

/// In the middle of an update.
pub(crate) const MIDROLLOUT: Example =
    Example { json: include_str!("midrollout.json"), title: "the built-in example" };

/// At rest, with several DaemonSets.
pub(crate) const STEADY: Example =
    Example { json: include_str!("steady.json"), title: "the built-in cluster" };
