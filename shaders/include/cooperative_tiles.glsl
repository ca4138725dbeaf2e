// The sizes of products by matrices that a subgroup's invocations share, and what is staged in shared memory for them.
// A workgroup of 2 x 2 subgroups has a tile of kTile x kTile outputs, each subgroup a quarter. To be included after
// Pair, the type of two F16. backends/vulkan/cooperative_matrix.cpp and matrix_products.cpp know these numbers, too.
layout(constant_id = 2) const uint kM = 16u;  // of one matrix product: [kM, kK] . [kK, kN]
layout(constant_id = 3) const uint kN = 16u;
layout(constant_id = 4) const uint kK = 16u;
layout(constant_id = 5) const uint kSubgroupSize = 32u;

const uint kTile = 64u;
const uint kQuarter = kTile / 2u;
const uint kRows = kQuarter / kM;  // matrices of a subgroup
const uint kColumns = kQuarter / kN;
const uint kDepth = 32u;  // terms that are staged at once
// Pairs from one row of what is staged to the next: aligned to 16 bytes, and not a multiple of the 32 banks.
const uint kStride = (kDepth + 8u) / 2u;

// [kTile, kDepth] of op(a), and of op(b) transposed.
shared Pair staged_a[kTile * kStride];
shared Pair staged_b[kTile * kStride];
shared float results[4u * kM * kN];  // one matrix of each subgroup
