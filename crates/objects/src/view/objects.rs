//! Borrowed objects, for the fields that few policies read: a view has no field for each of them.

use crate::model::{ContainerImage, Node, Pod};
#[cfg(feature = "k8s-openapi")]
use k8s_openapi::api::core::v1 as core;
#[cfg(feature = "k8s-openapi")]
use serde::{Serialize, de::DeserializeOwned};
use std::borrow::Cow;

/// A pod, in the caller's form.
#[derive(Debug, Clone, Copy)]
pub enum PodObject<'a> {
    /// Of a store of another form: nothing more is known.
    Unknown,
    /// Of the model.
    Model(&'a Pod),
    /// Of k8s-openapi's types.
    #[cfg(feature = "k8s-openapi")]
    Typed(&'a core::Pod),
}

/// A node, in the caller's form.
#[derive(Debug, Clone, Copy)]
pub enum NodeObject<'a> {
    /// Of a store of another form: nothing more is known.
    Unknown,
    /// Of the model.
    Model(&'a Node),
    /// Of k8s-openapi's types.
    #[cfg(feature = "k8s-openapi")]
    Typed(&'a core::Node),
}

impl<'a> PodObject<'a> {
    /// The value of an annotation.
    #[inline]
    pub(crate) fn annotation(self, key: &str) -> Option<&'a str> {
        match self {
            PodObject::Unknown => None,
            PodObject::Model(pod) => pod.metadata.annotations.get(key),
            #[cfg(feature = "k8s-openapi")]
            PodObject::Typed(pod) => pod.metadata.annotations.as_ref()?.get(key).map(String::as_str),
        }
    }

    /// The pod in the model's form.
    pub fn model(self) -> Cow<'a, Pod> {
        match self {
            PodObject::Unknown => Cow::Owned(Pod::default()),
            PodObject::Model(pod) => Cow::Borrowed(pod),
            #[cfg(feature = "k8s-openapi")]
            PodObject::Typed(pod) => Cow::Owned(converted(pod)),
        }
    }
}

impl<'a> NodeObject<'a> {
    /// Uid and resource version.
    pub fn identity(self) -> (&'a str, &'a str) {
        match self {
            NodeObject::Unknown => ("", ""),
            NodeObject::Model(node) => (node.metadata.uid.as_str(), &node.metadata.resource_version),
            #[cfg(feature = "k8s-openapi")]
            NodeObject::Typed(node) => {
                let text = |text: &'a Option<String>| text.as_deref().unwrap_or_default();
                (text(&node.metadata.uid), text(&node.metadata.resource_version))
            }
        }
    }

    /// The images on it.
    pub fn images(self) -> Cow<'a, [ContainerImage]> {
        match self {
            NodeObject::Unknown => Cow::Borrowed(&[]),
            NodeObject::Model(node) => Cow::Borrowed(&node.status.images),
            #[cfg(feature = "k8s-openapi")]
            NodeObject::Typed(node) => {
                let images = node.status.iter().flat_map(|status| status.images.iter().flatten());
                let names = images.map(|image| image.names.clone().unwrap_or_default());
                names.map(|names| ContainerImage { names }).collect()
            }
        }
    }

    /// The node in the model's form.
    pub fn model(self) -> Cow<'a, Node> {
        match self {
            NodeObject::Unknown => Cow::Owned(Node::default()),
            NodeObject::Model(node) => Cow::Borrowed(node),
            #[cfg(feature = "k8s-openapi")]
            NodeObject::Typed(node) => Cow::Owned(converted(node)),
        }
    }
}

/// By way of its JSON: few objects of a plan are read whole.
#[cfg(feature = "k8s-openapi")]
fn converted<T: DeserializeOwned + Default>(typed: &impl Serialize) -> T {
    let json = serde_json::to_value(typed);
    json.and_then(serde_json::from_value).unwrap_or_default()
}
