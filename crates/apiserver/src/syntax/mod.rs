//! The forms of names, label keys and other texts that the API server accepts, and its messages where it refuses one.

mod names;
mod paths;
mod tokens;

pub use names::{
    dns_label_faults, dns_subdomain_faults, dns_subdomain_prefix_faults,
    dns_subdomain_with_underscore_faults, label_key_faults, label_value_faults,
};
pub use paths::{backstep_fault, descending_path_faults, unreserved_path_faults};
pub use tokens::{
    config_map_key_faults, env_var_name_faults, http_header_name_faults, outside, percent_faults,
    port_name_faults, port_number_faults,
};
