// The results of headscope compare, as a table or JSON.
#pragma once

#include <string>
#include <vector>

#include "eval/agreement.h"
#include "observe/inner_differences.h"

namespace headscope {

// A device that was compared with the reference.
struct ComparedDevice {
    std::string name;  // "vulkan:0", "cpu in bf16"
    double tokens_a_second = 0.0;
    Agreement agreement = {};
    InnerDifferences inner = {};
    std::string failure = {};  // why it was not compared; empty if it was

    bool agrees(double tie) const { return failure.empty() && agreement.holds(tie); }
};

struct ComparisonReport {
    std::string reference;  // the device that the others are compared with
    double reference_tokens_a_second = 0.0;
    double tie = 0.0;
    std::vector<ComparedDevice> devices = {};
    std::string reference_failure = {};  // why it failed; empty if it did not

    bool holds() const;
};

// A line for each device, even if it failed, and the attention weights by layer.
std::string comparison_table(const ComparisonReport& report);
std::string comparison_json(const ComparisonReport& report);

}  // namespace headscope
