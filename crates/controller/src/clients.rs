//! The clients of the API server: for watches, for the lease, and for everything that only an acting process may do.

use crate::clock::Clock;
use crate::connection::{Connection, ObserveLayer};
use crate::fenced_stream::FencedConnector;
use crate::renew_deadline::RenewDeadline;
use crate::response::ActingClient;
use crate::response::error_chain;
use anyhow::anyhow;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use kube::client::{Body, ClientBuilder, ConfigExt};
use kube::config::InferConfigError;
use kube::{Client, Config};
use std::error::Error;
use std::time::Duration;
use tower::{BoxError, Layer, ServiceExt};

/// Longest silence of the API server in an answer: it ends a watch after 50 s, and gives a list up after 60 s. Connections that
/// nobody uses end then, too, so that none that is half open is used again.
const READ_TIMEOUT: Duration = Duration::from_secs(60);
/// A connection for writes that is half open is noticed after 45 s by the kernel.
const KEEPALIVE: Duration = Duration::from_secs(30);
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(5);
const KEEPALIVE_RETRIES: u32 = 3;

/// None of them repeats a call by itself: the watches and the queue have a back-off of their own, and know `Retry-After`.
pub(crate) struct Clients {
    /// Watches and lists.
    pub(crate) reads: Client,
    /// Requests for the lease, which this process sends before and after it acts.
    pub(crate) lease: LeaseClient,
    /// Everything that needs the lease.
    pub(crate) writes: ActingClient,
}

impl Clients {
    /// Clients of the API server that the environment names; the last one sends nothing after the deadline.
    pub(crate) async fn connect(deadline: &RenewDeadline) -> anyhow::Result<(Self, Connection)> {
        let config = patient(Config::infer().await.map_err(|error| anyhow!(no_config(&error)))?);
        let connection = Connection::new(&config.cluster_url.to_string(), Clock::default());
        let layer = connection.layer();
        let reads = ClientBuilder::try_from(config.clone())?.with_layer(&layer).build();
        let writes = fenced_client(&config, deadline, &layer)?;
        let lease = LeaseClient { config, layer };
        let writes = ActingClient::new(writes, deadline.clone());
        Ok((Clients { reads, lease, writes }, connection))
    }
}

/// No longer than it must be, and no attempt more than it is asked for.
fn patient(mut config: Config) -> Config {
    config.read_timeout = Some(READ_TIMEOUT);
    config.reset_reader_on_write = true;
    // A client that repeats a create by itself, as after 504, makes a second pod if the first one was stored.
    config.default_retry = false;
    config
}

/// The client for the lease, before it is made in the runtime that uses it.
pub(crate) struct LeaseClient {
    config: Config,
    layer: ObserveLayer,
}

impl LeaseClient {
    pub(crate) fn connect(self) -> anyhow::Result<Client> {
        Ok(ClientBuilder::try_from(self.config)?.with_layer(&self.layer).build())
    }
}

/// Why no API server is known, in one sentence.
fn no_config(error: &InferConfigError) -> String {
    let home = std::env::home_dir().map(|home| home.join(".kube/config"));
    let is_given = std::env::var_os("KUBECONFIG").is_some() || home.is_some_and(|path| path.exists());
    // In a cluster there is no kubeconfig: the other half of the error is about the service account.
    let is_in_cluster = std::env::var_os("KUBERNETES_SERVICE_HOST").is_some();
    match error.source() {
        Some(error) if is_given => format!("the kubeconfig can't be used: {}", error_chain(error)),
        _ if is_in_cluster => "the service account of this pod can't be used: its token or certificate is missing".to_owned(),
        _ => "no API server is known: this process runs in no pod, and neither $KUBECONFIG nor ~/.kube/config exists".to_owned(),
    }
}

/// A client as kube makes it, whose connections write nothing after the deadline.
fn fenced_client(config: &Config, deadline: &RenewDeadline, layer: &ObserveLayer) -> anyhow::Result<Client> {
    let mut connector = HttpConnector::new();
    connector.enforce_http(false);
    connector.set_connect_timeout(config.connect_timeout);
    connector.set_keepalive(Some(KEEPALIVE));
    connector.set_keepalive_interval(Some(KEEPALIVE_INTERVAL));
    connector.set_keepalive_retries(Some(KEEPALIVE_RETRIES));
    let connector = FencedConnector::new(connector, deadline.clone());
    let connector = config.rustls_https_connector_with_connector(connector)?;
    let client =
        hyper_util::client::legacy::Client::builder(TokioExecutor::new()).build::<_, Body>(connector);
    let service = client.map_err(BoxError::from);
    let service = config.extra_headers_layer()?.layer(service);
    let service = tower::util::option_layer(config.auth_layer()?).layer(service);
    let service = config.base_uri_layer().layer(service);
    Ok(ClientBuilder::new(layer.layer(service), config.default_namespace.clone()).build())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lease is lost after a minute without a watch.
    #[test]
    fn silence_ends_before_the_lease_is_lost_and_no_call_is_repeated() {
        let config = patient(Config::new("http://server".parse().unwrap()));
        assert!(config.read_timeout.is_some_and(|silence| silence <= Duration::from_secs(60)));
        assert!(config.reset_reader_on_write && !config.default_retry);
    }

    /// A server that is gone without a word answers nothing for ever.
    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn the_kernel_watches_connections_for_writes() {
        let server = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = server.local_addr().unwrap().port();
        let config = Config::new(format!("http://127.0.0.1:{port}").parse().unwrap());
        let connection = Connection::new("http://server/", Clock::default());
        let writes = fenced_client(&config, &RenewDeadline::without_lease(), &connection.layer()).unwrap();
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
