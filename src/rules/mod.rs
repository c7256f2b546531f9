//! The opt-in rules, a room each. [`Rule`] names them; each match on it here has no `_`, so that a new rule is asked for.

pub(crate) mod change;
pub(crate) mod down_nodes;
pub(crate) mod fit;
#[warn(missing_docs, clippy::exhaustive_enums, clippy::exhaustive_structs)]
pub(crate) mod gate;
pub(crate) mod hold;
pub(crate) mod in_place;
pub(crate) mod names;
pub(crate) mod pull;
pub(crate) mod turn;
pub(crate) mod turn_end;

use crate::input::Policy;
use crate::input::policy::Rule;
use crate::input::strategy::Strategy;

/// What rules read beside the facts that each plan reads. Who keeps objects keeps these parts only where a rule reads them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Reads {
    /// The identity of nodes, which are patched.
    pub patches: bool,
    /// The images on nodes.
    pub images: bool,
    /// The free resources of nodes.
    pub free: bool,
    /// The whole pods of the DaemonSet.
    pub whole_pods: bool,
    /// The names of all pods of the namespace.
    pub names: bool,
}

impl Reads {
    /// What a policy reads.
    pub fn of(policy: &Policy) -> Self {
        Reads::of_rules(|rule| rule.is_on(policy))
    }

    /// What these rules read.
    pub fn of_rules(is_on: impl Fn(Rule) -> bool) -> Self {
        let mut all = Reads::default();
        for rule in Rule::ALL.iter().filter(|rule| is_on(**rule)) {
            match rule {
                Rule::Turn => all.patches = true,
                Rule::Pull => all.images = true,
                Rule::InPlace => all.whole_pods = true,
                Rule::Fit => (all.free, all.whole_pods) = (true, true),
                Rule::PodNames => all.names = true,
                Rule::DownNodes | Rule::Lifecycle | Rule::Drain | Rule::Priority => {}
            }
        }
        all
    }

    /// Whether a plan looks at such parts at all.
    pub fn any(self) -> bool {
        self != Reads::default()
    }
}

/// Whether plans depend on a rule under this strategy.
pub fn has_effect(rule: Rule, strategy: Strategy) -> bool {
    match rule {
        // A person takes the pods.
        Rule::Turn | Rule::Fit => strategy != Strategy::OnDelete,
        // The new pod comes beside the old one, or a person takes the pods.
        Rule::Pull | Rule::InPlace => matches!(strategy, Strategy::Replace(_)),
        // The caller drains.
        Rule::Drain => false,
        Rule::PodNames | Rule::DownNodes | Rule::Lifecycle | Rule::Priority => true,
    }
}
