//! A client that sends only while this process may act.

use daemonset_executor::lease::{DeadlineOver, RenewDeadline};
use daemonset_executor::{ApiResponse, Sender};
use kube::Client;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

pub use daemonset_executor::internal::error_chain;

/// Why a process may act no more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MayNotAct {
    /// Another process may hold the lease.
    DeadlineOver,
    /// This process ends.
    ShuttingDown,
}

impl std::fmt::Display for MayNotAct {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            MayNotAct::DeadlineOver => DeadlineOver.fmt(f),
            MayNotAct::ShuttingDown => f.write_str("this process is shutting down"),
        }
    }
}

/// A client that sends only while this process may act; clones end together.
#[derive(Clone)]
pub struct ActingClient {
    client: Client,
    deadline: RenewDeadline,
    is_closed: Arc<AtomicBool>,
}

impl ActingClient {
    /// Sends with this client until the deadline.
    pub fn new(client: Client, deadline: RenewDeadline) -> Self {
        ActingClient { client, deadline, is_closed: Arc::default() }
    }

    /// Sends nothing more. Unlike the end of the deadline this leaves the requests under way alone.
    pub fn close(&self) {
        self.is_closed.store(true, Ordering::SeqCst);
    }

    /// Refuses to act after the deadline, and once this client is closed.
    ///
    /// # Errors
    /// Which of the two it is.
    pub fn check(&self) -> Result<(), MayNotAct> {
        match self.is_closed.load(Ordering::SeqCst) {
            true => Err(MayNotAct::ShuttingDown),
            false => self.deadline.check().map_err(|DeadlineOver| MayNotAct::DeadlineOver),
        }
    }
}

impl Sender for ActingClient {
    async fn send_once(&self, request: http::Request<Vec<u8>>) -> ApiResponse {
        match self.check() {
            Ok(()) => self.client.send_once(request).await,
            Err(reason) => ApiResponse::MayNotAct(reason.to_string()),
        }
    }
}
