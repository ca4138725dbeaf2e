#!/usr/bin/env bash
# registers.sh NVCC CUOBJDUMP [SM..]: compiles the kernels whose speed depends on registers, and all that use tensor
# cores, for these architectures, or for sm_80, 90, 100 and 120, as far as the toolkit knows them. Fails if one spills,
# or needs more registers than its row below allows, or has no row, or if a row has no kernel. Prints what each needs and
# how many instructions it has of each kind, with the predicted number behind a slash: HMMA are products on tensor cores,
# LDSM feed them, LDGSTS are asynchronous copies, LDL are loads of what is not in registers. CUOBJDUMP counts them in
# machine code, where one LDL is a failure; if it is empty, they are counted in PTX, where LDL are those of arrays that
# may still become registers.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
nvcc=$1 cuobjdump=$2
shift 2
[ $# -gt 0 ] || set -- 80 90 100 120

# File, kernel (a regular expression for the mangled name), most registers and, if predicted, the number of HMMA and
# LDSM; the first that fits counts. With 128 registers a multiprocessor holds two blocks of 256 threads, with 168
# three of 128, with 72 seven of 128, with 64 one of 1,024. Predicted is what a warp executes for one tile; of loops
# that the compiler unrolls there is more, so the backward of short attention has no prediction.
readonly KERNELS='
short_attention           attend_short.*ELi64ELi6E               128  48  28
short_attention           attend_short.*ELi(32|64)ELi[68]E       128
short_attention           attend_short                           255
short_attention_backward  attend_short_back.*ELi(32|64)ELi[68]E  128
short_attention_backward  attend_short_back                      255
long_attention            attend_long.*ELi64E                    255  64  36
long_attention            attend_long                            255
long_attention_backward   attend_long_back_to_keys.*ELi64E       168  64  40
long_attention_backward   attend_long_back_to_queries.*ELi64E    168  48  32
long_attention_backward   attend_long_back.*ELi(32|64)E          168
long_attention_backward   attend_long_back                       255
few_rows                  multiply_few_rowsI.*Li1EE              128  8   0
few_rows                  multiply_few_rowsI.*Li2EE              128  16  0
few_rows                  multiply_few_rows_f32                  72   0   0
top_k                     top_k_of                               128  0   0
layer_norm_warps          norm_rows_back.*(Half|BFloat16)ELi[12]E  128
layer_norm_warps          norm                                   255
loss                      held_cross_entropy                     64
bias                      bias_activation_backward_sums          64
'

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
known=$("$nvcc" --list-gpu-code)
architectures=()
for sm in "$@"; do
    ! grep -qx "sm_$sm" <<<"$known" || architectures+=("$sm")
done
[ ${#architectures[@]} -gt 0 ] || {
    echo "registers: $nvcc compiles for none of: $*" >&2
    exit 1
}

# The kernels of a header, and of what includes it.
users() { # HEADER
    local each
    grep -l "#include \"backends/cuda/$1\"" backends/cuda/*.cu backends/cuda/*.h | while read -r each; do
        case $each in
            *.cu) basename "$each" .cu ;;
            *) users "$(basename "$each")" ;;
        esac
    done
}

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
instructions() { # NAME SM
    if [ -n "$cuobjdump" ]; then
        "$cuobjdump" -sass -arch "sm_$2" "$folder/$1.o" 2>"$folder/messages" || {
            cat "$folder/messages" >&2 # such as that nvdisasm is missing
            return 1
        }
    else
        cat "$folder/kept/$1.compute_$2.ptx" 2>/dev/null || cat "$folder/kept/$1.ptx"
    fi | awk -v sm="$2" '
        BEGIN { split("HMMA|mma[.]sync LDSM|ldmatrix LDGSTS|cp[.]async[.]c[ag] LDL|ld[.]local", kinds, " ") }
        /Function :/ { kernel = $3; print_counts() }
        /[.]entry / { kernel = $0; sub(/^.*[.]entry /, "", kernel); sub(/[(].*/, "", kernel); print_counts() }
        {
            for (i = 1; i <= NF; ++i) {
                for (kind = 1; kind in kinds; ++kind) found[kind] += $i ~ "^(" kinds[kind] ")"
            }
        }
        function print_counts() {
            if (before != "") print before, sm, found[1] + 0, found[2] + 0, found[3] + 0, found[4] + 0
            before = kernel
            delete found
        }
        END { kernel = ""; print_counts() }'
}

# Reads the files of instructions() and needs(), in this order.
judge() { # NAME
    awk -v file="$1" -v table="$KERNELS" -v machine_code="$cuobjdump" '
        BEGIN {
            count = split(table, lines, "\n")
            for (i = 1; i <= count; ++i) {
                columns = split(lines[i], row, " ")
                if (columns >= 3 && row[1] == file) {
                    pattern[++rows] = row[2]
                    most[rows] = row[3]
                    if (columns == 5) {
                        hmma[rows] = "/" row[4]
                        ldsm[rows] = "/" row[5]
                    }
                }
            }
        }
        FILENAME ~ /instructions$/ {
            split($0, counted, " ")
            for (i = 3; i <= 6; ++i) counts[$1, $2, i] = counted[i]
            next
        }
        {
            for (i = 1; i <= rows && $1 !~ pattern[i]; ++i) { }
            uses_tensor_cores = counts[$1, $2, 3] > 0
            if (i > rows && !uses_tensor_cores) next
            named++
            short = substr($1, index($1, "_cu_") + 12)  # after eight digits of a hash
            sub(/^[_0-9]+/, "", short)
            sub(/EEv.*$/, "", short)
            wrong = i > rows || $4 > 0 || $3 > most[i] || (machine_code != "" && counts[$1, $2, 6] > 0)
            matched[i]++
            failures += wrong
            printf "%ssm_%-3d %3d registers of %3d  %d bytes spilled  HMMA %6s  LDSM %6s  LDGSTS %2d  LDL %d  %s%s\n",
                wrong ? "FAILED: " : "", $2, $3, most[i], $4, counts[$1, $2, 3] hmma[i], counts[$1, $2, 4] ldsm[i],
                counts[$1, $2, 5], counts[$1, $2, 6], short, (i > rows ? " has no row in registers.sh" : "")
        }
        END {
            if (named == 0) print "FAILED: " file " has none of its kernels"
            for (i = 1; i <= rows; ++i) {
                if (matched[i]) continue
                print "FAILED: " file " has no kernel for the row " pattern[i]
                failures++
            }
            exit failures > 0 || named == 0
        }' "$folder/instructions" "$folder/needs"
}

mapfile -t names < <({ awk 'NF { print $1 }' <<<"$KERNELS"; users matrix_unit.h; } | sort -u)
failures=0
for name in "${names[@]}"; do
    code=()
    for sm in "${architectures[@]}"; do
        code+=("-gencode=arch=compute_$sm,code=sm_$sm")
    done
    rm -rf "$folder/kept"
    mkdir "$folder/kept"
    "$nvcc" -std=c++20 --expt-relaxed-constexpr -O3 -I. -Isrc "${code[@]}" -Xptxas -v --threads 0 --keep \
        --keep-dir "$folder/kept" -c "backends/cuda/$name.cu" -o "$folder/$name.o" >"$folder/log" 2>&1 ||
        { cat "$folder/log" >&2; exit 1; }
    needs <"$folder/log" | sort >"$folder/needs"
    for sm in "${architectures[@]}"; do
        instructions "$name" "$sm"
    done >"$folder/instructions"
    judge "$name" || failures=$((failures + 1))
done
[ "$failures" -eq 0 ]
