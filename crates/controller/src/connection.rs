//! The connection to the API server: whether it can be reached, and whether the watches work.
//!
//! One layer around each client sees every response. So an outage is one line in the log with the server's address, not one
//! for each client and each attempt, and the end of an outage is seen even while no object changes.

use crate::clock::Clock;
use crate::utf8_body::Utf8Body;
use crate::watch_health::{WatchHealth, last_segment};
use daemonset_executor::internal::{error_chain, is_connect, retry_after_header};
use http::{HeaderMap, Request, Response, StatusCode, Uri};
use jiff::Timestamp;
use std::collections::BTreeSet;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::Instant;
use tower::{BoxError, Layer, Service};

/// How long after an interruption a 403 may be the API server's own start: it responds before it has read its RBAC rules. The
/// last attempt before the start may be ten seconds old.
const START_OF_API_SERVER: Duration = Duration::from_secs(20);

/// The connection to the API server; clones share its state.
#[derive(Clone)]
pub struct Connection {
    server: Arc<str>,
    clock: Clock,
    state: Arc<Mutex<ConnectionState>>,
    /// Which watches fail.
    pub watches: WatchHealth,
}

#[derive(Default)]
struct ConnectionState {
    /// `Some` while no connection can be established.
    outage: Option<ConnectionOutage>,
    /// When a connection was last refused or broke.
    interrupted_at: Option<Instant>,
}

struct ConnectionOutage {
    begin: Instant,
    since: Timestamp,
    /// The errors that were logged.
    errors: BTreeSet<String>,
}

impl Connection {
    /// A connection to the server at this address, of which nothing is known yet.
    pub fn new(server: &str, clock: Clock) -> Self {
        let server = server.trim_end_matches('/').into();
        Connection { server, clock, state: Arc::default(), watches: WatchHealth::default() }
    }

    /// The address of the server.
    pub fn server(&self) -> &str {
        &self.server
    }

    /// Whether no connection can be established, which is in the log.
    pub fn is_unreachable(&self) -> bool {
        self.state().outage.is_some()
    }

    /// Whether a 403 may end by itself: the API server has just started, and still reads its RBAC rules.
    pub fn may_be_starting(&self) -> bool {
        self.state().interrupted_at.is_some_and(|at| at.elapsed() < START_OF_API_SERVER)
    }

    /// Records that a connection broke.
    pub fn interrupted(&self) {
        self.state().interrupted_at = Some(Instant::now());
    }

    /// The layer that observes the requests of a client.
    pub fn layer(&self) -> ObserveLayer {
        ObserveLayer { connection: self.clone() }
    }

    fn reached(&self) {
        if let Some(outage) = self.state().outage.take() {
            let seconds = outage.begin.elapsed().as_secs();
            tracing::info!(server = self.server(), seconds, "the API server is reachable again");
        }
    }

    /// Notes the answer to a read. A watch works once it begins, since no change may come for hours; a list works only once it
    /// is decoded.
    fn answered(&self, uri: &Uri, status: StatusCode, headers: &HeaderMap) {
        let query = uri.query().unwrap_or_default();
        // The pods of one node, for its drain, are another watch than that of all pods.
        let is_of_few = query.contains("fieldSelector=");
        if status.is_success() && query.contains("watch=") && !is_of_few {
            self.watches.works(last_segment(uri.path()));
        }
        let may_ask = matches!(status, StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE);
        if let Some(delay) = retry_after_header(headers).filter(|_| may_ask && !is_of_few) {
            self.watches.retry_after(last_segment(uri.path()), delay);
        }
    }

    fn failed(&self, error: &BoxError) {
        self.interrupted();
        if !is_connect(&**error) {
            return;
        }
        let (error, since) = (error_chain(&**error), self.clock.now());
        let mut state = self.state();
        let outage = state.outage.get_or_insert_with(|| ConnectionOutage {
            begin: Instant::now(),
            since,
            errors: BTreeSet::new(),
        });
        let since = outage.since.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
        if outage.errors.insert(error.clone()) {
            tracing::warn!(server = self.server(), since, error, "the API server is unreachable, retrying");
        }
    }

    fn state(&self) -> MutexGuard<'_, ConnectionState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Wraps services in [`Observe`].
#[derive(Clone)]
pub struct ObserveLayer {
    connection: Connection,
}

impl<S> Layer<S> for ObserveLayer {
    type Service = Observe<S>;

    fn layer(&self, inner: S) -> Self::Service {
        Observe { inner, connection: self.connection.clone() }
    }
}

/// A client's service whose responses show how the connection is.
#[derive(Clone)]
pub struct Observe<S> {
    inner: S,
    connection: Connection,
}

impl<S, B, R> Service<Request<B>> for Observe<S>
where
    S: Service<Request<B>, Response = Response<R>, Error: Into<BoxError>, Future: Send + 'static>,
{
    type Response = Response<Utf8Body<R>>;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Self::Error>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.inner.poll_ready(cx).map_err(Into::into)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let connection = self.connection.clone();
        let (method, uri) = (request.method().clone(), request.uri().clone());
        let response = self.inner.call(request);
        Box::pin(async move {
            let response = response.await.map_err(Into::into);
            match &response {
                Ok(response) => {
                    connection.reached();
                    if method == http::Method::GET {
                        connection.answered(&uri, response.status(), response.headers());
                    }
                }
                Err(error) => connection.failed(error),
            }
            response.map(|response| response.map(Utf8Body::new))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::time::advance;

    fn connection() -> Connection {
        Connection::new("https://server/", Clock::default())
    }

    #[tokio::test(start_paused = true)]
    async fn for_twenty_seconds_after_an_interruption_the_api_server_may_be_starting() {
        let connection = connection();
        assert!(!connection.may_be_starting(), "nothing has happened");
        connection.interrupted();
        advance(Duration::from_millis(19_999)).await;
        assert!(connection.may_be_starting());
        advance(Duration::from_millis(1)).await;
        assert!(!connection.may_be_starting());
    }

    /// A leader whose cache is stale would keep its lease for as long as a drain is watched.
    #[tokio::test(start_paused = true)]
    async fn the_watch_of_a_drain_is_not_that_of_all_pods() {
        let failed = async |query: &'static str| {
            let connection = connection();
            connection.watches.failed("pods", "no list".to_owned(), crate::watch_health::LogAs::Failure);
            connection.answered(&Uri::from_static(query), StatusCode::OK, &HeaderMap::new());
            let since = connection.watches.failed_for(Duration::ZERO);
            tokio::time::timeout(Duration::from_secs(60), since).await.is_ok()
        };
        assert!(failed("/api/v1/pods?fieldSelector=spec.nodeName%3Dn00&watch=true").await);
        assert!(!failed("/api/v1/pods?watch=true&resourceVersion=7").await);
    }

    #[tokio::test(start_paused = true)]
    async fn the_retry_after_of_a_list_is_kept_where_the_server_asks_for_patience() {
        let asked = |status| {
            let connection = connection();
            let headers = HeaderMap::from_iter([(http::header::RETRY_AFTER, "7".parse().unwrap())]);
            connection.answered(&Uri::from_static("/api/v1/pods?limit=50"), status, &headers);
            connection.watches.take_retry_after("pods").as_secs()
        };
        assert_eq!([429, 503, 500].map(|code| asked(StatusCode::from_u16(code).unwrap())), [7, 7, 0]);
    }

    #[test]
    fn a_client_that_is_not_ready_gets_no_request() {
        let (client, mut handle) = tower_test::mock::pair::<Request<()>, Response<()>>();
        let mut observed = connection().layer().layer(client);
        let cx = &mut Context::from_waker(std::task::Waker::noop());
        handle.allow(0);
        assert!(observed.poll_ready(cx).is_pending());
        handle.allow(1);
        assert!(observed.poll_ready(cx).is_ready());
    }
}
