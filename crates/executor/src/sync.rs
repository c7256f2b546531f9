//! One pass of a loop: settle, plan, execute, and the time until the next pass.

use crate::error::ExecuteError;
use crate::executor::{Call, Executed, Executor};
use crate::in_flight::InFlight;
use crate::response::Sender;
use daemonset::model::DaemonSet;
use daemonset::{Action, Objects, Plan, PlanError, Reconciler, RevisionView};
use std::collections::BTreeSet;
use std::mem;
use std::sync::Arc;
use std::time::Duration;

/// One pass over an object.
#[derive(Debug)]
#[non_exhaustive]
pub struct Synced {
    /// The plan, with its actions in the order in which they were sent. `None` where a read before it has failed.
    pub plan: Option<Plan>,
    /// How much of it was executed, or why it was not executed to its end.
    pub executed: Result<Executed, ExecuteError>,
    /// The time until the next pass, unless an object changes before: [`InFlight::next_plan`].
    pub next_plan: Option<Duration>,
}

/// Why there is no plan.
enum NoPlan {
    Error(PlanError),
    Unread(ExecuteError),
}

impl<S: Sender> Executor<S> {
    /// One pass of a loop that lists: reads back the calls whose answer was lost, plans, with stored revisions where one is to be created,
    /// executes the plan, and tells when to plan again. The lists of an
    /// [`Observed`](daemonset::Observed) are iterated over more than once: slices, or a store's `Vec` of `Arc`s by reference.
    ///
    /// Who watches with a `Tracker`, or has a guard between plan and calls, makes the same steps by hand, in this order:
    /// [`settle`](Self::settle), the driver's plan, [`list_revisions`](Self::list_revisions) and another plan where a revision is to
    /// be created, [`RetryOrder::apply`](crate::RetryOrder::apply), [`execute`](Self::execute), [`InFlight::next_plan`].
    ///
    /// # Errors
    /// When there is no plan: the object or a list is invalid, or the library has met a bug of its own. Nothing was sent, and a change
    /// of the objects alone heals it. Failed calls are no such error: see [`Synced::executed`].
    pub async fn sync<'a>(
        &self,
        objects: impl Into<Objects<'a>> + Clone,
        in_flight: &mut InFlight<Reconciler>,
        on_call: impl FnMut(&Call<'_>),
    ) -> Result<Synced, PlanError> {
        let (plan, executed) = match self.plan(objects, in_flight).await {
            Ok((ds, mut plan)) => {
                plan.actions = in_flight.retry_order.apply(mem::take(&mut plan.actions));
                let executed = self.execute(ds, &plan.actions, in_flight, on_call).await;
                (Some(plan), executed)
            }
            Err(NoPlan::Unread(error)) => (None, Err(error)),
            Err(NoPlan::Error(error)) => return Err(error),
        };
        let requeue_at = plan.as_ref().and_then(Plan::requeue_at);
        let next_plan = in_flight.next_plan(requeue_at, &executed, (self.now)());
        Ok(Synced { plan, executed, next_plan })
    }

    async fn plan<'a>(
        &self,
        objects: impl Into<Objects<'a>> + Clone,
        in_flight: &mut InFlight<Reconciler>,
    ) -> Result<(&'a DaemonSet, Plan), NoPlan> {
        let listed = objects.clone().into();
        let ds = listed.daemon_set;
        self.settle(ds, listed.nodes.iter().copied(), in_flight).await.map_err(NoPlan::Unread)?;
        let plan = in_flight.driver.plan(listed, (self.now)()).map_err(NoPlan::Error)?;
        if !plan.actions.iter().any(|action| matches!(action, Action::CreateRevision { .. })) {
            return Ok((ds, plan));
        }
        // The watch of revisions may lag behind the watch that has shown the template. Stored revisions decide the new number, so
        // that no number is given twice. Those that the selector does not match are as the caller has them.
        let stored = self.list_revisions(ds).await.map_err(NoPlan::Unread)?;
        let names: BTreeSet<&str> = stored.iter().map(|revision| revision.metadata.name.as_str()).collect();
        // All views live as long as the stored revisions.
        let mut listed = objects.into();
        listed.revisions.retain(|cached| !names.contains(&*cached.object_ref().name));
        listed.revisions.extend(stored.iter().map(|revision| RevisionView::from(Arc::as_ref(revision))));
        let plan = in_flight.driver.plan(listed, (self.now)()).map_err(NoPlan::Error)?;
        Ok((ds, plan))
    }
}
