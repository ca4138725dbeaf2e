// Which kernel multiplies, without a device.
#include <algorithm>
#include <catch2/catch.hpp>

#include "backends/vulkan/products/product_plan.h"
#include "products.h"

using namespace headscope::vulkan;
using namespace headscope::vulkan_tests;

namespace {

ProductPlan plan_product(const ProductDevice& device, const ProductShape& shape) {
    return headscope::vulkan::plan_product(device, shape, choose_product(device, shape));
}

std::uint32_t split_sum(const ProductDevice& device, const ProductShape& shape) {
    return choose_product(device, shape).parts;
}

}  // namespace

TEST_CASE("a GPU multiplies in shared tiles, larger ones if there are enough", "[vulkan][product_plan]") {
    const ProductPlan small = plan_product(kGpu, shape(256, 256, 256));
    CHECK(small.kernel == Kernel::MatmulTiled);
    CHECK(small.specialisation.constants[0] == 4);
    CHECK(small.groups == 16);
    const ProductPlan large = plan_product(kGpu, shape(4096, 4096, 4096));
    CHECK(large.specialisation.constants[0] == 8);
    CHECK(large.groups == 32 * 32);
    CHECK(large.work_per_group == std::uint64_t{2} * 128 * 128 * 4096);
    CHECK(plan_product(kGpu, shape(1, 4096, 512)).kernel == Kernel::MatmulVector);
    ProductDevice least = kGpu;
    least.shared_bytes = 16384;  // two tiles of 128 x 16, with their padding, are more
    CHECK(plan_product(least, shape(4096, 4096, 4096)).specialisation.constants[0] == 4);
    CHECK(product_choices(least, shape(64, 64, 64)).size() == 2);
    for (ProductDevice forced : {kGpu, least}) {
        forced.tile = kLargeTile;  // the path large-tiles, where it has room
        const std::uint32_t expected = forced.shared_bytes == least.shared_bytes ? 4 : 8;
        CHECK(plan_product(forced, shape(5, 7, 9)).specialisation.constants[0] == expected);
    }
}

TEST_CASE("operands that are not aligned to vec4 are loaded one by one", "[vulkan][product_plan]") {
    ProductShape odd = shape(130, 70, 50);
    odd.a_vec4_aligned = false;
    CHECK(plan_product(kGpu, odd).specialisation.constants[3] == 1);  // along k, one by one
    CHECK(plan_product(kGpu, odd).specialisation.constants[4] == 0);  // 70 is not a multiple of four
    CHECK(plan_product(kSoftware, odd).kernel == Kernel::MatmulSubgroup);
    CHECK(plan_product(kSoftware, odd).specialisation.constants[4] == 0);
    CHECK(plan_product(kSoftware, shape(130, 72, 52)).specialisation.constants[4] == 1 + 2 + 8);
    ProductShape stored = shape(130, 72, 50);
    stored.out_vec4_aligned = true;
    CHECK(plan_product(kSoftware, stored).specialisation.constants[4] == 2 + 4);
    const ProductPlan even = plan_product(kGpu, shape(130, 72, 52));
    CHECK(even.specialisation.constants[3] == 3);
    CHECK(even.specialisation.constants[4] == 2);
    ProductDevice plain = kGpu;
    plain.vector_loads = false;
    CHECK(plan_product(plain, shape(130, 72, 52)).specialisation.constants[3] == 1);
}

TEST_CASE("software devices multiply by subgroups, in tiles with few spare rows", "[vulkan][product_plan]") {
    const auto rows = [](std::uint32_t m) {
        const ProductPlan plan = plan_product(kSoftware, shape(m, 64, 64));
        CHECK(plan.kernel == Kernel::MatmulSubgroup);
        CHECK(plan.specialisation.local_size == 8);
        return plan.specialisation.constants[0];
    };
    CHECK(rows(512) == 32);
    CHECK(rows(16) == 16);
    CHECK(rows(5) == 8);
    CHECK(rows(40) == 16);
    CHECK(rows(4) == 8);
    CHECK(plan_product(kSoftware, shape(1, 64, 64)).kernel == Kernel::MatmulVector);
    ProductShape odd = shape(512, 64, 64);
    odd.b_vec4_aligned = false;
    CHECK(plan_product(kSoftware, odd).specialisation.constants[0] == 16);
    ProductDevice without = kSoftware;
    without.subgroup_shuffles = false;
    CHECK(plan_product(without, shape(512, 64, 64)).kernel == Kernel::MatmulVector);
    without = kSoftware;
    without.subgroup_size = 32;  // 32 rows and more of four columns each: more registers than there are
    CHECK(plan_product(without, shape(512, 64, 64)).kernel == Kernel::MatmulVector);
}

TEST_CASE("for few rows times a weight, invocations share the sum", "[vulkan][product_plan]") {
    ProductShape weight = shape(1, 250, 512);
    weight.b_along_k = true;
    const ProductPlan plan = plan_product(kGpu, weight);
    CHECK(plan.kernel == Kernel::MatmulRows);
    CHECK(plan.specialisation.local_size == 32);
    CHECK(plan.specialisation.constants[0] == 1);
    CHECK(plan.groups == 63);
    CHECK(split_sum(kGpu, weight) == 1);
    ProductShape beam = weight;
    beam.m = 3;
    CHECK(plan_product(kGpu, beam).specialisation.constants[0] == 4);
    // A CPU has too few lanes to share a sum, but uses small blocks for few rows if its loads are cheap.
    CHECK(plan_product(kSoftware, weight).kernel == Kernel::MatmulVector);
    CHECK(plan_product(kSoftware, beam).kernel == Kernel::MatmulSubgroup);
    beam.texels = true;
    CHECK(plan_product(kSoftware, beam).kernel == Kernel::MatmulVector);
    const auto takes_rows = [&](const auto& change) {
        ProductShape other = weight;
        change(other);
        return plan_product(kGpu, other).kernel == Kernel::MatmulRows;
    };
    CHECK_FALSE(takes_rows([](ProductShape& other) { other.m = 5; }));
    CHECK_FALSE(takes_rows([](ProductShape& other) { other.k = 124; }));  // one four for each of 32 lanes, but one
    CHECK(takes_rows([](ProductShape& other) { other.k = 128; }));
    CHECK_FALSE(takes_rows([](ProductShape& other) { other.k = 514; }));
    CHECK_FALSE(takes_rows([](ProductShape& other) { other.a_along_k = false; }));
    CHECK_FALSE(takes_rows([](ProductShape& other) { other.b_along_k = false; }));
    CHECK_FALSE(takes_rows([](ProductShape& other) { other.b_vec4_aligned = false; }));
}

TEST_CASE("each product kernel has the epilogue, and reads texels if told to", "[vulkan][product_plan]") {
    constexpr std::size_t kEpilogue = 7 - kFirstConstant;  // of every list of products' constants in params.h
    for (const std::uint32_t m : {1U, 3U, 40U}) {
        for (const bool along_k : {false, true}) {
            ProductShape layer = shape(m, 64, 128);
            layer.b_along_k = along_k;
            layer.epilogue = 3;
            for (const ProductDevice& device : {kSoftware, kGpu}) {
                layer.texels = device.software;  // no GPU has them
                for (const ProductChoice& choice : product_choices(device, layer)) {
                    const Specialisation special =
                        headscope::vulkan::plan_product(device, layer, choice).specialisation;
                    CHECK(special.constants.at(kEpilogue) == 3);
                    CHECK(special.texels == device.software);
                }
            }
        }
    }
}

TEST_CASE("products by matrices use their tiles, in parts if there are few", "[vulkan][product_plan]") {
    ProductDevice device = kGpu;
    device.matrices = kMatrices;
    CHECK(takes_matrices(device, shape(5, 5, 1)));
    CHECK_FALSE(takes_matrices(device, shape(4, 512, 512)));
    CHECK_FALSE(takes_matrices(device, shape(512, 4, 512)));
    CHECK_FALSE(takes_matrices(kGpu, shape(512, 512, 512)));
    CHECK(takes_matrices(device, shape(64, 64, 8648)));
    ProductDevice played = kGpu;
    played.matrices = kMatrices;
    played.matrices->emulated = true;
    CHECK(takes_matrices(played, shape(64, 64, 2048)));
    CHECK_FALSE(takes_matrices(played, shape(64, 64, 2049)));
    ProductShape large = shape(4096, 4096, 4096);
    CHECK(to_string(choose_product(device, large)) == "tiles 8");  // in F32
    large.matrices = true;
    large.b_along_k = true;
    large.texels = true;
    CHECK(to_string(choose_product(device, large)) == "matrices 128 by 8");
    const ProductPlan plan = plan_product(device, large, choose_product(device, large));
    CHECK(plan.kernel == Kernel::MatmulCooperative);
    CHECK(plan.groups == 32 * 32);
    CHECK(plan.specialisation.local_size == 256);
    // The sizes; a and b along k, both in packs, looking ahead, a large tile of eight subgroups in two stages.
    constexpr std::uint32_t kManner = 1 + 2 + 4 + 8 + 32 + 128 + 256 + 1024;
    CHECK(plan.specialisation.constants == headscope::vulkan::Constants{16, 16, 16, 32, kManner, 0});
    const auto manner = [&](const ProductShape& product) {
        return plan_product(device, product, choose_product(device, product)).specialisation.constants[4];
    };
    ProductShape other = large;
    other.out_vec4_aligned = true;
    CHECK(manner(other) == kManner + 16);
    other = large;
    other.storage = headscope::DType::F16;
    CHECK(manner(other) == kManner);
    other.k = 4100;  // fours, but no eights
    CHECK(manner(other) == kManner - 4 - 8);
    other.k = 4096;
    other.b_pack_aligned = false;
    CHECK(manner(other) == kManner - 8);
    other = large;
    other.bf16 = true;
    CHECK_FALSE(takes_matrices(device, other));
    device.bf16_matrices = kMatrices;
    device.bf16_matrices->bf16 = true;
    CHECK(takes_matrices(device, other));
    CHECK(plan_product(device, other, choose_product(device, other)).kernel == Kernel::MatmulCooperativeBf16);
    CHECK_FALSE(plan.specialisation.texels);
    ProductShape thin = shape(512, 512, 24576);  // a weight's gradient
    thin.matrices = true;
    CHECK(to_string(choose_product(device, thin)) == "matrices 64 by 4, 4 parts");
    ProductShape flat = shape(4096, 512, 2048);
    flat.matrices = true;
    CHECK(to_string(choose_product(device, flat)) == "matrices 128 by 8");  // 128 workgroups of eight subgroups
    flat.m = 3968;
    CHECK(to_string(choose_product(device, flat)) == "matrices 128 by 8, 2 parts");
    CHECK(product_choices(device, large).size() == product_choices(kGpu, large).size() + 4);
    device.matrices->maker = MatrixMaker::Software;
    CHECK(plan_product(device, large, choose_product(device, large)).specialisation.constants[4] == 15);
    device.matrices->emulated = true;
    CHECK(plan_product(device, large, choose_product(device, large)).kernel == Kernel::MatmulCooperativeEmulated);
}

TEST_CASE("tiles can be requested and disabled", "[vulkan][product_plan]") {
    ProductDevice device = kSoftware;
    device.tiles = ProductTiles::Shared;
    CHECK(plan_product(device, shape(64, 64, 64)).kernel == Kernel::MatmulTiled);
    device = kGpu;
    device.tiles = ProductTiles::None;
    CHECK(plan_product(device, shape(64, 64, 64)).kernel == Kernel::MatmulVector);
}

TEST_CASE("long sums with few outputs are split into equal parts on devices with many cores",
          "[vulkan][product_plan]") {
    CHECK(split_sum(kGpu, shape(256, 256, 4096)) == 16);
    CHECK(split_sum(kGpu, shape(256, 256, 512)) == 4);
    CHECK(split_sum(kGpu, shape(256, 256, 516)) == 1);  // 516 / 8 is not whole
    CHECK(split_sum(kGpu, shape(4096, 4096, 4096)) == 1);
    CHECK(split_sum(kGpu, shape(1, 512, 512)) == 4);
    for (const ProductChoice& choice : product_choices(kGpu, shape(1024, 8192, 2048))) {
        CHECK(choice.parts <= 2);  // of 32 MiB each
    }
    CHECK(split_sum(kSoftware, shape(256, 256, 4096)) == 1);
    ProductShape heads = shape(64, 64, 512);
    heads.batch = 8;
    CHECK(split_sum(kGpu, heads) == 1);
}

TEST_CASE("a sum that cannot be split has no choices in parts", "[vulkan][product_plan]") {
    ProductShape thin = shape(64, 64, 4096);
    CHECK(choose_product(kGpu, thin).parts > 1);
    thin.whole = true;
    CHECK(choose_product(kGpu, thin).parts == 1);
    for (const ProductChoice& choice : product_choices(kGpu, thin)) {
        CHECK(choice.parts == 1);
    }
}

TEST_CASE("the chosen way is one of the possible ones", "[vulkan][product_plan]") {
    for (const ProductDevice& device : {kSoftware, kGpu}) {
        for (const std::uint32_t m : {1U, 4U, 5U, 40U, 512U}) {
            for (const std::uint32_t k : {20U, 512U, 4096U}) {
                const ProductShape each = shape(m, 64, k);
                const std::vector<ProductChoice> ways = product_choices(device, each);
                CHECK(std::count(ways.begin(), ways.end(), choose_product(device, each)) == 1);
            }
        }
    }
    CHECK(product_choices(kSoftware, shape(1, 64, 20)) == std::vector<ProductChoice>{{ProductKernel::Blocks}});
    CHECK(product_choices(kGpu, shape(64, 64, 256)).size() == 3 * 2);  // three kernels, with the sum in 1 and 2 parts
    CHECK(to_string(ProductChoice{ProductKernel::Tiles, 8, 4}) == "tiles 8, 4 parts");
    CHECK(to_string(ProductChoice{}) == "blocks");
}
