//! Whether the process works, for `/healthz`: a process that does not is to be restarted.

use crate::caches::{Caches, Key};
use crate::queue::Queue;
use crate::tasks::EndedTask;
use daemonset_executor::lease::RenewDeadline;
use std::sync::Arc;
use std::time::Duration;

/// How long a due DaemonSet may wait for a worker. Longer than any reconcile takes: then the workers stand still.
const LONGEST_WAIT: Duration = Duration::from_secs(300);

/// Everything that shows whether the process works; clones look at the same process.
#[derive(Clone)]
pub(crate) struct Health {
    pub(crate) tasks: EndedTask,
    pub(crate) deadline: RenewDeadline,
    pub(crate) caches: Caches,
    pub(crate) queue: Arc<Queue<Key>>,
}

impl Health {
    /// Why the process does not work. A standby works.
    pub(crate) fn problem(&self) -> Option<String> {
        if let Some(reason) = self.tasks.reason() {
            return Some(reason);
        }
        if let Some(since) = self.deadline.over_for() {
            return Some(format!("the lease was not renewed: its deadline ended {} s ago", since.as_secs()));
        }
        // Until the caches are filled, no worker takes anything.
        let wait = self.queue.longest_wait().filter(|_| self.caches.are_filled())?;
        (wait >= LONGEST_WAIT).then(|| format!("a due DaemonSet has waited for {} s", wait.as_secs()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::BootClock;
    use crate::tasks::Tasks;
    use kube::runtime::watcher::Event;
    use tokio::time::{Instant, advance};

    const DEADLINE: Duration = Duration::from_secs(10);

    /// A process that has not acted yet.
    async fn process() -> (Tasks, Health) {
        let tasks = Tasks::default();
        let start = Instant::now();
        let deadline = RenewDeadline::new(BootClock::new(move || start.elapsed()));
        let (caches, mut writers) = Caches::empty();
        writers.daemon_sets.apply_watcher_event(&Event::InitDone);
        writers.pods.apply_watcher_event(&Event::InitDone);
        writers.nodes.apply_watcher_event(&Event::InitDone);
        writers.revisions.apply_watcher_event(&Event::InitDone);
        let queue = Arc::new(Queue::new(Duration::ZERO));
        caches.wait_until_filled().await.unwrap();
        let health = Health { tasks: tasks.ended(), deadline, caches, queue };
        (tasks, health)
    }

    fn key() -> Key {
        Key { namespace: "ns".to_owned(), name: "agent".to_owned() }
    }

    #[tokio::test(start_paused = true)]
    async fn a_process_without_a_task_does_not_work() {
        let (tasks, health) = process().await;
        assert_eq!(health.problem(), None);
        tasks.spawn("watch of pods", async {});
        tokio::task::yield_now().await;
        assert_eq!(health.problem().as_deref(), Some("the task \"watch of pods\" ended"));
    }

    #[tokio::test(start_paused = true)]
    async fn a_leader_works_until_its_deadline_and_a_standby_always() {
        let (_tasks, health) = process().await;
        advance(Duration::from_secs(3600)).await;
        assert_eq!(health.problem(), None, "it stands by");
        health.deadline.renewed(health.deadline.now(), DEADLINE);
        advance(DEADLINE - Duration::from_millis(1)).await;
        assert_eq!(health.problem(), None);
        advance(Duration::from_millis(1001)).await;
        let problem = "the lease was not renewed: its deadline ended 1 s ago";
        assert_eq!(health.problem().as_deref(), Some(problem));
        health.deadline.end();
        assert_eq!(health.problem(), None, "it was given back");
    }

    #[tokio::test(start_paused = true)]
    async fn a_due_daemon_set_waits_for_five_minutes_at_most() {
        let (_tasks, health) = process().await;
        health.queue.add_after(key(), LONGEST_WAIT);
        advance(2 * LONGEST_WAIT - Duration::from_millis(1)).await;
        assert_eq!(health.problem(), None, "it was not due before");
        advance(Duration::from_millis(1)).await;
        assert_eq!(health.problem().as_deref(), Some("a due DaemonSet has waited for 300 s"));
        let taken = health.queue.next().await.unwrap();
        assert_eq!(health.problem(), None, "a worker has it");
        health.queue.add(taken);
        advance(LONGEST_WAIT).await;
        assert!(health.problem().is_some(), "a worker that never ends is as bad as none");
        health.queue.hold(key(), LONGEST_WAIT);
        advance(LONGEST_WAIT).await;
        assert_eq!(health.problem(), None, "it was held");
    }

    #[tokio::test(start_paused = true)]
    async fn nothing_waits_for_a_worker_before_the_caches_are_filled() {
        let (_tasks, health) = process().await;
        let (empty, _writers) = Caches::empty();
        let health = Health { caches: empty, ..health };
        health.queue.add(key());
        advance(2 * LONGEST_WAIT).await;
        assert_eq!(health.problem(), None);
    }
}
