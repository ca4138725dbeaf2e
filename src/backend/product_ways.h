// For `headscope tune`: the ways in which a backend can compute a product.
#pragma once

#include <string>
#include <vector>

namespace headscope {

class ProductWays {
public:
    virtual ~ProductWays() = default;

    // Computes products in this way from now on, where possible; empty: the backend chooses.
    virtual void force(const std::string& way) = 0;
    // The ways for the last enqueued product, the backend's own choice first.
    virtual std::vector<std::string> ways() const = 0;
    // Makes `way` the backend's choice for products like the last, on this device and driver. False if it could not be
    // saved, so that it holds only in this process.
    virtual bool keep(const std::string& way, double seconds) = 0;
    // Why tuning results cannot be saved; empty if they can.
    virtual std::string why_not_saved() const = 0;
};

}  // namespace headscope
