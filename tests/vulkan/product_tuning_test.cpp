// Which choices for products are saved, without a device.
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "backends/vulkan/device/cache_file.h"
#include "backends/vulkan/device/options.h"
#include "backends/vulkan/products/product_tuning.h"
#include "products.h"
#include "support/check.h"

using namespace headscope;
using namespace headscope::vulkan;
using namespace headscope::vulkan_tests;

namespace {

namespace fs = std::filesystem;
using Catch::Matchers::Contains;

struct TuningFolder {
    fs::path path = fs::temp_directory_path() / ("headscope-tuning-" + std::to_string(getpid()));
    TuningFolder() = default;
    TuningFolder(const TuningFolder&) = delete;
    TuningFolder& operator=(const TuningFolder&) = delete;
    ~TuningFolder() { fs::remove_all(path); }
};

ProductTuning tuning(const TuningFolder& folder, const ProductDevice& device = kGpu) {
    return {device, Capabilities{}, folder.path.string()};
}

std::string file_of(const TuningFolder& folder) {
    return cache_file_path(Capabilities{}, folder.path.string(), "products.json");
}

}  // namespace

TEST_CASE("the saved choice is used, by later processes too", "[vulkan][tuning]") {
    const TuningFolder folder;
    const ProductShape wanted = shape(3900, 256, 1024);
    const std::string before = to_string(choose_product(kGpu, wanted));
    {
        ProductTuning first = tuning(folder);
        CHECK(to_string(first.choose(wanted)) == before);
        CHECK(first.ways().front() == before);
        CHECK(first.keep("blocks", 1e-3));
        CHECK(to_string(first.choose(wanted)) == "blocks");
        CHECK(first.ways().front() == "blocks");
    }
    ProductTuning second = tuning(folder);
    CHECK(to_string(second.choose(wanted)) == "blocks");
    CHECK(to_string(second.choose(shape(2100, 200, 600))) == "blocks");  // none is twice, or half
    CHECK(second.choose(shape(300, 256, 1024)) == choose_product(kGpu, shape(300, 256, 1024)));
    ProductShape other = wanted;
    other.b_along_k = true;
    CHECK(second.choose(other) == choose_product(kGpu, other));
    other = wanted;
    other.a_vec4_aligned = false;
    CHECK(second.choose(other) == choose_product(kGpu, other));
    other = wanted;
    other.texels = true;  // one dtype has them, another has not
    CHECK(second.choose(other) == choose_product(kGpu, other));
    CHECK(kind_of(other) == kind_of(wanted) + ", texels");
}

TEST_CASE("similar products have separate choices, and those in between use the nearest", "[vulkan][tuning]") {
    const TuningFolder folder;
    {
        ProductTuning first = tuning(folder);
        first.choose(shape(1000, 1536, 512));
        CHECK(first.keep("tiles 4", 1e-3));
        first.choose(shape(1000, 2048, 512));
        CHECK(first.keep("blocks", 1e-3));
        first.choose(shape(1000, 1536, 512));
        CHECK(first.ways().front() == "tiles 4");
        CHECK(first.keep("tiles 8", 1e-3));  // in its own place
    }
    ProductTuning second = tuning(folder);
    CHECK(to_string(second.choose(shape(1000, 1536, 512))) == "tiles 8");
    CHECK(to_string(second.choose(shape(1000, 2048, 512))) == "blocks");
    CHECK(to_string(second.choose(shape(900, 1600, 500))) == "tiles 8");
    CHECK(to_string(second.choose(shape(1200, 2400, 512))) == "blocks");
}

TEST_CASE("products have a distance", "[vulkan][tuning]") {
    const ProductSizes one{1000, 512, 64, 8};
    CHECK(distance(one, one) == 0.0);
    CHECK(distance(one, {2000, 256, 64, 8}) == 2.0);
    CHECK(distance({2000, 256, 64, 8}, one) == 2.0);
    CHECK_FALSE(distance(one, {2001, 512, 64, 8}));
    CHECK_FALSE(distance(one, {499, 512, 64, 8}));
    CHECK_FALSE(distance(one, {1000, 512, 64, 1}));
    CHECK_FALSE(distance({0, 512, 64, 8}, {0, 512, 64, 8}));
}

TEST_CASE("products in 16-bit storage have separate choices", "[vulkan][tuning]") {
    const TuningFolder folder;
    ProductTuning gpu = tuning(folder);
    const ProductShape full = shape(4096, 512, 2048);
    gpu.choose(full);
    CHECK(gpu.keep("tiles 4", 1e-3));
    for (const DType storage : {DType::F16, DType::BF16}) {
        ProductShape stored = full;
        stored.storage = storage;
        CHECK(gpu.choose(stored) == choose_product(kGpu, stored));
        CHECK(gpu.keep("blocks", 1e-3));
    }
    CHECK(to_string(gpu.choose(full)) == "tiles 4");
}

TEST_CASE("tiles of matrices are saved separately for products in BF16 and for rows of 16 bytes", "[vulkan][tuning]") {
    ProductShape wanted = shape(4096, 512, 2048);
    const std::string scalars = kind_of(wanted);
    wanted.matrices = true;
    std::vector<std::string> kinds{scalars, kind_of(wanted)};
    for (const auto pack : {&ProductShape::a_pack_aligned, &ProductShape::b_pack_aligned, &ProductShape::bf16}) {
        ProductShape other = wanted;
        other.*pack = !(other.*pack);
        kinds.push_back(kind_of(other));
    }
    std::sort(kinds.begin(), kinds.end());
    CHECK(std::unique(kinds.begin(), kinds.end()) == kinds.end());
    wanted.matrices = false;
    wanted.a_pack_aligned = false;  // nothing to scalars
    CHECK(kind_of(wanted) == scalars);
}

TEST_CASE("tiles of matrices are saved separately for operands in F32 and F16", "[vulkan][tuning]") {
    const TuningFolder folder;
    ProductDevice device = kGpu;
    device.matrices = kMatrices;
    ProductShape wanted = shape(4096, 512, 2048);
    wanted.matrices = true;
    {
        ProductTuning first = tuning(folder, device);
        CHECK(to_string(first.choose(wanted)) == "matrices 128 by 8");
        CHECK(first.keep("matrices 64 by 8, 2 parts", 1e-3));
    }
    ProductTuning second = tuning(folder, device);
    CHECK(to_string(second.choose(wanted)) == "matrices 64 by 8, 2 parts");
    wanted.storage = DType::F16;
    CHECK(to_string(second.choose(wanted)) == "matrices 128 by 8");
    CHECK(second.keep("tiles 4", 1e-3));  // if matrices are slower than scalars
    CHECK(to_string(second.choose(wanted)) == "tiles 4");
    wanted.matrices = false;
    CHECK(second.choose(wanted) == choose_product(device, wanted));
}

TEST_CASE("a choice that the device lacks for this shape is not used", "[vulkan][tuning]") {
    const TuningFolder folder;
    ProductTuning gpu = tuning(folder);
    gpu.choose(shape(512, 512, 512));
    CHECK(gpu.keep("tiles 8", 1e-3));
    ProductDevice without = kGpu;
    without.tiles = ProductTiles::None;
    CHECK(tuning(folder, without).choose(shape(512, 512, 512)).kernel == ProductKernel::Blocks);
    gpu.choose(shape(200, 200, 512));
    CHECK(gpu.keep("tiles 4, 4 parts", 1e-3));
    CHECK(gpu.choose(shape(200, 200, 512)).parts == 4);
    CHECK(gpu.choose(shape(200, 200, 508)) == choose_product(kGpu, shape(200, 200, 508)));  // not in four parts
    CHECK_THROWS_WITH(gpu.keep("magic", 1.0), Contains("magic") && Contains("tiles 4"));
}

TEST_CASE("a forced choice is used wherever possible", "[vulkan][tuning]") {
    const TuningFolder folder;
    ProductTuning gpu = tuning(folder);
    gpu.force("tiles 8");
    CHECK(to_string(gpu.choose(shape(64, 64, 64))) == "tiles 8");
    CHECK(gpu.choose(shape(1, 64, 64)) == choose_product(kGpu, shape(1, 64, 64)));
    gpu.force("");
    CHECK(gpu.choose(shape(64, 64, 64)) == choose_product(kGpu, shape(64, 64, 64)));
}

TEST_CASE("a file that cannot be read or written only costs time", "[vulkan][tuning]") {
    const TuningFolder folder;
    const ProductShape wanted = shape(512, 512, 512);
    {
        ProductTuning gpu = tuning(folder);
        gpu.choose(wanted);
        CHECK(gpu.keep("blocks", 1e-3));
    }
    std::ifstream in(file_of(folder));
    const std::string whole((std::istreambuf_iterator<char>(in)), {});
    const auto with = [&](const std::string& text) {
        std::ofstream(file_of(folder)) << text;
        return tuning(folder).choose(wanted);
    };
    CHECK(to_string(with(whole)) == "blocks");
    const ProductChoice untuned = choose_product(kGpu, wanted);
    const auto but = [&](const std::string& what, const std::string& in_its_place) {
        std::string text = whole;
        const std::size_t at = text.find(what);
        REQUIRE(at != std::string::npos);
        return text.replace(at, what.size(), in_its_place);
    };
    for (const std::string& damaged :
         {std::string(), whole.substr(0, whole.size() / 2), std::string("[]"), but("\"format\": ", "\"format\": 9"),
          but("\"blocks\"", "\"magic\""), but("\"block\": 0", "\"block\": 7"), but("\"parts\": 1", "\"parts\": 3"),
          but("\"parts\": 1,", ""), but("\"m\": 512", "\"m\": 255"), but("\"n\": 512", "\"n\": \"many\""),
          but("a along", "a across"), but("\"kernel\"", "\"colonel\"")}) {
        INFO(damaged);
        CHECK(with(damaged) == untuned);
    }
    CHECK(kind_of(wanted) == "a along k in fours, b across k in fours");
    ProductTuning nowhere(kGpu, Capabilities{}, "");
    nowhere.choose(wanted);
    CHECK_FALSE(nowhere.keep("blocks", 1e-3));
    CHECK(to_string(nowhere.choose(wanted)) == "blocks");
}

TEST_CASE("another driver, or another subgroup size, has its own file", "[vulkan][tuning]") {
    Capabilities one;
    one.driver = "llvmpipe Mesa 22.3.6 (LLVM 15.0.6)";
    one.subgroup_size = 8;
    Capabilities newer = one;
    newer.driver = "llvmpipe Mesa 25.0.7 (LLVM 19.1.7)";
    Capabilities longer = one;
    longer.subgroup_size = 16;
    const auto path = [](const Capabilities& found) { return cache_file_path(found, "folder", "products.json"); };
    CHECK(path(one) == path(one));
    CHECK(path(one) != path(newer));
    CHECK(path(one) != path(longer));
}

TEST_CASE("it is known before measuring that results cannot be saved", "[vulkan][tuning]") {
    const TuningFolder folder;
    CHECK(tuning(folder).why_not_saved().empty());
    CHECK_THAT(ProductTuning(kGpu, Capabilities{}, "/dev/null").why_not_saved(),
               Contains("'/dev/null/vulkan-") && Contains("cannot be written"));
    Options options;
    options.cache_directory = folder.path.string();
    CHECK(why_not_tuned(options).empty());
    options.tuning = false;
    CHECK_THAT(why_not_tuned(options), Contains("remove tuning from HEADSCOPE_VULKAN_DISABLE"));
    options.tuning = true;
    options.cache_directory.clear();
    CHECK_THAT(why_not_tuned(options), Contains("HOME or XDG_CACHE_HOME"));
    options.emulated_matrices = true;
    CHECK_THAT(why_not_tuned(options), Contains("HEADSCOPE_VULKAN_EMULATE_MATRICES"));
}
