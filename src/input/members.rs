//! All that follows from the one list of the members of a policy.

/// The struct, with what follows from its list. After the type of a member come, in this order and where they are needed: `=` and its
/// default, if that is not the type's own; `set` and what its setter takes, if that is not the type itself; `annotation` and the
/// field of `PolicyAnnotation` that overrides it; and `rule`, the [`Rule`](crate::policy::Rule) that it switches on, its name in JSON,
/// what the rule reads, the strategies under which it has an effect or is refused, and the permission that it needs in an annotation.
macro_rules! policy {
    (
        $(#[$of_struct:meta])*
        pub struct Policy {$(
            $(#[$of_field:meta])*
            pub $field:ident: $type:ty
                $(= $default:expr)?
                $(, set $setter:ty)?
                $(, annotation $asked:ident)?
                $(, rule $rule:ident $name:literal reads($($read:ident)*) under($($strategy:ident)+) $(needs $power:ident)?)?;
        )*}
    ) => {
        $(#[$of_struct])*
        pub struct Policy {
            $($(#[$of_field])* pub $field: $type,)*
        }

        impl Default for Policy {
            fn default() -> Self {
                Policy { $($field: first!($($default,)? <$type>::default()),)* }
            }
        }

        crate::setters! {
            Policy { $($field: first_type!($($setter,)? $type),)* }
        }

        /// The members that need a power in an annotation, each with it.
        pub(crate) const POWERFUL: &[(&str, Permission)] =
            &[$($($(($name, Permission::$power),)?)?)*];

        /// An opt-in rule about nodes and their pods, each switched on by a member of a [`Policy`].
        ///
        /// The match on it is exhaustive: a new rule is a new major version, and the compiler names each place that must learn it.
        ///
        /// ```
        /// use daemonset::Policy;
        /// use daemonset::policy::{FitPolicy, Rule};
        ///
        /// let policy = Policy::default().fit(FitPolicy::Hold);
        /// let on: Vec<&str> = Rule::ALL.iter().filter(|rule| rule.is_on(&policy)).map(|rule| rule.member()).collect();
        /// assert_eq!(on, ["fit"]);
        /// ```
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[allow(clippy::exhaustive_enums, reason = "who describes or tries a rule must learn of a new one")]
        pub enum Rule {
            $($(
                #[doc = concat!("[`Policy::", stringify!($field), "`](field@crate::Policy::", stringify!($field), ")")]
                $rule,
            )?)*
        }

        impl Rule {
            /// All rules, in the order of the members of a [`Policy`].
            pub const ALL: &'static [Rule] = &[$($(Rule::$rule,)?)*];

            /// The name of its member in JSON and in the annotation.
            #[must_use]
            pub fn member(self) -> &'static str {
                match self { $($(Rule::$rule => $name,)?)* }
            }

            /// Whether the policy switches it on.
            #[must_use]
            pub fn is_on(self, policy: &Policy) -> bool {
                match self { $($(Rule::$rule => RuleMember::is_on(&policy.$field),)?)* }
            }

            /// Whether it has an effect, or is refused, under this strategy.
            #[doc(hidden)]
            #[must_use]
            pub fn has_effect(self, strategy: Strategy) -> bool {
                match self { $($(Rule::$rule => matches!(strategy, $(Strategy::$strategy { .. })|+),)?)* }
            }

            /// Switches it off: its member gets its default.
            pub fn switch_off(self, policy: &mut Policy) {
                let default = Policy::default();
                match self { $($(Rule::$rule => { policy.$field = default.$field; })?)* }
            }
        }

        impl RuleReads {
            /// What these rules read.
            pub fn of_rules(is_on: impl Fn(Rule) -> bool) -> Self {
                let mut reads = RuleReads::default();
                $($($(reads.$read |= is_on(Rule::$rule);)*)?)*
                reads
            }
        }

        impl Permissions {
            /// The powers that an annotation needs for the members that this policy has.
            #[doc(hidden)]
            pub fn needed_by(policy: &Policy) -> Self {
                let needed = [$($($(policy.$field.as_ref().map(|_| Permission::$power),)?)?)*];
                Permissions::of(|power| needed.contains(&Some(power)))
            }
        }

        impl PolicyAnnotation {
            pub(crate) fn merge_into(self, policy: &mut Policy) {
                // Without `..`: each field of the annotation has its member here.
                let PolicyAnnotation { paused, approved, waves, on_failure, $($($asked,)?)* } = self;
                // The rollout is replaced as a whole: its author must see each wave and each rule that steers it.
                policy.rollout = Some(RolloutPolicy {
                    paused: paused.unwrap_or_default(),
                    approved: approved.unwrap_or_default(),
                    waves: waves.unwrap_or_default(),
                    on_failure,
                });
                // The other members are choices of the caller, which an annotation only overrides.
                $($(if let Some(asked) = $asked {
                    policy.$field = asked.into();
                })?)*
            }
        }
    };
}

/// The given one, or the other.
macro_rules! first {
    ($first:expr $(, $other:expr)?) => {
        $first
    };
}

/// The same of types.
macro_rules! first_type {
    ($first:ty $(, $other:ty)?) => {
        $first
    };
}

pub(crate) use {first, first_type, policy};
