// Checks results before their speed is reported.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "backend/open_options.h"
#include "conformance/harness.h"

namespace headscope::conformance {

struct Verdict {
    std::string reference = {};  // the device compared with; empty: none
    Outcome outcome = {};
};

class Judge {
public:
    // `options` are for opening the CPU.
    explicit Judge(const OpenOptions& options = {});

    // Whether there is a reference for a case of this size.
    bool can_judge(const Backend& device, const Case& stated) const { return reference_for(device, stated) != nullptr; }

    // Checks the layout that is timed against the oracle if that takes a second or two, else against the CPU in F32
    // with the same numbers.
    Verdict verdict(Backend& device, const Case& stated);

private:
    Backend* reference_for(const Backend& device, const Case& stated) const;
    Examination& examination(Backend& reference, const Case& stated);

    std::unique_ptr<Backend> oracle_;
    std::unique_ptr<Backend> cpu_;
    std::string title_;
    std::optional<Examination> examination_;
};

}  // namespace headscope::conformance
