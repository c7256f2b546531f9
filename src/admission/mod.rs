//! What the API server does to a DaemonSet before it is stored.

mod default;
mod error;
pub(crate) mod go;
mod path;
mod rules;
mod validate;

pub use default::{DefaultRule, default, default_pod, default_template, defaults, pod_only_defaults};
pub use error::{ErrorKind, ErrorList, FieldError, Invalid};
pub use rules::{Form, Rules, SurgeWithHostPort};
pub use validate::{validate, validate_status_update, validate_update};
