// The fastest ways to compute products, as they were measured on this device with this driver: kept on disk, and found
// by products that are alike, so that a batch of 3,900 tokens takes what was measured with 4,000.
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
    // `device` outlives it. With what the file of this device holds; nothing where there is none, or one that cannot be
    // read: it only saves time.
    // `not_to_be_kept`: ProductWays.
    ProductTuning(const ProductDevice& device, const Capabilities& capabilities, const std::string& cache_directory,
                  std::string not_to_be_kept = "");

    // How this product is to be computed: as forced, as kept for the product that is most like it, or as is likely to
    // be fast.
    ProductChoice choose(const ProductShape& shape);

    void force(const std::string& way) override { forced_ = way; }
    std::vector<std::string> ways() const override;
    bool keep(const std::string& way, double seconds) override;
    std::string not_to_be_kept() const override;

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
    const std::string path_;  // empty: nothing is kept on disk
    const std::string not_to_be_kept_;
    std::vector<Kept> kept_;
    std::string forced_;
    ProductShape last_;
};

// What two products must have in common for one to be computed as the other: all but their sizes. "a along k in fours,
// b across k in fours".
std::string kind_of(const ProductShape& shape);

// How far apart the sizes of two products are, in powers of two over all four; none where one is more than twice the
// other's.
std::optional<double> distance(const ProductSizes& a, const ProductSizes& b);

}  // namespace headscope::vulkan
