//! maxUnavailable and maxSurge, counted again.

use super::context::Context;
use super::fleet::{Fleet, Loss};
use super::kind::{BudgetFigure, ViolationKind};
use super::violation::Findings;
use crate::model::IntOrString;
use crate::snapshot::UnreadyPolicy;
use crate::snapshot::strategy::Strategy;

/// A limit in nodes: percentages of D round up.
fn nodes(limit: IntOrString, desired: u32) -> u32 {
    match limit {
        IntOrString::Int(nodes) => nodes,
        IntOrString::Percent(percent) => {
            let hundredths = u64::from(percent) * u64::from(desired);
            let rounded_up = hundredths / 100 + u64::from(hundredths % 100 > 0);
            rounded_up.try_into().unwrap_or(u32::MAX)
        }
    }
}

/// A count of nodes with its limit.
struct Meter {
    figure: BudgetFigure,
    before: u32,
    now: u32,
    limit: u32,
    lost: u32,
}

impl Meter {
    fn new(figure: BudgetFigure, before: u32, limit: u32, lost: u32) -> Self {
        Meter { figure, before, now: before, limit, lost }
    }

    /// Counts one more node, if it counts. A count that is already above its limit must not grow either.
    fn count(&mut self, more: bool) -> Option<ViolationKind> {
        self.now += u32::from(more);
        let Meter { figure, before, now: after, limit, lost } = *self;
        let exceeded = more && after + lost > limit;
        exceeded.then_some(ViolationKind::BudgetExceeded { figure, before, after, limit, lost })
    }
}

/// maxUnavailable without surge: the losses of target nodes by the list's deletes, as if all happened at once and no new
/// pod became available.
pub(super) fn check_deletes(
    context: &Context<'_>,
    fleet: &Fleet,
    losses: &[Loss],
    findings: &mut Findings<'_>,
) {
    let Strategy::Replace(limit) = context.snapshot.spec.strategy else { return };
    let limit = nodes(limit, fleet.desired).max(1);
    let lost = fleet.lost();
    let mut unavailable = Meter::new(BudgetFigure::Unavailable, fleet.unavailable, limit, lost);
    let mut not_ready = Meter::new(BudgetFigure::NotReady, fleet.not_ready, limit, lost);
    let mut replaced = match context.snapshot.spec.policy.unready {
        UnreadyPolicy::AtOnce => None,
        UnreadyPolicy::WithinBudget => {
            let before = fleet.nodes.iter().filter(|node| node.is_being_replaced()).count();
            Some(Meter::new(BudgetFigure::BeingReplaced, before as u32, limit, lost))
        }
    };
    for loss in losses {
        let kinds = [
            unavailable.count(loss.available),
            not_ready.count(loss.ready),
            replaced.as_mut().and_then(|meter| meter.count(loss.unready)),
        ];
        // One delete is one violation.
        if let Some(kind) = kinds.into_iter().flatten().next() {
            findings.add(loss.action, kind);
        }
    }
}

/// maxSurge: `surged` are the creates beside an outdated pod, as positions in the list.
pub(super) fn check_surge(
    context: &Context<'_>,
    fleet: &Fleet,
    surged: &[usize],
    findings: &mut Findings<'_>,
) {
    let Strategy::Surge { limit, .. } = context.snapshot.spec.strategy else { return };
    let limit = nodes(limit, fleet.desired);
    if surged.is_empty() {
        return;
    }
    let lost = fleet.lost();
    let mut after = fleet.nodes.iter().filter(|node| node.is_doubled()).count() as u32;
    for action in surged {
        after += 1;
        if after + lost > limit {
            findings.add(*action, ViolationKind::SurgeExceeded { after, limit, lost });
        }
    }
}
