#include "explore/request_reader.h"

#include <algorithm>

#include <fmt/format.h>

#include "backend/ops/search.h"
#include "support/check.h"

namespace headscope {

namespace {

std::string too_long(const char* which, std::int64_t length, std::int64_t most) {
    return fmt::format("the {} has {} tokens with its end, and the model takes at most {}: split it into sentences",
                       which, length, most);
}

void check_edit(const ModelConfig& config, const AttentionEdit& edit) {
    if (const std::string missing = missing_head(config, edit.site, edit.head); !missing.empty()) {
        throw Error(missing);
    }
    if (edit.kind == EditKind::Pin && edit.key < 0) {
        throw Error("attention can be pinned to a token alone, and none was given");
    }
}

// Error for what the request's numbers ask too much of.
void check_options(const ModelConfig& config, const ExploreRequest& request) {
    check_search_options(request.search.over({}));
    if (request.candidates < 0 || request.candidates > LogSoftmaxTopK::kMaxK) {
        throw Error(fmt::format("{} candidates of a step are not possible: ask for 0 to {}", request.candidates,
                                LogSoftmaxTopK::kMaxK));
    }
    for (const AttentionEdit& edit : request.edits) {
        check_edit(config, edit);
    }
}

void check_pads(const ModelConfig& config, const RequestTexts& texts, std::int64_t pads) {
    const auto length = static_cast<std::int64_t>(texts.source.ids.size()) + 1 + pads;
    if (pads < 0 || length > config.max_length) {
        throw Error(
            fmt::format("{} pads are not possible: the sentence and its pads have {} tokens, and the model "
                        "takes at most {}",
                        pads, length, config.max_length));
    }
    if (pads > 0 && !texts.target) {
        throw Error("pads are shown with a given translation alone: one that is searched for is found without pads");
    }
}

RecordedText read_source(const ModelDirectory& model, const std::string& text) {
    RecordedText source = encode_text(*model.source_tokenizer, text);
    if (source.ids.empty()) {
        throw Error("there is no text to look at: write a sentence");
    }
    const auto length = static_cast<std::int64_t>(source.ids.size()) + 1;
    if (length > model.config.max_length) {
        throw Error(too_long("sentence", length, model.config.max_length));
    }
    return source;
}

std::optional<RecordedText> read_target(const ModelDirectory& model, const ExploreRequest& request) {
    if (!has_target(request)) {
        return std::nullopt;
    }
    RecordedText target = request.target_tokens.empty()
                              ? encode_text(*model.target_tokenizer, *request.target)
                              : text_of_output(*model.target_tokenizer, model.config, request.target_tokens);
    const auto length = static_cast<std::int64_t>(target.ids.size()) + 1;
    if (length > model.config.max_length + (target.ended ? 0 : 1)) {
        throw Error(too_long("translation", length, model.config.max_length));
    }
    return target;
}

}  // namespace

RequestTexts read_request(const ModelDirectory& model, const ExploreRequest& request) {
    RequestTexts texts;
    try {
        check_options(model.config, request);
        texts.source = read_source(model, request.source);
        texts.target = read_target(model, request);
        check_pads(model.config, texts, request.source_pads);
    } catch (const Error& error) {
        texts.problem = error.what();
    }
    return texts;
}

RequestTexts read_request_with_target(const ModelDirectory& model, const ExploreRequest& request) {
    RequestTexts texts = read_request(model, request);
    if (texts.problem.empty() && !texts.target) {
        texts.problem = "there is no translation to look at: give one";
    }
    return texts;
}

bool has_target(const ExploreRequest& request) {
    return request.target.has_value() || !request.target_tokens.empty();
}

std::string missing_head(const ModelConfig& config, const AttentionSite& site, int head) {
    const int layers = site.kind == AttentionKind::EncoderSelf ? config.encoder_layers : config.decoder_layers;
    try {
        check_layer(site.kind, site.layer + 1, layers);
    } catch (const Error& error) {
        return error.what();
    }
    return head >= 1 && head <= config.heads
               ? ""
               : fmt::format("there is no head {}: this model has heads 1 to {} in each layer", head, config.heads);
}

std::string token_text(const Tokenizer& tokenizer, const ModelConfig& config, std::int32_t token) {
    if (token == config.eos_id) {
        return "<EOS>";
    }
    if (token == config.pad_id) {
        return "<pad>";
    }
    return token == config.bos_id ? "<BOS>" : tokenizer.piece(token);
}

}  // namespace headscope
