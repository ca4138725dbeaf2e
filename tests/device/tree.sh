#!/usr/bin/env bash
# Makes this checkout small enough to travel to a machine with a GPU together with the kit of pack.sh, and whole again.
#
#   tests/device/tree.sh small   leaves out the tracked files that no part of run.sh needs: bundled models, figures,
#                                pictures and the pictures that the viewer's tests compare with
#   tests/device/tree.sh whole   brings them back
#   tests/device/tree.sh size    prints the bytes that would travel: tracked files, and others that git does not ignore
#
# Only what is committed is left out: a checkout with changes or unknown files is not made small, nor is one that leaves
# out something already.
set -euo pipefail
repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
readonly LEFT_OUT=(/assets/models/ /assets/figures/ /assets/pictures/ /tests/viewer_window/goldens/)

fail() {
    printf 'tree.sh: %s\n' "$*" >&2
    exit 1
}
is_sparse() { [ "$(git -C "$repository" config --bool core.sparseCheckout)" = true ]; }
patterns() { printf '%s\n' '/*' "${LEFT_OUT[@]/#/!}"; }
is_ours() { [ "$(git -C "$repository" sparse-checkout list)" = "$(patterns)" ]; }

# A file that is tracked but left out is not there.
size() {
    cd "$repository"
    git ls-files -z --cached --others --exclude-standard | while IFS= read -r -d '' file; do
        if [ -e "$file" ]; then printf '%s\0' "$file"; fi
    done | xargs -0 -r stat -c %s | awk '{ all += $1 } END { printf "%.0f\n", all }'
}
mib() { awk -v bytes="$(size)" 'BEGIN { printf "%.1f MiB", bytes / 1048576 }'; }

small() {
    local changed
    if is_sparse; then
        is_ours || fail "this checkout leaves out other files already: git sparse-checkout list"
        printf 'The tree is small already: %s.\n' "$(mib)"
        return
    fi
    changed=$(git -C "$repository" status --porcelain)
    [ -z "$changed" ] || fail "commit or remove first what git does not have:"$'\n'"$changed"
    patterns | git -C "$repository" sparse-checkout set --no-cone --stdin
    printf 'The tree has %s. tests/device/tree.sh whole brings the rest back.\n' "$(mib)"
}

whole() {
    if is_sparse; then
        is_ours || fail "tree.sh did not make this checkout small: git sparse-checkout disable"
        git -C "$repository" sparse-checkout disable
    fi
    printf 'The tree is whole: %s.\n' "$(mib)"
}

case ${1:-} in
    small | whole | size) "$1" ;;
    *) sed -n '2,/^set/p' "$0" | sed -n 's/^# \{0,1\}//p' && exit 2 ;;
esac
