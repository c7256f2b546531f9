//! Plans of a custom kind, executed against an API server in process that refuses calls and loses answers. Time is tokio's paused clock.
#![allow(unreachable_pub, clippy::restriction)]

mod responses;
mod restores;
mod server;
mod stories;
