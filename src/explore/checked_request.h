// A request in the form that the model answers, or why it cannot be answered.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "explore/exploration.h"
#include "infer/translator.h"
#include "observe/recorded_text.h"

namespace headscope {

struct CheckedRequest {
    std::string problem = {};  // says what to do; when empty, all below is within what the model takes
    RecordedText source = {};
    std::optional<RecordedText> target = {};
    SearchOptions search = {};
    std::vector<AttentionEdit> edits = {};
    std::int64_t source_pads = 0;
    int candidates = 0;

    std::int64_t source_length() const { return static_cast<std::int64_t>(source.ids.size()) + 1; }  // without pads
};

// Nothing in a request throws: what is wrong with it is the `problem`.
CheckedRequest check_request(const Translator& translator, const ExploreRequest& request);
// The same for what needs a target.
CheckedRequest check_request_with_target(const Translator& translator, const ExploreRequest& request);

// Why the model has no such head; empty where it has.
std::string missing_head(const ModelConfig& config, const AttentionSite& site, int head);

}  // namespace headscope
