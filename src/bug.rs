//! Bugs of this crate: a decision that meets one does nothing.
//!
//! A step that finds a state which can't be, such as a position beyond the end of its list, tells it with [`met`] and goes on with
//! a neutral value. The decision around it [watches](watch) its steps, and gives no action after a bug: one on a neutral value could be
//! an action on any object. Debug builds and tests stop at the step.

use std::cell::Cell;

thread_local! {
    /// Whether the decision that this thread works on has met a bug. Each decision begins without one, so that it stays a function of
    /// its input.
    static MET: Cell<bool> = const { Cell::new(false) };
}

/// Tells the decision under way that it can't be trusted.
#[cold]
pub fn met() {
    MET.set(true);
}

/// Tells a bug where a value is missing that must be there.
#[inline]
pub(crate) fn expected<T>(value: Option<T>) -> Option<T> {
    if value.is_none() {
        met();
    }
    value
}

/// Runs a part of a decision. Returns whether it has met a bug, too.
pub fn watch<T>(run: impl FnOnce() -> T) -> (T, bool) {
    let around = MET.replace(false);
    let result = run();
    (result, MET.replace(around))
}
