//! A DaemonSet on its way into storage: decoded, defaulted, prepared, validated.
//!
//! [`create`], [`update`], [`patch`] and their variants for `status` do all of it, as a request would; [`respond`] adds the
//! warnings. The steps are
//! public, too: [`default`] fills in defaults, [`prepare_for_create`] and [`prepare_for_update`] set the fields that
//! clients can't set, [`validate`] and [`validate_update`] list the invalid fields. [`template_change`] predicts
//! whether applying a manifest would restart pods.

mod change;
mod default;
mod error;
mod gates;
mod owners;
mod path;
mod prepare;
mod refusal;
mod request;
mod response;
mod rules;
mod template_generation;
mod validate;
mod warnings;

pub use change::{Difference, PathSegment, Restart, TemplateDiff, equivalent_spellings, template_change};
pub use default::{DefaultRule, default, default_pod, default_template, defaults, pod_only_defaults};
pub use error::{ErrorKind, ErrorList, FieldError, Invalid};
pub use prepare::{prepare_for_create, prepare_for_status_update, prepare_for_update};
pub use refusal::Refusal;
pub use request::{Patch, create, patch, patch_status, update, update_status};
pub use response::{Request, Response, respond};
pub use rules::{FieldValidation, Form, Rules, SurgeWithHostPort};
pub use validate::{validate, validate_status_update, validate_update};
pub use warnings::{warnings_on_create, warnings_on_update};
