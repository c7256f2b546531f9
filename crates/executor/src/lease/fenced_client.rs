//! A client of the API server that sends nothing after the renew deadline.

use crate::lease::fenced_stream::FencedConnector;
use crate::lease::renew_deadline::RenewDeadline;
use http::{Request, Response};
use hyper::body::Incoming;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use kube::client::{Body, ClientBuilder, ConfigExt};
use kube::{Client, Config};
use std::time::Duration;
use tower::util::{BoxService, option_layer};
use tower::{BoxError, Layer, ServiceExt};

/// A connection that is half open is noticed after 45 s by the kernel.
const KEEPALIVE: Duration = Duration::from_secs(30);
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(5);
const KEEPALIVE_RETRIES: u32 = 3;

/// The service of a client, for further layers.
pub type FencedService = BoxService<Request<Body>, Response<Incoming>, BoxError>;

/// A client of the API server in this configuration whose connections write nothing after the deadline. Each request is sent once: a
/// create that a client repeats by itself may make a second object. Proxies and time-outs for reads of the configuration are not used.
///
/// # Errors
/// When the configuration can't be used, such as a certificate that can't be read.
pub fn fenced_client(config: &Config, deadline: &RenewDeadline) -> Result<Client, kube::Error> {
    let service = fenced_service(config, deadline)?;
    Ok(ClientBuilder::new(service, config.default_namespace.clone()).build())
}

/// The service of such a client, around which layers may be put.
///
/// # Errors
/// As [`fenced_client`].
pub fn fenced_service(config: &Config, deadline: &RenewDeadline) -> Result<FencedService, kube::Error> {
    let mut connector = HttpConnector::new();
    connector.enforce_http(false);
    connector.set_connect_timeout(config.connect_timeout);
    connector.set_keepalive(Some(KEEPALIVE));
    connector.set_keepalive_interval(Some(KEEPALIVE_INTERVAL));
    connector.set_keepalive_retries(Some(KEEPALIVE_RETRIES));
    let connector = FencedConnector::new(connector, deadline.clone());
    // The fence is below TLS: the last step before the kernel.
    let connector = config.rustls_https_connector_with_connector(connector)?;
    let client =
        hyper_util::client::legacy::Client::builder(TokioExecutor::new()).build::<_, Body>(connector);
    let service = client.map_err(BoxError::from);
    let service = config.extra_headers_layer()?.layer(service);
    let service = option_layer(config.auth_layer()?).layer(service);
    Ok(BoxService::new(config.base_uri_layer().layer(service)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A server that is gone without a word answers nothing for ever.
    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn the_kernel_watches_connections_for_writes() {
        let server = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = server.local_addr().unwrap().port();
        let config = Config::new(format!("http://127.0.0.1:{port}").parse().unwrap());
        let writes = fenced_client(&config, &RenewDeadline::without_lease()).unwrap();
        let call = tokio::spawn(async move { writes.apiserver_version().await });
        let _silent = server.accept().await.unwrap();

        // proc_net_tcp(5): the addresses in hexadecimal digits, the state, the queues, and the timer, which is 02 for keepalive.
        let sockets = std::fs::read_to_string("/proc/net/tcp").unwrap();
        let to_server = |line: &&str| line.split_whitespace().nth(2) == Some(&format!("0100007F:{port:04X}"));
        let socket = sockets.lines().find(to_server).expect("the client is connected");
        let timer = socket.split_whitespace().nth(5).unwrap();
        let rest = timer.strip_prefix("02:").expect("keepalive");
        // In hundredths of a second; the kernel's own default is two hours.
        let rest = Duration::from_millis(10 * u64::from_str_radix(rest, 16).unwrap());
        assert!(rest <= KEEPALIVE, "{socket}");
        call.abort();
    }
}
