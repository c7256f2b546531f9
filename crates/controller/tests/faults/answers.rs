//! What each kind of answer to a call means.

use crate::api::not_connected;
use crate::faults::{FOR_EVER, status};
use axum::body::Body;
use daemonset_controller::response::{ApiResponse, send};
use http::{Request, Response};
use kube::Client;
use serde_json::{Value, json};
use std::time::Duration;
use tower::BoxError;
use tower_test::mock;

/// What is made of one answer to one create.
async fn meaning(answer: Result<Response<Body>, BoxError>) -> ApiResponse {
    let (service, mut server) = mock::pair::<Request<kube::client::Body>, Response<Body>>();
    let client = Client::new(service, "default");
    let answering = tokio::spawn(async move {
        let (_, responder) = server.next_request().await.expect("a request");
        match answer {
            Ok(response) => responder.send_response(response),
            Err(error) => responder.send_error(error),
        }
        server.next_request().await.is_none()
    });
    let request = Request::post("/api/v1/namespaces/default/pods").body(b"{}".to_vec()).expect("a request");
    let meaning = send(&client, request).await;
    drop(client);
    assert!(answering.await.expect("an end"), "it was sent once");
    meaning
}

fn response(code: u16, body: &Value) -> Result<Response<Body>, BoxError> {
    Ok(Response::builder().status(code).body(Body::from(body.to_string()))?)
}

fn plain(code: u16, body: &'static str) -> Result<Response<Body>, BoxError> {
    Ok(Response::builder().status(code).body(Body::from(body))?)
}

fn refused(answer: ApiResponse) -> (u16, String) {
    match answer {
        ApiResponse::Rejected(status) => (status.code, status.reason),
        other => panic!("{other:?}"),
    }
}

fn later(answer: ApiResponse) -> u64 {
    match answer {
        ApiResponse::RetryAfter(wait) => wait.as_secs(),
        other => panic!("{other:?}"),
    }
}

/// Error, and after how many seconds nothing is done any more.
fn lost(answer: ApiResponse) -> (String, u64) {
    match answer {
        ApiResponse::Unknown(lost) => (lost.error, lost.settles_after.as_secs()),
        other => panic!("{other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn done_has_the_object() {
    for code in [200, 201, 202] {
        let ApiResponse::Done(body) = meaning(response(code, &json!({"kind": "Pod"}))).await else {
            panic!("{code}")
        };
        assert_eq!(body, br#"{"kind":"Pod"}"#);
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_wrong_with_the_request_is_refused() {
    for (code, reason) in [
        (400, "BadRequest"),
        (401, "Unauthorized"),
        (403, "Forbidden"),
        (404, "NotFound"),
        (409, "Conflict"),
        (409, "AlreadyExists"),
        (422, "Invalid"),
    ] {
        let answer = meaning(response(code, &status(code, reason, "no"))).await;
        assert_eq!(refused(answer), (code, reason.to_owned()));
    }
    let (code, _) = refused(meaning(plain(403, "a proxy says no")).await);
    assert_eq!(code, 403, "whoever says it");
}

#[tokio::test(start_paused = true)]
async fn too_many_requests_come_later() {
    let mut told = status(429, "TooManyRequests", "slow down");
    assert_eq!(later(meaning(response(429, &told)).await), 1, "nobody told when");
    told["details"] = json!({"retryAfterSeconds": 7});
    assert_eq!(later(meaning(response(429, &told)).await), 7);
    let header = |value: &str| {
        Ok(Response::builder().status(429).header("Retry-After", value).body(Body::from(told.to_string()))?)
    };
    assert_eq!(later(meaning(header("30")).await), 30, "the header is what counts");
    assert_eq!(later(meaning(header("0")).await), 1, "never at once");
    assert_eq!(later(meaning(header("86400")).await), 300, "a day is a mistake");
    assert_eq!(later(meaning(header("Fri, 31 Dec 1999 23:59:59 GMT")).await), 7, "a date is not understood");
}

#[tokio::test(start_paused = true)]
async fn a_failing_server_may_have_done_it() {
    // Errors of etcd have no reason.
    for (code, reason, settles) in
        [(500, "InternalError", 10), (500, "ServerTimeout", 10), (500, "", 10), (504, "Timeout", 75)]
    {
        let told = lost(meaning(response(code, &status(code, reason, "who knows"))).await);
        assert_eq!(told, ("who knows".to_owned(), settles), "{reason}");
    }
    let gateway = lost(meaning(plain(502, "bad gateway")).await);
    assert_eq!(gateway, ("502 Bad Gateway: bad gateway".to_owned(), 75));
    let proxy = lost(meaning(plain(500, "")).await);
    assert_eq!(proxy, ("500 Internal Server Error".to_owned(), 75), "it is no `Status`");
}

#[tokio::test(start_paused = true)]
async fn a_webhook_is_asked_before_anything_is_stored() {
    let webhook = "Internal error occurred: failed calling webhook \"a.example\": connection refused";
    let (code, _) = refused(meaning(response(500, &status(500, "InternalError", webhook))).await);
    assert_eq!(code, 500);
}

#[tokio::test(start_paused = true)]
async fn unavailable_is_refused_only_where_the_api_server_says_so() {
    let own = status(503, "ServiceUnavailable", "apiserver is shutting down");
    assert_eq!(refused(meaning(response(503, &own)).await).0, 503);
    // A proxy says it also when its connection broke after the request was through.
    let text = "upstream connect error or disconnect/reset before headers";
    assert_eq!(lost(meaning(plain(503, text)).await), (format!("503 Service Unavailable: {text}"), 75));
    lost(meaning(plain(503, "")).await);
    lost(meaning(response(503, &json!({"message": "no healthy upstream", "code": 503}))).await);
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_never_was_sent_nothing() {
    let ApiResponse::NotSent(told) = meaning(Err(not_connected().await)).await else {
        panic!("it was not sent")
    };
    assert!(told.contains("connection refused"), "{told}");
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_breaks_may_have_done_it() {
    let (told, settles) = lost(meaning(Err("connection reset by peer".into())).await);
    assert!(told.contains("connection reset by peer"), "{told}");
    assert_eq!(settles, 75, "the API server may not know it yet");
    // The head tells that it was done; which object it is nobody knows.
    let body = Body::from_stream(futures::stream::iter([
        Ok("{\"kind\":"),
        Err(std::io::Error::from(std::io::ErrorKind::ConnectionReset)),
    ]));
    lost(meaning(Ok(Response::new(body))).await);
}

#[tokio::test(start_paused = true)]
async fn silence_ends_in_a_minute() {
    let body = Body::from_stream(futures::stream::once(async {
        tokio::time::sleep(FOR_EVER).await;
        Ok::<_, std::io::Error>("{}")
    }));
    let begun = tokio::time::Instant::now();
    assert_eq!(lost(meaning(Ok(Response::new(body))).await).1, 10, "the API server has given up by then");
    let waited = begun.elapsed();
    assert!((Duration::from_secs(60)..Duration::from_secs(70)).contains(&waited), "{waited:?}");
}
