// The fastest ways to compute products as measured on this device with this driver: saved on disk and used for similar
// products, so that a batch of 3,900 tokens uses what was measured for 4,000.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "backend/product_ways.h"
#include "backends/vulkan/device/device.h"
#include "backends/vulkan/products/product_plan.h"

namespace headscope::vulkan {

struct ProductSizes {
    std::uint64_t m = 0, n = 0, k = 0, batch = 1;
    bool operator==(const ProductSizes&) const = default;
};

class ProductTuning final : public ProductWays {
public:
    // Loads this device's file, if it exists and can be read: it only saves time. `device` outlives this.
    // `why_not_saved`: see ProductWays.
    ProductTuning(const ProductDevice& device, const Capabilities& capabilities, const std::string& cache_directory,
                  std::string why_not_saved = "");

    // How to compute this product: as forced, as measured for the most similar product, or as is likely to be fast.
    ProductChoice choose(const ProductShape& shape);

    void force(const std::string& way) override { forced_ = way; }
    std::vector<std::string> ways() const override;
    bool keep(const std::string& way, double seconds) override;
    std::string why_not_saved() const override;

private:
    struct Kept {
        ProductSizes sizes;
        std::string kind;
        ProductChoice choice;
        double seconds = 0.0;
    };
    ProductChoice unforced(const ProductShape& shape) const;
    void load();
    bool save() const;

    const ProductDevice& device_;
    const std::string path_;  // empty: nothing is saved
    const std::string why_not_saved_;
    std::vector<Kept> kept_;
    std::string forced_;
    ProductShape last_;
};

// What two products must have in common to use the same choice: everything but their sizes. "a along k in fours, b
// across k in fours".
std::string kind_of(const ProductShape& shape);

// The distance of two products' sizes, in powers of two summed over all four; std::nullopt if one size is more than
// twice the other's.
std::optional<double> distance(const ProductSizes& a, const ProductSizes& b);

}  // namespace headscope::vulkan
