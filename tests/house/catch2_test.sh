#!/usr/bin/env bash
# The tests are written for Catch2 v2 and build with v3 as well: the names that v3 has elsewhere tests/catch2_today has.
# Compilers see that on Debian 13 alone (./do check trixie); here whoever writes a test is told at once.
# shellcheck disable=SC2317 # conditions are called through expect
set -uo pipefail
repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck source=tests/house/expect.sh
. "$repository/tests/house/expect.sh"
output=
show() { printf '%s\n' "$output"; }

readonly HEADER=$repository/tests/catch2_today/catch2/catch.hpp

# What is named in Catch without one of its namespaces, as v2 lets one name matchers; but what HEADER has.
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
expect "a name that is missing is found, and one that is there is not" [ "$output" = "Catch::Predicate" ]

output=$(unknown "$repository/tests")
expect "the tests use no other" [ -z "$output" ]

finish "tests build with Catch2 v2 and v3"
