//! All integration tests, in one binary.

#![allow(clippy::disallowed_methods, reason = "tests may read the environment")]

mod admission;
mod cascade;
mod conformance;
mod dumps;
mod example;
mod goldens;
#[cfg(feature = "kube")]
mod kube;
mod lint;
#[cfg(feature = "sim")]
mod machine;
mod model;
mod patch;
mod properties;
mod rollout_text;
#[cfg(feature = "sim")]
mod rollouts;
#[cfg(feature = "sim")]
mod sim;
#[cfg(feature = "sim")]
mod simulate;
mod stories;
mod support;
#[cfg(feature = "k8s-openapi")]
mod typed;
mod upstream;
