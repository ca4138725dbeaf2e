#!/usr/bin/env bash
# registers.sh NVCC CUOBJDUMP [SM..]: compiles the kernels whose speed depends on registers for these architectures, or
# for sm_80, 90, 100 and 120, as far as the toolkit knows them. Fails if one spills, or needs more registers than its
# row below allows. Prints what each needs and, if CUOBJDUMP is not empty, how many instructions it has of each kind:
# HMMA are products on tensor cores, LDSM feed them, LDGSTS are asynchronous copies, LDL are loads of what is not in
# registers.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
nvcc=$1 cuobjdump=$2
shift 2
[ $# -gt 0 ] || set -- 80 90 100 120

# File, kernel (a regular expression for the mangled name) and most registers; the first that fits counts. With 128 a
# multiprocessor holds two blocks of 256 threads, with 168 three of 128, with 64 one of 1,024.
readonly KERNELS='
short_attention           attend_short.*ELi(32|64)ELi[68]E       128
short_attention           attend_short                           255
short_attention_backward  attend_short_back.*ELi(32|64)ELi[68]E  128
short_attention_backward  attend_short_back                      255
long_attention            attend_long                            255
long_attention_backward   attend_long_back.*ELi(32|64)E          168
long_attention_backward   attend_long_back                       255
layer_norm_warps          norm_rows_back.*(Half|BFloat16)ELi[12]E  128
layer_norm_warps          norm                                   255
loss                      held_cross_entropy                     64
'

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
known=$("$nvcc" --list-gpu-code)
architectures=()
for sm in "$@"; do
    ! grep -qx "sm_$sm" <<<"$known" || architectures+=("$sm")
done

# The lines of ptxas as "kernel sm registers spilled-bytes".
needs() {
    awk '/Compiling entry function/ { split($0, part, "\047"); kernel = part[2]; sm = part[4]; sub("sm_", "", sm) }
         /bytes spill stores/ { spilled = $5 + $9 }
         match($0, /Used [0-9]+ registers/) {
             split(substr($0, RSTART), word, " ")
             print kernel, sm, word[2], spilled
         }'
}

# How often each kernel has each kind of instruction: "kernel sm HMMA LDSM LDGSTS LDL".
instructions() { # OBJECT SM
    "$cuobjdump" -sass -arch "sm_$2" "$1" 2>/dev/null | awk -v sm="$2" '
        /Function :/ { kernel = $3; order[++count] = kernel }
        {
            for (i = 1; i <= NF; ++i) {
                split($i, kind, ".")
                if (kind[1] ~ /^(HMMA|LDSM|LDGSTS|LDL)$/) found[kernel, kind[1]]++
            }
        }
        END {
            for (i = 1; i <= count; ++i) {
                k = order[i]
                print k, sm, found[k, "HMMA"] + 0, found[k, "LDSM"] + 0, found[k, "LDGSTS"] + 0, found[k, "LDL"] + 0
            }
        }'
}

# Reads the files of instructions() and needs(), in this order.
judge() { # FILE
    awk -v file="$1" -v table="$KERNELS" '
        BEGIN {
            count = split(table, lines, "\n")
            for (i = 1; i <= count; ++i) {
                if (split(lines[i], row, " ") == 3 && row[1] == file) {
                    pattern[++rows] = row[2]
                    most[rows] = row[3]
                }
            }
        }
        FILENAME ~ /instructions$/ {
            counted[$1, $2] = sprintf("  HMMA %3d  LDSM %3d  LDGSTS %2d  LDL %d", $3, $4, $5, $6)
            next
        }
        {
            for (i = 1; i <= rows && $1 !~ pattern[i]; ++i) { }
            if (i > rows) next
            named++
            short = $1
            sub(/^.*_cu_[0-9a-f]+/, "", short)
            sub(/EEv.*$/, "", short)
            wrong = $4 > 0 || $3 > most[i]
            failures += wrong
            printf "%ssm_%-3d %3d registers of %3d  %d bytes spilled%s  %s\n", wrong ? "FAILED: " : "", $2, $3,
                most[i], $4, counted[$1, $2], short
        }
        END {
            if (named == 0) print "FAILED: " file " has none of its kernels"
            exit failures > 0 || named == 0
        }' "$folder/instructions" "$folder/needs"
}

mapfile -t files < <(awk 'NF { print $1 }' <<<"$KERNELS" | sort -u)
failures=0
for file in "${files[@]}"; do
    code=()
    for sm in "${architectures[@]}"; do
        code+=("-gencode=arch=compute_$sm,code=sm_$sm")
    done
    "$nvcc" -std=c++20 --expt-relaxed-constexpr -O3 -I. -Isrc "${code[@]}" -Xptxas -v --threads 0 \
        -c "backends/cuda/$file.cu" -o "$folder/$file.o" >"$folder/log" 2>&1 || { cat "$folder/log" >&2; exit 1; }
    needs <"$folder/log" | sort >"$folder/needs"
    : >"$folder/instructions"
    if [ -n "$cuobjdump" ]; then
        for sm in "${architectures[@]}"; do
            instructions "$folder/$file.o" "$sm" >>"$folder/instructions"
        done
    fi
    judge "$file" || failures=$((failures + 1))
done
[ "$failures" -eq 0 ]
