//! Go's printing of values: messages of the API server and kubectl carry it, and are compared byte by byte.

mod number;
mod print;
mod value;

pub(crate) use number::go_text;
pub(crate) use print::GoValue;
pub use print::quoted;
pub(crate) use value::{go_list, go_type, go_value};
