//! What the API server does to a DaemonSet before it is stored.

mod change;
mod default;
mod error;
mod gates;
mod path;
mod prepare;
mod refusal;
mod request;
mod rules;
mod template_generation;
mod validate;

pub use change::{Difference, Place, TemplateDiff, equivalent_spellings, template_change};
pub use default::{DefaultRule, default, default_pod, default_template, defaults, pod_only_defaults};
pub use error::{ErrorKind, ErrorList, FieldError, Invalid};
pub use prepare::{prepare_for_create, prepare_for_status_update, prepare_for_update};
pub use refusal::Refusal;
pub use request::{Patch, create, patch, patch_status, update, update_status};
pub use rules::{Form, Rules, SurgeWithHostPort};
pub use validate::{validate, validate_status_update, validate_update};
