// Whether results are right, before their speed is worth a word.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "backend/open_options.h"
#include "conformance/harness.h"

namespace headscope::conformance {

struct Verdict {
    std::string reference = {};  // the device that the results were compared with; empty: they were with none
    Outcome outcome = {};
};

class Judge {
public:
    // `options` open the CPU.
    explicit Judge(const OpenOptions& options = {});

    // Whether there is anything that so large a case can be held against.
    bool can_judge(const Backend& device, const Case& stated) const { return reference_for(device, stated) != nullptr; }

    // Of a case in the layout that is timed, against the oracle where that takes a second or two, else against the CPU
    // in F32, which has the same numbers where the case is stored in 16 bits.
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
