//! The powers that an admin delegates to a namespace: fields of a policy with an effect beyond the DaemonSet's own pods.

use daemonset_objects::model::Labels;
use std::fmt;

/// A power of the annotations of a namespace's DaemonSets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Power {
    /// To cordon nodes and keep them in turn: [`Policy::turn`](field@crate::Policy::turn).
    Turn,
    /// To evict the pods of others: [`Policy::drain`](field@crate::Policy::drain).
    Evict,
    /// To raise the priority of pods: [`Policy::priority_class_name`](field@crate::Policy::priority_class_name).
    Priority,
}

impl Power {
    const ALL: [Power; 3] = [Power::Turn, Power::Evict, Power::Priority];

    /// The word in the annotation of a Namespace.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Power::Turn => "turn",
            Power::Evict => "evict",
            Power::Priority => "priority",
        }
    }
}

impl fmt::Display for Power {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The powers of the annotations of a namespace's DaemonSets; none by default. Otherwise the editors of a DaemonSet could cordon nodes, evict
/// the pods of others, and raise priorities. A [`Policy`](crate::Policy) made in code needs none.
///
/// ```
/// use daemonset::policy::Powers;
///
/// assert_eq!(Powers::parse("turn, evict"), Powers::default().turn(true).evict(true));
/// assert_eq!(Powers::parse("all"), Powers::default(), "an unknown word gives none");
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Powers {
    /// See [`Power::Turn`].
    pub turn: bool,
    /// See [`Power::Evict`].
    pub evict: bool,
    /// See [`Power::Priority`].
    pub priority: bool,
}

crate::setters! {
    Powers {
        turn: bool,
        evict: bool,
        priority: bool,
    }
}

impl Powers {
    /// The annotation of a Namespace. Admins alone may write Namespaces, and delegate with it.
    pub const ANNOTATION: &str = "rollout.daemonset/powers";

    /// All powers: for a caller whose DaemonSets only admins write.
    #[must_use]
    pub fn all() -> Self {
        Powers { turn: true, evict: true, priority: true }
    }

    /// The powers that the annotations of a Namespace delegate.
    #[must_use]
    pub fn of_namespace(annotations: &Labels) -> Self {
        annotations.get(Powers::ANNOTATION).map(Powers::parse).unwrap_or_default()
    }

    /// Reads words with commas between them, such as `turn,evict`. Other words give no power: a later version may know them.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let has = |power: Power| text.split(',').any(|word| word.trim() == power.as_str());
        Powers { turn: has(Power::Turn), evict: has(Power::Evict), priority: has(Power::Priority) }
    }

    /// Whether this power is among them.
    #[must_use]
    pub fn has(self, power: Power) -> bool {
        match power {
            Power::Turn => self.turn,
            Power::Evict => self.evict,
            Power::Priority => self.priority,
        }
    }
}

/// As the annotation has them.
impl fmt::Display for Powers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = Power::ALL.iter().filter(|power| self.has(**power)).map(|power| power.as_str());
        f.write_str(&words.collect::<Vec<_>>().join(","))
    }
}
