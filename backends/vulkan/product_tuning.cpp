#include "backends/vulkan/product_tuning.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <filesystem>
#include <fstream>
#include <system_error>

#include <nlohmann/json.hpp>

#include "backends/vulkan/pipeline_cache.h"

namespace headscope::vulkan {

namespace {

constexpr int kFormat = 1;  // of the file; what a choice means may change with it

std::string tuning_path(const Capabilities& capabilities, const std::string& directory) {
    const std::string pipelines = pipeline_cache_path(capabilities, directory);
    return pipelines.empty() ? "" : std::filesystem::path(pipelines).replace_extension(".products.json").string();
}

ProductKernel kernel_of(const std::string& name) {
    for (const ProductKernel kernel : {ProductKernel::Blocks, ProductKernel::Subgroup, ProductKernel::Tiles}) {
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
    return fmt::format("{} {} {} x{}, a {}, b {}{}", power(shape.m), power(shape.n), power(shape.k),
                       shape.batch == 1 ? 1 : power(shape.batch) + 1, lies(shape.a_along_k, shape.a_in_fours),
                       lies(shape.b_along_k, shape.b_in_fours), shape.k % 4 == 0 ? "" : ", odd k");
}

ProductTuning::ProductTuning(const Capabilities& capabilities, const std::string& cache_directory)
    : path_(tuning_path(capabilities, cache_directory)) {
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
                           each.at("parts").get<std::uint32_t>()},
                          each.at("seconds").get<double>()};
        }
        kept_ = std::move(kept);
    } catch (const std::exception&) {
        // Damaged, or of another version: as if it were not there, until it is written anew.
    }
}

std::optional<ProductChoice> ProductTuning::find(const ProductDevice& device, const ProductShape& shape) const {
    if (kept_.empty()) {
        return std::nullopt;
    }
    const auto found = kept_.find(class_of(shape));
    if (found == kept_.end()) {
        return std::nullopt;
    }
    const std::vector<ProductChoice> ways = product_choices(device, shape);
    const bool is_one = std::find(ways.begin(), ways.end(), found->second.choice) != ways.end();
    return is_one ? std::optional(found->second.choice) : std::nullopt;
}

bool ProductTuning::keep(const ProductShape& shape, const ProductChoice& choice, double seconds) {
    kept_[class_of(shape)] = {choice, seconds};
    return save();
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
                          {"seconds", kept.seconds}};
    }
    namespace fs = std::filesystem;
    std::error_code error;
    fs::create_directories(fs::path(path_).parent_path(), error);
    const std::string beside = fmt::format("{}.{}", path_, getpid());
    std::ofstream file(beside);
    file << nlohmann::ordered_json{{"format", kFormat}, {"products", products}}.dump(1) << '\n';
    file.close();
    if (file.good()) {
        fs::rename(beside, path_, error);
        if (!error) {
            return true;
        }
    }
    fs::remove(beside, error);
    return false;
}

}  // namespace headscope::vulkan
