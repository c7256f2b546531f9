#!/usr/bin/env bash
# crates/page/build.sh [FILE]: the page as one file, target/web/daemonset.html. It needs the target wasm32-unknown-unknown,
# wasm-bindgen of the version of Cargo.lock, and openssl; wasm-opt (binaryen 120 or newer) and zopfli make it smaller.
set -euo pipefail
cd "$(dirname "$0")/../.."
web=crates/page/web out=target/web
page=${1:-$out/daemonset.html}
mkdir -p "$out"

# No path of this machine is in it.
export RUSTFLAGS="--remap-path-prefix=$PWD=. --remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=cargo"
${CARGO:-cargo} build --locked --profile page --target wasm32-unknown-unknown -p daemonset-page
wasm-bindgen --target no-modules --no-typescript --out-dir "$out" --out-name planner \
    target/wasm32-unknown-unknown/page/daemonset_page.wasm
if command -v wasm-opt >/dev/null; then
    # The newest proposal is no part of browsers yet. Functions that are alike have names that are alike: beside each other they
    # compress to a twentieth less.
    wasm-opt -Oz --reorder-functions-by-name --all-features --disable-custom-descriptors "$out/planner_bg.wasm" -o "$out/planner.wasm"
else
    cp "$out/planner_bg.wasm" "$out/planner.wasm"
fi

# One script of the modules, in the order in which they import each other; each keeps its names to itself.
modules=(dom planner cells editor examples hover fleet rehearsal policy share main)
# The plugin's own pictures have the same words under the pointer.
sed -e '/^for (const data/,$d' -e 's/^function explain/export &/' crates/pictures/src/hover.js >"$out/hover.js"
{
    echo "'use strict';(() => {"
    for module in "${modules[@]}"; do
        awk -v module="$module" '
            BEGIN { print "const " module "_js = (() => {" }
            /^import / { match($0, /\{.*\}/); names = substr($0, RSTART, RLENGTH); match($0, /\.\/[a-z]+/)
                print "const " names " = " substr($0, RSTART + 2, RLENGTH - 2) "_js;"; next }
            /^export / { sub(/^export /, ""); name = $0; sub(/^(async )?(function|const|class) /, "", name); sub(/[^A-Za-z0-9_].*/, "", name)
                exported = exported (exported ? ", " : "") name }
            { print }
            END { print "return { " exported " };\n})();" }' "$(if [ "$module" = hover ]; then echo "$out"; else echo "$web"; fi)/$module.js"
    done
    echo '})();'
} >"$out/script.js"
cat "$out/planner.js" "$web/worker.js" >"$out/worker.js"
if command -v zopfli >/dev/null; then zopfli -c "$out/planner.wasm"; else gzip -9 -n -c "$out/planner.wasm"; fi |
    base64 -w 0 >"$out/wasm.txt"

# Only this script and this style run.
hashed() { printf "'sha256-%s'" "$(openssl dgst -sha256 -binary "$1" | base64 -w 0)"; }
# The text between the tags, to the byte.
printf %s "$(cat "$out/script.js")" >"$out/script.txt"
printf %s "$(cat "$web/page.css")" >"$out/style.txt"
awk -v script_hash="$(hashed "$out/script.txt")" -v style_hash="$(hashed "$out/style.txt")" -v out="$out" '
    function insert(file,   line, first) { first = 1; while ((getline line < file) > 0) { printf "%s%s", first ? "" : "\n", line; first = 0 } }
    {
        sub("@SCRIPT_HASH@", script_hash); sub("@STYLE_HASH@", style_hash)
        if (match($0, /@(STYLE|SCRIPT|WORKER|WASM)@/)) {
            name = substr($0, RSTART + 1, RLENGTH - 2)
            printf "%s", substr($0, 1, RSTART - 1)
            insert(out "/" (name == "STYLE" ? "style.txt" : name == "SCRIPT" ? "script.txt" : name == "WORKER" ? "worker.js" : "wasm.txt"))
            print substr($0, RSTART + RLENGTH)
        } else print
    }' "$web/index.html" >"$page"
printf '%s: %d bytes, %d compressed\n' "$page" "$(wc -c <"$page")" "$(gzip -9 -c "$page" | wc -c)"
