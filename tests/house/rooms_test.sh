#!/usr/bin/env bash
# The README lists the rooms of src/ in order. A file includes only headers of its own room and of earlier ones. Backends
# include nothing after src/backend, and only the registry includes backends. Modules include their interface alone. The
# folders of backends/vulkan have an order, too.
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
git ls-files 'src/*.h' 'src/*.cpp' 'viewer/*.h' 'viewer/*.cpp' 'backends/*.h' 'backends/*.cpp' 'backends/*.cu' \
    'modules/*.cpp' |
    xargs grep -Ho '^#include "[^"]*/[^"]*"' | sed 's/:#include "/ /; s/"$//' |
    awk -v list="${rooms[*]}" '
        BEGIN {
            count = split(list, names, " ")
            for (i = 1; i <= count; ++i) place[names[i]] = i
            # The folders of the Vulkan backend; its other files come between trials and ops.
            split("device stream products trials vulkan ops", names, " ")
            for (i in names) wing_place[names[i]] = i
        }
        function wing_of(path,   parts) {
            return split(path, parts, "/") == 4 ? parts[3] : "vulkan"
        }
        function room_of(path,   parts) {
            split(path, parts, "/")
            return parts[1] == "src" ? parts[2] : parts[1]
        }
        {
            from = room_of($1)
            to = room_of($2)
            if ($1 ~ /^backends\/vulkan/ && $2 ~ /^backends\/vulkan/ && wing_place[wing_of($2)] > wing_place[wing_of($1)]) wrong = 1
            else if (to == "kernels.h" || from == to) next
            else if (from == "modules") wrong = $2 !~ /_module[.]h$/
            else if (from == "backends") wrong = place[to] > place["backend"]
            else if (to == "backends") wrong = from != "registry"
            else wrong = !(to in place) || place[to] > place[from]
            if (wrong) { print "FAILED: " $1 " includes " $2; failures++ }
        }
        END { exit failures > 0 }'
echo "all includes follow the order of ${#rooms[@]} rooms"
