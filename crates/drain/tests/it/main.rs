//! Drains of one node `a`, whose pods are read from JSON as an API server sends it.
#![allow(unreachable_pub, clippy::restriction)]

mod answers;
mod conformance;
mod policy;
mod properties;
mod stories;
mod support;

#[cfg(feature = "kube")]
mod kube;
