//! Leader election by a lease, and its log: each message once.

use crate::connection::Connection;
use crate::response::error_chain;
use daemonset_executor::lease::{
    Election, Leadership, LeaseConfig, LeaseError, LeaseEvent, Lost, RenewDeadline,
};
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

/// The election of this process.
pub(crate) fn election(config: LeaseConfig, deadline: RenewDeadline, connection: Connection) -> Election {
    let (lease, identity) = (config.to_string(), config.holder().to_owned());
    let log = Mutex::new(LeaderLog { lease, identity, connection, logged: Logged::default() });
    Election::new(config).with_deadline(deadline).on_event(move |event| {
        log.lock().unwrap_or_else(PoisonError::into_inner).write(event);
    })
}

struct LeaderLog {
    lease: String,
    identity: String,
    connection: Connection,
    logged: Logged,
}

/// The messages that are in the log.
#[derive(Default)]
struct Logged {
    last_holder: String,
    /// While it waits for the lease.
    failures: BTreeSet<String>,
    /// Since the last renewal.
    last_failure: String,
}

impl LeaderLog {
    fn write(&mut self, event: LeaseEvent<'_>) {
        let LeaderLog { lease, identity, connection, logged } = self;
        match event {
            LeaseEvent::Waits => tracing::info!(lease, identity, "waiting for the lease"),
            LeaseEvent::Acquired => tracing::info!(lease, identity, "this process is the leader"),
            LeaseEvent::HeldByOther { holder } if is_new_message(&mut logged.last_holder, holder) => {
                tracing::info!(lease, holder, "another process holds the lease");
            }
            LeaseEvent::HeldByOther { .. } => {}
            LeaseEvent::NotAcquired { error } => {
                let error = text(error);
                // An outage is in the log already.
                if !connection.is_unreachable() && logged.failures.insert(error.clone()) {
                    let server = connection.server();
                    tracing::warn!(lease, server, error, "the lease could not be acquired, retrying");
                }
            }
            LeaseEvent::Renewed => logged.last_failure.clear(),
            LeaseEvent::NotRenewed { error } => {
                let error = text(error);
                if is_new_message(&mut logged.last_failure, &error) && !connection.is_unreachable() {
                    tracing::warn!(lease, error, "the lease was not renewed, retrying");
                }
            }
            _ => {}
        }
    }
}

/// Whether this message differs from the last one, which it replaces: a repeated message is logged once.
fn is_new_message(last: &mut String, message: &str) -> bool {
    let is_new = last != message;
    message.clone_into(last);
    is_new
}

/// The error in the words of the log.
fn text(error: &LeaseError) -> String {
    match error {
        LeaseError::Request(request) if error.code().is_none() => error_chain(&**request),
        error => error.to_string(),
    }
}

/// Waits until the lease is lost; returns the reason.
pub(crate) async fn lost(leadership: &mut Leadership) -> String {
    match leadership.lost().await {
        Lost::NotRenewed(Some(error)) => format!("not renewed in time: {}", text(&error)),
        reason => reason.to_string(),
    }
}

/// Gives the lease back.
pub(crate) async fn release(leadership: Leadership) {
    match leadership.release().await {
        Ok(()) => tracing::info!("this process no longer holds the lease"),
        Err(error) => tracing::warn!(%error, "the lease was not given back"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_new_until_it_is_repeated() {
        let mut last = String::new();
        let is_new = ["a", "a", "b", "a"].map(|message| is_new_message(&mut last, message));
        assert_eq!(is_new, [true, false, true, true]);
    }
}
