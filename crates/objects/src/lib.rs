//! The Kubernetes objects around a DaemonSet, borrowed views of them, and Kubernetes' functions over them: selectors, names,
//! canonical JSON, owners.
//!
//! It is the lowest floor of the crate `daemonset`, which shows all of it under the same names. A program that reads or compares
//! such objects, and decides nothing, does without the planner.
//!
//! | | |
//! |---|---|
//! | [`model`] | the objects as the API server writes them, with the fields that a decision reads |
//! | [`kubernetes`] | the vocabulary that they share: selectors, names, canonical JSON, Go's JSON, images, whether a rollout is done |
//! | [`PodView`], [`NodeView`], [`RevisionView`] | borrowed views, from the model's objects or from a store of another form |
//! | [`Problem`], [`InvalidInput`] | the problems of an input, by field path, all at once |
//! | [`Escaped`] | text of others, for a terminal or a log |
//!
//! Pure: no I/O, no clock, no randomness, no environment.
//!
//! # Features
//!
//! `k8s-openapi`: views of k8s-openapi's types, and the model from them (Rust 1.88). `kube`: the model as resources of kube (Rust
//! 1.89). Without features the crate needs Rust 1.85.
// docs.rs shows the feature that an item needs; only its compiler can.
#![cfg_attr(docsrs, feature(doc_cfg))]

mod escaped;
#[cfg(feature = "k8s-openapi")]
pub mod k8s_openapi;
#[cfg(feature = "kube")]
mod kube;
pub mod kubernetes;
pub mod model;
mod problem;
mod recovery;
mod view;
mod words;

pub use escaped::Escaped;
/// The crate of the instants here: its `Timestamp` is that of every signature.
pub use jiff;
pub use problem::{InvalidInput, Problem, ProblemKind};
pub use view::{Lifecycle, NodeView, PodView, RevisionView};

/// The parts that `daemonset` and the crates around it use, of the same version. They are no part of the API, and change in any
/// release.
#[doc(hidden)]
pub mod internal {
    pub use crate::kubernetes::revision::has_template;
    pub use crate::kubernetes::selector::{CompiledRequirement, Vocabulary};
    pub use crate::kubernetes::tolerations::{daemon_toleration_list, tolerated, tolerated_by_pod};
    pub use crate::model::int_or_string::MUST_BE as LIMIT_MUST_BE;
    pub use crate::model::labels::KeyLengths;
    pub use crate::model::node::is_of_turn;
    pub use crate::model::null::{is_default, null_is_default};
    pub use crate::model::object::{Object, some_object, some_objects};
    pub use crate::model::selector::Affinity;
    pub use crate::model::time::rfc3339;
    pub use crate::problem::{Problems, cut};
    pub use crate::recovery::recovered_template;
    pub use crate::view::{
        ContainersView, Known, LabelsView, LifecycleView, NodeFacts, NodeObject, Phase, PodObject, TaintView,
        TaintsView, TolerationsView, Truth, whole_node, whole_pod,
    };
    pub use crate::words::hash::{Hasher, content_hash, first_hex_digits, lookup_hash, name_hash};
    pub use crate::words::names::cut_name;
    pub use crate::words::ownership::{ClaimVerdict, Ownership};

    /// Of resources.
    pub mod quantity {
        pub use crate::kubernetes::quantity::*;
    }

    /// Of a ControllerRevision.
    pub mod revision {
        pub use crate::kubernetes::revision::*;
    }
}

/// The README's examples are tested as documentation is.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
