#include "backends/vulkan/product_tuning.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <exception>
#include <fstream>
#include <utility>

#include <nlohmann/json.hpp>

#include "backends/vulkan/cache_file.h"
#include "support/check.h"

namespace headscope::vulkan {

namespace {

constexpr int kFormat = 4;  // of the file; what a choice means may change with it

ProductKernel kernel_of(const std::string& name) {
    for (const ProductKernel kernel : {ProductKernel::Blocks, ProductKernel::Subgroup, ProductKernel::Tiles,
                                       ProductKernel::Rows, ProductKernel::Matrices}) {
        if (name == to_string(ProductChoice{kernel})) {
            return kernel;
        }
    }
    throw Error("unknown kernel " + name);
}

}  // namespace

std::string class_of(const ProductShape& shape) {
    const auto power = [](std::uint64_t size) { return std::bit_width(std::max<std::uint64_t>(size, 1) - 1); };
    const auto lies = [](bool along_k, bool fours) {
        return std::string(along_k ? "along k" : "across k") + (fours ? " in fours" : "");
    };
    return fmt::format("{} {} {} x{}, a {}, b {}{}{}{}{}{}", power(shape.m), power(shape.n), power(shape.k),
                       shape.batch == 1 ? 1 : power(shape.batch) + 1, lies(shape.a_along_k, shape.a_in_fours),
                       lies(shape.b_along_k, shape.b_in_fours), shape.k % 4 == 0 ? "" : ", odd k",
                       shape.texels ? ", texels" : "", shape.whole ? ", whole" : "", shape.matrices ? ", matrices" : "",
                       shape.storage == DType::F32 ? "" : fmt::format(", {}", headscope::name_of(shape.storage)));
}

ProductTuning::ProductTuning(const ProductDevice& device, const Capabilities& capabilities,
                             const std::string& cache_directory, std::string not_to_be_kept)
    : device_(device),
      path_(cache_file_path(capabilities, cache_directory, "products.json")),
      not_to_be_kept_(std::move(not_to_be_kept)) {
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
    if (!kept_.empty()) {
        const auto found = kept_.find(class_of(shape));
        const std::vector<ProductChoice> choices = product_choices(device_, shape);
        if (found != kept_.end() && std::find(choices.begin(), choices.end(), found->second.choice) != choices.end()) {
            return found->second.choice;
        }
    }
    return choose_product(device_, shape);
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
            kept_[class_of(last_)] = {choice, seconds};
            return save();
        }
    }
    throw Error(
        fmt::format("the last product cannot be computed by {}; its ways are: {}", way, fmt::join(ways(), "; ")));
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
        std::map<std::string, Kept> kept;
        for (const auto& [name, each] : json.at("products").items()) {
            kept[name] = {{kernel_of(each.at("kernel").get<std::string>()), each.at("block").get<std::uint32_t>(),
                           each.at("parts").get<std::uint32_t>(), each.at("subgroups").get<std::uint32_t>()},
                          each.at("seconds").get<double>()};
        }
        kept_ = std::move(kept);
    } catch (const std::exception&) {
        // Damaged, or of another version: as if it were not there, until it is written anew.
    }
}

bool ProductTuning::save() const {
    if (path_.empty()) {
        return false;
    }
    nlohmann::ordered_json products = nlohmann::ordered_json::object();
    for (const auto& [name, kept] : kept_) {
        products[name] = {{"kernel", to_string(ProductChoice{kept.choice.kernel})},
                          {"block", kept.choice.block},
                          {"parts", kept.choice.parts},
                          {"subgroups", kept.choice.subgroups},
                          {"seconds", kept.seconds}};
    }
    return write_cache_file(path_, nlohmann::ordered_json{{"format", kFormat}, {"products", products}}.dump(1) + "\n");
}

}  // namespace headscope::vulkan
