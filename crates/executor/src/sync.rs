//! One pass of a loop: settle, plan, execute, and the time until the next pass.

use crate::error::ExecuteError;
use crate::executor::{Call, Executed, Executor};
use crate::in_flight::InFlight;
use crate::response::Sender;
use daemonset::{Action, NodeView, Observed, Plan, PlanError, PodView, Reconciler, RevisionView};
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
    /// executes the plan, and tells when to plan again. `observed` has everything that [`Observed`] asks for, and is iterated over
    /// more than once: slices, or a store's `Vec` of `Arc`s by reference.
    ///
    /// Who watches with a `Tracker`, or has a guard between plan and calls, makes the same steps by hand, in this order:
    /// [`settle`](Self::settle), the driver's plan, [`list_revisions`](Self::list_revisions) and another plan where a revision is to
    /// be created, [`RetryOrder::apply`](crate::RetryOrder::apply), [`execute`](Self::execute), [`InFlight::next_plan`].
    ///
    /// # Errors
    /// When there is no plan: the object or a list is invalid, or the library has met a bug of its own. Nothing was sent, and a change
    /// of the objects alone heals it. Failed calls are no such error: see [`Synced::executed`].
    pub async fn sync<'a, N, P, R>(
        &self,
        observed: Observed<'a, N, P, R>,
        in_flight: &mut InFlight<Reconciler>,
        on_call: impl FnMut(&Call<'_>),
    ) -> Result<Synced, PlanError>
    where
        N: Clone + IntoIterator<Item: Into<NodeView<'a>>>,
        P: Clone + IntoIterator<Item: Into<PodView<'a>>>,
        R: Clone + IntoIterator<Item: Into<RevisionView<'a>>>,
    {
        let ds = observed.daemon_set;
        let (plan, executed) = match self.plan(observed, in_flight).await {
            Ok(mut plan) => {
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

    async fn plan<'a, N, P, R>(
        &self,
        observed: Observed<'a, N, P, R>,
        in_flight: &mut InFlight<Reconciler>,
    ) -> Result<Plan, NoPlan>
    where
        N: Clone + IntoIterator<Item: Into<NodeView<'a>>>,
        P: Clone + IntoIterator<Item: Into<PodView<'a>>>,
        R: Clone + IntoIterator<Item: Into<RevisionView<'a>>>,
    {
        let ds = observed.daemon_set;
        self.settle(ds, observed.nodes.clone(), in_flight).await.map_err(NoPlan::Unread)?;
        let plan = in_flight.driver.plan(observed.clone(), (self.now)()).map_err(NoPlan::Error)?;
        if !plan.actions.iter().any(|action| matches!(action, Action::CreateRevision { .. })) {
            return Ok(plan);
        }
        // The watch of revisions may lag behind the watch that has shown the template. Stored revisions decide the new number, so
        // that no number is given twice. Those that the selector does not match are as the caller has them.
        let stored = self.list_revisions(ds).await.map_err(NoPlan::Unread)?;
        let names: BTreeSet<&str> = stored.iter().map(|revision| revision.metadata.name.as_str()).collect();
        let mut revisions: Vec<RevisionView<'_>> = observed.revisions.into_iter().map(Into::into).collect();
        revisions.retain(|cached| !names.contains(&*cached.object_ref().name));
        revisions.extend(stored.iter().map(|revision| RevisionView::from(Arc::as_ref(revision))));
        // All views live as long as the stored revisions.
        let nodes: Vec<NodeView<'_>> = observed.nodes.into_iter().map(Into::into).collect();
        let pods: Vec<PodView<'_>> = observed.pods.into_iter().map(Into::into).collect();
        let observed = Observed { daemon_set: ds, nodes, pods, revisions };
        in_flight.driver.plan(observed, (self.now)()).map_err(NoPlan::Error)
    }
}
