//! The syntax of names, label keys and other short texts, with the API server's messages for a text that breaks it.
//!
//! Each function returns one message for each rule that the text breaks, in the order of v1.36
//! `apimachinery/pkg/util/validation`, and nothing for a valid text.
//!
//! ```
//! use daemonset_apiserver::syntax::{label_key_errors, label_value_errors};
//!
//! assert!(label_key_errors("example.com/app").is_empty());
//! assert_eq!(label_key_errors("example.com/")[0], "name part must be non-empty");
//! assert!(label_value_errors("").is_empty());
//! ```

mod names;
mod tokens;

pub(crate) use names::{
    dns_label_errors, dns_subdomain_errors, dns_subdomain_prefix_errors, dns_subdomain_with_underscore_errors,
};
pub use names::{label_key_errors, label_value_errors};
pub(crate) use tokens::{
    backstep_error, config_map_key_errors, descending_path_errors, env_var_name_error,
    http_header_name_error, out_of_range_error, percent_error, port_name_errors, port_number_error,
    unreserved_path_errors,
};
