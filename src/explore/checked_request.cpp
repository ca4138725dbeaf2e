#include "explore/checked_request.h"

#include <algorithm>

#include <fmt/format.h>

#include "backend/ops/search.h"
#include "support/check.h"

namespace headscope {

namespace {

std::string too_long(const char* which, std::int64_t length, std::int64_t most) {
    return fmt::format(
        "the {} has {} tokens including the end of sentence, but the model takes at most {}: split it into sentences",
        which, length, most);
}

void check_edit(const ModelConfig& config, const AttentionEdit& edit) {
    if (const std::string missing = missing_head(config, edit.site, edit.head); !missing.empty()) {
        throw Error(missing);
    }
    if (edit.kind == EditKind::Pin && edit.key < 0) {
        throw Error("pinning attention needs a token to pin it to");
    }
}

// Error if an option is out of range.
void check_options(const ModelConfig& config, const ExploreRequest& request) {
    check_search_options(request.search.over({}));
    if (request.candidates < 0 || request.candidates > LogSoftmaxTopK::kMaxK) {
        throw Error(fmt::format("candidates per step must be between 0 and {}, got {}", LogSoftmaxTopK::kMaxK,
                                request.candidates));
    }
    for (const AttentionEdit& edit : request.edits) {
        check_edit(config, edit);
    }
}

void check_pads(const ModelConfig& config, const CheckedRequest& request) {
    const std::int64_t length = request.source_length() + request.source_pads;
    if (request.source_pads < 0 || length > config.max_length) {
        throw Error(
            fmt::format("cannot add {} pads: the sentence and its pads have {} tokens, but the model takes at most {}",
                        request.source_pads, length, config.max_length));
    }
    if (request.source_pads > 0 && !request.target) {
        throw Error("pads need a given translation: the search runs without pads");
    }
}

RecordedText read_source(const ModelDirectory& model, const std::string& text) {
    RecordedText source = encode_text(*model.source_tokenizer, text);
    if (source.ids.empty()) {
        throw Error("the source sentence is empty: write a sentence");
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

CheckedRequest check_request(const Translator& translator, const ExploreRequest& request) {
    const ModelDirectory& model = translator.model();
    CheckedRequest checked{
        .edits = request.edits, .source_pads = request.source_pads, .candidates = request.candidates};
    try {
        check_options(model.config, request);
        checked.search = translator.search_options(request.search);
        checked.source = read_source(model, request.source);
        checked.target = read_target(model, request);
        check_pads(model.config, checked);
    } catch (const Error& error) {
        checked.problem = error.what();
    }
    return checked;
}

CheckedRequest check_request_with_target(const Translator& translator, const ExploreRequest& request) {
    CheckedRequest checked = check_request(translator, request);
    if (checked.problem.empty() && !checked.target) {
        checked.problem = "a translation is required: give one";
    }
    return checked;
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
    return head >= 1 && head <= config.heads ? ""
                                             : fmt::format("head must be between 1 and {}, got {}", config.heads, head);
}

}  // namespace headscope
