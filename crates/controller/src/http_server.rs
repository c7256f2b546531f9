//! The HTTP server: `/healthz`, `/readyz` and `/metrics`. Whoever can reach it may be hostile: connections are few and short.

use crate::health::Health;
use crate::metrics::Metrics;
use crate::metrics::text::in_prometheus_format;
use crate::tasks::Tasks;
use anyhow::Context;
use axum::Router;
use axum::http::header::{ACCEPT, CONTENT_TYPE};
use axum::http::{HeaderMap, StatusCode};
use axum::routing::get;
use daemonset_executor::lease::Standby;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use socket2::{Domain, Protocol, Socket, Type};
use std::collections::VecDeque;
use std::io;
use std::net::{Ipv6Addr, SocketAddr};
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::AbortHandle;
use tokio::time::{sleep, timeout};

const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
const PROMETHEUS: &str = "text/plain; version=0.0.4; charset=utf-8";
/// Connections that may wait to be accepted, as for `TcpListener::bind`.
const BACKLOG: i32 = 1024;
/// The most connections at once.
const MAX_CONNECTIONS: usize = 100;
/// How long a client may take to send the head of a request.
const HEAD_TIMEOUT: Duration = Duration::from_secs(5);
/// How long a connection may last, with all its requests.
const CONNECTION_TIMEOUT: Duration = Duration::from_secs(30);
/// The pause after a connection could not be accepted, as when the process has too many open files.
const ACCEPT_PAUSE: Duration = Duration::from_secs(1);

/// Serves on this address until the process ends.
///
/// # Errors
/// When the address is in use.
pub(crate) async fn serve(
    address: SocketAddr,
    metrics: Metrics,
    health: Health,
    standby: Standby,
    tasks: &Tasks,
) -> anyhow::Result<()> {
    let listener = bind(address).await.with_context(|| format!("listen on {address}"))?;
    tasks.spawn("HTTP server", accept(listener, router(metrics, health, standby)));
    Ok(())
}

/// 0.0.0.0 stands for all addresses of the machine, as in Go, and those of IPv6 are among them: a pod may have no other.
async fn bind(address: SocketAddr) -> io::Result<TcpListener> {
    if address.ip().is_unspecified()
        && let Ok(listener) = bind_both(address.port())
    {
        return Ok(listener);
    }
    // Another address, a machine without IPv6, or a port in use.
    TcpListener::bind(address).await
}

/// A listener for IPv4 and IPv6, whatever the machine's default is (`net.ipv6.bindv6only`).
fn bind_both(port: u16) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::IPV6, Type::STREAM, Some(Protocol::TCP))?;
    socket.set_only_v6(false)?;
    // As `TcpListener::bind` does: a port whose last connections have just ended is free.
    socket.set_reuse_address(true)?;
    socket.set_nonblocking(true)?;
    socket.bind(&SocketAddr::from((Ipv6Addr::UNSPECIFIED, port)).into())?;
    socket.listen(BACKLOG)?;
    TcpListener::from_std(socket.into())
}

fn router(metrics: Metrics, health: Health, standby: Standby) -> Router {
    let Health { caches, queue, .. } = health.clone();
    let healthiness = move || async move {
        match health.problem() {
            None => (StatusCode::OK, "ok".to_owned()),
            Some(problem) => (StatusCode::SERVICE_UNAVAILABLE, problem),
        }
    };
    let readiness = move || async move {
        match caches.are_filled() {
            true => (StatusCode::OK, "ok"),
            // A rolling update waits until the new pod is ready, while the old pod still holds the lease.
            false if standby.is_ready() => (StatusCode::OK, "ok: standing by for the lease"),
            false => (StatusCode::SERVICE_UNAVAILABLE, "the caches are not filled yet"),
        }
    };
    let scrape = move |headers: HeaderMap| async move {
        metrics.queue_depth.set(i64::try_from(queue.len()).unwrap_or(i64::MAX));
        let text = metrics.text();
        if wants_prometheus_format(&headers) {
            ([(CONTENT_TYPE, PROMETHEUS)], in_prometheus_format(&text))
        } else {
            ([(CONTENT_TYPE, OPEN_METRICS)], text)
        }
    };
    Router::new()
        .route("/healthz", get(healthiness))
        .route("/readyz", get(readiness))
        .route("/metrics", get(scrape))
}

/// Whether the client asks for Prometheus' text format and does not know OpenMetrics, as Prometheus itself does.
fn wants_prometheus_format(headers: &HeaderMap) -> bool {
    let accept = headers.get(ACCEPT).and_then(|accept| accept.to_str().ok()).unwrap_or_default();
    accept.contains("text/plain") && !accept.contains("openmetrics")
}

/// Accepts connections. A new one takes the place of the oldest, so that idle ones keep no probe out.
async fn accept(listener: TcpListener, router: Router) {
    let mut open: VecDeque<AbortHandle> = VecDeque::new();
    loop {
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(error) => {
                tracing::debug!(%error, "a connection was not accepted");
                sleep(ACCEPT_PAUSE).await;
                continue;
            }
        };
        admit(&mut open, tokio::spawn(respond(stream, router.clone())).abort_handle());
    }
}

/// Adds a connection to the open ones, oldest first. Beyond the limit the oldest one ends.
fn admit(open: &mut VecDeque<AbortHandle>, connection: AbortHandle) {
    open.retain(|connection| !connection.is_finished());
    if open.len() >= MAX_CONNECTIONS
        && let Some(oldest) = open.pop_front()
    {
        oldest.abort();
    }
    open.push_back(connection);
}

/// Responds to the requests of a connection.
async fn respond(stream: TcpStream, router: Router) {
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(router));
    // A client that breaks off concerns no one else.
    let _ = timeout(CONNECTION_TIMEOUT, connection).await;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::caches::Caches;
    use crate::queue::Queue;
    use daemonset_executor::lease::RenewDeadline;
    use std::sync::Arc;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    /// A server that says `ok`, and its address.
    async fn server(tasks: &Tasks) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tasks.spawn("HTTP server", accept(listener, Router::new().route("/", get(|| async { "ok" }))));
        address
    }

    /// Everything that the server sends until it closes the connection.
    async fn response(mut stream: TcpStream, request: &str) -> String {
        let (mut text, _) = (String::new(), stream.write_all(request.as_bytes()).await);
        let _ = stream.read_to_string(&mut text).await;
        text
    }

    /// A pod of a cluster without IPv4 has no other address for its probes.
    #[tokio::test]
    async fn all_addresses_of_the_machine_are_those_of_ipv6_too() {
        if TcpListener::bind("[::1]:0").await.is_err() {
            return; // This machine has none.
        }
        for address in ["0.0.0.0:0", "[::]:0"] {
            let listener = bind(address.parse().unwrap()).await.unwrap();
            let port = listener.local_addr().unwrap().port();
            for host in ["127.0.0.1", "::1"] {
                assert!(TcpStream::connect((host, port)).await.is_ok(), "{host} of {address}");
            }
        }
        let alone = bind("127.0.0.1:0".parse().unwrap()).await.unwrap();
        let port = alone.local_addr().unwrap().port();
        assert!(TcpStream::connect(("::1", port)).await.is_err());
        assert!(bind(([0, 0, 0, 0], port).into()).await.is_err(), "the port is in use");
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_without_a_whole_request_is_closed() {
        let tasks = Tasks::default();
        let address = server(&tasks).await;
        for begin in ["", "GET / HTTP/1.1\r\nHost: a\r\nX-Slow: "] {
            let stream = TcpStream::connect(address).await.unwrap();
            let closed = timeout(2 * HEAD_TIMEOUT, response(stream, begin));
            assert!(!closed.await.expect("it is closed").starts_with("HTTP/1.1 200"));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_ends_however_busy_it_is() {
        let tasks = Tasks::default();
        let mut stream = TcpStream::connect(server(&tasks).await).await.unwrap();
        let requests = async {
            while stream.write_all(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n").await.is_ok() {
                sleep(Duration::from_secs(1)).await;
            }
        };
        timeout(2 * CONNECTION_TIMEOUT, requests).await.expect("it is closed");
    }

    #[tokio::test]
    async fn a_process_that_does_not_work_says_why() {
        let tasks = Tasks::default();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let health = Health {
            tasks: tasks.ended(),
            deadline: RenewDeadline::without_lease(),
            caches: Caches::empty().0,
            queue: Arc::new(Queue::new(Duration::ZERO)),
        };
        tasks.spawn("HTTP server", accept(listener, router(Metrics::default(), health, Standby::default())));
        let request = "GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
        let healthz = async || response(TcpStream::connect(address).await.unwrap(), request).await;
        assert!(healthz().await.starts_with("HTTP/1.1 200"));
        tasks.spawn("watch of pods", async {});
        tasks.ended().wait().await;
        let text = healthz().await;
        assert!(
            text.starts_with("HTTP/1.1 503") && text.ends_with("the task \"watch of pods\" ended"),
            "{text}"
        );
    }

    #[tokio::test]
    async fn the_oldest_connection_ends_for_one_too_many() {
        let mut open = VecDeque::new();
        let connections: Vec<_> =
            (0..=MAX_CONNECTIONS).map(|_| tokio::spawn(std::future::pending::<()>())).collect();
        connections.iter().for_each(|connection| admit(&mut open, connection.abort_handle()));
        tokio::task::yield_now().await;
        let ended: Vec<bool> = connections.iter().map(tokio::task::JoinHandle::is_finished).collect();
        assert_eq!((ended.iter().filter(|ended| **ended).count(), ended.first()), (1, Some(&true)));
        admit(&mut open, tokio::spawn(async {}).abort_handle());
        tokio::task::yield_now().await;
        admit(&mut open, tokio::spawn(std::future::pending::<()>()).abort_handle());
        tokio::task::yield_now().await;
        assert!(
            !connections.iter().skip(2).any(tokio::task::JoinHandle::is_finished),
            "an ended one made room"
        );
    }

    #[tokio::test]
    async fn idle_connections_keep_no_other_one_out() {
        let tasks = Tasks::default();
        let address = server(&tasks).await;
        let mut idle = Vec::new();
        for _ in 0..MAX_CONNECTIONS {
            idle.push(TcpStream::connect(address).await.unwrap());
        }
        let request = "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
        let last = response(TcpStream::connect(address).await.unwrap(), request).await;
        assert!(last.ends_with("\r\n\r\nok"), "{last}");
        assert_eq!(response(idle.remove(0), "").await, "", "the oldest one is closed");
        let youngest = response(idle.remove(idle.len() - 1), request).await;
        assert!(youngest.ends_with("\r\n\r\nok"), "{youngest}");
    }
}
