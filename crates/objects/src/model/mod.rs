//! The Kubernetes objects that a DaemonSet decision reads, as the API server writes them.
//!
//! Every type parses the JSON of `apps/v1` and `core/v1`, keeps the fields that a decision needs and ignores the others.
//! The pod template and a revision's data stay raw. As everywhere in Kubernetes' JSON, `null` is the same as an absent
//! field.

#![expect(
    clippy::exhaustive_structs,
    reason = "callers build these objects with `..Default::default()`, which lets them grow"
)]

mod daemon_set;
pub(crate) mod int_or_string;
mod kube_meta;
pub(crate) mod labels;
mod meta;
mod names;
pub(crate) mod node;
pub(crate) mod null;
pub(crate) mod object;
mod owner;
mod pod;
mod revision;
pub(crate) mod selector;
mod strategy;
pub(crate) mod time;
mod word;

pub use daemon_set::{DaemonSet, DaemonSetMeta, DaemonSetSpec, DaemonSetStatus, TemplateFidelity};
pub use int_or_string::{IntOrString, InvalidIntOrString};
pub use kube_meta::KubeMeta;
pub use labels::Labels;
pub use meta::{ObjectRef, OwnerReference};
pub use names::{NodeName, Uid};
pub use node::{ContainerImage, Node, NodeCondition, NodeMeta, NodeSpec, NodeStatus, Taint, Toleration};
pub(crate) use null::{is_default, null_is_default};
pub use owner::Owner;
pub use pod::{
    Container, ContainerStatus, Pod, PodCondition, PodMeta, PodSpec, PodStatus, Quantity, ResourceList,
    Resources,
};
pub(crate) use pod::{is_condition_true, notable_containers};
#[cfg(feature = "k8s-openapi")]
pub(crate) use pod::{is_of_scheduling, named_node};
pub(crate) use revision::is_mark;
pub use revision::{ControllerRevision, RevisionMeta};
pub use selector::{LabelSelector, NodeSelector, NodeSelectorTerm, Requirement};
pub use strategy::{RollingUpdate, SurgingRollingUpdate, UpdateStrategy};
