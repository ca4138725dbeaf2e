#!/usr/bin/env bash
# Shows that the conformance harness sees bugs: plants one at a time in a copy of the tree, builds it there and expects
# the proof to fail. On five sides: in the shaders, where `headscope conform` has to fail (shaders.sh has a bug for each
# of them), in the CPU's kernels, in the oracle, which is checked by central differences and values computed by hand, in
# CUDA's kernels of training and decoding, which are emulated, and in the seam: declared operands and replays. Ends with
# a table; fails if a bug survives, if a text to change is no longer found exactly once, or if a proof fails without any
# bug.
#
#   tests/mutants/run.sh              every bug
#   tests/mutants/run.sh matmul loss  those of some families
#   tests/mutants/run.sh vulkan       those of one side: vulkan, cpu, oracle, cuda or seam
#   tests/mutants/run.sh --texts      plants none: that each text to change is there once, and each shader has a bug
set -euo pipefail

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
readonly ROOT
readonly WORK=${HEADSCOPE_MUTANTS_FOLDER:-$ROOT/build/mutants}
readonly TREE=$WORK/tree
readonly BUILD=$WORK/build
readonly JOBS=${HEADSCOPE_JOBS:-$(nproc)}
export HEADSCOPE_VULKAN_DISABLE=tuning # what was faster here once proves nothing
readonly LIMIT=900 # seconds for one run of one family on one device
# What shows a family's bugs in CUDA's kernels: a case of a size that they are made for.
declare -rA CUDA_OPS=([attention]="attention,attention_backward" [matmul]=matmul [search]=log_softmax_top_k
    [bias]=bias_activation_backward [embedding]=embed_backward [rotary]=rotate [blocks]=block_linear)
declare -rA CUDA_CASES=([attention]='[2, 1, 40, 64]' [matmul]='[16, 17]' [search]='[2, 8203]' [bias]='[3, 71, 40]'
    [embedding]='[2, 3]' [rotary]='[2, 3, 5, 8]' [blocks]='[3, 18]')
declare -rA CUDA_DTYPES=([blocks]=f32) # otherwise bf16

texts_alone=false
if [ "${1:-}" = --texts ]; then
    texts_alone=true
    shift
fi
wanted=("$@")
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

# build SIDE: what proves it
build() {
    local targets=(test_ops)
    [ "$1" != vulkan ] || targets=(headscope)
    [ "$1" != cuda ] || targets=(headscope headscope_cuda_emulated headscope_fake_cuda_driver)
    [ "$1" != seam ] || targets=(test_backend)
    ninja -C "$BUILD" -j "$JOBS" "${targets[@]}" >"$WORK/build.log" 2>&1
}

# prove SIDE FAMILY [NAME=VALUE..]: of the environment, and PATHS=LIST, paths of the device to go by as well, or DTYPE=
# and CASE= for CUDA
prove() {
    local family=$2 side=$1 tests="[$2]" word
    shift 2
    if [ "$side" = vulkan ]; then
        # Each case in each storage, not by turns.
        local how=(--quick --no-speed --dtype 'f32,f16,bf16,tf32,i8,i32')
        for word in "$@"; do
            [ "${word#PATHS=}" = "$word" ] || how+=(--path "${word#PATHS=}")
        done
        env "$@" timeout "$LIMIT" "$BUILD/headscope" conform --device vulkan --op "$family" "${how[@]}" >"$WORK/run.log" 2>&1
        return
    fi
    if [ "$side" = cuda ]; then
        local dtype=${CUDA_DTYPES[$family]:-bf16} case=${CUDA_CASES[$family]}
        for word in "$@"; do
            [ "${word#DTYPE=}" = "$word" ] || dtype=${word#DTYPE=}
            [ "${word#CASE=}" = "$word" ] || case=${word#CASE=}
        done
        env HEADSCOPE_CUDA_DRIVER="$BUILD/tests/fake_cuda/driver.so" \
            HEADSCOPE_CUDA_MODULES="$BUILD/tests/cuda_emulation/modules" "$@" \
            timeout "$LIMIT" "$BUILD/headscope" conform --device cuda --op "${CUDA_OPS[$family]}" --quick --no-speed \
            --dtype "$dtype" --case "$case" >"$WORK/run.log" 2>&1
        return
    fi
    if [ "$side" = seam ]; then
        timeout "$LIMIT" "$BUILD/tests/test_backend" --abort "$tests" >"$WORK/run.log" 2>&1
        return
    fi
    # Every device would disagree with a wrong oracle. What is shown is that it is held to account itself.
    [ "$side" != oracle ] || tests="[$family][gradients],[$family][by_hand]"
    env HEADSCOPE_TEST_DEVICES=cpu HEADSCOPE_REQUIRE_BACKENDS=cpu "$@" \
        timeout "$LIMIT" "$BUILD/tests/test_ops" --abort "$tests" >"$WORK/run.log" 2>&1
}

# is_wanted FAMILY SIDE
is_wanted() {
    [ ${#wanted[@]} -gt 0 ] || return 0
    local word
    for word in "${wanted[@]}"; do
        [ "$word" != "$1" ] && [ "$word" != "$2" ] || return 0
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
    awk '/explicitly with message|with expansion|^FAILED  / { wanted = 1; next }
         wanted && /^$/ { exit }
         wanted { sub(/^ +/, ""); printf "%s ", $0 }' "$WORK/run.log" | cut -c1-150
}

# mutant FAMILY SIDE WHAT FILE OLD NEW [NAME=VALUE..]: OLD stands exactly once in FILE, and becomes NEW.
mutant() {
    local family=$1 side=$2 what=$3 file=$SOURCE/$4 old=$5 new=$6 text
    shift 6
    is_wanted "$family" "$side" || return 0
    text=$(<"$file") || { fail_row "$family" "$side" "NOT FOUND" "$what: there is no ${file#"$SOURCE"/}"; return 0; }
    local after=${text#*"$old"}
    if [ "$after" = "$text" ] || [ "${after#*"$old"}" != "$after" ]; then
        fail_row "$family" "$side" "NOT FOUND" "$what: ${file#"$SOURCE"/} does not hold exactly once: $old"
        return 0
    fi
    if "$texts_alone"; then
        row "$family" "$side" found "$what"
        return 0
    fi
    printf '%s\n' "${text/"$old"/"$new"}" >"$file"
    if ! build "$side"; then
        fail_row "$family" "$side" "NO BUILD" "$what: see $WORK/build.log"
    elif prove "$side" "$family" "$@"; then
        fail_row "$family" "$side" "SURVIVED" "$what"
    elif ! grep -qE 'FAILED:|^FAILED  ' "$WORK/run.log"; then
        fail_row "$family" "$side" "NO VERDICT" "$what: nothing failed, but the program did: $(tail -n 1 "$WORK/run.log")"
    else
        row "$family" "$side" caught "$what | $(first_complaint)"
    fi
    printf '%s\n' "$text" >"$file"
}

# Without a bug every run must pass; else "caught" would mean nothing.
baseline() {
    local family side
    for side in cpu vulkan; do
        for family in elementwise matmul bias layer_norm batch_norm attention additive embedding blocks convolution experts loss \
            optimizer recurrent rotary search; do
            is_wanted "$family" "$side" || continue
            build "$side" || { cat "$WORK/build.log" >&2; exit 1; }
            prove_without "$side" "$family"
        done
    done
    for family in elementwise matmul bias layer_norm batch_norm attention additive embedding blocks convolution experts loss \
        optimizer recurrent rotary; do
        is_wanted "$family" oracle || continue
        build oracle || { cat "$WORK/build.log" >&2; exit 1; }
        prove_without oracle "$family"
    done
    for family in "${!CUDA_OPS[@]}"; do
        is_wanted "$family" cuda || continue
        build cuda || { cat "$WORK/build.log" >&2; exit 1; }
        prove_without cuda "$family"
    done
    if is_wanted capture seam; then
        build seam || { cat "$WORK/build.log" >&2; exit 1; }
        prove_without seam capture
    fi
    if is_wanted attention cuda; then
        prove_without cuda attention "${LONG[@]}"
        prove_without cuda attention "${TF32[@]}"
        prove_without cuda attention "${LONG_TF32[@]}"
        prove_without cuda attention "${GROUPED[@]}"
    fi
    ! is_wanted matmul cuda || prove_without cuda matmul "${FEW_ROWS_F32[@]}"
    ! is_wanted rotary cuda || prove_without cuda rotary "${NEIGHBOURS[@]}"
    ! is_wanted search cuda || prove_without cuda search "${LONG_ROWS[@]}"
    ! is_wanted optimizer vulkan || prove_without vulkan optimizer "${NO_TEXELS[@]}"
    ! is_wanted linear vulkan || prove_without vulkan linear
    ! is_wanted attention vulkan || prove_without vulkan attention PATHS=fused-attention
    ! is_wanted edit_attention vulkan || prove_without vulkan edit_attention
    ! is_wanted matmul vulkan || prove_without vulkan matmul "${NO_SUBGROUPS[@]}"
    ! is_wanted matmul vulkan || prove_without vulkan matmul "${SHARED_TILES[@]}"
    ! is_wanted elementwise vulkan || prove_without vulkan elementwise "${SMALL_BINDINGS[@]}"
    ! is_wanted elementwise vulkan || prove_without vulkan elementwise "${HALF_CONVERSIONS[@]}"
    ! is_wanted layer_norm vulkan || prove_without vulkan layer_norm "${SEVERAL_SUBGROUPS[@]}"
    ! is_wanted matmul vulkan || prove_without vulkan matmul "${EMULATED[@]}"
}

prove_without() {
    prove "$@" && return
    cat "$WORK/run.log" >&2
    printf 'the proof of %s fails without any bug planted\n' "$*" >&2
    exit 1
}

# Workgroups of several subgroups even where the driver is llvmpipe: a barrier counts only between subgroups.
readonly SEVERAL_SUBGROUPS=(HEADSCOPE_VULKAN_ROW_LANES=64)
# Products of one lane's block, or of a workgroup's tile, where a CPU's Vulkan takes those of subgroups.
readonly NO_SUBGROUPS=("HEADSCOPE_VULKAN_DISABLE=subgroups,tuning")
readonly SHARED_TILES=(HEADSCOPE_VULKAN_TILES=shared)
# What a CPU reads through texels, read as any other device does.
readonly NO_TEXELS=("HEADSCOPE_VULKAN_DISABLE=texel_loads,tuning")
# Tensors in parts.
readonly SMALL_BINDINGS=(HEADSCOPE_VULKAN_MAX_BINDING=8192)
# F16 as GPUs widen it.
readonly HALF_CONVERSIONS=(HEADSCOPE_VULKAN_HALF_CONVERSIONS=1)
# Attention of more than 128 positions, in float32, and of heads that share keys; products of few rows in float32.
readonly LONG=("CASE=[2, 1, 70, 64]")
readonly TF32=(DTYPE=tf32)
readonly LONG_TF32=(DTYPE=tf32 "CASE=[1, 1, 70, 64]")
readonly GROUPED=("CASE=[2, 4, 70, 64]")
readonly FEW_ROWS_F32=(DTYPE=f32 "CASE=[4, 9]")
# Pairs of neighbours in rows of every length; rows in parts, whose largest logits differ.
readonly NEIGHBOURS=(CASE=neighbours)
readonly LONG_ROWS=("CASE=[2, 12296]")
# The tiles of products in F16, on a device that may have no cooperative matrices.
readonly EMULATED=(HEADSCOPE_VULKAN_EMULATE_MATRICES=1)

if "$texts_alone"; then
    readonly SOURCE=$ROOT
else
    readonly SOURCE=$TREE
    mkdir -p "$WORK"
    copy_tree
    # CUDA kernels are emulated here, so nvcc has nothing to build.
    cmake -S "$TREE" -B "$BUILD" -G Ninja -DCMAKE_BUILD_TYPE=Release -DHEADSCOPE_VIEWER=OFF -DHEADSCOPE_CUDA=OFF \
        >"$WORK/configure.log" 2>&1 ||
        { cat "$WORK/configure.log" >&2; exit 1; }
    baseline
fi

# shellcheck source=tests/mutants/shaders.sh
. "$ROOT/tests/mutants/shaders.sh"

mutant elementwise cpu '"=" for "+=" in copy' backends/cpu/elementwise.cpp \
    'out[i] += x[i];' 'out[i] = x[i];'
mutant elementwise oracle 'the second term lacks its factor' backends/cpu/reference/elementwise.cpp \
    '+ beta * b.at(i, j, k, l)' '+ b.at(i, j, k, l)'

mutant matmul cpu 'without terms beta is forgotten' backends/cpu/products.cpp \
    'p.beta == 0.0F ? 0.0F : p.beta * value' 'p.beta == 0.0F ? 0.0F : value'
mutant matmul cpu 'the terms past the last sixteen are left out' backends/cpu/products_few_rows.cpp \
    'if (x < p.k) {' 'if (x > p.k) {'
mutant matmul cpu 'the sums of a packed weight forget what was there' backends/cpu/panel_products.h \
    'sums.add_product(product.beta, before);' 'sums += before;'
mutant matmul cpu 'the last panel of a weight is read like a whole one' backends/cpu/panel_products.cpp \
    'const std::int64_t rows_at_once = width == kPanelColumns ? p.k : 1;' 'const std::int64_t rows_at_once = p.k;'
mutant matmul cpu '128 stays in sums of eight bits' backends/cpu/panel_products_i8.h \
    'kExcess = 128;' 'kExcess = 127;'
mutant embedding cpu 'a row of a packed table is the one before' backends/cpu/weight_panels.cpp \
    'panel.at + column * panel.unit' 'panel.at + (column > 0 ? column - 1 : 0) * panel.unit'
mutant matmul oracle 'the last term is left out' backends/cpu/reference/matmul.cpp \
    'for (std::int64_t k = 0; k < depth; ++k)' 'for (std::int64_t k = 0; k + 1 < depth; ++k)'

mutant bias cpu '"=" for "+=" in a column sum' backends/cpu/bias.cpp \
    'sums[c] += x[row * columns + c];' 'sums[c] = x[row * columns + c];'
mutant bias oracle 'a term of the slope of swish has the wrong sign' backends/cpu/reference/bias.cpp \
    'return s + x * s * (1 - s);' 'return s - x * s * (1 - s);'

mutant batch_norm cpu 'the running variance is that of the batch' backends/cpu/batch_norm.cpp \
    'variance[c] * rows.count / (rows.count - 1)' 'variance[c]'
mutant batch_norm cpu 'padding is normalised with the rest on the way back' backends/cpu/batch_norm.cpp \
    'measured ? shared : 0.0F' 'shared'
mutant batch_norm oracle 'the gradient forgets that the variance is measured' backends/cpu/reference/batch_norm.cpp \
    '(bias + normalised(row) * gain) / count' 'bias / count'

mutant convolution cpu 'padding is written' backends/cpu/convolution.cpp \
    'body(row, j, padding || at < low' 'body(row, j, at < low'
mutant convolution oracle 'a tap is weighted by its neighbour' backends/cpu/reference/convolution.cpp \
    'weights[j * channels + c] * row[c]' 'weights[c] * row[c]'

mutant experts cpu 'what a slot takes is not weighted' backends/cpu/experts.cpp \
    '1.0F : weights[s]' '1.0F : 1.0F'
mutant experts oracle 'the weights of the chosen do not share their sum' backends/cpu/reference/experts.cpp \
    'mean += p[chosen[j]] / whole * grad_of(j);' 'mean += 0;'

mutant layer_norm cpu 'the mean is not taken off the gradient' backends/cpu/layer_norm.cpp \
    'grad_y[c] - plain - n * weighted' 'grad_y[c] - n * weighted'
mutant layer_norm cpu 'RMS norm subtracts the mean' backends/cpu/layer_norm.cpp \
    'mean_out == nullptr ? 0.0F : sum_over' 'false ? 0.0F : sum_over'
mutant layer_norm oracle 'RMS norm subtracts the mean' backends/cpu/reference/layer_norm.cpp \
    'mean += means == nullptr ? 0 : sum[c] / count;' 'mean += sum[c] / count;'
mutant layer_norm oracle 'dropout is forgotten in the backward' backends/cpu/reference/layer_norm.cpp \
    'store(grad_x[c], dropout(grad_sum, row / length, 0, row % length, c), op.write_x);' \
    'store(grad_x[c], grad_sum, op.write_x);'

mutant additive cpu 'the gradient of keys reads that of queries' backends/cpu/additive.cpp \
    'row_at(op.grad_scores, b, h, 0) + i : row_at' 'row_at(op.grad_scores, b, h, i) : row_at'
mutant additive oracle 'the slope is that of the logistic function' backends/cpu/reference/additive.cpp \
    'grad * (1 - squashed * squashed)' 'grad * squashed * (1 - squashed)'

mutant attention cpu 'a query does not see its own key' backends/cpu/allowed_keys.h \
    'offset_ + last + 1' 'offset_ + last'
mutant attention cpu 'a range has a key too many' backends/cpu/allowed_keys.h \
    'std::min<std::int64_t>(keys.end, range[1])' 'std::min<std::int64_t>(keys.end, range[1] + 1)'
mutant attention cpu 'a window begins a key late' backends/cpu/allowed_keys.h \
    'offset_ + first - window_ + 1' 'offset_ + first - window_ + 2'
mutant attention cpu 'the last block of queries gives a key its gradient alone' backends/cpu/block_attention.cpp \
    '.beta = 1.0F' '.beta = 0.0F'
mutant attention cpu 'keys past the first sixteen are the first again' backends/cpu/query.cpp \
    'std::min(first + j, sizes.count - 1)' 'std::min(j, sizes.count - 1)'
mutant attention cpu 'a query of a sentence sees the key behind its last' backends/cpu/head_attention.cpp \
    'own.end - first_key, kMinusInfinity' 'own.end - first_key + 1, kMinusInfinity'
mutant attention cpu 'all goes to a key that is forbidden, too' backends/cpu/attention.cpp \
    'if (allowed.has(rule)) {' 'if (rule < keys) {'
mutant attention oracle 'a query is given to a key that its sentence has not' backends/cpu/reference/attention.cpp \
    'j == rule && allowed(j)' 'j == rule'
mutant attention oracle 'the mean is not taken off the gradient' backends/cpu/reference/attention.cpp \
    'weights[j] * (grad_weights[j] - mean)' 'weights[j] * grad_weights[j]'
mutant attention cpu 'a head reads the keys of the group with its number' backends/cpu/attention.cpp \
    'x.row(row, h / heads.of_group, own.begin)' 'x.row(row, h % x.size[1], own.begin)'
mutant attention cpu 'a sentence reads the keys of the group with its number' backends/cpu/attention.cpp \
    'const std::int64_t group = h / heads.of_group;' 'const std::int64_t group = h % heads.k.size[1];'
mutant attention cpu 'blocks of a head read the keys of the group with its number' backends/cpu/block_attention.cpp \
    'group = head / heads_of_group_;' 'group = head % k.size[1];'
mutant attention cpu 'composed, heads of a group are far apart' src/backend/compositions.cpp \
    'x.shape = {x.dim(0), groups, each * x.dim(2), x.dim(3)};' \
    'x.shape = {x.dim(0), groups, each * x.dim(2), x.dim(3)}; std::swap(x.strides[1], x.strides[2]);'
mutant attention oracle 'a product by groups takes one head for all' src/backend/compositions.cpp \
    'x.strides[2] = x.dim(2) == 1 ? x.stride(1) : x.stride(2);' 'x.strides[2] = 0;'
mutant attention cpu 'a diagonal is that of the next query' backends/cpu/attention.cpp \
    'own.data() + queries - 1 - i' 'own.data() + queries - 1 - i / 2'
mutant attention oracle 'a distance is that of the query before' backends/cpu/reference/attention.cpp \
    'sums[(b * diagonals + j - i +' 'sums[(b * diagonals + j - i / 2 +'

mutant embedding cpu '"=" for "+=" in the table'\''s gradient' backends/cpu/embedding.cpp \
    'to[d] += scale * x[d];' 'to[d] = scale * x[d];'
mutant embedding oracle 'the gradient lacks its scale' backends/cpu/reference/embedding.cpp \
    '+= Real{op.scale} * grad_out' '+= grad_out'

mutant loss cpu 'the target loses its share of the smoothing' backends/cpu/loss.cpp \
    '(c == target ? q.hit : q.other)' '(c == target ? q.hit - q.other : q.other)'
mutant loss oracle 'the smoothed target does not sum to 1' backends/cpu/reference/loss.cpp \
    'hit = 1 - epsilon + other;' 'hit = 1 - epsilon;'

mutant optimizer cpu 'the second moment is that of g, not of its square' backends/cpu/optimizer.cpp \
    '(1.0F - step.beta2) * g * g' '(1.0F - step.beta2) * g'
mutant optimizer oracle 'the first moment is not corrected' backends/cpu/reference/optimizer.cpp \
    'm[i] / scalars[StepScalars::Correction1]' 'm[i]'

mutant optimizer oracle 'a skipped step counts as an update' backends/cpu/reference/optimizer.cpp \
    'if (std::isfinite(norm)) {' '{'

mutant recurrent cpu 'the cells of padding are lost' backends/cpu/recurrent.cpp \
    'std::copy_n(row.state, row.state == row.next_state ? 0 : d, row.next_state);' ''
mutant recurrent oracle 'the update gate works the other way round' backends/cpu/reference/recurrent.cpp \
    '(1 - z) * n + z * new_hidden' 'z * n + (1 - z) * new_hidden'

mutant rotary cpu 'neighbours share the sine of the first pair' backends/cpu/rotary.cpp \
    'const float a = x[2 * p];
        const float b = x[2 * p + 1];
        const float sine = sign * turn[pairs + p];' \
    'const float a = x[2 * p];
        const float b = x[2 * p + 1];
        const float sine = sign * turn[pairs];'
mutant rotary oracle 'the inverse turns as the forward pass does' backends/cpu/reference/rotary.cpp \
    '(op.inverse ? -1 : 1)' '1'

mutant blocks cpu 'an output lacks its least values' backends/cpu/block_products.cpp \
    'to[i] += by.even_least * sum;' ''
mutant blocks oracle 'codes of 8 bits have no sign' backends/cpu/reference/blocks.cpp \
    'return std::bit_cast<std::int8_t>(byte(block * kBlockColumns + i));' 'return byte(block * kBlockColumns + i);'

mutant search cpu 'a larger logit leaves the sum as it was' backends/cpu/search.cpp \
    'sum_ *= factor;' 'static_cast<void>(factor);'
mutant search cpu 'of equal entries the last comes first' backends/cpu/search.cpp \
    'return a > b ||' 'return a >= b ||'

mutant attention cuda 'the halves of k of the right operand are swapped' backends/cuda/fragments.h \
    'const int half_of_k = lane / 8 % 2 * 8;' 'const int half_of_k = 8 - lane / 8 % 2 * 8;'
mutant attention cuda 'the backward does not wait for its copies' backends/cuda/short_attention_backward.cu \
    'wait_for_copies<0>();' ''
mutant attention cuda 'results go to the rows of the other half' backends/cuda/fragments.h \
    'const int row = first + lane / 4 + 8 * half;' 'const int row = first + lane / 4 + 8 - 8 * half;'

mutant attention cuda 'a head reads the keys of the group with its number' backends/cuda/fused_attention_tiles.h \
    'head, head / kernel.of_group,' 'head, head % (kernel.heads / kernel.of_group),' "${GROUPED[@]}"
mutant attention cuda 'keys get the gradients of the heads of another group' backends/cuda/fused_attention_tiles.h \
    'group * kernel.of_group, group,' 'group, group,' "${GROUPED[@]}"
mutant attention cuda 'in long sentences keys get the gradients of the first head of a group' \
    backends/cuda/long_attention_backward.cu 'member < kernel.of_group; ++member' 'member < 1; ++member' "${GROUPED[@]}"

mutant attention cuda 'blocks of keys do not wait for their copies' backends/cuda/long_attention_backward.cu \
    'const int then = next(query + kPassingRows);
            wait_for_copies<0>();' 'const int then = next(query + kPassingRows);' "${LONG[@]}"
mutant attention cuda 'a row of keys is taken for that of the other half' backends/cuda/long_attention_backward.cu \
    'short_query(own_key, half)' 'short_query(own_key, 1 - half)' "${LONG[@]}"
mutant attention cuda 'a row of queries is taken for that of the other half' backends/cuda/long_attention_backward.cu \
    'own_rows[i / 2]' 'own_rows[1 - i / 2]' "${LONG[@]}"
mutant attention cuda 'in TF32 two rows of k of the right operand are swapped' backends/cuda/fragments.h \
    'tf32_bits(*tile.at(row, column)), tf32_bits(*tile.at(row + 1, column)),' \
    'tf32_bits(*tile.at(row + 1, column)), tf32_bits(*tile.at(row, column)),' "${TF32[@]}"
mutant attention cuda 'in TF32 rows of the left operand are those of the other half' backends/cuda/fragments.h \
    'const int r = row + lane / 4 + i % 2 * 8;' 'const int r = row + lane / 4 + (1 - i % 2) * 8;' "${TF32[@]}"
mutant attention cuda 'in TF32 weights are the left operand in the order of 16 bits' backends/cuda/fragments.h \
    'tf32_bits(first[0]), tf32_bits(first[2]), tf32_bits(first[1]), tf32_bits(first[3])' \
    'tf32_bits(first[0]), tf32_bits(first[1]), tf32_bits(first[2]), tf32_bits(first[3])' "${LONG_TF32[@]}"

mutant matmul cuda 'few rows: the halves of k of the left operand are swapped' backends/cuda/few_rows.cu \
    'upper.at[2], lower.at[2], upper.at[3], lower.at[3]' 'upper.at[3], lower.at[3], upper.at[2], lower.at[2]'
mutant matmul cuda 'few rows: sums go to the rows of the other half' backends/cuda/few_rows.cu \
    '(group + 8 * half) * kColumns' '(group + 8 - 8 * half) * kColumns'
mutant matmul cuda 'few rows: the sums of the last warp are left out' backends/cuda/few_rows.cu \
    'part < kMatrixWarps;' 'part < kMatrixWarps - 1;'
mutant matmul cuda 'few rows of F32: a lane gives away the half that it keeps' backends/cuda/few_rows.cu \
    'upper ? values[i] : values[i + N / 2]' 'upper ? values[i + N / 2] : values[i]' "${FEW_ROWS_F32[@]}"
mutant bias cuda 'dropout of each part of the rows begins with a sentence' backends/cuda/bias.cu \
    'begin / parts.length, begin % parts.length, column' 'begin / parts.length, 0, column'
mutant embedding cuda 'a run of ids begins where its lane stands' backends/cuda/embedding.cu \
    'static_cast<std::int32_t>(index - lane + other)' 'static_cast<std::int32_t>(index)'
mutant rotary cuda 'the second column of a pair turns the other way' backends/cuda/rotary.cu \
    'b * cosine[i] + a * turning.sign' 'b * cosine[i] - a * turning.sign'
mutant rotary cuda 'neighbours are paired as halves are' backends/cuda/rotary.cu \
    'turning.neighbours ? values[2 * i / N][2 * i % N]' 'turning.neighbours ? values[0][i]' "${NEIGHBOURS[@]}"
mutant blocks cuda 'the least value is multiplied with half of x' backends/cuda/blocks.cu \
    'high_total += high[i];' ''
mutant blocks cuda 'codes of 8 bits have no sign' backends/cuda/blocks.cu \
    'static_cast<float>(static_cast<std::int8_t>(byte & 255U))' 'static_cast<float>(byte & 255U)'
mutant search cuda 'parts of a row are added as if they had one largest logit' backends/cuda/top_k.cu \
    ' * rescale(own, largest)' '' "${LONG_ROWS[@]}"
mutant search cuda 'the best of a list is found again' backends/cuda/top_k.cu '++own;' ''

mutant capture seam 'an operand is not declared' src/backend/ops/attention.h \
    'd.in("position", position, {1}).index();' ''
mutant capture seam 'a replay misses scalars that are not integers' src/backend/capture.h \
    'std::memcpy(&word, &field, sizeof field);' \
    'std::memcpy(&word, &field, std::is_floating_point_v<Field> ? 0 : sizeof field);'
mutant capture seam 'a replay misses where a view begins' src/backend/capture.cpp \
    'static_cast<std::uint64_t>(tensor.offset) * size_of(tensor.dtype)' '0'
mutant layer_norm cpu 'an output is declared as an input' src/backend/ops/layer_norm.h \
    'd.out("y", y).like(x);' 'd.in("y", y).like(x);'

printf '\n%-12s %-7s %-10s %s\n' FAMILY SIDE VERDICT BUG
printf '%s\n' "${rows[@]}"
if "$texts_alone"; then
    printf '%d bugs, %d that cannot be planted\n' "${#rows[@]}" "$failures"
else
    printf '%d bugs, %d not caught\n' "${#rows[@]}" "$failures"
fi
[ ${#rows[@]} -gt 0 ] || { printf 'there is no family or side of that name\n' >&2; exit 1; }
[ "$failures" -eq 0 ]
