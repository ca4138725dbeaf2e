# shellcheck shell=bash
# A bug for each shader, and for what they share, that `headscope conform` has to see: run.sh brings mutant and the rest.

# Who adds a shader adds a bug.
for shader in "$ROOT"/shaders/*.comp "$ROOT"/shaders/include/*.glsl; do
    grep -q "shaders/${shader#"$ROOT"/shaders/} " "${BASH_SOURCE[0]}" ||
        fail_row "-" vulkan "NO BUG" "${shader#"$ROOT"/} has none"
done

mutant elementwise vulkan 'a column of eight is left out of dropout' shaders/dropout.comp \
    'half_of_eight < 2u' 'half_of_eight < 1u'
mutant elementwise vulkan 'dropout forgets where the part of a large tensor begins' shaders/dropout.comp \
    'p.first_position + position' 'position' "${SMALL_BINDINGS[@]}"
mutant elementwise vulkan 'the last element is not filled' shaders/fill.comp \
    'element_index() < p.fours' 'element_index() + 1u < p.fours'
mutant elementwise vulkan 'a copy overwrites what it should add to' shaders/copy.comp \
    'if (kAccumulates)' 'if (false)'
mutant elementwise vulkan 'the sum in 16 bits loses what was there' shaders/convert.comp \
    'widened(kOutType, to_words_at(target, count)) + value' 'value'
mutant elementwise vulkan 'ties are rounded up, not to even' shaders/include/round.glsl \
    '0x7fffu + ((bits >> 16u) & 1u)' '0x8000u'
mutant elementwise vulkan 'the second term lacks its factor' shaders/add_scaled.comp \
    'p.beta * b_at' 'b_at'
mutant elementwise vulkan 'a product overwrites what it should add to' shaders/multiply.comp \
    'if (kAccumulates)' 'if (false)'
mutant elementwise vulkan 'a plane takes the stride of a row' shaders/include/strided.glsl \
    'at.y * strides[1]' 'at.y * strides[2]'
mutant elementwise vulkan 'the second part of a grid does the work of the first' shaders/include/grid.glsl \
    'p.first_group + gl_WorkGroupID.x' 'gl_WorkGroupID.x'
mutant elementwise vulkan 'what is just at the threshold is dropped, too' shaders/include/dropout.glsl \
    'greaterThanEqual(bits,' 'greaterThan(bits,'
mutant elementwise vulkan 'a conversion takes each type for the other'\''s' shaders/convert.comp \
    'widened(kXType,' 'widened(kOutType,'

mutant elementwise vulkan 'of a row'\''s last four those that there are not are stored' shaders/include/fours.glsl \
    $'            if (i < count) {                                \\\n                name[index + i] = store(value[i]); ' \
    $'            {                                               \\\n                name[index + i] = store(value[i]); '
mutant elementwise vulkan 'the texel before is read' shaders/include/fours.glsl \
    'int(index / 4u));' 'int(index / 4u) - 1);'
mutant elementwise vulkan 'two elements of the second texel are those of the first' shaders/include/fours.glsl \
    'uvec4(odd.zw, rest)' 'uvec4(odd.zw, odd.xy)'
mutant elementwise vulkan 'the pairs of four neighbours in F16 change places' shaders/include/storage.glsl \
    'vec4(from_two_f16(four.x), from_two_f16(four.y))' 'vec4(from_two_f16(four.y), from_two_f16(four.x))'
mutant elementwise vulkan 'a conversion widens the first of two halves twice' shaders/include/round.glsl \
    'unpackHalf2x16(bits) : vec2(' 'unpackHalf2x16(bits).xx : vec2(' "${HALF_CONVERSIONS[@]}"
mutant elementwise vulkan 'one value is stored in F16 whatever the type' shaders/include/storage.glsl \
    'kBf16 ? to_bf16(value) : to_f16(value)' 'to_f16(value)'
mutant elementwise vulkan 'a round of Philox is left out' shaders/include/philox.glsl \
    'round < 10' 'round < 9'

mutant attention vulkan 'a term of the exponential is off' shaders/include/math.glsl \
    'series = fma(series, r, 4.16666667e-2);' 'series = fma(series, r, 4.26666667e-2);'

mutant matmul vulkan 'the first term is left out' shaders/matmul.comp \
    'for (uint k = 0u; k < p.k; ++k)' 'for (uint k = 1u; k < p.k; ++k)' "${NO_SUBGROUPS[@]}"
mutant matmul vulkan 'what is added to in 16 bits is taken for F32' shaders/include/product_out.glsl \
    'p.wide_out != 0u ? to[at] : widen_one(narrow_to[at])' 'to[at]'
mutant matmul vulkan 'four outputs in 16 bits take the first'\''s place' shaders/include/product_out.glsl \
    'narrow_to_vectors[four] = narrow_four(value)' 'narrow_to_vectors[four] = narrow_four(value.xxzw)'
mutant matmul vulkan 'the output is not scaled before it is added to' shaders/include/product_out.glsl \
    'fma(p.beta, out_one(target), value)' 'out_one(target) + value'
mutant linear vulkan 'the last column has the bias of the one before' shaders/include/product_out.glsl \
    'min(column, p.n - 1u)' 'min(column, p.n - 2u)'
mutant linear vulkan 'what is below 0 stays' shaders/include/product_out.glsl \
    'value <= 0.0 ? 0.0 : value' 'value <= -1e30 ? 0.0 : value'
mutant linear vulkan 'four columns have the bias of the first' shaders/include/product_out.glsl \
    'finished(sums[i], added[i])' 'finished(sums[i], added[0])'
mutant matmul vulkan 'a texel gives its neighbour' shaders/include/operands.glsl \
    'b_four(at / 4u)[at % 4u]' 'b_four(at / 4u)[(at + 1u) % 4u]'
mutant matmul vulkan 'the last four terms are left out of few rows' shaders/matmul_rows.comp \
    'k < p.k / 4u' 'k + 1u < p.k / 4u' "${SHARED_TILES[@]}"
mutant matmul vulkan 'few rows are all the first' shaders/matmul_rows.comp \
    'min(i, p.m - 1u) * p.a_row' '0u' "${SHARED_TILES[@]}"
mutant matmul vulkan 'the outer batch is that of the inner one' shaders/matmul.comp \
    'outer * p.b_batch[0]' 'inner * p.b_batch[0]' "${NO_SUBGROUPS[@]}"
mutant matmul vulkan 'columns past the edge are stored' shaders/matmul.comp \
    'row + i < p.m && column + j < p.n' 'row + i < p.m' "${NO_SUBGROUPS[@]}"
mutant matmul vulkan 'the last four terms are left out' shaders/matmul_vector.comp \
    'k < p.k / 4u' 'k + 1u < p.k / 4u' "${NO_SUBGROUPS[@]}"
mutant matmul vulkan 'a subgroup hands around the row before' shaders/matmul_subgroup.comp \
    'subgroupShuffle(a_values[i / kLanes][d], i % kLanes)' 'subgroupShuffle(a_values[i / kLanes][d], (i + kLanes - 1u) % kLanes)'
mutant matmul vulkan 'of loads along the rows the second has the first'\''s k' shaders/matmul_subgroup.comp \
    'load * kStepsALoad + me / kQuads' 'me / kQuads'
mutant matmul vulkan 'a subgroup stores rows past the last' shaders/matmul_subgroup.comp \
    'uint rows = min(kRows, p.m - row);' 'uint rows = kRows;'
mutant matmul vulkan 'past the end of k a subgroup has what lies there' shaders/matmul_subgroup.comp \
    'step < left ? p.n - b_column[j] : 0u' 'p.n - b_column[j]'
mutant matmul vulkan 'a tile is read before it is whole' shaders/matmul_tiled.comp \
    $'b_loaded);\n        barrier();' 'b_loaded);' "${SHARED_TILES[@]}"
mutant matmul vulkan 'what is loaded ahead is the tile that is there' shaders/matmul_tiled.comp \
    'load_b(b_base, column, k + kDepth, b_loaded)' 'load_b(b_base, column, k, b_loaded)' "${SHARED_TILES[@]}"
mutant matmul vulkan 'four outputs of a tile lie a four too far' shaders/matmul_tiled.comp \
    'store_four(target, vec4(' 'store_four(target + 4u, vec4(' "${SHARED_TILES[@]}"
mutant matmul vulkan 'past the end of k a tile has what lies there' shaders/matmul_tiled.comp \
    'column + at.outer < p.n && k + at.k < p.k' 'column + at.outer < p.n' "${SHARED_TILES[@]}"
mutant matmul vulkan 'tiles that go along m first go along n as often' shaders/include/grid.glsl \
    'tile % rows, tile / rows' 'tile % rows, tile / columns' "${SHARED_TILES[@]}"

mutant matmul vulkan 'a tile of matrices has the column that its row is' shaders/include/cooperative_product.glsl \
    'at.y * kTile' 'at.x * kTile' "${EMULATED[@]}"
mutant matmul vulkan 'a term past the last is staged' shaders/include/cooperative_product.glsl \
    'inside && term + 1u < p.k ?' 'inside ?' "${EMULATED[@]}"
mutant matmul vulkan 'sixteen bytes past the last term are staged' shaders/include/cooperative_product.glsl \
    'rows && term < p.k; ' 'rows; ' "${EMULATED[@]}"
mutant matmul vulkan 'terms across an operand are staged the wrong way round' shaders/include/cooperative_product.glsl \
    'i * (16u / kPack), i * (16u / kPack) + 8u / kPack, j' 'i * (16u / kPack) + 8u / kPack, i * (16u / kPack), j' "${EMULATED[@]}"
mutant matmul vulkan 'of two in F16 the first is staged twice' shaders/include/cooperative_product.glsl \
    'return x | y << 16u' 'return x | x << 16u' "${EMULATED[@]}"
mutant matmul vulkan 'columns past the edge of a tile are stored' shaders/include/cooperative_product.glsl \
    'row < p.m && column < p.n' 'row < p.m' "${EMULATED[@]}"
mutant matmul vulkan 'the next terms are staged while the last are read' shaders/include/cooperative_product.glsl \
    'if (kStages == 1u)' 'if (false)' "${EMULATED[@]}"
mutant matmul vulkan 'of two stages only the first is used, and nobody waits' shaders/include/cooperative_product.glsl \
    'a_staged = 2u * kStaged - a_staged' 'a_staged = 0u' "${EMULATED[@]}"
mutant matmul vulkan 'rows are staged in another order than they are packed' shaders/include/cooperative_product.glsl \
    '(skipped & 4u) != 0u ? pairs' '(skipped & 1u) != 0u ? pairs' "${EMULATED[@]}"
mutant matmul vulkan 'whole matrices are stored at an edge too' shaders/include/cooperative_product.glsl \
    ' && first_column + kTile <= p.n' '' "${EMULATED[@]}"
mutant matmul vulkan 'rows overlap where they are staged' shaders/include/cooperative_tiles.glsl \
    '(kDepth + 8u) / 8u' 'kDepth / 8u - 1u' "${EMULATED[@]}"
mutant matmul vulkan 'what comes next is what is there' shaders/include/cooperative_product.glsl \
    'fetch_b(b_base, first_column, p.n, p.b_column, k + kDepth, p.b_row)' 'fetch_b(b_base, first_column, p.n, p.b_column, k, p.b_row)' "${EMULATED[@]}"
mutant matmul vulkan 'subgroups side by side have the columns of two' shaders/include/cooperative_product.glsl \
    'subgroup() % kAcross * kOwnColumns' 'subgroup() % 2u * kOwnColumns' "${EMULATED[@]}"
mutant matmul vulkan 'of rows across an operand the first 32 alone are staged' shaders/include/cooperative_product.glsl \
    'index % 4u + index / (2u * kDepth) * 4u' 'index % 4u' "${EMULATED[@]}"
mutant matmul vulkan 'the second of two terms is left out' shaders/matmul_cooperative_emulated.comp \
    'sums.own[i] = fma(terms.y, factors.y, sums.own[i])' '' "${EMULATED[@]}"
mutant matmul vulkan 'a matrix is stored whole as if it had as many columns as rows' shaders/matmul_cooperative_emulated.comp \
    'entry / kN * p.out_row' 'entry / kM * p.out_row' "${EMULATED[@]}"

# The device's own matrices, where it has them and the compiler knows them; else the module is one that was made before.
has_matrices() { # [' in BF16' _bf16]
    "$BUILD/headscope" devices | grep -q "cooperative matrices${1:-} [0-9]" &&
        ! grep -q "shaders/precompiled/matmul_cooperative${2:-}.inc" \
            "$BUILD/backends/vulkan/spirv/matmul_cooperative${2:-}.cpp"
}
# shellcheck disable=SC2154 # run.sh's own
if "$texts_alone" || has_matrices; then
    mutant matmul vulkan 'a matrix is read along its rows, not its columns' shaders/include/cooperative_matrices.glsl \
        'gl_CooperativeMatrixLayoutColumnMajor' 'gl_CooperativeMatrixLayoutRowMajor' \
        HEADSCOPE_VULKAN_DISABLE=trials
    mutant attention vulkan 'a matrix of keys is read along its rows' shaders/include/cooperative_device.glsl \
        'load_b_across(matrix, at, pitch) coopMatLoad(matrix, memory, at, pitch, gl_CooperativeMatrixLayoutColumnMajor)' \
        'load_b_across(matrix, at, pitch) coopMatLoad(matrix, memory, at, pitch, gl_CooperativeMatrixLayoutRowMajor)' \
        HEADSCOPE_VULKAN_DISABLE=trials
    mutant attention vulkan 'there is no room for the scores of own matrices' shaders/attend_cooperative.comp \
        'kTables = 1u' 'kTables = 0u' HEADSCOPE_VULKAN_DISABLE=trials
    mutant attention vulkan 'there is no room for the gradients of own matrices' shaders/attend_backward_cooperative.comp \
        'kTables = 2u' 'kTables = 1u' HEADSCOPE_VULKAN_DISABLE=trials
    mutant matmul vulkan 'of two that are rounded the first is staged twice' shaders/matmul_cooperative.comp \
        'f16vec2(x, y)' 'f16vec2(x, x)' HEADSCOPE_VULKAN_DISABLE=trials
elif is_wanted matmul vulkan; then
    row matmul vulkan SKIPPED 'matmul_cooperative.comp: no cooperative matrices, or a compiler that does not know them'
fi
if "$texts_alone" || has_matrices ' in BF16' _bf16; then
    mutant matmul vulkan 'of two rounded to BF16 the first is staged twice' shaders/matmul_cooperative_bf16.comp \
        'to_bf16(y) << 16u' 'to_bf16(x) << 16u' HEADSCOPE_VULKAN_DISABLE=trials
elif is_wanted matmul vulkan; then
    row matmul vulkan SKIPPED 'matmul_cooperative_bf16.comp: no such matrices, or a compiler that does not know them'
fi

mutant bias vulkan 'the slope of the cubic term is a third' shaders/include/activation.glsl \
    'fma(3.0 * kTanhCubic, near' 'fma(kTanhCubic, near'
mutant bias vulkan 'the slope of quick GELU lacks its factor' shaders/include/activation.glsl \
    'kGeluSlope * (1.0 - s), s)' '1.0 - s, s)'
mutant bias vulkan 'the slope of the sigmoid lacks a factor' shaders/include/activation.glsl \
    'sigmoid(x) * sigmoid(-x)' 'sigmoid(x)'
mutant bias vulkan 'a column sum stops one row early' shaders/sum_rows.comp \
    'min(first + p.rows_per_part, p.rows)' 'min(first + p.rows_per_part, p.rows - 1u)'
mutant bias vulkan '"=" for "+=" in a column sum' shaders/sum_rows.comp \
    'sum += x_at(at, count);' 'sum = x_at(at, count);'
mutant bias vulkan 'dropout takes the bits of the row before' shaders/bias_activation.comp \
    'row - batch * p.sequence, ordinals' 'row - batch * p.sequence - 1u, ordinals'
mutant bias vulkan 'a sentence has the ordinal of the first' shaders/bias_activation_backward.comp \
    'ordinals[p.offset[binding_ordinals] + batch]' 'ordinals[p.offset[binding_ordinals]]'
mutant bias vulkan 'a term of the slope of swish has the wrong sign' shaders/include/activation.glsl \
    'fma(x * s, 1.0 - s, s)' 'fma(x * s, s - 1.0, s)'

mutant layer_norm vulkan 'the variance has no epsilon' shaders/add_layer_norm.comp \
    'average(squares) + p.epsilon' 'average(squares)'
mutant layer_norm vulkan 'the residual is left out' shaders/add_layer_norm.comp \
    'kHasResidual ?' 'false ?'
mutant layer_norm vulkan 'one output is never added to' shaders/add_layer_norm_backward.comp \
    'if (kAccumulatesX)' 'if (false)'
mutant layer_norm vulkan 'RMS norm subtracts the mean' shaders/add_layer_norm.comp \
    'kHasMean ? average(total) : 0.0' 'average(total)'
mutant layer_norm vulkan 'the backward of RMS norm subtracts the mean' shaders/add_layer_norm_backward.comp \
    'kHasMean ? group_sum(sum_g) / float(p.columns) : 0.0' 'group_sum(sum_g) / float(p.columns)'
mutant layer_norm vulkan 'the gain'\''s gradient lacks 1 / sigma' shaders/layer_norm_gain.comp \
    'rstds[p.offset[binding_rstd] + row]' '1.0'
mutant layer_norm vulkan 'a part'\''s sum has its last row alone' shaders/add_layer_norm_backward.comp \
    'gain_sums[i] += grad' 'gain_sums[i] = grad' "${SEVERAL_SUBGROUPS[@]}"
mutant layer_norm vulkan 'a part stops one row early' shaders/add_layer_norm_backward.comp \
    'first + p.rows_per_part, p.rows' 'first + p.rows_per_part - 1u, p.rows' "${SEVERAL_SUBGROUPS[@]}"
mutant layer_norm vulkan 'no barrier after the subgroups write' shaders/include/reduce.glsl \
    $'        barrier();                                                                       \\\n        type total' \
    '        type total' "${SEVERAL_SUBGROUPS[@]}"

mutant attention vulkan 'key lengths are those of another sentence' shaders/include/mask.glsl \
    'first / (p.heads * p.queries)' 'first / p.queries % p.heads'
mutant attention vulkan 'ranges are those of another sentence' shaders/include/mask.glsl \
    'row / (p.heads * p.queries)' 'row / p.queries % p.heads'
mutant attention vulkan 'a query does not see its own key' shaders/include/mask.glsl \
    'int(last % p.queries) + 1);' 'int(last % p.queries));'
mutant attention vulkan 'the largest score is not taken off' shaders/masked_softmax.comp \
    'precise_exp(score - most)' 'precise_exp(score)'
mutant attention vulkan 'forbidden weights are not zeroed' shaders/masked_softmax.comp \
    'if_allowed(held[i] / total, key, allowed)' 'held[i] / total'
mutant attention vulkan 'the mean is not taken off the gradient' shaders/masked_softmax_backward.comp \
    '(grad_weight - dot_product)' 'grad_weight'
mutant attention vulkan 'a row alone takes the mask of the next' shaders/masked_softmax.comp \
    'allowed_keys(p.first_row + row));' 'allowed_keys(p.first_row + row + 1u));'
mutant attention vulkan 'the last row that is alone is left out' shaders/masked_softmax.comp \
    'if (row < p.rows)' 'if (row + 1u < p.rows)'
mutant attention vulkan 'the last of a workgroup'\''s rows is left out' shaders/masked_softmax.comp \
    'row < end' 'row + 1u < end'
mutant attention vulkan 'a decoding step takes its query for the first' shaders/masked_softmax.comp \
    'position = int(row % p.queries) + query_position();' 'position = int(row % p.queries);'
mutant attention vulkan 'a head adds by distance what the first does' shaders/masked_softmax.comp \
    '+ row / p.queries % p.heads;' ';'
mutant attention vulkan 'a diagonal ends a query early' shaders/sum_diagonals.comp \
    'min(int(p.queries), int(p.keys) - ahead)' 'min(int(p.queries) - 1, int(p.keys) - ahead)'
mutant attention vulkan 'a cache row too many is written' shaders/cache_append.comp \
    'start >= int(p.capacity) - int(row)' 'start > int(p.capacity) - int(row)'
mutant attention vulkan 'the first key that no query sees is kept' shaders/include/mask.glsl \
    'first_row + p.queries - 1u)).x' 'first_row + p.queries)).x'
mutant attention vulkan 'a key counts as seen if the first query sees it' shaders/include/mask.glsl \
    'allowed_keys(first_row + (key + i) % p.queries)' 'allowed_keys(first_row)'
mutant attention vulkan 'what no query sees is kept' shaders/mask_keys.comp \
    'seen ? x_at(from, count) : uvec4(0u)' 'x_at(from, count)'
mutant attention vulkan 'ranges have no begin' shaders/include/mask.glsl \
    'begin = max(begin, key_ranges[at]);' 'begin = max(begin, 0);'
mutant attention vulkan 'ranges end a key late' shaders/include/mask.glsl \
    'end = min(end, key_ranges[at + 1u]);' 'end = min(end, key_ranges[at + 1u] + 1);'
mutant attention vulkan 'a window begins a key early' shaders/include/mask.glsl \
    '- window + 1);' '- window);'
mutant attention vulkan 'a window has no end behind its query' shaders/include/mask.glsl \
    'end = min(end, query_position() + int(last % p.queries) + window);' ';'
mutant attention vulkan 'in the backward of keys the last query of a window is left out' shaders/attend_backward_keys.comp \
    'int(end_key) - 1 - before + window' 'int(end_key) - 2 - before + window'
mutant attention vulkan 'keys of two queries end where the second ends' shaders/include/keys.glsl \
    'max(a.begin + a.count, b.begin + b.count)' '(b.begin + b.count)'
mutant attention vulkan 'in the backward of keys ranges have no begin' shaders/attend_backward_keys.comp \
    'uvec4 row = rows[first_row + query];' 'uvec4 row = uvec4(rows[first_row + query].xyz, 0u);'
mutant attention vulkan 'a value that no query sees spoils sums' shaders/attend.comp \
    '!kRanges || sees[i] ?' 'true ?'
mutant attention vulkan 'the running sum is not brought to the new maximum' shaders/attend.comp \
    'total[i] = fma(total[i], left[i], weight[i]);' 'total[i] += weight[i];'
mutant attention vulkan 'a beam reads the keys of its own row' shaders/attend_few.comp \
    'uint row = row_of_key(place, key);' 'uint row = place.batch;'
mutant attention vulkan 'a query of decoding reads the keys of the group with its number' shaders/attend_few.comp \
    'place.head / kHeadsOfGroup * p.k_strides[1]' 'place.head % (p.heads / kHeadsOfGroup) * p.k_strides[1]'
mutant attention vulkan 'a head reads the keys of the group with its number' shaders/include/heads.glsl \
    'place.head / kHeadsOfGroup * strides[1]' 'place.head % (p.heads / kHeadsOfGroup) * strides[1]'
mutant attention vulkan 'keys get the gradients of heads of other groups' shaders/include/heads.glsl \
    'group.head * kHeadsOfGroup + i,' 'group.head + i * (p.heads / kHeadsOfGroup),'
mutant attention vulkan 'keys get the gradients of the first head of their group alone' shaders/attend_backward_keys.comp \
    'member < kHeadsOfGroup' 'member < 1u'
mutant attention vulkan 'sums against several maxima meet as they are' shaders/attend_few.comp \
    'part == 0u ? total * share : 0.0' 'part == 0u ? total : 0.0'
mutant attention vulkan 'each that shares a key counts it' shaders/attend_few.comp \
    'part == 0u ? total * share : 0.0' 'total * share' PATHS=fused-attention
mutant attention vulkan 'scores lack columns of those that share a key' shaders/attend_few.comp \
    'sum_of_members(score, 1u, kShare)' 'sum_of_members(score, 1u, kShare / 2u)' PATHS=fused-attention
mutant attention vulkan 'sums lack the keys of others' shaders/attend_few.comp \
    'sum_of_members(sum[i] * share, kShare, lanes())' 'sum_of_members(sum[i] * share, kShare, lanes() / 2u)' PATHS=fused-attention
mutant attention vulkan 'a column past the last is read' shaders/include/heads.glsl \
    '4u * four + x < columns' '4u * four + x <= columns'
mutant attention vulkan 'keys past the eighth take the bits of the first' shaders/attend.comp \
    'key % 8u == 0u' 'key == 0u'
mutant attention vulkan 'on the way back keys past the eighth take the bits of the first' shaders/attend_backward_queries.comp \
    'key % 8u == 0u' 'key == 0u'
mutant attention vulkan 'a key takes the bits of another pair' shaders/include/dropout.glsl \
    '(column & 2u) == 0u ? pairs.x : pairs.y' '(column & 1u) == 0u ? pairs.x : pairs.y'
mutant attention vulkan 'keys that are lost spoil their rows' shaders/include/heads.glsl \
    'is_minus_infinity(largest) ? 0.0 : largest' 'largest'
mutant attention vulkan 'vectors are stored where none may be' backends/vulkan/ops/fused_attention.cpp \
    'is_wide(op.out) ? kWideOut : 0' 'wide ? kWideOut : 0'
mutant attention vulkan 'columns that are loaded again are others' shaders/include/attend_backward.glsl \
    'return p.accumulate >> 2u;' 'return 4u;' PATHS=fused-attention
mutant attention vulkan 'the values of deep heads get no gradient' backends/vulkan/ops/fused_attention.cpp \
    'dispatch(kWantsV);' '' PATHS=fused-attention
mutant attention vulkan 'by vectors a gradient is not added to' shaders/include/heads.glsl \
    'adds ? there + value : value);' 'value);'
mutant attention vulkan 'keys take the bits of others' shaders/include/attend.glsl \
    'row, key / 8u' 'row, key / 4u'
mutant attention vulkan 'every sentence has the ordinal of the first' shaders/attend_backward_rows.comp \
    'ordinals[p.offset[binding_ordinals] + batch]' 'ordinals[p.offset[binding_ordinals]]'
mutant attention vulkan 'the gradient of a dropped weight flows on' shaders/include/attend_backward.glsl \
    'grad = dropout_apply(drop.rule, words, key, grad);' ''
mutant attention vulkan 'the gradient of the queries lacks the scale' shaders/attend_backward_queries.comp \
    'p.scale * value' 'value'
mutant attention vulkan 'the first query that sees a key is passed over' shaders/attend_backward_keys.comp \
    'query = first_query; query' 'query = first_query + 1u; query'
mutant attention vulkan 'rows of weights overlap by matrices' shaders/include/cooperative_memory.glsl \
    'kKeys / 2u + 4u' 'kKeys / 4u + 4u' "${EMULATED[@]}"
mutant attention vulkan 'every matrix has the rows of the first' shaders/include/cooperative_heads.glsl \
    'tile / (columns / kN) * kM' '0u' "${EMULATED[@]}"
mutant attention vulkan 'rows past the last leave matrices' shaders/include/cooperative_heads.glsl \
    'row < rows && column < columns' 'column < columns' "${EMULATED[@]}"
mutant attention vulkan 'matrices have keys that no query sees' shaders/include/cooperative_heads.glsl \
    'p.queries > 0u && is_seen(key, first_row)' 'p.queries > 0u' "${EMULATED[@]}"
mutant attention vulkan 'the last share of a row of scores is left out' shaders/include/cooperative_heads.glsl \
    'part < kSharing; ++part' 'part + 1u < kSharing; ++part' "${EMULATED[@]}"
mutant attention vulkan 'a matrix of values is read across' shaders/include/cooperative_emulated.glsl \
    'MatrixB(2u * at, 1u, 2u * pitch)' 'MatrixB(2u * at, 2u * pitch, 1u)' "${EMULATED[@]}"
mutant attention vulkan 'there is no room for the scores of matrices' shaders/attend_cooperative_emulated.comp \
    'kTables = 1u' 'kTables = 0u' "${EMULATED[@]}"
mutant attention vulkan 'weights are multiplied before they are all there' shaders/include/cooperative_attend.glsl \
    $'weigh(place, rule, drop, first);\n        barrier();' 'weigh(place, rule, drop, first);' "${EMULATED[@]}"
mutant attention vulkan 'by matrices all keys take the bits of the first' shaders/include/cooperative_attend.glsl \
    'drop_words(rule, drop, query, 8u * eight)' 'drop_words(rule, drop, query, 0u)' "${EMULATED[@]}"
mutant attention vulkan 'there is no room for the gradients of matrices' shaders/attend_backward_cooperative_emulated.comp \
    'kTables = 2u' 'kTables = 1u' "${EMULATED[@]}"
mutant attention vulkan 'by matrices the gradient of a dropped weight flows on' shaders/include/cooperative_attend_backward.glsl \
    'grad = kDrops ? dropout_apply(rule, words, key, grad) : grad;' '' "${EMULATED[@]}"
mutant attention vulkan 'by matrices the gradient of keys lacks the scale' shaders/include/cooperative_attend_backward.glsl \
    'kAddsK, p.scale)' 'kAddsK, 1.0)' "${EMULATED[@]}"
mutant attention vulkan 'the next queries take the place of those that are read' shaders/include/cooperative_attend_backward.glsl \
    $'p.scale)\n            }\n            barrier();' $'p.scale)\n            }' "${EMULATED[@]}"
mutant edit_attention vulkan 'of a uniform row the forbidden keys count, too' shaders/edit_attention.comp \
    '1.0 / float(allowed.count)' '1.0 / float(p.keys)'

mutant embedding vulkan 'the first position of an id is left out' shaders/embed_backward.comp \
    'for (uint at = first; at < p.count' 'for (uint at = first + 1u; at < p.count'
mutant embedding vulkan 'each position of an id takes those that follow it' shaders/embed_backward.comp \
    'row >= p.table_rows || !begins ||' 'row >= p.table_rows ||'
mutant embedding vulkan 'the slices of a row are one' shaders/embed_backward.comp \
    'group_index() - first * p.slices' '0u'
mutant embedding vulkan 'an id past the vocabulary is read' shaders/embed.comp \
    'id >= 0 && id < int(p.vocabulary)' 'id >= 0'
mutant embedding vulkan 'no token is an unknown one' shaders/embed.comp \
    'exists || id == kNoToken' 'exists'
mutant embedding vulkan 'the position is not scaled apart' shaders/embed.comp \
    'value += positions_at(place + column, count);' 'value += p.scale * positions_at(place + column, count);'

mutant batch_norm vulkan 'the running variance is that of the batch' shaders/batch_norm.comp \
    'squares / (rows - 1.0) - running_square' 'variance - running_square'
mutant batch_norm vulkan 'the average is not taken off the gradient' shaders/batch_norm_backward.comp \
    'grad -= (bias + (x_at' 'grad -= ((x_at'
mutant batch_norm vulkan 'padding is measured' shaders/include/columns.glsl \
    'int(row - sentence * p.sequence) < lengths[p.offset[binding_lengths] + sentence]' 'true'

mutant additive vulkan 'all heads have the gain of the first' shaders/additive_scores.comp \
    'binding_gain] + head * p.depth' 'binding_gain]'
mutant additive vulkan 'the gradient lacks the slope' shaders/additive_scores_backward.comp \
    'slopes += grad * (1.0 - squashed * squashed);' 'slopes += vec4(grad);'
mutant additive vulkan 'a gradient overwrites what it should add to' shaders/additive_scores_backward.comp \
    'if (kAccumulates)' 'if (false)'
mutant additive vulkan 'products are those of the gain' shaders/additive_scores_backward.comp \
    'sums += grad * squashed' 'sums += squashed'

mutant convolution vulkan 'all taps of a row are its first' shaders/unfold.comp \
    'row_of_tap(row, tap_of_row - row * p.taps)' 'row_of_tap(row, 0u)'
mutant convolution vulkan 'a sum overwrites what it should add to' shaders/sum_taps.comp \
    'if (kAccumulates)' 'if (false)'
mutant convolution vulkan 'all taps have the weights of the first' shaders/sum_taps.comp \
    'binding_weights] + tap * p.channels' 'binding_weights]'
mutant convolution vulkan 'padding is written' shaders/include/taps.glsl \
    'exists && position < length && at < length' 'exists && at < length'
mutant convolution vulkan 'a document reads the next one' shaders/include/taps.glsl \
    'at >= ranges[range] && at < ranges[range + 1u]' 'at >= ranges[range]'

mutant rotary vulkan 'the first position past the table is left as it was' shaders/rotate.comp \
    'before < int(p.positions) - int(index)' 'before <= int(p.positions) - int(index)'
mutant rotary vulkan 'both columns of a pair turn the same way' shaders/rotate.comp \
    'b * cosines + a * sines' 'b * cosines - a * sines'
mutant rotary vulkan 'the last two of four pairs of neighbours are the first two' shaders/rotate.comp \
    'vec4(low.yw, high.yw)' 'vec4(low.yw, low.yw)'
mutant rotary vulkan 'the cached tokens are not counted' shaders/rotate.comp \
    'uint(before + int(index)) - p.turns_first' 'index - p.turns_first'

mutant blocks vulkan 'codes of the second half of a block are those of the first' shaders/include/codes.glsl \
    'low_halves(bits >> 4u)' 'low_halves(bits)'
mutant blocks vulkan 'codes of 8 bits have no sign' shaders/include/codes.glsl \
    'int word = int(bits);' 'uint word = bits;'
mutant blocks vulkan 'the least value is added once for each output' shaders/block_linear.comp \
    'dot(scale[j].zw, sum)' 'scale[j].z + scale[j].w'
mutant blocks vulkan 'half a block of 8 bits is read twice' shaders/block_linear.comp \
    '16u * half_block' '0u * half_block'
mutant blocks vulkan 'half a block of 8 bits has the scale of the other' shaders/block_linear.comp \
    'both.yyww : both' 'both : both.yyww'
mutant blocks vulkan 'columns past the end of a row are written' shaders/block_embed.comp \
    'if (column + i < p.columns)' 'if (column + i <= p.columns)'

mutant experts vulkan 'of equal experts the last is chosen' shaders/route_tokens.comp \
    'logits[from + e] > largest' 'logits[from + e] >= largest'
mutant experts vulkan 'an expert is chosen twice' shaders/route_tokens.comp \
    'taken = taken ||' 'taken = false &&'
mutant experts vulkan 'a full expert takes one more token' shaders/place_tokens.comp \
    'counts && place < p.capacity' 'counts && place <= p.capacity'
mutant experts vulkan 'places begin anew with the second choices' shaders/place_tokens.comp \
    'taken += now;' 'taken = now;'
mutant experts vulkan 'both choices of a token drop the same' shaders/place_tokens.comp \
    'place * p.choices + choice' 'place * p.choices'
mutant experts vulkan 'one choice is divided by itself' shaders/place_tokens.comp \
    'p.choices == 1u ? 1.0 : 0.0' 'p.choices == 1u ? probabilities[at + expert] : 0.0'
mutant experts vulkan 'padding takes a slot' shaders/include/tokens.glsl \
    'if (!kHasLengths)' 'if (true)'
mutant experts vulkan 'padding has a gradient' shaders/route_tokens_backward.comp \
    'is_token(token)' 'true'
mutant experts vulkan 'the mean is not taken off the gradient' shaders/route_tokens_backward.comp \
    '(grad_of_choice(token, j) - mean) / whole' 'grad_of_choice(token, j) / whole'
mutant experts vulkan 'the balance is forgotten' shaders/route_tokens_backward.comp \
    'float grad = kHasSums ?' 'float grad = false ?'
mutant experts vulkan 'what a slot takes is not weighted' shaders/take_tokens.comp \
    'value *= weight;' ''
mutant experts vulkan 'a product is of the weighted token' shaders/take_tokens.comp \
    'of_row(value * other, count)' 'of_row(weight * value * other, count)'
mutant experts vulkan 'a sum overwrites what it should add to' shaders/mix_experts.comp \
    'kAccumulates ? to_at(at, count) + sum : sum' 'sum'
mutant experts vulkan 'what has no slot is that of the first' shaders/mix_experts.comp \
    'slot >= int(p.first_slot) &&' 'true ||'

mutant loss vulkan 'the target'\''s share is that of the other form' shaders/smoothed_cross_entropy.comp \
    '1.0 - p.epsilon : 1.0 - p.epsilon + others' '1.0 - p.epsilon : 1.0 - p.epsilon'
mutant loss vulkan 'a pad has a gradient' shaders/smoothed_cross_entropy.comp \
    'vec4(0.0));' 'vec4(1.0));'
mutant loss vulkan 'with a prior the target has no part of what is shared' shaders/smoothed_cross_entropy.comp \
    'wanted + gradient.surplus' 'vec4(gradient.surplus)'
mutant loss vulkan 'a weight does not scale the gradient' shaders/smoothed_cross_entropy.comp \
    'float scale = weight * (' 'float scale = ('
mutant loss vulkan 'the last class that a row keeps is left out' shaders/smoothed_cross_entropy.comp \
    $'        if (c < p.classes) {\n            vec4 l' $'        if (c + 4u < p.classes) {\n            vec4 l'

mutant optimizer vulkan 'the last element is left out of the norm' shaders/square_sum.comp \
    'min(first + p.part_elements, p.count)' 'min(first + p.part_elements, p.count - 1u)'
mutant optimizer vulkan 'a skipped step moves the moments' shaders/adam.comp \
    '|| skip == 1.0' ''
mutant optimizer vulkan 'the second moment is not corrected' shaders/adam.comp \
    'sqrt(v / correction2)' 'sqrt(v)'
mutant optimizer vulkan 'where texels are not read one moment is taken for the other' shaders/adam.comp \
    '#define old_second_at second_moment_at' '#define old_second_at first_moment_at' "${NO_TEXELS[@]}"
mutant optimizer vulkan 'weights decay at the rate of another group' shaders/adam.comp \
    'index / 16u' 'index / 32u'
mutant optimizer vulkan 'the working copy is of the gradient' shaders/adam.comp \
    'working_put(p.offset[binding_working] + index, count, value)' 'working_put(p.offset[binding_working] + index, count, g)'
mutant optimizer vulkan 'the norm is compared before it is unscaled' shaders/step_control.comp \
    'sqrt(total) / divisor' 'sqrt(total)'
mutant optimizer vulkan 'a correction lacks its last factor' shaders/step_control.comp \
    'left > 0u; left' 'left > 1u; left'

mutant recurrent vulkan 'a row of padding has an output' shaders/recurrent_step.comp \
    'mix(vec4(0.0), next, bvec4(goes))' 'next'
mutant recurrent vulkan 'the cells of padding go on' shaders/recurrent_step.comp \
    'mix(state, next_state, bvec4(goes))' 'next_state'
mutant recurrent vulkan 'the reset gate leaves the bias alone' shaders/recurrent_step.comp \
    'kept[0] * recurrent[2]' 'recurrent[2]'
mutant recurrent vulkan 'the forget gate has no part in its gradient' shaders/recurrent_step_backward.comp \
    'grad_c * state * kept[1]' 'grad_c * state'
mutant recurrent vulkan 'a hidden state is not carried past padding' shaders/recurrent_step_backward.comp \
    'mix(carried, grad_before, bvec4(goes))' 'grad_before'
mutant recurrent vulkan 'the reset gate is left out on the way back' shaders/recurrent_step_backward.comp \
    'grads[2] * kept[0] : grads[gate]' 'grads[2] : grads[gate]'
mutant recurrent vulkan 'a document goes on into the next' shaders/include/recurrent.glsl \
    'documents[at + 1u] <= int(p.position) + 1' 'documents[at + 1u] < int(p.position)'
mutant recurrent vulkan 'tanh is the logistic function' shaders/include/activation.glsl \
    '2.0 * sigmoid(2.0 * x) - 1.0' 'sigmoid(x)'

mutant search vulkan 'an entry is found twice' shaders/log_softmax_top_k.comp \
    'c + i > last_index' 'c + i >= last_index'
mutant search vulkan 'of equal entries of an invocation the last comes first' shaders/log_softmax_top_k.comp \
    'placed || key > keys[i]' 'placed || key >= keys[i]'
mutant search vulkan 'a row that does not exist is read' shaders/gather_rows.comp \
    'from < int(p.rows_in)' 'true'
mutant search vulkan 'what a second workgroup copies of a row is left out' shaders/gather_rows.comp \
    'min((word_part + 1u) * p.part_words, p.words)' 'min(p.part_words, p.words)'
mutant search vulkan 'runs of a row that a second workgroup copies are left out' shaders/gather_rows.comp \
    'min((run_part + 1u) * p.part_runs, p.runs)' 'min(p.part_runs, p.runs)'
