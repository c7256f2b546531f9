//! Which plans from changes are compared with the plan of all objects.

use daemonset::Plan;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// Compares one in so many acting plans; debug builds compare every plan. Clones share their count.
#[derive(Debug, Clone)]
pub struct Verification {
    compares_all: bool,
    /// 0 for none.
    one_in: u32,
    /// The acting plans before the next one that is compared.
    left: Arc<AtomicU32>,
}

impl Verification {
    /// Compares the first acting plan, and one in so many from then on; 0 turns this off.
    pub fn one_in(plans: u32) -> Self {
        Verification { compares_all: cfg!(debug_assertions), one_in: plans, left: Arc::default() }
    }

    /// Whether the next plan is compared if it acts.
    pub(super) fn is_due(&self) -> bool {
        self.compares_all || (self.one_in > 0 && self.left.load(Ordering::Relaxed) == 0)
    }

    /// Whether this plan, which is due, is compared.
    pub(super) fn takes(&self, plan: &Plan) -> bool {
        if plan.acts() {
            self.left.store(self.one_in.saturating_sub(1), Ordering::Relaxed);
        }
        self.compares_all || plan.acts()
    }

    /// Counts a plan that was not due.
    pub(super) fn passes(&self, plan: &Plan) {
        if plan.acts() {
            // At 0 the next acting plan is due: another worker may have counted down meanwhile.
            let _ = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use daemonset::{Recording, plan};
    use serde_json::{from_value, json};

    /// Which of these plans are compared.
    fn compared(verification: &Verification, plans: &[&Plan]) -> Vec<bool> {
        let is_compared = |plan: &&Plan| {
            let is_due = verification.is_due();
            if !is_due {
                verification.passes(plan);
            }
            is_due && verification.takes(plan)
        };
        plans.iter().map(is_compared).collect()
    }

    fn plan_on(nodes: &[&str]) -> Plan {
        let recording: Recording = from_value(json!({
            "now": "2026-01-01T12:00:00Z",
            "daemonSet": {
                "metadata": {"name": "agent", "namespace": "ns", "uid": "u"},
                "spec": {
                    "selector": {"matchLabels": {"app": "agent"}},
                    "template": {"metadata": {"labels": {"app": "agent"}}},
                },
            },
            "nodes": nodes.iter().map(|node| json!({"metadata": {"name": node}})).collect::<Vec<_>>(),
        }))
        .unwrap();
        plan(&recording.snapshot().unwrap())
    }

    #[test]
    fn one_acting_plan_in_so_many_is_compared() {
        let acting = plan_on(&["a"]);
        let mut quiet = acting.clone();
        quiet.actions.retain(|action| !action.acts());
        let verification = |one_in| Verification { compares_all: false, ..Verification::one_in(one_in) };
        let plans = [&quiet, &acting, &acting, &quiet, &acting, &quiet, &acting];
        let [yes, no] = [true, false];
        assert_eq!(compared(&verification(3), &plans), [no, yes, no, no, no, no, yes]);
        assert_eq!(compared(&verification(1), &plans), [no, yes, yes, no, yes, no, yes]);
        assert_eq!(compared(&verification(0), &plans), [no; 7]);
    }
}
