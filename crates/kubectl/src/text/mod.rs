//! How Go and kubectl write text: indentation, columns, lists, URLs.

mod go;
mod page;
mod table;
mod url;

pub(super) use go::{bracketed, int_or_string};
pub(super) use page::Page;
pub(super) use table::columns;
pub(super) use url::probe_url;
