//! `/healthz`, `/readyz` and `/metrics`.

use crate::metrics::Metrics;
use crate::world::World;
use anyhow::Context;
use axum::Router;
use axum::http::StatusCode;
use axum::routing::get;
use std::net::SocketAddr;
use tokio::net::TcpListener;

/// Answers on this address until the process ends.
///
/// # Errors
/// When the address is taken.
pub async fn serve(address: SocketAddr, metrics: Metrics, world: World) -> anyhow::Result<()> {
    let listener = TcpListener::bind(address).await.with_context(|| format!("listen on {address}"))?;
    let ready = move || async move {
        match world.is_ready() {
            true => (StatusCode::OK, "ok"),
            false => (StatusCode::SERVICE_UNAVAILABLE, "the caches are not filled yet"),
        }
    };
    let router = Router::new()
        .route("/healthz", get(|| async { "ok" }))
        .route("/readyz", get(ready))
        .route("/metrics", get(move || async move { metrics.text() }));
    tokio::spawn(async move {
        if let Err(error) = axum::serve(listener, router).await {
            tracing::error!(%error, "the web server ended");
        }
    });
    Ok(())
}
