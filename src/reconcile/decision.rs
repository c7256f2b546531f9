//! What is decided, before it is put into actions or words.

use crate::model::DaemonSetStatus;
use crate::reconcile::budget::Budget;
use crate::reconcile::burst::Agenda;
use crate::reconcile::claim::Claim;
use crate::reconcile::fleet::Fleet;
use crate::reconcile::history::History;
use crate::reconcile::node_sync::NodeSync;
use crate::reconcile::update::Update;

/// How a snapshot is answered.
#[derive(Debug)]
pub(crate) enum Decision<'s> {
    /// The selector is empty, and would choose every pod of the namespace.
    SelectingAll,
    /// The DaemonSet is being deleted: its pods are the garbage collector's.
    BeingDeleted,
    /// The new revision's name is taken: the next pass tries another one.
    NameCollision(DaemonSetStatus),
    /// The usual case.
    Sync(Box<Sync<'s>>),
}

/// The values of all steps.
#[derive(Debug)]
pub(crate) struct Sync<'s> {
    pub(crate) claim: Claim,
    pub(crate) history: History<'s>,
    pub(crate) fleet: Fleet<'s>,
    pub(crate) node_sync: NodeSync,
    pub(crate) budget: Budget,
    pub(crate) update: Update,
    pub(crate) agenda: Agenda,
    pub(crate) status: DaemonSetStatus,
}
