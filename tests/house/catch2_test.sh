#!/usr/bin/env bash
# The tests support Catch2 v2 and v3: tests/catch2_today defines the names that v3 has moved. Only Debian 13's compiler
# (./do check trixie) would notice a missing one; this test notices it at once.
# shellcheck disable=SC2317 # conditions are called through expect
set -uo pipefail
repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck source=tests/house/expect.sh
. "$repository/tests/house/expect.sh"
output=
show() { printf '%s\n' "$output"; }

readonly HEADER=$repository/tests/catch2_today/catch2/catch.hpp

# Lists names directly in namespace Catch, where v2 has its matchers, that HEADER does not define.
unknown() { # FOLDER
    grep -rhoE '\bCatch::[A-Z][A-Za-z]*' --include='*.cpp' --include='*.h' "$1" | grep -vx 'Catch::Matchers' | sort -u |
        while read -r name; do
            grep -qE "^using (Matchers|Catch)::${name#Catch::};" "$HEADER" || printf '%s\n' "$name"
        done
}

sandbox=$(mktemp -d)
trap 'rm -rf "$sandbox"' EXIT
printf 'CHECK_THAT(f(), Catch::Predicate<int>(g) && Catch::EndsWith("x") && Catch::Matchers::Contains("y"));\n' >"$sandbox/a.cpp"
output=$(unknown "$sandbox")
expect "only the missing name is found" [ "$output" = "Catch::Predicate" ]

output=$(unknown "$repository/tests")
expect "the tests use no missing name" [ -z "$output" ]

finish "tests build with Catch2 v2 and v3"
