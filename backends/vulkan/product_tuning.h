// The fastest ways to compute products, as they were measured on this device with this driver: kept on disk, and by the
// order of magnitude of the shape, so that a batch of 3,900 tokens finds what was measured with 4,000.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "backends/vulkan/device.h"
#include "backends/vulkan/product_plan.h"

namespace headscope::vulkan {

class ProductTuning {
public:
    // What the file of this device holds; nothing where there is none, or one that cannot be read: it only saves time.
    ProductTuning(const Capabilities& capabilities, const std::string& cache_directory);

    // What was kept for shapes of this class, where it is one of the ways that the device has for this very shape.
    std::optional<ProductChoice> find(const ProductDevice& device, const ProductShape& shape) const;

    // For all shapes of its class, and for later processes. False if it could not be written.
    bool keep(const ProductShape& shape, const ProductChoice& choice, double seconds);

private:
    struct Kept {
        ProductChoice choice;
        double seconds = 0.0;
    };
    bool save() const;

    std::string path_;  // empty: nothing is kept on disk
    std::map<std::string, Kept> kept_;
};

// "10 8 8 x1, a along k in fours, b along k in fours": powers of two that sizes are at most, and how operands lie.
std::string class_of(const ProductShape& shape);

}  // namespace headscope::vulkan
