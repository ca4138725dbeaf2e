#include "backends/vulkan/products/product_tuning.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <fstream>
#include <utility>

#include <nlohmann/json.hpp>

#include "backends/vulkan/device/cache_file.h"
#include "support/check.h"

namespace headscope::vulkan {

namespace {

constexpr int kFormat = 6;  // of the file; increase it if the meaning of choices changes

ProductKernel kernel_of(const std::string& name) {
    for (const ProductKernel kernel : {ProductKernel::Blocks, ProductKernel::Subgroup, ProductKernel::Tiles,
                                       ProductKernel::Rows, ProductKernel::Matrices}) {
        if (name == to_string(ProductChoice{kernel})) {
            return kernel;
        }
    }
    throw Error("unknown kernel " + name);
}

ProductSizes sizes_of(const ProductShape& shape) {
    return {shape.m, shape.n, shape.k, shape.batch};
}

}  // namespace

std::string kind_of(const ProductShape& shape) {
    const auto lies = [&](bool along_k, bool fours, bool packs) {
        const char* together = shape.matrices && packs ? " in packs" : fours ? " in fours" : "";
        return fmt::format("{} k{}", along_k ? "along" : "across", together);
    };
    return fmt::format("a {}, b {}{}{}{}{}{}", lies(shape.a_along_k, shape.a_vec4_aligned, shape.a_pack_aligned),
                       lies(shape.b_along_k, shape.b_vec4_aligned, shape.b_pack_aligned),
                       shape.k % 4 == 0 ? "" : ", odd k", shape.texels ? ", texels" : "", shape.whole ? ", whole" : "",
                       !shape.matrices ? ""
                       : shape.bf16    ? ", matrices in BF16"
                                       : ", matrices in F16",
                       shape.storage == DType::F32 ? "" : fmt::format(", {}", headscope::name_of(shape.storage)));
}

std::optional<double> distance(const ProductSizes& a, const ProductSizes& b) {
    double sum = 0.0;
    for (const auto size : {&ProductSizes::m, &ProductSizes::n, &ProductSizes::k, &ProductSizes::batch}) {
        const double powers =
            std::abs(std::log2(static_cast<double>(a.*size)) - std::log2(static_cast<double>(b.*size)));
        if (!(powers <= 1.0)) {  // also if both are 0
            return std::nullopt;
        }
        sum += powers;
    }
    return sum;
}

ProductTuning::ProductTuning(const ProductDevice& device, const Capabilities& capabilities,
                             const std::string& cache_directory, std::string why_not_saved)
    : device_(device),
      path_(cache_file_path(capabilities, cache_directory, "products.json")),
      why_not_saved_(std::move(why_not_saved)) {
    load();
}

ProductChoice ProductTuning::choose(const ProductShape& shape) {
    last_ = shape;
    if (!forced_.empty()) {
        for (const ProductChoice& choice : product_choices(device_, shape)) {
            if (to_string(choice) == forced_) {
                return choice;
            }
        }
    }
    return unforced(shape);
}

ProductChoice ProductTuning::unforced(const ProductShape& shape) const {
    if (kept_.empty()) {
        return choose_product(device_, shape);
    }
    const std::vector<ProductChoice> choices = product_choices(device_, shape);
    const std::string kind = kind_of(shape);
    const Kept* nearest = nullptr;
    double least = 0.0;
    for (const Kept& kept : kept_) {
        const std::optional<double> away = distance(kept.sizes, sizes_of(shape));
        if (away && (nearest == nullptr || *away < least) && kept.kind == kind &&
            std::find(choices.begin(), choices.end(), kept.choice) != choices.end()) {
            nearest = &kept;
            least = *away;
        }
    }
    return nearest == nullptr ? choose_product(device_, shape) : nearest->choice;
}

std::vector<std::string> ProductTuning::ways() const {
    std::vector<std::string> names{to_string(unforced(last_))};
    for (const ProductChoice& choice : product_choices(device_, last_)) {
        if (const std::string name = to_string(choice); name != names.front()) {
            names.push_back(name);
        }
    }
    return names;
}

bool ProductTuning::keep(const std::string& way, double seconds) {
    for (const ProductChoice& choice : product_choices(device_, last_)) {
        if (to_string(choice) == way) {
            const Kept found{sizes_of(last_), kind_of(last_), choice, seconds};
            const auto same = std::find_if(kept_.begin(), kept_.end(), [&](const Kept& kept) {
                return kept.sizes == found.sizes && kept.kind == found.kind;
            });
            if (same == kept_.end()) {
                kept_.push_back(found);
            } else {
                *same = found;
            }
            return save();
        }
    }
    throw Error(
        fmt::format("the last product cannot be computed by {}; its ways are: {}", way, fmt::join(ways(), "; ")));
}

std::string ProductTuning::why_not_saved() const {
    // Tested before hours of measuring, by writing what there is.
    return !why_not_saved_.empty() || save()
               ? why_not_saved_
               : fmt::format("tuning results cannot be saved: '{}' cannot be written", path_);
}

void ProductTuning::load() {
    std::ifstream file(path_);
    if (path_.empty() || !file) {
        return;
    }
    try {
        const nlohmann::json json = nlohmann::json::parse(file);
        if (json.at("format").get<int>() != kFormat) {
            return;
        }
        std::vector<Kept> kept;
        for (const auto& each : json.at("products")) {
            const auto number = [&each](const char* name) { return each.at(name).get<std::uint32_t>(); };
            kept.push_back({{number("m"), number("n"), number("k"), each.at("batch").get<std::uint64_t>()},
                            each.at("kind").get<std::string>(),
                            {kernel_of(each.at("kernel").get<std::string>()), number("block"), number("parts"),
                             number("subgroups")},
                            each.at("seconds").get<double>()});
        }
        kept_ = std::move(kept);
    } catch (const std::exception&) {
        // A damaged file or another version is ignored until it is overwritten.
    }
}

bool ProductTuning::save() const {
    if (path_.empty()) {
        return false;
    }
    nlohmann::ordered_json products = nlohmann::ordered_json::array();
    for (const Kept& kept : kept_) {
        products.push_back({{"m", kept.sizes.m},
                            {"n", kept.sizes.n},
                            {"k", kept.sizes.k},
                            {"batch", kept.sizes.batch},
                            {"kind", kept.kind},
                            {"kernel", to_string(ProductChoice{kept.choice.kernel})},
                            {"block", kept.choice.block},
                            {"parts", kept.choice.parts},
                            {"subgroups", kept.choice.subgroups},
                            {"seconds", kept.seconds}});
    }
    return write_cache_file(path_, nlohmann::ordered_json{{"format", kFormat}, {"products", products}}.dump(1) + "\n");
}

}  // namespace headscope::vulkan
