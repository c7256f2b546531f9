//! Deliberate errors in the core, one at a time: a model check that does not find them proves nothing.
//!
//! Only with `--cfg daemonset_mutants`; an ordinary build knows nothing of them.

use std::cell::Cell;

/// A deliberate error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mutant {
    /// One node more than maxUnavailable may be down.
    BudgetOffByOne,
    /// Deletes in flight are not remembered.
    DeletesForgotten,
    /// Creates in flight are not remembered.
    CreatesForgotten,
    /// The outdated pod of a pair goes before the updated one is available.
    SurgeWithoutWaiting,
    /// Nodes that the update took down are not remembered.
    TakenForgotten,
    /// A wave opens although the ones before it are not done.
    WaveNotDone,
    /// A wave opens although nobody has approved it.
    ApprovalIgnored,
    /// A pause holds no node.
    PauseIgnored,
    /// The mark `failed` stops nothing.
    FailureIgnored,
    /// A failed version stops the rollout, and is never rolled back.
    RollBackForgotten,
    /// The verdict that the new version has failed is not marked.
    VerdictNotMarked,
    /// A revision that has failed may be the stable revision.
    FailedStableRevision,
    /// Nodes in no open wave get the new version.
    HeldNodeUpdated,
    /// A node that has the new version, but is in no open wave, goes back to the stable revision.
    ReachedNodeTakenBack,
    /// The mark `wave` is set to the first wave again.
    WaveLowered,
    /// A rollout is complete although some pods are not available.
    CompletedTooEarly,
    /// A fleet without outdated pods is settled, also in the middle of its rollout.
    SettledMidway,
    /// A version that was undone and put back is undone again.
    UndoneAgain,
    /// The DaemonSet may have changed since the undo began.
    ChangeUndone,
    /// A restored template that the snapshot does not show holds up nothing.
    RestoreNotAwaited,
    /// A pod is taken on a node that is not in turn.
    TurnSkipped,
    /// `turn: Keep` keeps nothing.
    KeepIgnored,
    /// Each gate is open.
    GateIgnored,
    /// The answer to another turn opens a gate, too.
    AnyAnswerOpens,
    /// A turn ends before the new pod is available.
    TurnEndsEarly,
    /// One turn more than the limit may begin.
    TurnLimitOffByOne,
    /// A turn that ends leaves its cordon behind.
    CordonLeft,
    /// The end of a turn takes the cordon back that another DaemonSet's turn needs.
    CordonNotHandedOver,
    /// A turn that begins on a node which a person has cordoned takes the cordon for its own.
    PersonsCordonTaken,
    /// A turn whose cordon a person has taken back goes on saying that it has one.
    LostCordonKept,
    /// Patches of nodes in flight are not remembered.
    PatchesForgotten,
    /// The name of a pod depends on its template.
    NameByTemplate,
    /// A pod that was changed in its place is Ready though its old containers still run.
    OldContainersCount,
    /// Changes in place in flight are not remembered.
    ChangesForgotten,
    /// A Ready pod does not wait for the images of its successor.
    PullNotAwaited,
    /// One node more than the limit may pull.
    PullsOffByOne,
    /// Pull pods in flight are not remembered.
    PullsForgotten,
    /// A pull pod stays though nobody waits for its images.
    PullPodsLeft,
    /// A step of each decision finds a state that can't be.
    BugMet,
}

thread_local! {
    static ACTIVE: Cell<Option<Mutant>> = const { Cell::new(None) };
}

/// Runs a closure with the error, on this thread only.
pub fn with<T>(mutant: Option<Mutant>, run: impl FnOnce() -> T) -> T {
    let before = ACTIVE.replace(mutant);
    let result = run();
    ACTIVE.set(before);
    result
}

/// Whether the core makes this error now.
pub(crate) fn is_active(mutant: Mutant) -> bool {
    ACTIVE.get() == Some(mutant)
}
