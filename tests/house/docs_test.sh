#!/usr/bin/env bash
# All relative links in documents, including headings, and all source paths that they mention exist. No document denies
# what a GPU has run.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
failures=0
fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}
headings() { sed -n 's/^#\+ //p' "$1" | tr '[:upper:]' '[:lower:]' | tr -cd 'a-z0-9 \n-' | tr ' ' '-'; }

mapfile -t documents < <(git ls-files '*.md')
[ "${#documents[@]}" -gt 10 ] || fail "found only ${#documents[@]} documents"
for document in "${documents[@]}"; do
    while IFS='#' read -r path heading; do
        target=$document
        [ -z "$path" ] || target=$(dirname "$document")/$path
        [ -e "$target" ] || fail "$document links to $path, which does not exist"
        [ -z "$heading" ] || headings "$target" | grep -qxF -- "$heading" || fail "$document links to #$heading, which $target lacks"
    done < <(grep -oE '\]\([^) ]+\)' "$document" | sed 's/^](//; s/)$//' | grep -v '^https\?:')
    while IFS= read -r path; do
        compgen -G "$path*" >/dev/null || fail "$document names $path, which does not exist"
    done < <(grep -oE '`(src|backends|shaders|viewer|cmake|tests)/[A-Za-z0-9_./-]+' "$document" | tr -d '`')
done
# What a GPU has run is in assets/results; no document may deny it for a whole backend.
mapfile -t denials < <(cat "${documents[@]}" | tr -s '\n ' ' ' | grep -oiE '(CUDA|Vulkan)( backend)? (has|have) (not|never)( yet)? (been )?run on[^.]*')
[ "${#denials[@]}" -eq 0 ] || fail "a document says: ${denials[0]}"
[ "$failures" -eq 0 ] && echo "all links and paths in ${#documents[@]} documents exist"
