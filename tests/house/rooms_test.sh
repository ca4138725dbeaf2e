#!/usr/bin/env bash
# The README lists the rooms of src/ in their order. A file includes only its own room and those before it; the backends
# see no further than src/backend, and of src/ only the registry names them.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
readme=${1:-README.md}

# shellcheck disable=SC2016  # the backticks are Markdown
mapfile -t rooms < <(sed -n '/<!-- rooms -->/,/<!-- \/rooms -->/p' "$readme" | sed -n 's/^- `\([a-z]*\)`.*/\1/p')
[ "${#rooms[@]}" -gt 15 ] || { echo "FAILED: $readme lists ${#rooms[@]} rooms between <!-- rooms --> and <!-- /rooms -->"; exit 1; }

for folder in $(git ls-files src | cut -d/ -f1,2 | sort -u); do
    [[ " ${rooms[*]} " == *" $(basename "$folder") "* ]] || { echo "FAILED: $readme does not list $folder"; exit 1; }
done

# Lines "file included-room", for includes of the project's own headers.
git ls-files 'src/*.h' 'src/*.cpp' 'viewer/*.h' 'viewer/*.cpp' 'backends/*.h' 'backends/*.cpp' 'backends/*.cu' |
    xargs grep -Ho '^#include "[^"]*/[^"]*"' | sed 's/:#include "/ /; s/"$//' |
    awk -v list="${rooms[*]}" '
        BEGIN {
            count = split(list, names, " ")
            for (i = 1; i <= count; ++i) place[names[i]] = i
        }
        function room_of(path,   parts) {
            split(path, parts, "/")
            return parts[1] == "src" ? parts[2] : parts[1]
        }
        {
            from = room_of($1)
            to = room_of($2)
            if (to == "kernels.h" || from == to) next
            if (from == "backends") wrong = place[to] > place["backend"]
            else if (to == "backends") wrong = from != "registry"
            else wrong = !(to in place) || place[to] > place[from]
            if (wrong) { print "FAILED: " $1 " includes " $2; failures++ }
        }
        END { exit failures > 0 }'
echo "every include follows the order of ${#rooms[@]} rooms"
