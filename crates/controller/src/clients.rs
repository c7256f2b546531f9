//! The clients of the API server: for watches, for the lease, and for everything that only an acting process may do.

use crate::clock::Clock;
use crate::connection::{Connection, ObserveLayer};
use crate::response::ActingClient;
use crate::response::error_chain;
use anyhow::anyhow;
use daemonset_executor::lease::{RenewDeadline, fenced_service};
use kube::client::ClientBuilder;
use kube::config::InferConfigError;
use kube::{Client, Config};
use std::error::Error;
use std::time::Duration;
use tower::Layer;

/// Longest silence of the API server in an answer: it ends a watch after 50 s, and gives a list up after 60 s. Connections that
/// nobody uses end then, too, so that none that is half open is used again.
const READ_TIMEOUT: Duration = Duration::from_secs(60);
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
        let writes = layer.layer(fenced_service(&config, deadline)?);
        let writes = ClientBuilder::new(writes, config.default_namespace.clone()).build();
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
}
