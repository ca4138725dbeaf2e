// The results of a request, as the C library lends them.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include <nlohmann/json.hpp>

#include <headscope/headscope.h>
#include "answers/page_neurons.h"
#include "observe/attention_record.h"

namespace headscope {

struct NamedArray {
    std::vector<std::int64_t> shape;
    std::variant<std::vector<float>, std::vector<double>, std::vector<std::int32_t>, std::vector<std::int64_t>> values;
};

// A record, and what a page of it shows beside the weights.
struct SeenRecord {
    AttentionRecord record;
    PageNeurons inside = {};
};

// An output of an input.
struct Choice {
    std::string text = {};
    double score = std::numeric_limits<double>::quiet_NaN();
    double log_probability = std::numeric_limits<double>::quiet_NaN();
    std::map<std::string, NamedArray> arrays = {};
    std::string names = {};  // of the arrays, one on each line
};

struct InputResult {
    std::string problem = {};
    hs_status status = HS_OK;  // of the problem
    std::vector<Choice> choices = {};
    std::shared_ptr<const SeenRecord> record = {};
    std::string json = {};  // an object
};

// What a failed input has.
InputResult problem_of(const std::string& input, const std::string& problem, hs_status status);

// On one line. Text that is not UTF-8 loses what is wrong with it.
std::string dumped(const nlohmann::ordered_json& object);

}  // namespace headscope

struct hs_result {
    std::shared_ptr<const std::vector<headscope::InputResult>> inputs;
};
