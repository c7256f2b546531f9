//! The part of the plugin `kubectl daemonset` that answers as kubectl does, apart from the program, so that tests can call it.
//!
//! It is no API: it follows the needs of the program, and changes in any release.

pub mod kubectl;
