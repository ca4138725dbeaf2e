// The sizes of products by matrices that a subgroup's invocations share, and what is staged in shared memory for them.
// A workgroup has a tile of kTile x kTile outputs: two subgroups' one above the other, kAcross side by side. To be
// included after Pair, the type of two F16. backends/vulkan/device/matrix_tiles.cpp knows these numbers, too.
layout(constant_id = constant_m) const uint kM = 16u;  // of one matrix product: [kM, kK] . [kK, kN]
layout(constant_id = constant_n) const uint kN = 16u;
layout(constant_id = constant_k) const uint kK = 16u;
layout(constant_id = constant_subgroup_size) const uint kSubgroupSize = 32u;
// Bits: how a and b lie, whether a tile is twice as large each way and has twice as many subgroups, and whether what
// comes next is fetched while what is staged is multiplied.
layout(constant_id = constant_manner) const uint kManner = 0u;

// Which way an operand's elements lie together, and whether its rows that way begin at multiples of four and have a
// multiple of four elements.
const bool kAAlongK = (kManner & 1u) != 0u;
const bool kBAlongK = (kManner & 2u) != 0u;
const bool kAFours = (kManner & 4u) != 0u;
const bool kBFours = (kManner & 8u) != 0u;
const uint kTile = 64u << ((kManner >> 4u) & 1u);
const uint kSubgroups = 4u << ((kManner >> 5u) & 1u);
const bool kAhead = (kManner & 64u) != 0u;

const uint kAcross = kSubgroups / 2u;
const uint kOwnRows = kTile / 2u;  // outputs of a subgroup
const uint kOwnColumns = kTile / kAcross;
const uint kRows = kOwnRows / kM;  // matrices of a subgroup
const uint kColumns = kOwnColumns / kN;
const uint kDepth = 32u;  // terms that are staged at once
// Pairs from one row of what is staged to the next: aligned to 16 bytes, and not a multiple of the 32 banks.
const uint kStride = (kDepth + 8u) / 2u;
const uint kLanes = kSubgroups * kSubgroupSize;
const uint kPairs = kTile * kDepth / 2u / kLanes;  // of an operand, that an invocation stages

// [kTile, kDepth] of op(a), and of op(b) transposed.
shared Pair staged_a[kTile * kStride];
shared Pair staged_b[kTile * kStride];
shared float results[kSubgroups * kM * kN];  // one matrix of each subgroup
