//! What the API server's answer to a call means: done, refused, or nobody knows.

use http::StatusCode;
use http_body_util::BodyExt;
use kube::Client;
use kube::client::Body;
use kube::core::Status;
use std::time::Duration;

/// How long an answer is waited for. The API server itself gives a request up after 60 s.
const PATIENCE: Duration = Duration::from_secs(65);
/// How long etcd may take to carry out what it was asked for by a request that has ended (its own limit is 7 s).
const SETTLING: Duration = Duration::from_secs(10);

/// The answer to one API call.
#[derive(Debug)]
pub enum Answer {
    /// It was done; the object as it is now, as JSON.
    Done(Vec<u8>),
    /// It was refused, and nothing changed.
    Refused(Box<Status>),
    /// Too many requests: nothing changed, and it may be tried again after this time.
    Later(Duration),
    /// It could not even be sent.
    NotSent(String),
    /// It may have been done: the answer was lost, or the API server itself does not know.
    Lost(Lost),
}

/// A call of which nobody knows whether it was done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lost {
    /// What came instead of an answer.
    pub error: String,
    /// After this time it is done, or will never be.
    pub settles: Duration,
}

impl Lost {
    /// The API server may still be at it.
    fn under_way(error: String) -> Self {
        Lost { error, settles: PATIENCE + SETTLING }
    }

    /// The API server has ended it.
    fn ended(error: String) -> Self {
        Lost { error, settles: SETTLING }
    }
}

/// Sends one request, once: a create that is repeated after an answer was lost would make a second pod.
pub async fn send(client: &Client, request: http::Request<Vec<u8>>) -> Answer {
    match tokio::time::timeout(PATIENCE, exchange(client, request)).await {
        Ok(answer) => answer,
        Err(_) => Answer::Lost(Lost::ended(format!("no answer within {} s", PATIENCE.as_secs()))),
    }
}

async fn exchange(client: &Client, request: http::Request<Vec<u8>>) -> Answer {
    let response = match client.send(request.map(Body::from)).await {
        Ok(response) => response,
        Err(error) if was_not_sent(&error) => return Answer::NotSent(told(&error)),
        Err(error) => return Answer::Lost(Lost::under_way(told(&error))),
    };
    let (head, body) = response.into_parts();
    let body = match body.collect().await {
        Ok(body) => body.to_bytes().to_vec(),
        // The head has told that it was done; a reader of the object finds none.
        Err(_) if head.status.is_success() => {
            return Answer::Lost(Lost::ended("the answer broke off".to_owned()));
        }
        Err(_) => Vec::new(),
    };
    if head.status.is_success() {
        return Answer::Done(body);
    }
    let status = status(head.status, &body);
    match head.status {
        StatusCode::TOO_MANY_REQUESTS => Answer::Later(retry_after(&head.headers, &status)),
        code if code.is_server_error() && !was_refused_before_storage(&status) => {
            let lost = if is_the_servers(&status) { Lost::ended } else { Lost::under_way };
            Answer::Lost(lost(status.message))
        }
        _ => Answer::Refused(Box::new(status)),
    }
}

/// A `Status` object, or one made from what was answered instead.
fn status(code: StatusCode, body: &[u8]) -> Status {
    serde_json::from_slice(body).unwrap_or_else(|_| {
        let text = String::from_utf8_lossy(body);
        let message =
            if text.trim().is_empty() { code.to_string() } else { format!("{code}: {}", text.trim()) };
        Status::failure(&message, code.canonical_reason().unwrap_or_default()).with_code(code.as_u16())
    })
}

/// An error of the API server's own, as when etcd did not answer it: what it was asked for it has given up. Its `Timeout`
/// leaves the request to end by itself, and behind a proxy's answer somebody may still be at it.
fn is_the_servers(status: &Status) -> bool {
    status.is_failure() && matches!(status.reason.as_str(), "" | "InternalError" | "ServerTimeout")
}

/// The API server says `ServiceUnavailable` while it starts or ends, and asks admission webhooks before anything is stored.
/// A proxy's 503 has no such reason, and may come after its connection broke in the middle of the request.
fn was_refused_before_storage(status: &Status) -> bool {
    status.reason == "ServiceUnavailable" || status.message.contains("failed calling webhook")
}

fn retry_after(headers: &http::HeaderMap, status: &Status) -> Duration {
    let header = headers.get(http::header::RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse().ok());
    let body = status.details.as_ref().map(|details| u64::from(details.retry_after_seconds));
    Duration::from_secs(header.or(body).unwrap_or(1).clamp(1, 300))
}

/// Whether the connection never came to be.
fn was_not_sent(error: &kube::Error) -> bool {
    let kube::Error::Service(error) = error else { return false };
    error.downcast_ref::<hyper_util::client::legacy::Error>().is_some_and(|error| error.is_connect())
}

/// An error with its causes.
pub fn told(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let more = error.to_string();
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        cause = error.source();
    }
    text
}

/// v1.36 `HasStatusCause(err, NamespaceTerminatingCause)`.
pub fn is_namespace_terminating(status: &Status) -> bool {
    let causes = status.details.iter().flat_map(|details| &details.causes);
    causes.into_iter().any(|cause| cause.reason == "NamespaceTerminating")
}
