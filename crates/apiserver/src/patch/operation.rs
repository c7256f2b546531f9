//! The operations of a JSON patch (RFC 6902), to be sent; this crate does not apply them.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// An operation of a JSON patch. A patch is a list of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "lowercase")]
pub enum Operation {
    /// Sets a member, or puts an item into a list.
    Add {
        /// JSON pointer.
        path: String,
        /// What it is set to.
        value: Value,
    },
    /// Removes what is there.
    Remove {
        /// JSON pointer.
        path: String,
    },
    /// Replaces what is there.
    Replace {
        /// JSON pointer.
        path: String,
        /// What it is replaced by.
        value: Value,
    },
    /// Lets the patch fail if something else is there.
    Test {
        /// JSON pointer.
        path: String,
        /// What must be there.
        value: Value,
    },
}

impl Operation {
    /// The JSON pointer to a field: each name escaped (RFC 6901).
    pub fn pointer<'a>(fields: impl IntoIterator<Item = &'a str>) -> String {
        fields.into_iter().map(|field| format!("/{}", field.replace('~', "~0").replace('/', "~1"))).collect()
    }
}
