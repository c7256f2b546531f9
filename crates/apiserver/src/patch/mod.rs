//! Patches of a DaemonSet: strategic merge patches and JSON merge patches, as an API server applies them, and the
//! strategic merge patch that turns one object into another, as kubectl computes it.
//!
//! A strategic merge patch looks like a part of the object. Objects are merged field by field, and a list is merged
//! item by item if the API gives it a merge key, `name` for containers:
//!
//! ```
//! use daemonset_apiserver::patch::strategic_merge;
//! use serde_json::json;
//!
//! let containers = |list| json!({"spec": {"template": {"spec": {"containers": list}}}});
//! let stored = containers(json!([{"name": "log", "image": "log:v1"}, {"name": "web", "image": "web:v1", "tty": true}]));
//! let patch = containers(json!([{"name": "web", "image": "web:v2", "tty": null}]));
//! let merged = strategic_merge(&stored, &patch).unwrap();
//! assert_eq!(merged, containers(json!([{"name": "log", "image": "log:v1"}, {"name": "web", "image": "web:v2"}])));
//! ```

mod diff;
mod diff_lists;
mod directives;
mod element_order;
mod error;
mod items;
mod json;
mod lists;
mod lookup;
mod strategic;

pub use error::PatchError;
pub use json::{Operation, json_merge};
pub(crate) use strategic::merge_as;
pub use strategic::strategic_merge;

pub(crate) use diff::three_way_merge;
pub use diff::two_way_merge;
