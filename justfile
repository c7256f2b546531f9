# What must hold, and how to look. `.ci/run` is the short version of all of it.

set shell := ["bash", "-euo", "pipefail", "-c"]

# What is no simulation, and so must be covered.
not_core := '(src/sim/|src/mutants\.rs|tests/|examples/|benches/)'
not_src := '(src/mutants\.rs|tests/|examples/|benches/)'

default:
    @just --list

# Every test there is.
test:
    cargo test --all-features

# Without features: the library as most people build it.
test-plain:
    cargo test

# Form, lints, documentation, the oldest compiler, wasm, examples.
check: fmt clippy doc msrv wasm examples

# One form for everybody: nobody reads layout in a review.
fmt:
    cargo fmt --all -- --check

# Lints ban what makes one snapshot give two plans.
clippy:
    cargo clippy --all-targets --all-features -- -D warnings

# A broken link is a broken promise.
doc:
    RUSTDOCFLAGS="-D warnings" cargo doc --no-deps --all-features

# The oldest Rust that Cargo.toml names.
msrv:
    cargo +{{ `sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml` }} build --lib --features sim --target-dir target/msrv

# The proof that the library does no I/O.
wasm:
    cargo build --target wasm32-unknown-unknown --lib --all-features

# What the README shows.
examples:
    cargo run --release --example plan
    cargo run --quiet --release --example plan -- -o json >/dev/null
    cargo run --release --example rollout -- would-restart

# Random lives of a cluster, each with its promises: 100,000 take about seven minutes on one core.
lives cases="100000":
    PROPTEST_CASES={{ cases }} cargo test --release --all-features --test it random_lives::promises

# Every order of events in a small cluster.
model:
    cargo test --release --test it model_check:: -- --nocapture

# The same in larger ones: minutes.
model-larger:
    cargo test --release --test it model_check:: -- --ignored --nocapture

# A model that does not find a broken core proves nothing.
model-mutants:
    RUSTFLAGS="--cfg daemonset_mutants" cargo test --test it --target-dir target/mutants model

# An error that no test finds is a missing test. All of src takes hours; `just mutants -f src/budget.rs` takes minutes.
mutants *which:
    CARGO_PROFILE_DEV_DEBUG=0 cargo mutants --output target {{ which }}

# Lines that no test runs: with the simulation, then without it.
coverage:
    cargo llvm-cov clean --workspace
    cargo llvm-cov --all-features --no-report --lib
    cargo llvm-cov --all-features --no-report --test it -- --skip model_check::
    cargo llvm-cov report --ignore-filename-regex '{{ not_src }}'
    cargo llvm-cov report --ignore-filename-regex '{{ not_core }}' --fail-under-lines 95 --show-missing-lines

# Undefined behaviour, and what leaves memory behind: the crate has no unsafe code, its dependencies have.
miri:
    PROPTEST_CASES=4 MIRIFLAGS=-Zmiri-disable-isolation cargo +nightly miri test --lib -- --skip schema::
    cargo +nightly miri test --test it -- --skip dumps:: stories::claim:: stories::classify:: stories::replace::

# Whatever the bytes: each target so many seconds.
fuzz seconds="600":
    for target in $(cargo +nightly fuzz list); do just fuzz-one "$target" {{ seconds }}; done

# One target; without a sanitizer, since the crate forbids unsafe code.
fuzz-one target seconds="600":
    mkdir -p fuzz/corpus/{{ target }}
    cargo +nightly fuzz run -s none {{ target }} fuzz/corpus/{{ target }} fuzz/seeds/{{ target }} -- \
        -max_total_time={{ seconds }} -print_final_stats=1 \
        $([ ! -f fuzz/{{ target }}.dict ] || echo -dict=fuzz/{{ target }}.dict)

# Instructions and heap first: they are the same on every run.
bench:
    cargo bench --bench instructions
    cargo bench --bench memory
    cargo bench --features kube,k8s-openapi --bench held
    cargo bench --bench reconcile

# A feature that needs another one would be broken for whoever has only that.
features:
    cargo hack test --each-feature --include-features k8s-openapi,kube --exclude-no-default-features --exclude-all-features \
        --lib --test it -- tests:: k8s_openapi:: kube::
    cargo hack check --feature-powerset --lib

# What is around the library, against an API server in the test's own process.
controller:
    cargo clippy -p daemonset-controller --all-targets -- -D warnings
    cargo test -p daemonset-controller

# On a real cluster without a DaemonSet controller.
story:
    cargo test --release -p daemonset-controller --test story -- --nocapture --test-threads 1
