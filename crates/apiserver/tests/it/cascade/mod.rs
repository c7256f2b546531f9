//! Deleting a DaemonSet: the API server's side, the garbage collector's side, and both together.

mod api_server;
mod crash;
mod forms;
mod properties;
mod stories;
mod world;
