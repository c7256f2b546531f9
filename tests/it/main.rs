//! All integration tests, in one binary.
#![allow(unreachable_pub, clippy::restriction)]
#![allow(clippy::disallowed_methods, reason = "tests may read the environment")]

mod daemons_on;
mod documents;
mod floors;
#[cfg(feature = "k8s-openapi")]
mod k8s_openapi;
#[cfg(feature = "kube")]
mod kube;
mod lint;
mod model_check;
mod objects;
mod outlook;
mod properties;
mod random_lives;
mod recorded;
mod rollouts;
mod rules;
mod simulated;
mod stories;
mod support;
