#!/usr/bin/env bash
# Shows that the conformance harness sees bugs: plants one at a time in a copy of the tree, builds test_ops there and
# expects it to fail. For each family of ops one bug for each side: in the CPU's kernels, in the shaders, and in the
# oracle, which central differences and numbers worked out by hand hold to account. Ends with a table; fails where a bug
# survives, where a text to change is no longer found exactly once, or where the tests fail without any bug.
#
#   tests/mutants/run.sh              every bug
#   tests/mutants/run.sh matmul loss  those of some families
set -euo pipefail

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
readonly ROOT
readonly WORK=${HEADSCOPE_MUTANTS_FOLDER:-$ROOT/build/mutants}
readonly TREE=$WORK/tree
readonly BUILD=$WORK/build
readonly JOBS=${HEADSCOPE_JOBS:-$(nproc)}
readonly LIMIT=900 # seconds for one run of one family on one device

families=("$@")
rows=()
failures=0

copy_tree() {
    rm -rf "$TREE"
    mkdir -p "$TREE"
    # Times are not kept, so that what a run before left built is built again (ccache makes that cheap).
    git -C "$ROOT" ls-files -z -- CMakeLists.txt LICENSE README.md assets/examples assets/fonts backends cmake shaders src tests viewer |
        (cd "$ROOT" && tar --create --null --files-from=- --ignore-failed-read --file=- 2>/dev/null) |
        tar --extract --touch --file=- --directory="$TREE"
}

build_tests() { ninja -C "$BUILD" -j "$JOBS" test_ops >"$WORK/build.log" 2>&1; }

# run_tests SIDE FAMILY [NAME=VALUE..]: the family's tests on one side, up to the first failure.
run_tests() {
    local family=$2 side=$1 device=$1 tests="[$2]"
    shift 2
    if [ "$side" = oracle ]; then
        # Every device would disagree with a wrong oracle. What is shown is that it is held to account itself.
        device=cpu
        tests="[$family][gradients],[$family][by_hand]"
    fi
    env HEADSCOPE_TEST_DEVICES="$device" HEADSCOPE_REQUIRE_BACKENDS="$device" "$@" \
        timeout "$LIMIT" "$BUILD/tests/test_ops" --abort "$tests" >"$WORK/run.log" 2>&1
}

is_wanted() {
    [ ${#families[@]} -gt 0 ] || return 0
    local family
    for family in "${families[@]}"; do
        [ "$family" != "$1" ] || return 0
    done
    return 1
}

row() {
    rows+=("$(printf '%-12s %-7s %-10s %s' "$@")")
    printf '%s\n' "${rows[-1]}"
}

fail_row() {
    row "$@"
    failures=$((failures + 1))
}

# What the first failure said, on one line.
first_complaint() {
    awk '/explicitly with message|with expansion/ { wanted = 1; next }
         wanted && /^$/ { exit }
         wanted { sub(/^ +/, ""); printf "%s ", $0 }' "$WORK/run.log" | cut -c1-150
}

# mutant FAMILY SIDE WHAT FILE OLD NEW [NAME=VALUE..]: OLD stands exactly once in FILE, and becomes NEW.
mutant() {
    local family=$1 side=$2 what=$3 file=$TREE/$4 old=$5 new=$6 text
    shift 6
    is_wanted "$family" || return 0
    text=$(<"$file") || { fail_row "$family" "$side" "NOT FOUND" "$what: there is no ${file#"$TREE"/}"; return 0; }
    local after=${text#*"$old"}
    if [ "$after" = "$text" ] || [ "${after#*"$old"}" != "$after" ]; then
        fail_row "$family" "$side" "NOT FOUND" "$what: ${file#"$TREE"/} does not hold exactly once: $old"
        return 0
    fi
    printf '%s\n' "${text/"$old"/"$new"}" >"$file"
    if ! build_tests; then
        fail_row "$family" "$side" "NO BUILD" "$what: see $WORK/build.log"
    elif run_tests "$side" "$family" "$@"; then
        fail_row "$family" "$side" "SURVIVED" "$what"
    elif ! grep -q 'FAILED:' "$WORK/run.log"; then
        fail_row "$family" "$side" "NO VERDICT" "$what: no test failed, but the program did: $(tail -n 1 "$WORK/run.log")"
    else
        row "$family" "$side" caught "$what | $(first_complaint)"
    fi
    printf '%s\n' "$text" >"$file"
}

# Without a bug every run must pass; else "caught" would mean nothing.
baseline() {
    local family side
    build_tests || { cat "$WORK/build.log" >&2; exit 1; }
    for family in elementwise matmul bias layer_norm attention embedding loss optimizer search; do
        is_wanted "$family" || continue
        for side in cpu vulkan; do
            if ! run_tests "$side" "$family"; then
                cat "$WORK/run.log" >&2
                printf 'the tests of %s fail on %s without any bug planted\n' "$family" "$side" >&2
                exit 1
            fi
        done
    done
    if is_wanted layer_norm && ! run_tests vulkan layer_norm "${SEVERAL_SUBGROUPS[@]}"; then
        cat "$WORK/run.log" >&2
        printf 'the tests of layer_norm fail with %s without any bug planted\n' "${SEVERAL_SUBGROUPS[*]}" >&2
        exit 1
    fi
}

# Workgroups of several subgroups even where the driver is llvmpipe: a barrier counts only between subgroups.
readonly SEVERAL_SUBGROUPS=(HEADSCOPE_VULKAN_ROW_LANES=64)

mkdir -p "$WORK"
copy_tree
cmake -S "$TREE" -B "$BUILD" -G Ninja -DCMAKE_BUILD_TYPE=Release -DHEADSCOPE_VIEWER=OFF >"$WORK/configure.log" 2>&1 ||
    { cat "$WORK/configure.log" >&2; exit 1; }
baseline

mutant elementwise cpu '"=" for "+=" in copy' backends/cpu/elementwise.cpp \
    'out[i] += x[i];' 'out[i] = x[i];'
mutant elementwise vulkan 'a column of eight is left out of dropout' shaders/dropout.comp \
    'min(block * 8u + 8u, p.columns)' 'min(block * 8u + 7u, p.columns)'
mutant elementwise oracle 'the second term lacks its factor' backends/cpu/reference/elementwise.cpp \
    '+ beta * b.at(i, j, k, l)' '+ b.at(i, j, k, l)'

mutant matmul cpu 'without terms beta is forgotten' backends/cpu/products.cpp \
    'p.beta == 0.0F ? 0.0F : p.beta * value' 'p.beta == 0.0F ? 0.0F : value'
mutant matmul cpu 'the terms past the last sixteen are left out' backends/cpu/products_few_rows.cpp \
    'if (x < p.k) {' 'if (x > p.k) {'
mutant matmul vulkan 'the first term is left out' shaders/matmul.comp \
    'for (uint k = 0u; k < p.k; ++k)' 'for (uint k = 1u; k < p.k; ++k)'
mutant matmul vulkan 'the output is not scaled before it is added to' shaders/matmul_vector.comp \
    'fma(p.beta, to[target], value)' 'to[target] + value'
mutant matmul oracle 'the last term is left out' backends/cpu/reference/matmul.cpp \
    'for (std::int64_t k = 0; k < depth; ++k)' 'for (std::int64_t k = 0; k + 1 < depth; ++k)'

mutant bias cpu '"=" for "+=" in a column sum' backends/cpu/bias.cpp \
    'sums[c] += x[row * columns + c];' 'sums[c] = x[row * columns + c];'
mutant bias vulkan 'a column sum stops one row early' shaders/sum_rows.comp \
    'min(first + p.rows_per_part, p.rows)' 'min(first + p.rows_per_part, p.rows - 1u)'
mutant bias oracle 'a term of the slope of swish has the wrong sign' backends/cpu/reference/bias.cpp \
    'return s + x * s * (1 - s);' 'return s - x * s * (1 - s);'

mutant layer_norm cpu 'the mean is not taken off the gradient' backends/cpu/layer_norm.cpp \
    'grad_y[c] - plain - n * weighted' 'grad_y[c] - n * weighted'
mutant layer_norm vulkan 'one output is never added to' shaders/add_layer_norm_backward.comp \
    'p.accumulate_x != 0u ? grad_x[target] + kept : kept' 'kept'
mutant layer_norm vulkan 'no barrier after the subgroups write' shaders/include/reduce.glsl \
    $'        barrier();                                                                       \\\n        type total' \
    '        type total' "${SEVERAL_SUBGROUPS[@]}"
mutant layer_norm oracle 'dropout is forgotten on the way back' backends/cpu/reference/layer_norm.cpp \
    'store(grad_x[c], dropout(grad_sum, row / length, 0, row % length, c), op.write_x);' \
    'store(grad_x[c], grad_sum, op.write_x);'

mutant attention cpu 'a query does not see its own key' backends/cpu/attention.cpp \
    'causal_ ? offset_ + query + 1 : keys_' 'causal_ ? offset_ + query : keys_'
mutant attention cpu 'keys past the first sixteen are the first again' backends/cpu/query.cpp \
    'std::min(first + j, keys.count - 1)' 'std::min(j, keys.count - 1)'
mutant attention vulkan 'key lengths are those of another sentence' shaders/include/mask.glsl \
    'row / (p.heads * p.queries)' 'row / p.queries % p.heads'
mutant attention cpu 'all goes to a key that is forbidden, too' backends/cpu/attention.cpp \
    'if (rule < allowed) {' 'if (rule < keys) {'
mutant attention vulkan 'of a uniform row the forbidden keys count, too' shaders/edit_attention.comp \
    '1.0 / float(allowed)' '1.0 / float(p.keys)'
mutant attention oracle 'a query is given to a key that its sentence has not' backends/cpu/reference/attention.cpp \
    'j == rule && allowed(j)' 'j == rule'
mutant attention oracle 'the mean is not taken off the gradient' backends/cpu/reference/attention.cpp \
    'weights[j] * (grad_weights[j] - mean)' 'weights[j] * grad_weights[j]'

mutant embedding cpu '"=" for "+=" in the table'\''s gradient' backends/cpu/embedding.cpp \
    'to[d] += scale * x[d];' 'to[d] = scale * x[d];'
mutant embedding vulkan 'the first position of an id is left out' shaders/embed_backward.comp \
    'for (uint at = first; at < last; ++at)' 'for (uint at = first + 1u; at < last; ++at)'
mutant embedding oracle 'the gradient lacks its scale' backends/cpu/reference/embedding.cpp \
    '+= Real{op.scale} * grad_out' '+= grad_out'

mutant loss cpu 'the target loses its share of the smoothing' backends/cpu/loss.cpp \
    '(c == target ? q.hit : q.other)' '(c == target ? q.hit - q.other : q.other)'
mutant loss vulkan 'the target'\''s share is that of the other form' shaders/smoothed_cross_entropy.comp \
    '1.0 - p.epsilon : 1.0 - p.epsilon + others' '1.0 - p.epsilon : 1.0 - p.epsilon'
mutant loss oracle 'the smoothed target does not sum to 1' backends/cpu/reference/loss.cpp \
    'hit = 1 - epsilon + other;' 'hit = 1 - epsilon;'

mutant optimizer cpu 'the second moment is that of g, not of its square' backends/cpu/optimizer.cpp \
    '(1.0F - step.beta2) * g * g' '(1.0F - step.beta2) * g'
mutant optimizer vulkan 'the last element is left out of the norm' shaders/square_sum.comp \
    'min(first + p.part_elements, p.count)' 'min(first + p.part_elements, p.count - 1u)'
mutant optimizer oracle 'the first moment is not corrected' backends/cpu/reference/optimizer.cpp \
    'm[i] / scalars[StepScalars::Correction1]' 'm[i]'

mutant search cpu 'of equal entries the last comes first' backends/cpu/search.cpp \
    'return a > b ||' 'return a >= b ||'
mutant search vulkan 'an entry is found twice' shaders/log_softmax_top_k.comp \
    'key == last_key && c > last_index' 'key == last_key && c >= last_index'

printf '\n%-12s %-7s %-10s %s\n' FAMILY SIDE VERDICT BUG
printf '%s\n' "${rows[@]}"
printf '%d bugs, %d not caught\n' "${#rows[@]}" "$failures"
[ ${#rows[@]} -gt 0 ] || { printf 'there is no family of that name\n' >&2; exit 1; }
[ "$failures" -eq 0 ]
