#!/usr/bin/env bash
# ForwardingBackend overrides every virtual function of Backend but those of replays: what derives from it would
# silently get the default of one that is missing.
# forwarding_test.sh [HEADER]: of a class that forwards.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
header=${1:-src/backend/forwarding_backend.h}

mapfile -t functions < <(sed -n '/^class Backend {/,/^};/p' src/backend/backend.h |
    sed -nE 's/^    virtual .*[ *&]([a-z_]+)\(.*/\1/p' | sort -u)
[ "${#functions[@]}" -gt 12 ] || { echo "FAILED: found only ${#functions[@]} virtual functions of Backend"; exit 1; }
for name in "${functions[@]}"; do
    case $name in replay | replay_again | replays) continue ;; esac
    grep -Eq "[ *&]$name\(.* override " "$header" || { echo "FAILED: $header does not forward Backend::$name()"; exit 1; }
done
grep -q '^ *HEADSCOPE_ALL_OPS(HEADSCOPE_DEFINE)' "$header" || { echo "FAILED: $header does not forward all ops"; exit 1; }
echo "ForwardingBackend forwards all but replays"
