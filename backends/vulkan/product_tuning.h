// The fastest ways to compute products, as they were measured on this device with this driver: kept on disk, and by the
// order of magnitude of the shape, so that a batch of 3,900 tokens finds what was measured with 4,000.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "backend/product_ways.h"
#include "backends/vulkan/device.h"
#include "backends/vulkan/product_plan.h"

namespace headscope::vulkan {

class ProductTuning final : public ProductWays {
public:
    // `device` outlives it. With what the file of this device holds; nothing where there is none, or one that cannot be
    // read: it only saves time.
    // `not_to_be_kept`: ProductWays.
    ProductTuning(const ProductDevice& device, const Capabilities& capabilities, const std::string& cache_directory,
                  std::string not_to_be_kept = "");

    // How this product is to be computed: as forced, as kept for its class, or as is likely to be fast.
    ProductChoice choose(const ProductShape& shape);

    void force(const std::string& way) override { forced_ = way; }
    std::vector<std::string> ways() const override;
    bool keep(const std::string& way, double seconds) override;
    std::string not_to_be_kept() const override { return not_to_be_kept_; }

private:
    struct Kept {
        ProductChoice choice;
        double seconds = 0.0;
    };
    ProductChoice unforced(const ProductShape& shape) const;
    void load();
    bool save() const;

    const ProductDevice& device_;
    const std::string path_;  // empty: nothing is kept on disk
    const std::string not_to_be_kept_;
    std::map<std::string, Kept> kept_;
    std::string forced_;
    ProductShape last_;
};

// "10 8 8 x1, a along k in fours, b along k in fours": powers of two that sizes are at most, and how operands lie.
std::string class_of(const ProductShape& shape);

}  // namespace headscope::vulkan
