//! All integration tests, in one binary.

#![allow(clippy::disallowed_methods, reason = "tests may read the environment")]

mod conformance;
mod dumps;
#[cfg(feature = "kube")]
mod kube;
mod lint;
#[cfg(feature = "sim")]
mod machine;
mod model;
mod outlook;
mod properties;
#[cfg(feature = "sim")]
mod rollouts;
#[cfg(feature = "sim")]
mod sim;
mod stories;
mod support;
#[cfg(feature = "k8s-openapi")]
mod typed;
mod upstream;
