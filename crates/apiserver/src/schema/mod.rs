//! The schema of a DaemonSet: tables of the API's fields, and decoding and comparing objects by them.

mod decode;
mod equal;
mod error;
mod fields;
mod print;
mod scalar;
mod table;
#[cfg(test)]
mod tests;
mod unknown;

pub(crate) use decode::{decode_struct, decode_with};
pub(crate) use equal::{field_equal, semantic_equal};
pub(crate) use error::Numbers;
pub(crate) use fields::{DAEMON_SET, POD_TEMPLATE_SPEC, PROPOSED_DAEMON_SET};
pub(crate) use print::indented;
pub(crate) use table::{Field, Kind, PatchStrategy, Presence, Scalar, Struct};
pub(crate) use unknown::unknown_fields;
