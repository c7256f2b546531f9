//! A DaemonSet's rollout before it happens: the scene, the settings to try, and the simulated run in text, SVG and HTML.
//!
//! [`rehearsal`] builds the cluster of a reading ([`daemonset_view::cluster`]) in the simulation and runs its rollout in a
//! [`scene`]. [`report`] tells of the run, [`svg`] and [`html`] draw it, [`mod@compare`] and [`downtime`] draw several beside each other.
//!
//! Pure: no I/O, no clock, no randomness of its own, no environment. Its API follows the needs of the plugin and of the page, and
//! changes with them.
#![allow(missing_docs, unreachable_pub, reason = "the plugin and the page are its only callers")]
#![allow(clippy::exhaustive_enums, clippy::exhaustive_structs, reason = "they are built with it")]
#![allow(clippy::float_arithmetic, reason = "the coordinates of pictures")]

mod canvas;
pub mod compare;
mod curves;
pub mod downtime;
#[cfg(test)]
mod fake;
mod figures;
mod head;
pub mod html;
mod labels;
mod lanes;
mod layers;
mod layout;
#[cfg(test)]
mod looks;
mod marks;
pub mod note;
mod palette;
mod panel;
mod phases;
#[cfg(test)]
mod pictures;
mod pod_now;
pub mod rehearsal;
mod replay;
mod replayed_node;
pub mod report;
mod ribbon;
mod row;
pub mod run;
mod scale;
pub mod scene;
pub mod setting;
#[cfg(test)]
mod stories;
pub mod svg;
mod timeline;
mod turn_lanes;
pub mod world;

/// The README's examples are tested as documentation is.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
