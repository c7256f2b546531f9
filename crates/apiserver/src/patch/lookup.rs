//! The schema of a patched field (v1.36 `strategicpatch` meta.go PatchMetaFromStruct).

use super::PatchError;
use crate::schema::{Field, Kind, PatchStrategy, Presence, Scalar};

/// The schema of a list: its items, and how a patch merges them.
#[derive(Debug, Clone, Copy)]
pub(super) struct ListSchema {
    pub(super) items: Kind,
    pub(super) patch: PatchStrategy,
}

impl ListSchema {
    pub(super) fn merge_key(self) -> Option<&'static str> {
        match self.patch {
            PatchStrategy::Default | PatchStrategy::MergeSet => None,
            PatchStrategy::MergeBy(key) | PatchStrategy::MergeByRetainingKeys(key) => Some(key),
        }
    }
}

/// The field of this name, or else a field whose name differs only in case.
pub(super) fn field(of: Kind, name: &str) -> Result<&'static Field, PatchError> {
    let Kind::Struct(of) = of else {
        return Err(PatchError::NotAStruct { found: go_kind(of) });
    };
    of.field(name)
        .or_else(|| of.fields().find(|field| field.name.eq_ignore_ascii_case(name)))
        .ok_or_else(|| PatchError::UnknownField { of: of.name, field: name.to_owned() })
}

/// The list of this name. A pointer passes too, as upstream accepts it.
pub(super) fn list(of: Kind, name: &str) -> Result<ListSchema, PatchError> {
    let field = field(of, name)?;
    let items = match (field.kind, field.presence) {
        (Kind::List(scalar), _) => Kind::One(scalar),
        (Kind::Structs(of), _) => Kind::Struct(of),
        (pointed_to, Presence::Pointer | Presence::Nullable) => pointed_to,
        (Kind::One(_) | Kind::Map(_) | Kind::Struct(_), Presence::Always | Presence::OmitEmpty) => {
            return Err(PatchError::NotAList { found: go_kind(of) });
        }
    };
    Ok(ListSchema { items, patch: field.patch })
}

/// Go's reflect.Kind.
pub(super) fn go_kind(kind: Kind) -> &'static str {
    match kind {
        Kind::One(Scalar::Text) => "string",
        Kind::One(Scalar::Bool) => "bool",
        Kind::One(Scalar::Int32) => "int32",
        Kind::One(Scalar::Int64) => "int64",
        Kind::One(Scalar::Quantity | Scalar::IntOrString | Scalar::Time | Scalar::Raw) | Kind::Struct(_) => {
            "struct"
        }
        Kind::Map(_) => "map",
        Kind::List(_) | Kind::Structs(_) => "slice",
    }
}
