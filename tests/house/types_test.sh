#!/usr/bin/env bash
# No two files of a program define a type of one name in one namespace: the linker would take the members of one for
# those of the other without a word. Types of a source file belong in an anonymous namespace, unless a header declares
# them. A unity build finds the same names of those that it joins.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

# Lines "namespace::Name file:line definition" of all types outside functions, classes and anonymous namespaces, where
# only an alias has a definition here. Declarations and specialisations do not count.
types_of() {
    awk '
        # The line without comments, texts and characters. `raw` is the end of a raw text that goes on.
        function code_of(line,   at) {
            if (raw != "") {
                at = index(line, raw)
                if (at == 0) return ""
                line = substr(line, at + length(raw))
                raw = ""
            }
            if (comment) {
                at = index(line, "*/")
                if (at == 0) return ""
                line = substr(line, at + 2)
                comment = 0
            }
            if (match(line, /R"[a-zA-Z_]*\(/)) {
                raw = ")" substr(line, RSTART + 2, RLENGTH - 3) "\""
                at = index(substr(line, RSTART + RLENGTH), raw)
                if (at == 0) return substr(line, 1, RSTART - 1)
                line = substr(line, 1, RSTART - 1) substr(line, RSTART + RLENGTH + at + length(raw) - 1)
                raw = ""
            }
            gsub(/"(\\.|[^"\\])*"/, "", line)
            gsub(/\047(\\[^\047]*|[^\047\\])\047|\047\\\047\047/, "", line)
            sub(/\/\/.*/, "", line)
            gsub(/\/\*[^*]*\*\//, "", line)
            if ((at = index(line, "/*")) > 0) {
                comment = 1
                line = substr(line, 1, at - 1)
            }
            return line
        }
        # Reports the type that `text` defines. `text` reaches from the end of the last declaration to its brace or
        # semicolon.
        function report(text, braced,   name, alias) {
            if (anonymous) return
            gsub(/\[\[[^]]*\]\]|alignas\([^)]*\)/, " ", text)
            while (match(text, /template *<[^<>]*>/)) text = substr(text, 1, RSTART - 1) substr(text, RSTART + RLENGTH)
            sub(/^[ \t]+/, "", text)
            if (!braced) {
                if (text ~ /^using +[A-Za-z_0-9]+ *=/) {
                    sub(/^using +/, "", text)
                    alias = text
                    gsub(/[ \t]/, "", alias)
                } else if (text ~ /^typedef /) {
                    if (match(text, /\( *\* *[A-Za-z_0-9]+ *\)/)) {
                        text = substr(text, RSTART, RLENGTH)
                        gsub(/[(* )]/, "", text)
                    } else {
                        sub(/.*[ *]/, "", text)
                    }
                } else {
                    return
                }
            } else if (text !~ /^(typedef +)?(class|struct|union|enum)[ \t]/ || text ~ /[()=]/) {
                return  # a function, or a variable
            } else {
                sub(/^(typedef +)?(enum +class|enum +struct|enum|class|struct|union)[ \t]+/, "", text)
            }
            if (!match(text, /^[A-Za-z_0-9]+/)) return
            name = substr(text, 1, RLENGTH)
            text = substr(text, RLENGTH + 1)
            if (text ~ /^ *(<|::)/) return  # a specialisation, or a type of a class, which its header declares
            print where() name, FILENAME ":" FNR, alias
        }
        function where(   i, all) {
            all = "::"
            for (i = 1; i <= spaces; ++i) if (space[i] != "") all = all space[i] "::"
            return all
        }
        # An opening brace after `text`: of a namespace, or of something whose inside does not matter.
        function open(text,   name) {
            if (depth == spaces && text ~ /(^|[ \t;}])(inline +)?namespace($|[ \t])/) {
                name = text
                sub(/.*namespace[ \t]*/, "", name)
                gsub(/[ \t]/, "", name)
                space[++spaces] = name
                if (name == "") ++anonymous
            } else if (depth == spaces && text ~ /extern *$/) {
                space[++spaces] = ""
                linkage[spaces] = 1
            } else if (depth == spaces) {
                report(text, 1)
            }
            ++depth
        }
        function close_brace() {
            if (depth == spaces && spaces > 0) {
                if (space[spaces] == "" && !linkage[spaces]) --anonymous
                linkage[spaces] = 0
                --spaces
            }
            if (depth > 0) --depth
        }
        FNR == 1 { raw = ""; comment = 0; depth = 0; spaces = 0; anonymous = 0; text = ""; directive = 0 }
        directive || /^[ \t]*#/ { directive = /\\$/; next }
        {
            line = code_of($0)
            while (match(line, /[{};]/)) {
                text = text " " substr(line, 1, RSTART - 1)
                mark = substr(line, RSTART, 1)
                line = substr(line, RSTART + 1)
                if (mark == "{") open(text)
                else if (mark == "}") close_brace()
                else if (depth == spaces) report(text, 0)
                text = ""
            }
            text = text " " line
        }' "$@"
}

# The types of a list that two files define. Equal aliases are one type.
twice() {
    sort -u | awk '
        { file = $2; sub(/:[0-9]*$/, "", file) }
        $1 != name { name = $1; first = $2; first_file = file; alias = $3; next }
        file != first_file && (alias == "" || $3 != alias) { print "FAILED: " name " is defined in " first " and in " $2 }'
}

# Of a few lines that define each kind of type, and many that only look like it.
check_itself() {
    local folder
    folder=$(mktemp -d)
    trap 'rm -r "$folder"' RETURN
    cat >"$folder/a.h" <<'EOF'
namespace one {
class Twice { int member = '{'; };
namespace two { struct Nested final
    : Other { struct Inner {}; }; }
enum class Colour : unsigned char { Red };
template <class T> union Cell { T value; };
using Alias = int;
using Same = std::vector<int>;
typedef int Old;
class Declared;
struct Only {};
inline void function() { struct Local {}; }
const char* const kText = R"(struct Raw {};)";  // struct Comment {};
/* struct Comment {}; */
struct Only make();
}  // namespace one
EOF
    cat >"$folder/b.cpp" <<'EOF'
namespace {
struct Twice {};
}
namespace one::two {
struct Nested {};
}
namespace one {
namespace { struct Only {}; class Comment {}; }
struct [[nodiscard]] Twice {};
enum Colour { Blue };
template <class T, class U>
union Cell { T value; };
using Alias = long;
using Same = std::vector< int >;
typedef long Old;
class Declared;
class Declared { struct Inner {}; struct Local {}; struct Raw {}; };
struct Outer::Inner {};
template <> struct Only<int> {};
struct Only made() { return {}; }
struct Only value = {};
}
EOF
    local found
    found=$(types_of "$folder"/a.h "$folder"/b.cpp | twice | grep -o '::[a-z:]*::[A-Za-z]*' | tr '\n' ' ')
    [ "$found" = "::one::Alias ::one::Cell ::one::Colour ::one::Old ::one::Twice ::one::two::Nested " ] ||
        { echo "FAILED: in the sample of types it found: $found"; exit 1; }
}

check_itself
mapfile -t program < <(git ls-files --cached --others --exclude-standard {src,viewer,backends,modules}/'*.'{h,cpp,cu})
types=$(types_of "${program[@]}")
[ "$(wc -l <<<"$types")" -gt 500 ] || { echo "FAILED: found only $(wc -l <<<"$types") types"; exit 1; }
failures=$(twice <<<"$types")
# Each folder of tests is a program with the project's libraries.
for folder in tests/*/; do
    mapfile -t own < <(git ls-files --cached --others --exclude-standard "$folder"'*.'{h,cpp})
    [ "${#own[@]}" = 0 ] || failures+=$(
        echo
        { echo "$types"; types_of "${own[@]}"; } | twice | grep " $folder" || true
    )
done
[ -z "${failures//$'\n'/}" ] || { echo "$failures"; exit 1; }
echo "$(wc -l <<<"$types") types have one definition each"
