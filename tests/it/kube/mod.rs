//! The model as resources of kube, and actions as API calls.

mod calls;
mod resources;
