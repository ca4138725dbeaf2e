#!/usr/bin/env bash
# Writes the documents as a site into out/docs/site: all pages, one for each command by its --help, and the reference of
# the headers. Fails on a broken link or a warning of MkDocs or Doxygen.
# usage: docs/site/build.sh HEADSCOPE-PROGRAM
set -euo pipefail
headscope=$(realpath "$1")
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
out=out/docs
rm -rf "$out"
mkdir -p "$out/pages"
git ls-files -z -- '*.md' | xargs -0 cp --parents -t "$out/pages"

# What the pages link to and show, other than pages. A link to a folder becomes one to its README or to its list of files.
linked() { # PAGE
    grep -oE '\]\([^) ]+\)' "$1" | sed 's/^](//; s/)$//; s/#.*//' | grep -vE '^(https?:.*)?$' || true
}
while IFS= read -r page; do
    while IFS= read -r link; do
        target=$(realpath -m --relative-to=. "$(dirname "$page")/$link")
        if [ -f "$target" ]; then
            [ -e "$out/pages/$target" ] || cp --parents -t "$out/pages" "$target"
        elif [ ! -e "$out/pages/$target/README.md" ]; then
            mkdir -p "$out/pages/$target"
            { printf '# %s\n\n' "$target"; find "$target" -maxdepth 1 -mindepth 1 -printf '- %f\n' | sort; } >"$out/pages/$target/README.md"
        fi
        [ ! -d "$target" ] || sed -i "s|](${link%/}/\?\(#[^)]*\)\?)|](${link%/}/README.md\1)|g" "$out/pages/$page"
    done < <(linked "$page" | sort -u)
done < <(git ls-files '*.md')

commands_of() { # COMMAND..
    "$headscope" "$@" --help | sed -n '/^Examples\?:$/q; s/^  \([a-z][a-z0-9-]*\)   *[A-Z].*/\1/p'
}
page_of() { # COMMAND..
    printf '\n## headscope %s\n\n```text\n' "$*"
    "$headscope" "$@" --help
    printf '```\n'
}
{
    printf '# Commands\n'
    for command in $(commands_of); do
        page_of "$command"
        for inner in $(commands_of "$command"); do page_of "$command" "$inner"; done
    done
} >"$out/pages/docs/commands.md"

doxygen docs/Doxyfile
cp -r "$out/html" "$out/pages/api"
cp docs/site/mkdocs.yml "$out/mkdocs.yml"
mkdocs build --strict --quiet --config-file "$out/mkdocs.yml"
echo "$out/site/index.html"
