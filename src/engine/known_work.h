// Work that has succeeded before, to tell a failing device from a failing request.
#pragma once

#include <mutex>
#include <optional>
#include <vector>

#include "infer/loaded_model.h"

namespace headscope {

// Shared by the devices of a service, which have the same model. Thread-safe.
class KnownWork {
public:
    // Units that were translated. The shortest of the first ones is kept.
    void remember(const std::vector<LinePart*>& units);
    // Translates the kept unit; before any success, computes a small product. Throws what the device throws.
    void run(const LoadedModel& translator, Compute compute) const;

private:
    std::optional<LinePart> work() const;

    mutable std::mutex mutex_;
    std::optional<LinePart> work_;
};

}  // namespace headscope
