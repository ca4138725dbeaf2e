#include "conformance/judge.h"

#include <cstdint>

#include "conformance/run.h"
#include "registry/registry.h"

namespace headscope::conformance {

Judge::Judge(const OpenOptions& options) : oracle_(open_device("cpu:oracle")), cpu_(open_device("cpu", options)) {}

Verdict Judge::verdict(Backend& device, const Case& stated) {
    Backend* reference = reference_for(device, stated);
    if (reference == nullptr) {
        return {};
    }
    return {reference->device().id, examination(*reference, stated).on(device)};
}

Backend* Judge::reference_for(const Backend& device, const Case& stated) const {
    constexpr double kMostOracleWork = 6e8;  // operations
    constexpr std::int64_t kMostElements = std::int64_t{1} << 25U;
    std::int64_t elements = 0;
    for (const Operand& operand : stated.operands) {
        elements += operand.shape.elements();
    }
    if (elements > kMostElements) {
        return nullptr;
    }
    if (stated.arithmetic <= kMostOracleWork) {
        return oracle_.get();
    }
    Case unstored = stated;  // the reference has the same numbers in F32
    unstored.storage.reset();
    const bool in_f32 = precision_of(unstored, device.full_dtype()) == "f32";
    return in_f32 && device.device().backend != "cpu" ? cpu_.get() : nullptr;
}

// Shared by successive devices, so that the reference computes it once.
Examination& Judge::examination(Backend& reference, const Case& stated) {
    constexpr double kRoundingsOfBoth = 4.0;  // the root of which is how much farther apart two roundings are
    const std::string title = reference.device().id + " " + precision_of(stated) + " " + stated.title();
    if (title != title_) {
        Case once = reference.full_dtype() == DType::F32 ? stated.sums(kRoundingsOfBoth * stated.terms) : stated;
        once.one_layout = true;  // the timed one
        examination_.emplace(reference, once);
        title_ = title;
    }
    return *examination_;
}

}  // namespace headscope::conformance
