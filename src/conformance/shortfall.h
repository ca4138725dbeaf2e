// What a device does not have natively.
#pragma once

#include <compare>
#include <string>

#include "backend/backend.h"

namespace headscope::conformance {

struct Shortfall {
    SupportLevel level = SupportLevel::None;  // or Composed
    std::string dtype;                        // "F16"
    std::string why;                          // the backend's reason
    std::string what;                         // an op, "products" or "weights"

    auto operator<=>(const Shortfall&) const = default;
    // "copy in F16 is missing: it computes in F32 alone"
    std::string text() const {
        return what + " in " + dtype + (level == SupportLevel::None ? " is missing: " : " is composed: ") + why;
    }
};

}  // namespace headscope::conformance
