//! The deliberate errors stand at the end of each file that they break, apart from its algorithms.

/// Functions that return their first argument. With `--cfg daemonset_mutants`, and while a
/// [`Mutant`](crate::mutants::Mutant) of the function is active, they return the wrong value beside it.
macro_rules! planted {
    ($($name:ident($right:ident: $type:ty $(, $context:ident: $of:ty)?): $($mutant:ident => $wrong:expr),+;)+) => {$(
        #[inline]
        #[cfg_attr(not(daemonset_mutants), allow(unused_variables, reason = "only a wrong value has a context"))]
        pub(super) fn $name($right: $type $(, $context: $of)?) -> $type {
            $(#[cfg(daemonset_mutants)]
            if $crate::mutants::is_active($crate::mutants::Mutant::$mutant) {
                return $wrong;
            })+
            $right
        }
    )+};
}
pub(crate) use planted;
