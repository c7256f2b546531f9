//! The errors of a lease.

use crate::lease::renew_deadline::DeadlineOver;
use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use thiserror::Error;

/// A request for the lease that failed.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum LeaseError {
    /// The API server's refusal, or an error of the client.
    Request(Arc<kube::Error>),
    /// No answer came within this time.
    NoResponse(Duration),
}

impl LeaseError {
    /// The HTTP status of the API server's refusal; `None` where it did not answer.
    pub fn code(&self) -> Option<u16> {
        match self {
            LeaseError::Request(error) => match &**error {
                kube::Error::Api(status) => Some(status.code),
                _ => None,
            },
            LeaseError::NoResponse(_) => None,
        }
    }
}

/// The API server's message, or the error with its causes.
impl fmt::Display for LeaseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LeaseError::Request(error) => match &**error {
                kube::Error::Api(status) => f.write_str(&status.message),
                error => {
                    write!(f, "{error}")?;
                    let mut source = error.source();
                    while let Some(error) = source {
                        write!(f, ": {error}")?;
                        source = error.source();
                    }
                    Ok(())
                }
            },
            LeaseError::NoResponse(timeout) => write!(f, "no response within {timeout:?}"),
        }
    }
}

impl Error for LeaseError {}

/// Why the lease is lost.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Lost {
    /// Another process holds it; empty if nobody does.
    HeldByOther(String),
    /// It was not renewed until the deadline; with the last error, if there was one.
    NotRenewed(Option<LeaseError>),
    /// The task that renews it has panicked.
    RenewalEnded,
}

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Lost::HeldByOther(holder) => write!(f, "held by {holder:?}"),
            Lost::NotRenewed(None) => {
                f.write_str("not renewed in time: no response, or this process stood still")
            }
            Lost::NotRenewed(Some(error)) => write!(f, "not renewed in time: {error}"),
            Lost::RenewalEnded => f.write_str(RENEWAL_ENDED),
        }
    }
}

const RENEWAL_ENDED: &str = "the renewal of the lease ended";

/// The lease was not given back: other processes wait until it expires.
#[derive(Debug, Clone, Error)]
#[non_exhaustive]
pub enum NotReleased {
    /// No request succeeded within the renew deadline; the last error, if one came.
    #[error("{}", .0.as_ref().map_or("no response".to_owned(), ToString::to_string))]
    Failed(Option<LeaseError>),
    /// The task that renews it has panicked.
    #[error("{RENEWAL_ENDED}")]
    RenewalEnded,
}

/// Why there is no election.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ElectionError {
    /// There is no thread or no runtime for it.
    #[error("there is no thread for the lease")]
    Thread(#[from] std::io::Error),
    /// The client could not be made.
    #[error("there is no client for the lease")]
    Client(#[source] Box<dyn Error + Send + Sync>),
    /// The task that waits for the lease has panicked.
    #[error("{RENEWAL_ENDED}")]
    RenewalEnded,
}

impl Error for DeadlineOver {}
