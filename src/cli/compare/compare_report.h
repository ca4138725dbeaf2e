// What headscope compare found out, for people and for programs.
#pragma once

#include <string>
#include <vector>

#include "eval/agreement.h"
#include "observe/inner_differences.h"

namespace headscope {

// A device that was held against the first.
struct ComparedDevice {
    std::string name;  // "vulkan:0", "cpu in bf16"
    double tokens_a_second = 0.0;
    Agreement agreement = {};
    InnerDifferences inner = {};
    std::string failure = {};  // why it was not compared: empty for one that was

    bool agrees(double tie) const { return failure.empty() && agreement.holds(tie); }
};

struct ComparisonReport {
    std::string reference;  // the device that all are held against
    double reference_tokens_a_second = 0.0;
    double tie = 0.0;
    std::vector<ComparedDevice> devices = {};
    std::string reference_failure = {};  // why nothing is held against it any more; empty where it lasted

    bool holds() const;
};

// A line for each device, also for one that failed, and the attention weights by layer.
std::string comparison_table(const ComparisonReport& report);
std::string comparison_json(const ComparisonReport& report);

}  // namespace headscope
