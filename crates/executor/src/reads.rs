//! Reads from storage, for decisions that a cache which lags behind would get wrong.

use crate::error::ExecuteError;
use crate::executor::Executor;
use crate::in_flight::{Driver, InFlight};
use crate::refusals::final_answer;
use crate::response::{ApiResponse, Sender, UnknownOutcome};
use crate::tolerant::{FromJson, Tolerant};
use daemonset::kube::is_own_revision;
use daemonset::model::{ControllerRevision, DaemonSet, DaemonSetMeta, Owner, OwnerReference, Pod};
use daemonset::{NodeView, Observed, Snapshot};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use kube::api::{GetParams, ListParams, ObjectList};
use kube::core::request::{Error as RequestError, Request};
use kube::core::{Selector, Status};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::sync::Arc;
use tokio::time::Instant;

/// How many objects a page of a list has. An object has up to 1.5 MB, and a page is in memory twice, as it was received and as
/// text: the pages of pods and revisions, which tenants can make so large, fit into 512 MiB.
pub const PAGE_SIZE: u32 = 50;

/// The objects that the DaemonSet's selector matches. The namespace may hold far more, and what others keep there costs nothing here.
fn selected(ds: &DaemonSet) -> ListParams {
    let selector = serde_json::to_value(&ds.spec.selector).and_then(serde_json::from_value::<LabelSelector>);
    match selector.ok().and_then(|selector| Selector::try_from(selector).ok()) {
        Some(selector) => ListParams::default().labels_from(&selector),
        None => ListParams::default(),
    }
}

impl<S: Sender> Executor<S> {
    /// The pods that the DaemonSet's selector matches, as they are stored now.
    ///
    /// # Errors
    /// When they can't be read.
    pub async fn list_pods(&self, ds: &DaemonSet) -> Result<Vec<Arc<Pod>>, ExecuteError> {
        self.list(&ds.metadata.namespace, &selected(ds)).await
    }

    /// The revisions that the DaemonSet's selector matches, as they are stored now.
    ///
    /// # Errors
    /// When they can't be read.
    pub async fn list_revisions(&self, ds: &DaemonSet) -> Result<Vec<Arc<ControllerRevision>>, ExecuteError> {
        self.list(&ds.metadata.namespace, &selected(ds)).await
    }

    /// Whether the revision that already has this name is the one that was to be created, and only the watch has not shown it
    /// yet.
    pub(crate) async fn has_own_revision(&self, ds: &DaemonSet, name: &str) -> Result<bool, ExecuteError> {
        let existing: Option<ControllerRevision> = self.get(&ds.metadata.namespace, name).await?;
        Ok(existing.is_some_and(|existing| is_own_revision(&existing, ds)))
    }

    /// The pod that already has a name which was to be created, if it is the DaemonSet's and stays. The role of the controller
    /// lets it list pods, and get none.
    pub(crate) async fn own_pod(&self, ds: &DaemonSet, name: &str) -> Result<Option<Arc<Pod>>, ExecuteError> {
        let pods = self.list_pods(ds).await?;
        let is_own = |pod: &&Arc<Pod>| {
            let metadata = &pod.metadata;
            metadata.name == name
                && metadata.deletion_timestamp.is_none()
                && OwnerReference::controller_of(&metadata.owner_references) == Some(ds.metadata.uid.as_str())
        };
        Ok(pods.iter().find(is_own).cloned())
    }

    /// Stops an adoption if the DaemonSet, or the object of a custom kind, is gone by now or was replaced (v1.36
    /// `RecheckDeletionTimestamp`).
    pub(crate) async fn check_before_adoption(&self, ds: &DaemonSet) -> Result<(), ExecuteError> {
        #[derive(Deserialize)]
        struct Stored {
            metadata: DaemonSetMeta,
        }
        let Owner { api_version, plural, .. } = &ds.owner;
        let root = if ds.owner.group().is_empty() { "api" } else { "apis" };
        let path = format!("/{root}/{api_version}/namespaces/{}/{plural}", ds.metadata.namespace);
        let request = Request::new(path).get(&ds.metadata.name, &GetParams::default());
        let stored: Option<Stored> = self.request(request).await?;
        let is_same = |stored: Stored| {
            stored.metadata.uid == ds.metadata.uid && stored.metadata.deletion_timestamp.is_none()
        };
        match stored.is_some_and(is_same) {
            true => Ok(()),
            false => Err(ExecuteError::Outdated("the DaemonSet was deleted or replaced".to_owned())),
        }
    }

    /// Reads from storage the outcomes of calls whose response was lost, if some are due ([`InFlight::next_settle`]) and no watch
    /// has shown them. Before each plan.
    ///
    /// # Errors
    /// When the pods can't be read.
    pub async fn settle<'a, D: Driver, N>(
        &self,
        ds: &'a DaemonSet,
        nodes: N,
        in_flight: &mut InFlight<D>,
    ) -> Result<(), ExecuteError>
    where
        N: IntoIterator<Item: Into<NodeView<'a>>>,
    {
        let planned_at = (self.now)();
        in_flight.drop_observed();
        let read_at = Instant::now();
        if in_flight.next_settle().is_none_or(|at| at > read_at) {
            return Ok(());
        }
        let pods = self.list_pods(ds).await?;
        let revisions: [&ControllerRevision; 0] = [];
        let pods = pods.iter().map(Arc::as_ref);
        let policy = in_flight.driver.policy().clone();
        let nodes: Vec<NodeView<'_>> = nodes.into_iter().map(Into::into).collect();
        let observed = Observed { daemon_set: ds, nodes, pods, revisions };
        let stored = Snapshot::builder(observed, planned_at).policy(&policy).check();
        in_flight.settle(stored.as_ref().ok(), read_at);
        Ok(())
    }

    /// The pages of a list, which are one list as of one instant.
    async fn list<K: FromJson + Clone>(
        &self,
        namespace: &str,
        params: &ListParams,
    ) -> Result<Vec<Arc<K>>, ExecuteError> {
        let mut params = params.clone().limit(PAGE_SIZE);
        let mut objects = Vec::new();
        loop {
            let request = Request::new(K::url_path(&(), Some(namespace))).list(&params);
            let page: Result<ObjectList<Tolerant<K>>, Box<Status>> = self.read(request).await?;
            // Where nothing is, an API server answers with an empty list: this answer is a proxy's, and says nothing about the objects.
            let page = page.map_err(|not_found| ExecuteError::Failed(not_found.message))?;
            objects.extend(page.items.into_iter().map(|Tolerant(object)| Arc::new(object)));
            match page.metadata.continue_.filter(|token| !token.is_empty()) {
                Some(token) => params = params.continue_token(&token),
                None => return Ok(objects),
            }
        }
    }

    /// One object as it is stored now; `None` if it does not exist.
    async fn get<K: FromJson>(&self, namespace: &str, name: &str) -> Result<Option<K>, ExecuteError> {
        let request = Request::new(K::url_path(&(), Some(namespace))).get(name, &GetParams::default());
        let object: Option<Tolerant<K>> = self.request(request).await?;
        Ok(object.map(|Tolerant(object)| object))
    }

    /// One object, or `None` if it does not exist.
    pub(crate) async fn request<T: DeserializeOwned>(
        &self,
        request: Result<http::Request<Vec<u8>>, RequestError>,
    ) -> Result<Option<T>, ExecuteError> {
        Ok(self.read(request).await?.ok())
    }

    /// Sends a read like a write, so that it ends after the same time-out. The inner error is that nothing was found.
    async fn read<T: DeserializeOwned>(
        &self,
        request: Result<http::Request<Vec<u8>>, RequestError>,
    ) -> Result<Result<T, Box<Status>>, ExecuteError> {
        let failed = |error: &dyn std::error::Error| ExecuteError::Failed(error.to_string());
        match self.sender.send_once(request.map_err(|error| failed(&error))?).await {
            ApiResponse::Done(body) => serde_json::from_slice(&body).map(Ok).map_err(|error| failed(&error)),
            ApiResponse::Rejected(status) if status.is_not_found() => Ok(Err(status)),
            ApiResponse::Rejected(status) => Err(final_answer(&status)),
            ApiResponse::RetryAfter(delay) => Err(ExecuteError::RetryAfter(delay)),
            ApiResponse::MayNotAct(_) => Err(ExecuteError::MayNotAct),
            ApiResponse::NotSent(error) => Err(ExecuteError::Unreachable(error)),
            ApiResponse::Unknown(UnknownOutcome { error, .. }) => Err(ExecuteError::Failed(error)),
        }
    }
}
