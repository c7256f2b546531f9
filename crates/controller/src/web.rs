//! `/healthz`, `/readyz` and `/metrics`.

use crate::leader::Standby;
use crate::metrics::Metrics;
use crate::queue::Queue;
use crate::world::{Key, World};
use anyhow::Context;
use axum::Router;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::routing::get;
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::net::TcpListener;

const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Answers on this address until the process ends.
///
/// # Errors
/// When the address is taken.
pub async fn serve(
    address: SocketAddr,
    metrics: Metrics,
    (world, standby): (World, Standby),
    queue: Arc<Queue<Key>>,
) -> anyhow::Result<()> {
    let listener = TcpListener::bind(address).await.with_context(|| format!("listen on {address}"))?;
    let ready = move || async move {
        match world.is_ready() {
            true => (StatusCode::OK, "ok"),
            // A Deployment goes on once its new pods are ready, and the old one holds the lease until then.
            false if standby.is_ready() => (StatusCode::OK, "ok: waits for the lease"),
            false => (StatusCode::SERVICE_UNAVAILABLE, "the caches are not filled yet"),
        }
    };
    let figures = move || async move {
        metrics.queue_depth.set(i64::try_from(queue.len()).unwrap_or(i64::MAX));
        ([(CONTENT_TYPE, OPEN_METRICS)], metrics.text())
    };
    let router = Router::new()
        .route("/healthz", get(|| async { "ok" }))
        .route("/readyz", get(ready))
        .route("/metrics", get(figures));
    tokio::spawn(async move {
        if let Err(error) = axum::serve(listener, router).await {
            tracing::error!(%error, "the web server ended");
        }
    });
    Ok(())
}
