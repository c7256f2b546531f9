//! Nothing but benches: see `reconcile.rs`, `memory.rs`, `instructions.rs`, `held.rs`.
