//! The pods of a node that is drained, as its watch and lists show them.

use super::side_watch::resource_of;
use crate::watches::PAGE_SIZE;
use daemonset_drain::Pod;
use k8s_openapi::api::core::v1::Pod as WholePod;
use kube::api::ListParams;
use kube::core::ObjectMeta;
use kube::runtime::watcher::Event;
use kube::{Api, Client};
use serde::{Deserialize, Deserializer};
use std::collections::BTreeMap;

/// A pod as a drain reads it. One that can't be read ends the list: nobody knows whether it blocks.
#[derive(Debug, Clone)]
pub(super) struct DrainedPod {
    /// Its identity, for the watch.
    metadata: ObjectMeta,
    pod: Pod,
}
resource_of!(DrainedPod, WholePod);

impl<'de> Deserialize<'de> for DrainedPod {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut pod = Pod::deserialize(deserializer)?;
        // A tenant's annotations may be large, and a drain reads only the one of static pods.
        let mirror = daemonset::kubernetes::well_known::MIRROR_ANNOTATION;
        let annotations = &pod.metadata.annotations;
        pod.metadata.annotations = annotations.get(mirror).map(|value| (mirror, value)).into_iter().collect();
        let identity = &pod.metadata;
        let metadata = ObjectMeta {
            name: Some(identity.name.clone()),
            namespace: Some(identity.namespace.clone()),
            uid: Some(identity.uid.as_str().to_owned()),
            resource_version: Some(identity.resource_version.clone()),
            ..ObjectMeta::default()
        };
        Ok(DrainedPod { metadata, pod })
    }
}

/// The field selector of the pods of a node.
pub(super) fn on_node(node: &str) -> String {
    format!("spec.nodeName={node}")
}

/// All pods of a node, as they are stored now.
///
/// # Errors
/// When they can't be read.
pub(super) async fn list(client: &Client, node: &str) -> kube::Result<Vec<Pod>> {
    let pods: Api<DrainedPod> = Api::all(client.clone());
    let mut params = ListParams::default().fields(&on_node(node)).limit(PAGE_SIZE);
    let mut listed = Vec::new();
    loop {
        let page = pods.list(&params).await?;
        listed.extend(page.items.into_iter().map(|DrainedPod { pod, .. }| pod));
        match page.metadata.continue_.filter(|token| !token.is_empty()) {
            Some(token) => params = params.continue_token(&token),
            None => return Ok(listed),
        }
    }
}

/// The pods of a node as the watch has shown them last.
#[derive(Default)]
pub(super) struct WatchedPods {
    pods: BTreeMap<(String, String), Pod>,
    /// Those of a list that is not complete.
    listed: BTreeMap<(String, String), Pod>,
    is_listed: bool,
}

impl WatchedPods {
    pub(super) fn take(&mut self, event: Event<DrainedPod>) {
        let key = |pod: &Pod| (pod.metadata.namespace.clone(), pod.metadata.name.clone());
        match event {
            Event::Init => self.listed.clear(),
            Event::InitApply(DrainedPod { pod, .. }) => _ = self.listed.insert(key(&pod), pod),
            Event::InitDone => {
                self.pods = std::mem::take(&mut self.listed);
                self.is_listed = true;
            }
            Event::Apply(DrainedPod { pod, .. }) => _ = self.pods.insert(key(&pod), pod),
            Event::Delete(DrainedPod { pod, .. }) => _ = self.pods.remove(&key(&pod)),
        }
    }

    /// All pods of the node; `None` before the first list.
    pub(super) fn all(&self) -> Option<Vec<Pod>> {
        self.is_listed.then(|| self.pods.values().cloned().collect())
    }
}
