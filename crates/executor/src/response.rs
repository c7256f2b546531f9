//! The API server's response to one call: done, rejected, or unknown.

use http::StatusCode;
use http_body_util::BodyExt;
use kube::Client;
use kube::client::Body;
use kube::core::Status;
use kube::core::response::StatusCause;
use std::time::Duration;

/// How long a response is awaited. The API server itself gives a request up after 60 s.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(65);
/// How long etcd may still work on a write after its request has ended (etcd's own limit is 7 s).
const STORAGE_TIMEOUT: Duration = Duration::from_secs(10);

/// The response to one API call.
#[derive(Debug)]
#[expect(clippy::exhaustive_enums, reason = "senders make them, and each answer has a meaning of its own")]
pub enum ApiResponse {
    /// The call was done; the body is the object after it, as JSON.
    Done(Vec<u8>),
    /// The call was rejected, and nothing changed.
    Rejected(Box<Status>),
    /// 429: nothing changed, and the call may be sent again after this time.
    RetryAfter(Duration),
    /// There was no connection, so that nothing was sent.
    NotSent(String),
    /// The sender refuses to send, for this reason, as it does once another process may act: nothing was sent.
    MayNotAct(String),
    /// The call may have been done: its response was lost, or the API server itself does not know.
    Unknown(UnknownOutcome),
}

/// A call that may have been done.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "senders make it")]
pub struct UnknownOutcome {
    /// The error that came instead of a response.
    pub error: String,
    /// After this time storage shows the call's effect, or never will.
    pub settles_after: Duration,
}

impl UnknownOutcome {
    /// The API server may still work on the call.
    fn still_running(error: String) -> Self {
        UnknownOutcome { error, settles_after: RESPONSE_TIMEOUT + STORAGE_TIMEOUT }
    }

    /// The API server has given the call up; only etcd may still work on it.
    pub(crate) fn given_up(error: String) -> Self {
        UnknownOutcome { error, settles_after: STORAGE_TIMEOUT }
    }
}

/// How a request reaches the API server.
pub trait Sender: Sync {
    /// Sends one request, once: a create that is repeated after its response was lost would make a second pod.
    fn send_once(&self, request: http::Request<Vec<u8>>) -> impl Future<Output = ApiResponse> + Send;
}

/// A client without retries of its own: kube's has them unless `Config::default_retry` is `false`, and they make a second pod.
impl Sender for Client {
    async fn send_once(&self, request: http::Request<Vec<u8>>) -> ApiResponse {
        match tokio::time::timeout(RESPONSE_TIMEOUT, exchange(self, request)).await {
            Ok(response) => response,
            Err(_) => {
                let error = format!("no response within {} s", RESPONSE_TIMEOUT.as_secs());
                ApiResponse::Unknown(UnknownOutcome::given_up(error))
            }
        }
    }
}

async fn exchange(client: &Client, request: http::Request<Vec<u8>>) -> ApiResponse {
    let response = match client.send(request.map(Body::from)).await {
        Ok(response) => response,
        Err(error) if was_not_sent(&error) => return ApiResponse::NotSent(error_chain(&error)),
        Err(error) => return ApiResponse::Unknown(UnknownOutcome::still_running(error_chain(&error))),
    };
    let (head, body) = response.into_parts();
    let body = match body.collect().await {
        Ok(body) => body.to_bytes().to_vec(),
        // The status line says that the call was done, but the object that it returned is lost.
        Err(_) if head.status.is_success() => {
            let error = "the connection broke during the response".to_owned();
            return ApiResponse::Unknown(UnknownOutcome::given_up(error));
        }
        Err(_) => Vec::new(),
    };
    if head.status.is_success() {
        return ApiResponse::Done(body);
    }
    let status = status(head.status, &body);
    if was_denied_by_webhook(&status) {
        return ApiResponse::Rejected(Box::new(denial(status)));
    }
    match head.status {
        StatusCode::TOO_MANY_REQUESTS => ApiResponse::RetryAfter(retry_after(&head.headers, &status)),
        code if code.is_server_error() && !was_rejected_before_storage(&status) => {
            let outcome = match was_given_up(&status) {
                true => UnknownOutcome::given_up(status.message),
                false => UnknownOutcome::still_running(status.message),
            };
            ApiResponse::Unknown(outcome)
        }
        _ => ApiResponse::Rejected(Box::new(status)),
    }
}

/// The `Status` object of a response; a body that is none, such as a proxy's, becomes the message of a new one.
fn status(code: StatusCode, body: &[u8]) -> Status {
    // Each JSON object can be read as one.
    let status = serde_json::from_slice(body).ok().filter(Status::is_failure);
    status.unwrap_or_else(|| {
        let text = String::from_utf8_lossy(body);
        let message =
            if text.trim().is_empty() { code.to_string() } else { format!("{code}: {}", text.trim()) };
        Status::failure(&message, code.canonical_reason().unwrap_or_default()).with_code(code.as_u16())
    })
}

/// v1.37 `admission/plugin/webhook/errors ToStatusErr`: nothing is stored.
fn was_denied_by_webhook(status: &Status) -> bool {
    status.message.contains("admission webhook ") && status.message.contains(" denied the request")
}

/// A denial with the code and reason of a webhook that names none. Those that it names, such as the `NotFound` of a request of its own,
/// say nothing about the object of the call, nor about the load of the API server.
fn denial(status: Status) -> Status {
    Status { code: 403, reason: "Forbidden".to_owned(), details: None, ..status }
}

/// Whether the API server itself failed, as when etcd did not respond, and gave the request up. Its reason `Timeout` is
/// different: that request goes on by itself. Behind a proxy's error the API server may still work on the request, too.
fn was_given_up(status: &Status) -> bool {
    status.is_failure() && matches!(status.reason.as_str(), "" | "InternalError" | "ServerTimeout")
}

/// The API server responds `ServiceUnavailable` while it starts or ends, and calls admission webhooks before it stores
/// anything. A proxy's 503 has no such reason, and may follow a connection that broke in the middle of the request.
fn was_rejected_before_storage(status: &Status) -> bool {
    status.reason == "ServiceUnavailable" || status.message.contains("failed calling webhook")
}

/// The header comes before the body. At least 1 s, at most 300 s; 1 s where neither names a number of seconds.
fn retry_after(headers: &http::HeaderMap, status: &Status) -> Duration {
    let body = || status.details.as_ref().map(|details| u64::from(details.retry_after_seconds));
    retry_after_header(headers).unwrap_or_else(|| at_most_five_minutes(body().unwrap_or(1)))
}

/// The time that the header `Retry-After` names in seconds: at least 1 s, at most 300 s.
pub fn retry_after_header(headers: &http::HeaderMap) -> Option<Duration> {
    let value = headers.get(http::header::RETRY_AFTER)?;
    value.to_str().ok()?.parse().ok().map(at_most_five_minutes)
}

fn at_most_five_minutes(seconds: u64) -> Duration {
    Duration::from_secs(seconds.clamp(1, 300))
}

/// Whether no connection was established.
fn was_not_sent(error: &kube::Error) -> bool {
    matches!(error, kube::Error::Service(error) if is_connect(&**error))
}

/// Whether an error says that no connection was established.
pub fn is_connect(error: &(dyn std::error::Error + 'static)) -> bool {
    error.downcast_ref::<hyper_util::client::legacy::Error>().is_some_and(|error| error.is_connect())
}

/// An error and its causes as one line: each once, without the names of the client's own types.
pub fn error_chain(error: &(dyn std::error::Error + 'static)) -> String {
    let mut parts: Vec<String> = Vec::new();
    let mut next = Some(error);
    while let Some(error) = next {
        // kube's text of a `Status` is its Debug form.
        let status = error.downcast_ref::<kube::Error>().and_then(|error| match error {
            kube::Error::Api(status) => Some(&**status),
            _ => None,
        });
        if let Some(status) = status.or_else(|| error.downcast_ref::<Status>()) {
            parts.push(message(status));
            break;
        }
        let source = error.source();
        let text = error.to_string();
        let text = match source.map(ToString::to_string) {
            Some(cause) => text.replace(&cause, ""),
            None => text,
        };
        let text = text.trim_end_matches([' ', ':']);
        if !text.is_empty() && !WRAPPERS.contains(&text) && !parts.iter().any(|part| part.contains(text)) {
            parts.push(text.to_owned());
        }
        next = source;
    }
    shortened(&parts.join(": "))
}

/// Errors of the client that only wrap another one.
const WRAPPERS: [&str; 3] = ["ServiceError", "HyperError", "client error (Connect)"];

/// The message of a `Status`, or its reason where it has none.
fn message(status: &Status) -> String {
    match status.message.is_empty() {
        true => format!("{} {}", status.code, status.reason),
        false => status.message.clone(),
    }
}

/// How much of a longer message is in the log, in characters. An API server may list each invalid field of an object.
const LONGEST_BEGIN: usize = 300;
const LONGEST_END: usize = 200;

/// A text without its middle, if it is too long for one line. An API server names the object first and the reason last.
pub fn shortened(text: &str) -> String {
    let length = text.chars().count();
    match length.checked_sub(LONGEST_BEGIN + LONGEST_END) {
        None | Some(0) => text.to_owned(),
        Some(more) => {
            let begin: String = text.chars().take(LONGEST_BEGIN).collect();
            let end: String = text.chars().skip(length - LONGEST_END).collect();
            format!("{begin} … ({more} more characters) … {end}")
        }
    }
}

/// v1.36 `HasStatusCause(err, NamespaceTerminatingCause)`.
pub fn is_namespace_terminating(status: &Status) -> bool {
    causes(status).any(|cause| cause.reason == "NamespaceTerminating")
}

/// Whether a patch was refused only since another object has the name by now: the patch contains the uid, and no patch may
/// change it. A patch that is refused for another reason, too, is refused for good.
pub(crate) fn is_of_another_object(status: &Status) -> bool {
    let mut causes = causes(status).peekable();
    status.is_invalid() && causes.peek().is_some() && causes.all(|cause| cause.field == "metadata.uid")
}

/// Whether the API server finds the `data` of a revision changed, though the patch does not touch it: it is stored in other bytes
/// than Go writes (v1.37 `ValidateControllerRevisionUpdate`).
pub(crate) fn finds_data_changed(status: &Status) -> bool {
    status.is_invalid() && causes(status).any(|cause| cause.field == "data")
}

fn causes(status: &Status) -> impl Iterator<Item = &StatusCause> {
    status.details.iter().flat_map(|details| &details.causes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn invalid(fields: &[&str]) -> Status {
        let causes: Vec<_> =
            fields.iter().map(|field| json!({"field": field, "message": "immutable"})).collect();
        let status =
            json!({"status": "Failure", "reason": "Invalid", "code": 422, "details": {"causes": causes}});
        serde_json::from_value(status).unwrap()
    }

    #[test]
    fn an_object_was_replaced_if_its_uid_alone_is_refused() {
        assert!(is_of_another_object(&invalid(&["metadata.uid"])));
        for fields in [&["metadata.uid", "spec"][..], &["spec", "metadata.uid"], &["metadata.name"], &[]] {
            assert!(!is_of_another_object(&invalid(fields)), "{fields:?}");
        }
    }
}
