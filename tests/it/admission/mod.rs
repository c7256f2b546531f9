//! What the API server does to a DaemonSet before it is stored.

mod defaults;
mod defaults_image;
mod defaults_table;
