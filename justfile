# Every check is a step of .ci/run: `just run STEP...` runs some, `just` lists them.

default:
    @.ci/run --list

# The gate for each change.
gate:
    .ci/run

# The proofs that take hours.
nightly:
    .ci/run night

# The files of a release in target/release-files, for RELEASE_URL and HOMEPAGE.
release:
    .ci/run release

# The page as one file, target/web/daemonset.html: wasm-bindgen is needed, and wasm-opt makes it smaller.
page:
    crates/page/build.sh

[no-exit-message]
run +steps:
    .ci/run {{ steps }}

# On a real cluster at KUBECONFIG: the stories, with 50 random kills. Where a DaemonSet controller runs, the stories of a driver.
story:
    KILLS=50 cargo test --release -p daemonset-controller --test story -- --nocapture --test-threads 1

# Every order of events in larger clusters than `cargo test` looks at: minutes.
model-larger:
    cargo test --release -p daemonset --test it model_check:: -- --ignored --nocapture

# Times, on a quiet machine.
bench:
    cargo bench -p daemonset-benches --bench reconcile
