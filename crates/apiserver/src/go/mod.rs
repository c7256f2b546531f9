//! How Go prints values. Messages of the API server and kubectl contain values in this form.
//!
//! ```
//! use daemonset_apiserver::go::quoted;
//!
//! assert_eq!(quoted("it's \"so\"\n"), r#""it's \"so\"\n""#);
//! ```

mod print;
mod value;

pub(crate) use print::GoValue;
pub use print::{json_text, quoted};
pub(crate) use value::{go_list, go_text, go_type, go_value};
