//! Reads from storage, for decisions that a cache which lags behind would get wrong.

use super::{ExecuteError, Executor, final_answer};
use crate::response::{ApiResponse, UnknownOutcome};
use crate::tolerant::{FromJson, Tolerant};
use crate::watches::PAGE_SIZE;
use daemonset::kube::is_own_revision;
use daemonset::model::{ControllerRevision, DaemonSet, OwnerReference, Pod};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use kube::api::{GetParams, ListParams, ObjectList};
use kube::core::Selector;
use kube::core::request::{Error as RequestError, Request};
use serde::de::DeserializeOwned;
use std::sync::Arc;

/// The objects that the DaemonSet's selector matches. The namespace may hold far more, and what others keep there costs nothing here.
fn selected(ds: &DaemonSet) -> ListParams {
    let selector = serde_json::to_value(&ds.spec.selector).and_then(serde_json::from_value::<LabelSelector>);
    match selector.ok().and_then(|selector| Selector::try_from(selector).ok()) {
        Some(selector) => ListParams::default().labels_from(&selector),
        None => ListParams::default(),
    }
}

impl Executor {
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
    pub(super) async fn has_own_revision(&self, ds: &DaemonSet, name: &str) -> Result<bool, ExecuteError> {
        let existing: Option<ControllerRevision> = self.get(&ds.metadata.namespace, name).await?;
        Ok(existing.is_some_and(|existing| is_own_revision(&existing, ds)))
    }

    /// The pod that already has a name which was to be created, if it is the DaemonSet's and stays. The role of the controller
    /// lets it list pods, and get none.
    pub(super) async fn own_pod(&self, ds: &DaemonSet, name: &str) -> Result<Option<Arc<Pod>>, ExecuteError> {
        let pods = self.list_pods(ds).await?;
        let is_own = |pod: &&Arc<Pod>| {
            let metadata = &pod.metadata;
            metadata.name == name
                && metadata.deletion_timestamp.is_none()
                && OwnerReference::controller_of(&metadata.owner_references) == Some(ds.metadata.uid.as_str())
        };
        Ok(pods.iter().find(is_own).cloned())
    }

    /// Stops an adoption if the DaemonSet is gone by now or was replaced (v1.36 `RecheckDeletionTimestamp`).
    pub(super) async fn check_before_adoption(&self, ds: &DaemonSet) -> Result<(), ExecuteError> {
        let stored: Option<DaemonSet> = self.get(&ds.metadata.namespace, &ds.metadata.name).await?;
        let is_same = |stored: DaemonSet| {
            stored.metadata.uid == ds.metadata.uid && stored.metadata.deletion_timestamp.is_none()
        };
        match stored.is_some_and(is_same) {
            true => Ok(()),
            false => Err(ExecuteError::Outdated("the DaemonSet was deleted or replaced".to_owned())),
        }
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
            let page: Option<ObjectList<Tolerant<K>>> = self.request(request).await?;
            let Some(page) = page else { return Ok(objects) };
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

    /// Sends a read like a write, so that it ends after the same time-out.
    pub(super) async fn request<T: DeserializeOwned>(
        &self,
        request: Result<http::Request<Vec<u8>>, RequestError>,
    ) -> Result<Option<T>, ExecuteError> {
        let failed = |error: &dyn std::error::Error| ExecuteError::Failed(error.to_string());
        match self.client.send(request.map_err(|error| failed(&error))?).await {
            ApiResponse::Done(body) => {
                serde_json::from_slice(&body).map(Some).map_err(|error| failed(&error))
            }
            ApiResponse::Rejected(status) if status.is_not_found() => Ok(None),
            ApiResponse::Rejected(status) => Err(final_answer(&status)),
            ApiResponse::RetryAfter(delay) => Err(ExecuteError::RetryAfter(delay)),
            ApiResponse::MayNotAct(reason) => Err(reason.into()),
            ApiResponse::NotSent(error) => Err(ExecuteError::Unreachable(error)),
            ApiResponse::Unknown(UnknownOutcome { error, .. }) => Err(ExecuteError::Failed(error)),
        }
    }
}
