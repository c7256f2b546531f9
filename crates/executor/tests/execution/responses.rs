//! The classification of every kind of response to a call.

use crate::server::{not_connected, status};
use axum::body::Body;
use daemonset_executor::{ApiResponse, Sender};
use http::{Request, Response};
use kube::{Client, Config};
use serde_json::{Value, json};
use std::time::Duration;
use tower::BoxError;
use tower_test::mock;

/// The classification of one response to one create.
async fn classify(response: Result<Response<Body>, BoxError>) -> ApiResponse {
    let (service, mut requests) = mock::pair::<Request<kube::client::Body>, Response<Body>>();
    let client = Client::new(service, "default");
    let server = tokio::spawn(async move {
        let (_, responder) = requests.next_request().await.expect("a request");
        match response {
            Ok(response) => responder.send_response(response),
            Err(error) => responder.send_error(error),
        }
        requests.next_request().await.is_none()
    });
    let request = Request::post("/api/v1/namespaces/default/pods").body(b"{}".to_vec()).expect("a request");
    let classified = client.send_once(request).await;
    drop(client);
    assert!(server.await.expect("the server ends"), "it was sent once");
    classified
}

fn response(code: u16, body: &Value) -> Result<Response<Body>, BoxError> {
    Ok(Response::builder().status(code).body(Body::from(body.to_string()))?)
}

fn plain(code: u16, body: &'static str) -> Result<Response<Body>, BoxError> {
    Ok(Response::builder().status(code).body(Body::from(body))?)
}

fn rejected(response: ApiResponse) -> (u16, String) {
    match response {
        ApiResponse::Rejected(status) => (status.code, status.reason),
        other => panic!("{other:?}"),
    }
}

fn retry_after(response: ApiResponse) -> u64 {
    match response {
        ApiResponse::RetryAfter(wait) => wait.as_secs(),
        other => panic!("{other:?}"),
    }
}

/// The error, and the seconds until storage shows the outcome.
fn unknown(response: ApiResponse) -> (String, u64) {
    match response {
        ApiResponse::Unknown(unknown) => (unknown.error, unknown.settles_after.as_secs()),
        other => panic!("{other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn a_success_has_the_object() {
    for code in [200, 201, 202] {
        let ApiResponse::Done(body) = classify(response(code, &json!({"kind": "Pod"}))).await else {
            panic!("{code}")
        };
        assert_eq!(body, br#"{"kind":"Pod"}"#);
    }
}

#[tokio::test(start_paused = true)]
async fn client_errors_are_rejections() {
    for (code, reason) in [
        (400, "BadRequest"),
        (401, "Unauthorized"),
        (403, "Forbidden"),
        (404, "NotFound"),
        (409, "Conflict"),
        (409, "AlreadyExists"),
        (422, "Invalid"),
    ] {
        let response = classify(response(code, &status(code, reason, "no"))).await;
        assert_eq!(rejected(response), (code, reason.to_owned()));
    }
    let (code, _) = rejected(classify(plain(403, "a proxy says no")).await);
    assert_eq!(code, 403, "also from a proxy");
}

#[tokio::test(start_paused = true)]
async fn too_many_requests_are_retried_later() {
    let mut body = status(429, "TooManyRequests", "slow down");
    assert_eq!(retry_after(classify(response(429, &body)).await), 1, "without a delay");
    body["details"] = json!({"retryAfterSeconds": 7});
    assert_eq!(retry_after(classify(response(429, &body)).await), 7);
    let header = |value: &str| {
        Ok(Response::builder().status(429).header("Retry-After", value).body(Body::from(body.to_string()))?)
    };
    assert_eq!(retry_after(classify(header("30")).await), 30, "the header wins");
    assert_eq!(retry_after(classify(header("0")).await), 1, "never at once");
    assert_eq!(retry_after(classify(header("86400")).await), 300, "at most five minutes");
    assert_eq!(retry_after(classify(header("Fri, 31 Dec 1999 23:59:59 GMT")).await), 7, "a date is ignored");
}

#[tokio::test(start_paused = true)]
async fn server_errors_are_unknown_outcomes() {
    // Errors of etcd have no reason.
    for (code, reason, settles) in
        [(500, "InternalError", 10), (500, "ServerTimeout", 10), (500, "", 10), (504, "Timeout", 75)]
    {
        let outcome = unknown(classify(response(code, &status(code, reason, "no leader"))).await);
        assert_eq!(outcome, ("no leader".to_owned(), settles), "{reason}");
    }
    let gateway = unknown(classify(plain(502, "bad gateway")).await);
    assert_eq!(gateway, ("502 Bad Gateway: bad gateway".to_owned(), 75));
    let proxy = unknown(classify(plain(500, "")).await);
    assert_eq!(proxy, ("500 Internal Server Error".to_owned(), 75), "the body is no `Status`");
}

#[tokio::test(start_paused = true)]
async fn a_failing_webhook_is_a_rejection() {
    let webhook = "Internal error occurred: failed calling webhook \"a.example\": connection refused";
    let (code, _) = rejected(classify(response(500, &status(500, "InternalError", webhook))).await);
    assert_eq!(code, 500);
}

#[tokio::test(start_paused = true)]
async fn unavailable_is_a_rejection_only_with_the_api_servers_reason() {
    let own = status(503, "ServiceUnavailable", "apiserver is shutting down");
    assert_eq!(rejected(classify(response(503, &own)).await).0, 503);
    // A proxy responds the same if its connection broke after the request was sent.
    let text = "upstream connect error or disconnect/reset before headers";
    assert_eq!(unknown(classify(plain(503, text)).await), (format!("503 Service Unavailable: {text}"), 75));
    unknown(classify(plain(503, "")).await);
    unknown(classify(response(503, &json!({"message": "no healthy upstream", "code": 503}))).await);
}

#[tokio::test(start_paused = true)]
async fn a_refused_connection_sends_nothing() {
    let ApiResponse::NotSent(error) = classify(Err(not_connected().await)).await else {
        panic!("the request was sent")
    };
    assert!(error.contains("connection refused"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_broken_connection_is_an_unknown_outcome() {
    let (error, settles) = unknown(classify(Err("connection reset by peer".into())).await);
    assert!(error.contains("connection reset by peer"), "{error}");
    assert_eq!(settles, 75, "the API server may still work on it");
    // The status line reports success, but the object is lost.
    let body = Body::from_stream(futures::stream::iter([
        Ok("{\"kind\":"),
        Err(std::io::Error::from(std::io::ErrorKind::ConnectionReset)),
    ]));
    unknown(classify(Ok(Response::new(body))).await);
}

#[tokio::test(start_paused = true)]
async fn silence_ends_after_a_minute() {
    let body = Body::from_stream(futures::stream::once(async {
        tokio::time::sleep(Duration::from_secs(1_000_000)).await;
        Ok::<_, std::io::Error>("{}")
    }));
    let start = tokio::time::Instant::now();
    assert_eq!(unknown(classify(Ok(Response::new(body))).await).1, 10, "the API server has given up by then");
    let waited = start.elapsed();
    assert!((Duration::from_secs(60)..Duration::from_secs(70)).contains(&waited), "{waited:?}");
}

/// An API server that answers `Timeout` once, and has created a pod by then.
async fn creates_sent_by(change: impl FnOnce(&mut Config)) -> usize {
    let server = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = server.local_addr().expect("an address");
    let mut config = Config::new(format!("http://{address}").parse().expect("a URI"));
    change(&mut config);
    let client = Client::try_from(config).expect("a client");
    let request = Request::post("/api/v1/namespaces/default/pods").body(b"{}".to_vec()).expect("a request");
    let mut sending = tokio::spawn(async move { client.send_once(request).await });
    let mut creates = 0;
    loop {
        let stream = tokio::select! {
            _ = &mut sending => return creates,
            accepted = server.accept() => accepted.expect("a connection").0,
        };
        let mut text = Vec::new();
        while !text.ends_with(b"{}") {
            stream.readable().await.expect("bytes");
            let mut bytes = [0; 1024];
            text.extend(stream.try_read(&mut bytes).map_or(&[][..], |read| &bytes[..read]));
        }
        let code = if creates == 0 { "504 Gateway Timeout" } else { "201 Created" };
        creates += 1;
        let answer = format!("HTTP/1.1 {code}\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{{}}");
        stream.writable().await.expect("it waits for the answer");
        assert_eq!(stream.try_write(answer.as_bytes()).expect("it takes the answer"), answer.len());
    }
}

/// The reason why a client is to be made without them.
#[tokio::test]
async fn retries_of_the_client_make_a_second_pod() {
    assert_eq!(creates_sent_by(|config| config.default_retry = false).await, 1);
    assert_eq!(creates_sent_by(|_| {}).await, 2, "kube's default");
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_is_no_status_is_told_as_it_is() {
    let body = json!({"error": "rbac: access denied"});
    let ApiResponse::Rejected(status) = classify(response(403, &body)).await else {
        panic!("it was refused")
    };
    assert_eq!((status.code, status.is_forbidden()), (403, true));
    assert_eq!(status.message, r#"403 Forbidden: {"error":"rbac: access denied"}"#);
    let (error, _) = unknown(classify(response(502, &json!({}))).await);
    assert_eq!(error, "502 Bad Gateway: {}");
}
