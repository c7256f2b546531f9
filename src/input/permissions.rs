//! The permissions that an admin gives a namespace: fields of a policy with an effect beyond the DaemonSet's own pods.

use daemonset_objects::model::Labels;
use std::fmt;

/// A power of the annotations of a namespace's DaemonSets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Permission {
    /// To cordon nodes and keep them in turn: [`Policy::turn`](field@crate::Policy::turn).
    Turn,
    /// To evict the pods of others: [`Policy::drain`](field@crate::Policy::drain).
    Evict,
    /// To raise the priority of pods: [`Policy::priority_class_name`](field@crate::Policy::priority_class_name).
    Priority,
}

impl Permission {
    const ALL: [Permission; 3] = [Permission::Turn, Permission::Evict, Permission::Priority];

    /// The word in the annotation of a Namespace.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Permission::Turn => "turn",
            Permission::Evict => "evict",
            Permission::Priority => "priority",
        }
    }
}

impl fmt::Display for Permission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The permissions of the annotations of a namespace's DaemonSets; none by default. Otherwise the editors of a DaemonSet could cordon nodes, evict
/// the pods of others, and raise priorities. A [`Policy`](crate::Policy) made in code needs none.
///
/// ```
/// use daemonset::policy::Permissions;
///
/// assert_eq!(Permissions::parse("turn, evict"), Permissions::default().turn(true).evict(true));
/// assert_eq!(Permissions::parse("all"), Permissions::default(), "an unknown word gives none");
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Permissions {
    /// See [`Permission::Turn`].
    pub turn: bool,
    /// See [`Permission::Evict`].
    pub evict: bool,
    /// See [`Permission::Priority`].
    pub priority: bool,
}

crate::setters! {
    Permissions {
        turn: bool,
        evict: bool,
        priority: bool,
    }
}

impl Permissions {
    /// The annotation of a Namespace. Admins alone may write Namespaces, and delegate with it.
    pub const ANNOTATION: &str = "rollout.daemonset/powers";

    pub(crate) fn of(has: impl Fn(Permission) -> bool) -> Self {
        Permissions {
            turn: has(Permission::Turn),
            evict: has(Permission::Evict),
            priority: has(Permission::Priority),
        }
    }

    /// All permissions: for a caller whose DaemonSets only admins write.
    #[must_use]
    pub fn all() -> Self {
        Permissions::of(|_| true)
    }

    /// The permissions that the annotations of a Namespace give.
    #[must_use]
    pub fn of_namespace(annotations: &Labels) -> Self {
        annotations.get(Permissions::ANNOTATION).map(Permissions::parse).unwrap_or_default()
    }

    /// Reads words with commas between them, such as `turn,evict`. Other words give no power: a later version may know them.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        Permissions::of(|power| text.split(',').any(|word| word.trim() == power.as_str()))
    }

    /// Whether this power is among them.
    #[must_use]
    pub fn has(self, power: Permission) -> bool {
        match power {
            Permission::Turn => self.turn,
            Permission::Evict => self.evict,
            Permission::Priority => self.priority,
        }
    }
}

/// As the annotation has them.
impl fmt::Display for Permissions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = Permission::ALL.iter().filter(|power| self.has(**power)).map(|power| power.as_str());
        f.write_str(&words.collect::<Vec<_>>().join(","))
    }
}
