#!/usr/bin/env bash
# Prints the tests that a change of files can break, one name a line. It reads what ninja recorded in the last build of
# everything: which program was compiled from which file. What reads a file of data or sources a script mentions its
# name, so files in tests/ that mention a changed one count as changed, too. A test that runs no program of the build
# reads sources and is always printed; so is a test whose command names a changed file or a file in a changed folder.
# usage: affected.sh BUILD-FOLDER FILE-OR-FOLDER..
set -euo pipefail
build=$(realpath "$1")
shift
repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

for path in "$@"; do
    full=$(realpath -e "$path" 2>/dev/null) || full=""
    [[ $full == "$repository"/* ]] || {
        echo "do: there is no $path in this repository: expected a file or folder, such as src/train" >&2
        exit 1
    }
    if [ -d "$full" ]; then full+=/; fi
    printf '%s\n' "$full"
done >"$work/changed"
cd "$repository"
# Names of data and, with their folder, of scripts; then of the scripts and tests that mention those, until there are no
# more.
mentioned() { # reads files
    sed -E '/[.](cpp|h|cu|comp|glsl)$|CMakeLists/d; s|.*/([^/]+/[^/]+[.]sh)$|\1|; t; s|.*/||' | sort -u
}
xargs -d '\n' git ls-files -- <"$work/changed" | mentioned >"$work/names"
while [ -s "$work/names" ]; do
    git grep -lFf "$work/names" -- tests ':!*CMakeLists.txt' >"$work/mentioning" || break # nothing does
    sed "s|^|$repository/|" "$work/mentioning" | grep -vxFf "$work/changed" >"$work/more" || true
    cat "$work/more" >>"$work/changed"
    mentioned <"$work/more" >"$work/names"
done
is_changed() { # reads paths and prints those that are changed
    awk 'NR == FNR { changed[$0]; next }
         { for (each in changed) if ($0 == each || (each ~ "/$" && index($0, each) == 1)) { print; next } }' "$work/changed" -
}

# Every file that a compiler read, with the object; then the objects of changed files.
ninja -C "$build" -t deps |
    awk -v root="$repository" '
        /^[^ ]/ { object = $1; sub(":$", "", object); next }
        NF == 1 { path = $1; if (path ~ "^[.][.]/[.][.]/") path = root substr(path, 6); print path "\t" object }' >"$work/read"
cut -f 1 "$work/read" | sort -u | is_changed >"$work/files"
awk -F '\t' 'NR == FNR { files[$0]; next } $1 in files { print $2 }' "$work/files" "$work/read" | sort -u >"$work/objects"

is_built_from_changes() { # PROGRAM
    ninja -C "$build" -t inputs "${1#"$build"/}" >"$work/inputs" &&
        { grep -qxFf "$work/objects" "$work/inputs" || [ -n "$(is_changed <"$work/inputs")" ]; }
}

ctest --test-dir "$build" --show-only=json-v1 | jq -r '.tests[] | [.name] + .command | @tsv' >"$work/tests"
declare -A answers
while IFS=$'\t' read -r -a fields; do
    program="" chosen=""
    for word in "${fields[@]:1}"; do
        if [[ $word == "$build"/* ]]; then
            program=$word
        elif [ -n "$(is_changed <<<"$word")" ]; then
            chosen=yes
        fi
    done
    if [ -n "$program" ] && [ -z "$chosen" ]; then
        if [ -z "${answers[$program]:-}" ]; then
            is_built_from_changes "$program" && answers[$program]=yes || answers[$program]=no
        fi
        chosen=${answers[$program]}
    fi
    [ "${chosen:-yes}" = no ] || printf '%s\n' "${fields[0]}"
done <"$work/tests"
