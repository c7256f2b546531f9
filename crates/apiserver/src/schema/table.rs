//! The vocabulary of the field tables: the type of a field, when Go serializes it, how a patch merges it.

/// A Go struct of the API.
#[derive(Debug)]
pub(crate) struct Struct {
    /// The Go name, which errors of decoding contain.
    pub(crate) name: &'static str,
    fields: &'static [Field],
    included: Option<&'static Struct>,
}

/// A field of a struct.
#[derive(Debug)]
pub(crate) struct Field {
    /// The JSON name.
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    pub(crate) presence: Presence,
    pub(crate) patch: PatchStrategy,
}

/// The type of a field.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Kind {
    One(Scalar),
    /// A map with string keys.
    Map(Scalar),
    List(Scalar),
    Struct(&'static Struct),
    Structs(&'static Struct),
}

/// A scalar type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scalar {
    Text,
    Bool,
    Int32,
    Int64,
    Quantity,
    IntOrString,
    /// RFC 3339, printed in UTC and without fractions of a second.
    Time,
    /// Any JSON, kept as it is.
    Raw,
}

/// When Go serializes a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Presence {
    /// Always; absent fields as Go's zero: `0`, `""`, `null` for a list. Structs are always serialized, too: Go's
    /// `omitempty` has no effect on them.
    Always,
    /// Unless it is Go's zero or an empty list or map.
    OmitEmpty,
    /// If it is set, even to its zero.
    Pointer,
    /// Always; a pointer that is not set as `null`.
    Nullable,
}

/// How a strategic merge patch treats a field (Go's `patchStrategy` and `patchMergeKey`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PatchStrategy {
    /// Structs and maps are merged, all else is replaced.
    Default,
    /// A list of scalars that is merged as a set.
    MergeSet,
    /// A list of structs that is merged by this field.
    MergeBy(&'static str),
    /// As `MergeBy`, and a patch may list the fields of a struct to keep.
    MergeByRetainingKeys(&'static str),
}

pub(super) const TEXT: Kind = Kind::One(Scalar::Text);
pub(super) const BOOL: Kind = Kind::One(Scalar::Bool);
pub(super) const INT32: Kind = Kind::One(Scalar::Int32);
pub(super) const INT64: Kind = Kind::One(Scalar::Int64);
pub(super) const QUANTITY: Kind = Kind::One(Scalar::Quantity);
pub(super) const INT_OR_STRING: Kind = Kind::One(Scalar::IntOrString);
pub(super) const TIME: Kind = Kind::One(Scalar::Time);
pub(super) const RAW: Kind = Kind::One(Scalar::Raw);
pub(super) const TEXT_MAP: Kind = Kind::Map(Scalar::Text);
pub(super) const QUANTITY_MAP: Kind = Kind::Map(Scalar::Quantity);
pub(super) const TEXT_LIST: Kind = Kind::List(Scalar::Text);
pub(super) const INT32_LIST: Kind = Kind::List(Scalar::Int32);
pub(super) const INT64_LIST: Kind = Kind::List(Scalar::Int64);

pub(super) const fn one(of: &'static Struct) -> Kind {
    Kind::Struct(of)
}

pub(super) const fn many(of: &'static Struct) -> Kind {
    Kind::Structs(of)
}

pub(super) const fn always(name: &'static str, kind: Kind) -> Field {
    Field::new(name, kind, Presence::Always)
}

pub(super) const fn omit_empty(name: &'static str, kind: Kind) -> Field {
    Field::new(name, kind, Presence::OmitEmpty)
}

pub(super) const fn pointer(name: &'static str, kind: Kind) -> Field {
    Field::new(name, kind, Presence::Pointer)
}

pub(super) const fn nullable(name: &'static str, kind: Kind) -> Field {
    Field::new(name, kind, Presence::Nullable)
}

impl Field {
    const fn new(name: &'static str, kind: Kind, presence: Presence) -> Self {
        Field { name, kind, presence, patch: PatchStrategy::Default }
    }

    pub(super) const fn merged(self) -> Self {
        Field { patch: PatchStrategy::MergeSet, ..self }
    }

    pub(super) const fn merged_by(self, key: &'static str) -> Self {
        Field { patch: PatchStrategy::MergeBy(key), ..self }
    }

    pub(super) const fn retaining_keys(self) -> Self {
        let patch = match self.patch {
            PatchStrategy::MergeBy(key) => PatchStrategy::MergeByRetainingKeys(key),
            other @ (PatchStrategy::Default
            | PatchStrategy::MergeSet
            | PatchStrategy::MergeByRetainingKeys(_)) => other,
        };
        Field { patch, ..self }
    }
}

impl Struct {
    pub(super) const fn new(name: &'static str, fields: &'static [Field]) -> Self {
        Struct { name, fields, included: None }
    }

    /// Adds the fields of another struct.
    pub(super) const fn including(self, included: &'static Struct) -> Self {
        Struct { included: Some(included), ..self }
    }

    /// The own fields and the included ones.
    pub(crate) fn fields(&self) -> impl Iterator<Item = &'static Field> + use<> {
        self.included.into_iter().flat_map(|included| included.fields).chain(self.fields)
    }

    /// The field with this name. The case of names matters, as in the API server.
    pub(crate) fn field(&self, name: &str) -> Option<&'static Field> {
        self.fields().find(|field| field.name == name)
    }
}
