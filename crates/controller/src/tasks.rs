//! The tasks of the process. None of them may end before the process does: after a panic in one, the others would go on as if
//! nothing had happened.

use futures::FutureExt;
use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::sync::{Mutex, PoisonError};
use tokio::sync::watch;
use tokio::task::JoinSet;

/// The tasks of the process, until they are dropped.
#[derive(Debug, Default)]
pub struct Tasks {
    running: Mutex<JoinSet<()>>,
    ended: watch::Sender<Option<String>>,
}

/// The first task that has ended; clones look at the same tasks.
#[derive(Debug, Clone)]
pub struct EndedTask(watch::Receiver<Option<String>>);

impl Tasks {
    /// Starts a task that is to run as long as the process does. `name` is its part in the log.
    pub fn spawn(&self, name: &'static str, task: impl Future<Output = ()> + Send + 'static) {
        let ended = self.ended.clone();
        let supervised = async move {
            let reason = match AssertUnwindSafe(task).catch_unwind().await {
                Ok(()) => format!("the task \"{name}\" ended"),
                Err(panic) => format!("the task \"{name}\" panicked: {}", message(&*panic)),
            };
            ended.send_if_modified(|first| first.is_none() && first.replace(reason).is_none());
        };
        self.running.lock().unwrap_or_else(PoisonError::into_inner).spawn(supervised);
    }

    /// The first task that has ended.
    #[must_use]
    pub fn ended(&self) -> EndedTask {
        EndedTask(self.ended.subscribe())
    }
}

impl EndedTask {
    /// How the first task ended, in a sentence; `None` while all run.
    #[must_use]
    pub fn reason(&self) -> Option<String> {
        self.0.borrow().clone()
    }

    /// Waits until a task has ended.
    pub async fn wait(&mut self) -> String {
        match self.0.wait_for(Option::is_some).await {
            Ok(reason) => reason.clone().unwrap_or_default(),
            // All tasks were dropped.
            Err(_) => std::future::pending().await,
        }
    }
}

/// The message of a panic, which is text of one of two types unless `panic_any` made it.
fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("without a message")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::{pending, ready};

    #[tokio::test]
    async fn the_first_task_that_ends_is_named_with_the_message_of_its_panic() {
        let tasks = Tasks::default();
        tasks.spawn("steady", pending());
        let mut ended = tasks.ended();
        assert_eq!(ended.reason(), None);
        tasks.spawn("bad", async {
            let reason = "a bug";
            panic!("{reason}")
        });
        let reason = "the task \"bad\" panicked: a bug";
        assert_eq!(ended.wait().await, reason);
        tasks.spawn("early", ready(()));
        tokio::task::yield_now().await;
        assert_eq!(ended.reason().as_deref(), Some(reason));
    }

    #[tokio::test]
    async fn a_task_that_returns_has_ended_too() {
        let tasks = Tasks::default();
        tasks.spawn("early", ready(()));
        assert_eq!(tasks.ended().wait().await, "the task \"early\" ended");
    }
}
