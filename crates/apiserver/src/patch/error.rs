//! Errors of applying or computing a patch.

use crate::go::{go_type, go_value};
use serde_json::Value;
use thiserror::Error;

/// Why a patch can't be applied or computed. Prints as v1.36 `apimachinery/pkg/util/{mergepatch,strategicpatch}`
/// does.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PatchError {
    /// The object or the patch is no JSON object.
    #[error("invalid JSON document")]
    NoObject,
    /// An item of a list that is merged by key lacks the key.
    #[error("map: {item} does not contain declared merge key: {key}")]
    #[non_exhaustive]
    NoMergeKey {
        /// The item, as Go prints it.
        item: String,
        /// The merge key.
        key: String,
    },
    /// The value has another type than the list or object that belongs there.
    #[error("expected a {expected}, but received a {found}")]
    #[non_exhaustive]
    WrongType {
        /// Go's type.
        expected: &'static str,
        /// Go's type.
        found: &'static str,
    },
    /// `$patch` is neither `replace` nor `delete`.
    #[error("unknown patch type: {directive} in map: {item}")]
    #[non_exhaustive]
    UnknownDirective {
        /// The value of `$patch`.
        directive: String,
        /// The object that contains it.
        item: String,
    },
    /// `$patch: merge` in an item of a list.
    #[error("merging lists cannot yet be specified in the patch")]
    MergeDirectiveInList,
    /// `$patch` of an object is no text.
    #[error("invalid value for special key: $patch")]
    DirectiveIsNoText,
    /// A list in a list.
    #[error("lists of lists are not supported")]
    ListOfLists,
    /// The items of a list are of several types.
    #[error("list element types are not identical: {lists}")]
    #[non_exhaustive]
    MixedElements {
        /// The lists, as Go prints them.
        lists: String,
    },
    /// The patch sets an order, but neither list has an item.
    #[error("no elements in any of the given slices")]
    NoElements,
    /// An item of a list that is merged by key is no object.
    #[error("value for key {index} is not a map")]
    #[non_exhaustive]
    NotAMap {
        /// Its place in the list.
        index: usize,
    },
    /// A list of objects has no merge key.
    #[error("cannot merge lists without merge key for {of}")]
    #[non_exhaustive]
    NoMergeKeyDeclared {
        /// Go's kind.
        of: &'static str,
    },
    /// `$deleteFromPrimitiveList` without a field.
    #[error("invalid patch format of primitive list")]
    DeleteFromListForm,
    /// `$retainKeys` is no list, or lacks a field that the patch sets.
    #[error("invalid patch format of retainKeys")]
    RetainKeysForm,
    /// `$setElementOrder` without a field.
    #[error("invalid patch format of setElementOrder list")]
    ElementOrderForm,
    /// The items of the patch are in another order than `$setElementOrder` lists them.
    #[error("The order in patch list:\n{patch}\n doesn't match $setElementOrder list:\n{order}\n")]
    #[non_exhaustive]
    ElementOrderMismatch {
        /// The items, as Go prints them.
        patch: String,
        /// The order, as Go prints it.
        order: String,
    },
    /// The API has no such field.
    #[error("unable to find api field in struct {of} for the json field {field:?}")]
    #[non_exhaustive]
    UnknownField {
        /// The Go struct.
        of: &'static str,
        /// The field.
        field: String,
    },
    /// The value is an object, but the field's type in the API is another one.
    #[error("merging an object in json but data type is not struct, instead is: {found}")]
    #[non_exhaustive]
    NotAStruct {
        /// Go's kind.
        found: &'static str,
    },
    /// The value is a list, but the field's type in the API is another one.
    #[error("expected slice or array type, but got: {found}")]
    #[non_exhaustive]
    NotAList {
        /// Go's kind.
        found: &'static str,
    },
}

impl PatchError {
    pub(super) fn no_merge_key(item: &Value, key: &str) -> Self {
        PatchError::NoMergeKey { item: go_value(item), key: key.to_owned() }
    }

    pub(super) fn expected_list(found: &Value) -> Self {
        PatchError::WrongType { expected: "[]interface {}", found: go_type(found) }
    }

    pub(super) fn expected_map(found: &Value) -> Self {
        PatchError::WrongType { expected: "map[string]interface {}", found: go_type(found) }
    }
}
