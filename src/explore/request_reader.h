// What a person asked for, as texts that a model can read, or why it cannot.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "explore/exploration.h"
#include "model/model_directory.h"
#include "observe/recorded_text.h"

namespace headscope {

struct RequestTexts {
    RecordedText source;
    std::optional<RecordedText> target;
    std::string problem;  // says what to do; else all is within what the model takes
};

// Whatever a person can write gives a `problem` and no exception.
RequestTexts read_request(const ModelDirectory& model, const ExploreRequest& request);
// The same for what needs a target.
RequestTexts read_request_with_target(const ModelDirectory& model, const ExploreRequest& request);

// Why the model has no such head; empty where it has.
std::string missing_head(const ModelConfig& config, const AttentionSite& site, int head);

// A piece as SentencePiece spells it, "<EOS>", "<BOS>" or "<pad>".
std::string token_text(const Tokenizer& tokenizer, const ModelConfig& config, std::int32_t token);

}  // namespace headscope
