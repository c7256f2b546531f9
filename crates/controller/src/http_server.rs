//! The HTTP server: `/healthz`, `/readyz` and `/metrics`.

use crate::caches::{Caches, Key};
use crate::leader_election::Standby;
use crate::metrics::Metrics;
use crate::queue::Queue;
use anyhow::Context;
use axum::Router;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::routing::get;
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::net::TcpListener;

const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Serves on this address until the process ends.
///
/// # Errors
/// When the address is in use.
pub(crate) async fn serve(
    address: SocketAddr,
    metrics: Metrics,
    (caches, standby): (Caches, Standby),
    queue: Arc<Queue<Key>>,
) -> anyhow::Result<()> {
    let listener = TcpListener::bind(address).await.with_context(|| format!("listen on {address}"))?;
    let readiness = move || async move {
        match caches.are_filled() {
            true => (StatusCode::OK, "ok"),
            // A rolling update waits until the new pod is ready, while the old pod still holds the lease.
            false if standby.is_ready() => (StatusCode::OK, "ok: standing by for the lease"),
            false => (StatusCode::SERVICE_UNAVAILABLE, "the caches are not filled yet"),
        }
    };
    let open_metrics = move || async move {
        metrics.queue_depth.set(i64::try_from(queue.len()).unwrap_or(i64::MAX));
        ([(CONTENT_TYPE, OPEN_METRICS)], metrics.text())
    };
    let router = Router::new()
        .route("/healthz", get(|| async { "ok" }))
        .route("/readyz", get(readiness))
        .route("/metrics", get(open_metrics));
    tokio::spawn(async move {
        if let Err(error) = axum::serve(listener, router).await {
            tracing::error!(%error, "the HTTP server ended");
        }
    });
    Ok(())
}
