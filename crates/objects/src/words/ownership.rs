//! The controller of an object, seen from one DaemonSet.

/// The controller of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "for crates of the same version")]
pub enum Ownership {
    /// This DaemonSet.
    Controlled,
    /// Nobody.
    Orphan,
    /// Another one. Also an object of another namespace, and the mirror of a static pod: its kubelet owns it, and a delete
    /// would not end it.
    Foreign,
}

impl Ownership {
    /// By the uids of the object's controller and of this DaemonSet.
    #[inline]
    pub fn from_controller(controller: Option<&str>, ours: &str) -> Self {
        match controller {
            None => Ownership::Orphan,
            Some(uid) if uid == ours => Ownership::Controlled,
            Some(_) => Ownership::Foreign,
        }
    }

    /// The verdict on an object by its labels and its deletion (v1.36 `controller_ref_manager.go ClaimObject`).
    #[inline]
    pub fn verdict(self, selected: impl Fn() -> bool, deleted: bool) -> ClaimVerdict {
        match self {
            Ownership::Foreign => ClaimVerdict::Ignore,
            Ownership::Controlled if selected() => ClaimVerdict::Owned,
            Ownership::Controlled => ClaimVerdict::Release,
            Ownership::Orphan if !deleted && selected() => ClaimVerdict::Adopt,
            Ownership::Orphan => ClaimVerdict::Ignore,
        }
    }
}

/// The result of claiming one object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClaimVerdict {
    Owned,
    Adopt,
    Release,
    Ignore,
}

impl ClaimVerdict {
    /// The object belongs to the DaemonSet in this pass.
    #[inline]
    pub fn is_ours(self) -> bool {
        match self {
            ClaimVerdict::Owned | ClaimVerdict::Adopt => true,
            ClaimVerdict::Release | ClaimVerdict::Ignore => false,
        }
    }
}
