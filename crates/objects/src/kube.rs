//! The model's types as resources of `kube`: `Api<Pod>`, watchers and reflectors work with them as with the types of
//! k8s-openapi, and hold the fields that a decision needs instead of whole objects.
//!
//! [`Resource::meta`] lends metadata that is made from the fields of the model; the documentation of `daemonset::kube` lists
//! them.

use crate::model::{
    ControllerRevision, DaemonSet, DaemonSetMeta, Labels, Node, NodeMeta, OwnerReference, Pod, PodMeta,
    RevisionMeta, Uid,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{OwnerReference as TypedOwner, Time};
use k8s_openapi::{ClusterResourceScope, NamespaceResourceScope};
use kube_core::{ObjectMeta, Resource};
use std::borrow::Cow;

macro_rules! resource {
    ($type:ident, $scope:ty, $group:literal, $plural:literal) => {
        impl Resource for $type {
            type DynamicType = ();
            type Scope = $scope;

            fn kind((): &()) -> Cow<'_, str> {
                Cow::Borrowed(stringify!($type))
            }

            fn group((): &()) -> Cow<'_, str> {
                Cow::Borrowed($group)
            }

            fn version((): &()) -> Cow<'_, str> {
                Cow::Borrowed("v1")
            }

            fn plural((): &()) -> Cow<'_, str> {
                Cow::Borrowed($plural)
            }

            fn meta(&self) -> &ObjectMeta {
                self.metadata.kube.lend(|| self.metadata.object_meta())
            }

            fn meta_mut(&mut self) -> &mut ObjectMeta {
                let mut kube = std::mem::take(&mut self.metadata.kube);
                kube.lend_mut(|| self.metadata.object_meta());
                self.metadata.kube = kube;
                self.metadata.kube.lend_mut(ObjectMeta::default)
            }
        }
    };
}

resource!(DaemonSet, NamespaceResourceScope, "apps", "daemonsets");
resource!(Pod, NamespaceResourceScope, "", "pods");
resource!(Node, ClusterResourceScope, "", "nodes");
resource!(ControllerRevision, NamespaceResourceScope, "apps", "controllerrevisions");

impl DaemonSetMeta {
    /// The whole metadata: there are few DaemonSets.
    fn object_meta(&self) -> ObjectMeta {
        let whole = serde_json::to_value(self).and_then(serde_json::from_value::<ObjectMeta>);
        // Only a member of a wrong type, which no API server stores, fails.
        whole.unwrap_or_else(|_| ObjectMeta {
            labels: labels(&self.labels),
            ..identity(&self.name, &self.namespace, &self.uid, &self.resource_version)
        })
    }
}

impl PodMeta {
    /// Without labels: a second copy of them would be the largest part of a pod, and there are tens of thousands.
    fn object_meta(&self) -> ObjectMeta {
        ObjectMeta {
            owner_references: owners(&self.owner_references),
            creation_timestamp: self.creation_timestamp.map(Time),
            deletion_timestamp: self.deletion_timestamp.map(Time),
            ..identity(&self.name, &self.namespace, &self.uid, &self.resource_version)
        }
    }
}

impl RevisionMeta {
    fn object_meta(&self) -> ObjectMeta {
        ObjectMeta {
            labels: labels(&self.labels),
            annotations: labels(&self.annotations),
            owner_references: owners(&self.owner_references),
            creation_timestamp: self.creation_timestamp.map(Time),
            deletion_timestamp: self.deletion_timestamp.map(Time),
            ..identity(&self.name, &self.namespace, &self.uid, &self.resource_version)
        }
    }
}

impl NodeMeta {
    fn object_meta(&self) -> ObjectMeta {
        ObjectMeta {
            labels: labels(&self.labels),
            ..identity(self.name.as_str(), "", &self.uid, &self.resource_version)
        }
    }
}

/// The identity of an object, and its version.
fn identity(name: &str, namespace: &str, uid: &Uid, resource_version: &str) -> ObjectMeta {
    ObjectMeta {
        name: text(name),
        namespace: text(namespace),
        uid: text(uid.as_str()),
        resource_version: text(resource_version),
        ..ObjectMeta::default()
    }
}

fn text(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}

fn labels(labels: &Labels) -> Option<std::collections::BTreeMap<String, String>> {
    let pairs = || labels.iter().map(|(key, value)| (key.to_owned(), value.to_owned()));
    (!labels.is_empty()).then(|| pairs().collect())
}

fn owners(owners: &[OwnerReference]) -> Option<Vec<TypedOwner>> {
    (!owners.is_empty()).then(|| owners.iter().map(typed_owner).collect())
}

fn typed_owner(owner: &OwnerReference) -> TypedOwner {
    TypedOwner {
        api_version: owner.api_version.clone(),
        kind: owner.kind.clone(),
        name: owner.name.clone(),
        uid: owner.uid.as_str().to_owned(),
        controller: owner.controller,
        block_owner_deletion: owner.block_owner_deletion,
    }
}
