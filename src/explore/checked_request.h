// A validated request: tokenized input and resolved options, or the reason why it was rejected.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "explore/exploration.h"
#include "infer/loaded_model.h"
#include "observe/recorded_text.h"

namespace headscope {

struct CheckedRequest {
    std::string problem = {};  // the error, with its remedy; when empty, everything below is valid for the model
    Frame frame = {};          // around a sentence and its translation
    RecordedText source = {};  // a sentence, or a prompt
    std::optional<RecordedText> target = {};  // what to read, if given: a translation, a prompt and its continuation,
                                              // or a text with masks
    std::vector<std::int32_t> fills = {};     // of the masks, if given; of a classifier the class, if given
    std::shared_ptr<const PixelPicture> picture = {};  // to show, if the source is one
    std::size_t prompt = 0;                            // tokens at the beginning of `target` that are the prompt
    std::int64_t source_length = 0;                    // tokens or patches that the encoder reads, without pads
    SearchOptions search = {};
    std::vector<AttentionEdit> edits = {};
    std::int64_t source_pads = 0;
    int candidates = 0;
    std::vector<std::int32_t> sentinels = {};  // of the gaps in the source, from left to right
    std::vector<AttentionSite> sites = {};     // to record; empty: all
};

// Never throws for an invalid request: the error is in `problem`.
CheckedRequest check_request(const LoadedModel& translator, const ExploreRequest& request);
// The same, and requires a target, or of a classifier a class.
CheckedRequest check_request_with_target(const LoadedModel& translator, const ExploreRequest& request);
// The same for what is asked of texts alone: a model that reads pictures is a problem.
CheckedRequest check_text_with_target(const LoadedModel& translator, const ExploreRequest& request);

// Error if the model lacks a head, or an edit lacks a token.
void check_edits(const ModelConfig& config, const std::vector<AttentionEdit>& edits);
// The error if the model lacks this head; otherwise empty.
std::string missing_head(const ModelConfig& config, const AttentionSite& site, int head);

}  // namespace headscope
