// Where a backend has several ways to compute a product, what somebody who tries them needs: `headscope tune`.
#pragma once

#include <string>
#include <vector>

namespace headscope {

class ProductWays {
public:
    virtual ~ProductWays() = default;

    // Products are computed in this way from now on, wherever it is one of theirs; empty: as the backend chooses.
    virtual void force(const std::string& way) = 0;
    // Those of the product that was enqueued last, the backend's own choice first.
    virtual std::vector<std::string> ways() const = 0;
    // The backend's choice from now on for products like the last, on this device and driver. False where it holds for
    // this process alone, since it could not be written to disk.
    virtual bool keep(const std::string& way, double seconds) = 0;
    // Why nothing that is found now is to be kept; empty where it is.
    virtual std::string not_to_be_kept() const = 0;
};

}  // namespace headscope
