//! The model's types as resources of `kube`: `Api<Pod>`, watchers and reflectors work with them as with the types of
//! k8s-openapi, and hold the fields that a decision needs instead of whole objects.
//!
//! [`Resource::meta`] lends metadata with each field that the model has; the documentation of `daemonset::kube` lists them.

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
            labels: pairs(&self.labels),
            ..identity(&self.name, &self.namespace, &self.uid, &self.resource_version)
        })
    }
}

// Each takes the model's metadata apart without `..`: a field that is not lent would look absent.

impl PodMeta {
    fn object_meta(&self) -> ObjectMeta {
        let PodMeta {
            name,
            namespace,
            uid,
            resource_version,
            labels,
            annotations,
            owner_references,
            creation_timestamp,
            deletion_timestamp,
            deletion_grace_period_seconds,
            kube: _,
        } = self;
        ObjectMeta {
            labels: pairs(labels),
            annotations: pairs(annotations),
            owner_references: owners(owner_references),
            creation_timestamp: creation_timestamp.map(Time),
            deletion_timestamp: deletion_timestamp.map(Time),
            deletion_grace_period_seconds: *deletion_grace_period_seconds,
            ..identity(name, namespace, uid, resource_version)
        }
    }
}

impl RevisionMeta {
    fn object_meta(&self) -> ObjectMeta {
        let RevisionMeta {
            name,
            namespace,
            uid,
            resource_version,
            labels,
            annotations,
            owner_references,
            creation_timestamp,
            deletion_timestamp,
            kube: _,
        } = self;
        ObjectMeta {
            labels: pairs(labels),
            annotations: pairs(annotations),
            owner_references: owners(owner_references),
            creation_timestamp: creation_timestamp.map(Time),
            deletion_timestamp: deletion_timestamp.map(Time),
            ..identity(name, namespace, uid, resource_version)
        }
    }
}

impl NodeMeta {
    fn object_meta(&self) -> ObjectMeta {
        let NodeMeta { name, uid, resource_version, labels, annotations, kube: _ } = self;
        ObjectMeta {
            labels: pairs(labels),
            annotations: pairs(annotations),
            ..identity(name.as_str(), "", uid, resource_version)
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

/// Labels, or annotations.
fn pairs(labels: &Labels) -> Option<std::collections::BTreeMap<String, String>> {
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
