//! The objects of Kubernetes, their vocabulary, and the lists that a decision goes through.

mod canonical_json;
mod go_json;
mod hash;
mod labels;
mod limits;
mod lookup;
mod model;
mod names;
mod positions;
mod rollout_status;
mod selector_text;
mod times;
