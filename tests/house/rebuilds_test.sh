#!/usr/bin/env bash
# A changed op recompiles at most 150 files: widely included headers declare the ops (src/backend/ops_fwd.h) and leave
# their definitions to the files that use them. Counted twice: as the source files that include a header of an op, however
# indirectly, and as the objects of a finished build, of which a unity build joins several source files.
# rebuilds_test.sh BUILD
set -euo pipefail
build=$(realpath "$1")
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
limit=150

# Lines "file header" of all includes, in which a header is named from the root, from src or from the file's own folder.
mapfile -t all < <(git ls-files --cached --others --exclude-standard '*.h' '*.cpp' | xargs -r ls -d 2>/dev/null)
includes=$(awk '
    FNR == NR { known[$0] = 1; next }
    match($0, /^[ \t]*#[ \t]*include[ \t]*"[^"]+"/) {
        name = $0
        gsub(/^[^"]*"|".*$/, "", name)
        folder = FILENAME
        sub(/[^\/]*$/, "", folder)
        if (("src/" name) in known) print FILENAME, "src/" name
        else if (name in known) print FILENAME, name
        else if ((folder name) in known) print FILENAME, folder name
    }' <(printf '%s\n' "${all[@]}") "${all[@]}")

# sources HEADER: how many source files include it.
sources() {
    awk -v header="$1" '
        { includers[$2] = includers[$2] " " $1 }
        END {
            last = 1
            queue[1] = header
            for (first = 1; first <= last; ++first) {
                count += queue[first] ~ /\.cpp$/
                files = split(includers[queue[first]], all, " ")
                for (i = 1; i <= files; ++i) if (!seen[all[i]]++) queue[++last] = all[i]
            }
            print count + 0
        }' <<<"$includes"
}

deps=$(ninja -C "$build" -t deps)
[ "$(grep -c '^[^ ].*: #deps' <<<"$deps")" -gt 20 ] || { echo "FAILED: ninja knows no dependencies in $build"; exit 1; }
# objects HEADER: how many objects depend on it.
objects() {
    awk -v header="/$1" 'substr($0, length($0) - length(header) + 1) == header { ++count } END { print count + 0 }' <<<"$deps"
}

most=0
for header in src/backend/ops/*.h; do
    files=$(sources "$header")
    built=$(objects "$header")
    [ "$files" -gt 0 ] || { echo "FAILED: no source file seems to include $header"; exit 1; }
    if [ "$files" -gt "$limit" ] || [ "$built" -gt "$limit" ]; then
        echo "FAILED: a change of $header recompiles $files source files, $built objects of this build; expected at most" \
            "$limit. Include src/backend/ops_fwd.h in headers, and the op's header only where the op is used."
        exit 1
    fi
    [ "$files" -le "$most" ] || most=$files
    echo "$header: $files source files, $built objects"
done
echo "a changed op recompiles at most $most source files"
