//! A rollout before it happens: the scene, the settings to try, and the run in words and pictures.

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
pub mod policy;
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
mod words;
pub mod world;
