//! The places of the deliberate errors, which only the builds know that must find them.

/// The right value. With `--cfg daemonset_mutants`, and while this [`Mutant`](crate::mutants::Mutant) is active, the wrong one.
macro_rules! planted {
    ($mutant:ident, $right:expr, $wrong:expr) => {{
        #[cfg(daemonset_mutants)]
        let value = if $crate::objects::mutants::is_active($crate::objects::mutants::Mutant::$mutant) {
            $wrong
        } else {
            $right
        };
        #[cfg(not(daemonset_mutants))]
        let value = $right;
        value
    }};
}
pub(crate) use planted;
