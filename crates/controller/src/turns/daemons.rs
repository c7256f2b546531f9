//! All DaemonSets of the cluster, whatever part of it this process works on.

use crate::caches::Caches;
use crate::response::error_chain;
use crate::watches::{PAGE_SIZE, Scope};
use daemonset::model::DaemonSet;
use daemonset_drain::DaemonOwner;
use k8s_openapi::api::apps::v1::DaemonSet as WholeDaemonSet;
use kube::api::ListParams;
use kube::core::PartialObjectMeta;
use kube::{Api, Client};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Mutex;
use tokio::time::Instant;

/// How old a list may be for a drain.
const OLDEST_LIST: Duration = Duration::from_secs(10);

/// The DaemonSets of the cluster; clones share their lists.
#[derive(Clone)]
pub(crate) struct DaemonReader {
    caches: Caches,
    client: Client,
    /// Whether the cache has all of them.
    is_whole: bool,
    listed: Arc<Mutex<Option<ListedDaemons>>>,
}

/// A list, and when it was read.
type ListedDaemons = (Instant, Vec<DaemonSet>);

impl DaemonReader {
    pub(crate) fn new(caches: Caches, client: Client, scope: &Scope) -> Self {
        let is_whole = scope.namespace.is_none() && scope.selector.is_none();
        DaemonReader { caches, client, is_whole, listed: Arc::default() }
    }

    /// The owners whose pods are daemons: all of them, since a drain may evict the pods of one that is missing here.
    ///
    /// # Errors
    /// The reason why they can't be read.
    pub(crate) async fn owners(&self) -> Result<Vec<DaemonOwner>, String> {
        let cached = self.caches.daemon_sets.state();
        let mut owners: Vec<DaemonOwner> = cached.iter().map(|ds| DaemonOwner::from(&**ds)).collect();
        if !self.is_whole {
            let mut listed = self.listed.lock().await;
            if listed.as_ref().is_none_or(|(at, _)| at.elapsed() > OLDEST_LIST) {
                *listed = Some((Instant::now(), self.list().await?));
            }
            owners.extend(listed.iter().flat_map(|(_, all)| all).map(DaemonOwner::from));
        }
        Ok(owners)
    }

    /// All DaemonSets as they are stored now, with their names and uids alone.
    ///
    /// # Errors
    /// The reason why they can't be read.
    pub(crate) async fn list(&self) -> Result<Vec<DaemonSet>, String> {
        let api: Api<PartialObjectMeta<WholeDaemonSet>> = Api::all(self.client.clone());
        let mut params = ListParams::default().limit(PAGE_SIZE);
        let mut listed = Vec::new();
        loop {
            let page = api.list_metadata(&params).await.map_err(|error| error_chain(&error))?;
            listed.extend(page.items.into_iter().map(|item| named(item.metadata)));
            match page.metadata.continue_.filter(|token| !token.is_empty()) {
                Some(token) => params = params.continue_token(&token),
                None => return Ok(listed),
            }
        }
    }
}

fn named(metadata: kube::core::ObjectMeta) -> DaemonSet {
    let mut ds = DaemonSet::default();
    ds.metadata.name = metadata.name.unwrap_or_default();
    ds.metadata.namespace = metadata.namespace.unwrap_or_default();
    ds.metadata.uid = metadata.uid.unwrap_or_default().into();
    ds
}
