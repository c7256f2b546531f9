//! Patches of a DaemonSet as an API server applies them: strategic merge patches, JSON merge patches; and the patch that
//! turns one object into another.

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
