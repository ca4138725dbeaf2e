// The sizes of products by matrices that a subgroup's invocations share, and what is staged in shared memory for them.
// A workgroup has a tile of kTile x kTile outputs: kDown subgroups one above the other, kAcross side by side. To be
// included after storage.glsl. backends/vulkan/device/matrix_tiles.cpp knows these numbers, too.
layout(constant_id = constant_m) const uint kM = 16u;  // of one matrix product: [kM, kK] . [kK, kN]
layout(constant_id = constant_n) const uint kN = 16u;
layout(constant_id = constant_k) const uint kK = 16u;  // a multiple of eight
layout(constant_id = constant_subgroup_size) const uint kSubgroupSize = 32u;
// Bits of MatrixManner in backends/vulkan/products/product_plan.cpp.
layout(constant_id = constant_manner) const uint kManner = 0u;

// Which way an operand's elements lie together, and whether all 16 bytes that way can be loaded at once.
const bool kAAlongK = (kManner & 1u) != 0u;
const bool kBAlongK = (kManner & 2u) != 0u;
const bool kAPacks = (kManner & 4u) != 0u;
const bool kBPacks = (kManner & 8u) != 0u;
// Whether four neighbours of the output can be stored at once, and whole matrices.
const bool kOutFours = (kManner & 16u) != 0u;
// Whether what comes next is fetched while what is staged is multiplied.
const bool kAhead = (kManner & 32u) != 0u;
const bool kBf16Operands = (kManner & 64u) != 0u;  // else F16; only the emulation asks
const uint kTile = 64u << ((kManner >> 7u) & 1u);
const uint kSubgroups = 4u << ((kManner >> 8u) & 1u);
const uint kDepth = 32u << ((kManner >> 9u) & 1u);  // terms that are staged at once
// With two stages the next terms are staged where nobody reads any more, and one barrier a step is enough.
const uint kStages = 1u + ((kManner >> 10u) & 1u);

const uint kDown = 2u;
const uint kAcross = kSubgroups / kDown;
const uint kOwnRows = kTile / kDown;  // outputs of a subgroup
const uint kOwnColumns = kTile / kAcross;
const uint kRows = kOwnRows / kM;  // matrices of a subgroup
const uint kColumns = kOwnColumns / kN;
const uint kLanes = kSubgroups * kSubgroupSize;

#ifdef HEADSCOPE_16_BITS
const uint kPack = 8u;  // elements of 16 bytes
#else
const uint kPack = 4u;
#endif
const uint kEights = kTile * kDepth / 8u / kLanes;  // of an operand's elements, that an invocation stages
// Two eights at a time, of which the last invocations may have none.
const uint kPairsOfEights = kTile * kDepth / 16u;
const uint kOwnPairsOfEights = (kPairsOfEights + kLanes - 1u) / kLanes;
const uint kPacks = 2u * kOwnPairsOfEights * (8u / kPack);
bool has_pair_of_eights(uint index) { return kPairsOfEights % kLanes == 0u || index < kPairsOfEights; }

// [kTile, kDepth] of op(a), and of op(b) transposed, as eights of halves: a stage after the other. From row to row are 16
// bytes more than a row has: not a multiple of the 32 banks. At the end it has the sums of one matrix of each subgroup.
const uint kStride = (kDepth + 8u) / 8u;
const uint kStaged = kTile * kStride;  // of one operand
const uint kResult = kM * kN / 4u;
const uint kAllStaged = 2u * kStages * kStaged;
const uint kResults = kSubgroups * kResult;
shared uvec4 staged[kAllStaged > kResults ? kAllStaged : kResults];
