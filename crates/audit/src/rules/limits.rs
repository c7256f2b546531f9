//! maxUnavailable, maxSurge and the nodes that leave last, counted again.

use crate::facts::strategy::Strategy;
use crate::fleet::context::Context;
use crate::fleet::leaving::{is_last, leaves_last};
use crate::fleet::{Fleet, Loss};
use crate::kind::{BudgetFigure, ViolationKind};
use crate::violation::Findings;
use daemonset::internal::NodeIx;
use daemonset::model::IntOrString;
use daemonset::policy::UnreadyPolicy;
use std::collections::{BTreeMap, BTreeSet};

/// A limit in nodes: percentages of D round up.
pub(crate) fn nodes(limit: IntOrString, desired: u32) -> u32 {
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
pub(crate) fn check_deletes(
    context: &Context<'_>,
    fleet: &Fleet,
    losses: &[Loss],
    findings: &mut Findings<'_>,
) {
    let Strategy::Replace(limit) = Strategy::in_force(context.snapshot) else { return };
    let limit = nodes(limit, fleet.desired).max(1);
    let lost = fleet.lost();
    let mut unavailable = Meter::new(BudgetFigure::Unavailable, fleet.unavailable, limit, lost);
    let mut not_ready = Meter::new(BudgetFigure::NotReady, fleet.not_ready, limit, lost);
    let mut replaced = match context.snapshot.spec().policy.unready {
        UnreadyPolicy::WithinBudget => {
            Some(Meter::new(BudgetFigure::BeingReplaced, fleet.being_replaced(), limit, lost))
        }
        // At once: no limit holds them.
        _ => None,
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
pub(crate) fn check_surge(
    context: &Context<'_>,
    fleet: &Fleet,
    surged: &[usize],
    findings: &mut Findings<'_>,
) {
    let Strategy::Surge(limit) = Strategy::in_force(context.snapshot) else { return };
    let limit = nodes(limit, fleet.desired);
    if surged.is_empty() {
        return;
    }
    let lost = fleet.lost();
    let mut after = fleet.surging();
    for action in surged {
        after += 1;
        if after + lost > limit {
            findings.add(*action, ViolationKind::SurgeExceeded { after, limit, lost });
        }
    }
}

/// Under surge, of the nodes whose available pod goes by a withdrawn toleration as many stay as target nodes have no
/// available pod.
pub(crate) fn check_leaving(context: &Context<'_>, fleet: &Fleet, findings: &mut Findings<'_>) {
    let Strategy::Surge(_) = Strategy::in_force(context.snapshot) else { return };
    let mut emptied: BTreeMap<NodeIx, usize> = BTreeMap::new();
    for delete in context.deletes.iter().filter(|delete| is_last(delete.stage)) {
        let node = delete.facts.node.filter(|node| leaves_last(context, fleet, *node, delete.pod));
        if let Some(node) = node.filter(|node| !fleet.nodes.at(*node).has_available()) {
            emptied.entry(node).or_insert(delete.action);
        }
    }
    if emptied.is_empty() {
        return;
    }
    let leaving: BTreeSet<NodeIx> = context
        .own_pods()
        .filter(|(_, pod, facts)| is_last(context.stage(pod, facts)))
        .filter_map(|(_, pod, facts)| facts.node.filter(|node| leaves_last(context, fleet, *node, pod)))
        .collect();
    let (leaving, unavailable) = (leaving.len() as u32 + fleet.others.sums.leaving, fleet.unavailable);
    let may_go = leaving.saturating_sub(unavailable) as usize;
    let mut actions: Vec<usize> = emptied.into_values().collect();
    actions.sort_unstable();
    for action in actions.into_iter().skip(may_go) {
        findings.add(action, ViolationKind::LeavesTooEarly { leaving, unavailable });
    }
}
