//! The controller of an object, seen from one DaemonSet.

/// Who controls an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ownership {
    /// This DaemonSet.
    Controlled,
    /// Nobody.
    Orphan,
    /// Somebody else; or the object is of another namespace, or the mirror of a static pod, which is never ours: its
    /// kubelet owns it, and a delete would not end it.
    Foreign,
}

impl Ownership {
    /// By the uid of the object's controller.
    pub(crate) fn of(controller: Option<&str>, ours: &str) -> Self {
        match controller {
            None => Ownership::Orphan,
            Some(uid) if uid == ours => Ownership::Controlled,
            Some(_) => Ownership::Foreign,
        }
    }
}
