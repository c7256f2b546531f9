//! Deliberate errors in the core, one at a time: a model that does not find them proves nothing.
//!
//! Only with `--cfg daemonset_mutants`; an ordinary build knows nothing of them.

use std::cell::Cell;

/// An error that the core can be told to make.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mutant {
    /// One node more than maxUnavailable may be down.
    BudgetOffByOne,
    /// Deletes in flight are not remembered.
    DeletesForgotten,
    /// Creates in flight are not remembered.
    CreatesForgotten,
    /// Of a pair, the outdated pod goes before the updated one is available.
    SurgeWithoutWaiting,
}

thread_local! {
    static ACTIVE: Cell<Option<Mutant>> = const { Cell::new(None) };
}

/// Runs this with the error, on this thread only.
pub fn with<T>(mutant: Option<Mutant>, run: impl FnOnce() -> T) -> T {
    let before = ACTIVE.replace(mutant);
    let result = run();
    ACTIVE.set(before);
    result
}

/// Whether the core is to make this error.
pub(crate) fn is_active(mutant: Mutant) -> bool {
    ACTIVE.get() == Some(mutant)
}
