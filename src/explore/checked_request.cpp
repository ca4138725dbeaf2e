#include "explore/checked_request.h"

#include <algorithm>
#include <iterator>

#include <nlohmann/json.hpp>

#include <fmt/format.h>

#include "backend/ops/search.h"
#include "infer/conversation.h"
#include "infer/decoding_keys.h"
#include "infer/filler.h"
#include "infer/framed_line.h"
#include "model/family.h"
#include "model/generator.h"
#include "model/model_chat.h"
#include "observe/family_labels.h"
#include "support/check.h"
#include "text/added_token.h"
#include "text/shown_picture.h"

namespace headscope {

namespace {

// Error if an option is out of range, or no search that is explored obeys it.
void check_options(const ModelConfig& config, const ExploreRequest& request) {
    for (const DecodingKey& key : decoding_keys()) {
        if (!key.explored && !key.chosen(key, request.search).is_null()) {
            throw Error(
                fmt::format("request: \"{}\" is for texts that are written: a search that is explored does not obey "
                            "it: leave it out",
                            key.key));
        }
    }
    check_search_options(request.search.over({}));
    if (request.candidates < 0 || request.candidates > LogSoftmaxTopK::kMaxK) {
        throw Error(fmt::format("candidates per step must be between 0 and {}, got {}", LogSoftmaxTopK::kMaxK,
                                request.candidates));
    }
    check_edits(config, request.edits);
}

void check_pads(const ModelConfig& config, const CheckedRequest& request) {
    const std::int64_t length = request.source_length + request.source_pads;
    if (request.source_pads < 0 || length > config.max_length) {
        throw Error(
            fmt::format("cannot add {} pads: the sentence and its pads have {} tokens, but the model takes at most {}",
                        request.source_pads, length, config.max_length));
    }
    if (request.source_pads > 0 && !request.target) {
        throw Error("pads need a given translation: the search runs without pads");
    }
}

void check_length(const char* which, std::int64_t length, std::int64_t most) {
    if (length > most) {
        throw Error(
            fmt::format("the {} has {} tokens including the end of sentence, but the model takes at most {}: split it "
                        "into sentences",
                        which, length, most));
    }
}

// The class of a picture, if it is given.
std::vector<std::int32_t> class_of(const ModelDirectory& model, const ExploreRequest& request) {
    if (request.target) {
        throw Error("a classifier reads no target: give the number of a class among the target's tokens, or none");
    }
    const std::int64_t classes = std::ssize(model.config.output.labels);
    const std::vector<std::int32_t>& given = request.target_tokens;
    if (given.size() > 1 || (given.size() == 1 && (given.front() < 0 || given.front() >= classes))) {
        throw Error(fmt::format("a picture has one of {} classes, whose numbers begin with 0", classes));
    }
    return given;
}

std::vector<std::int32_t> sentinels_in(const Tokenizer& tokenizer, const std::vector<std::int32_t>& ids) {
    std::vector<std::int32_t> found;
    std::ranges::copy_if(ids, std::back_inserter(found), [&](std::int32_t id) {
        return tokenizer.vocabulary().piece(id).kind == PieceKind::Control && is_sentinel(tokenizer.piece(id));
    });
    return found;
}

void read_pair(const ModelDirectory& model, const ExploreRequest& request, CheckedRequest& checked) {
    checked.frame = frame_line(model, checked.search.languages, request.source).frame;
    checked.source = encode_source(model, checked.search.languages, request.source);
    if (checked.source.ids.empty()) {
        throw Error("the source sentence is empty: write a sentence");
    }
    checked.source_length = checked.frame.source_positions(std::ssize(checked.source.ids));
    if (checked.frame.patches) {
        checked.picture =
            std::make_shared<const PixelPicture>(picture_to_show(request.source, checked.frame.patches->shape));
        if (request.source_pads > 0) {
            throw Error("pads do not apply to pictures, which all have as many patches");
        }
    }
    check_length("sentence", checked.source_length, model.config.max_length);
    if (!checked.frame.patches) {
        checked.sentinels = sentinels_in(*model.source_tokenizer, checked.source.ids);
    }
    if (!traits(model.config.architecture).writes_pieces) {
        checked.fills = class_of(model, request);
    } else if (has_target(request)) {
        checked.target = request.target_tokens.empty()
                             ? encode_target(model, checked.frame, *request.target)
                             : text_of_output(*model.target_tokenizer, model.config, request.target_tokens,
                                              checked.frame.target_begin.size());
        check_length("translation", std::ssize(checked.target->ids) + checked.frame.around_target(),
                     model.config.max_length + (checked.target->ended ? 0 : 1));
    }
    check_pads(model.config, checked);
    if (!checked.sentinels.empty() && !has_target(request) && !checked.search.sample) {
        checked.search.n_best = std::max(checked.search.n_best, checked.search.beam);  // what may fill the gaps
    }
}

// The ids of the given continuation.
std::vector<std::int32_t> continuation_of(const ModelDirectory& model, const ExploreRequest& request,
                                          std::size_t prompt) {
    const Tokenizer& tokenizer = *model.target_tokenizer;
    if (!request.target_tokens.empty()) {
        return request.target_tokens;
    }
    if (request.chat && !request.target->empty()) {
        return encode_reply(model, request.source, *request.target, request.earlier);
    }
    return prompt == 0 ? tokenizer.encode(*request.target) : encode_continuation(tokenizer, *request.target);
}

void read_prompt(const ModelDirectory& model, const ExploreRequest& request, CheckedRequest& checked) {
    const Tokenizer& tokenizer = *model.target_tokenizer;
    checked.source = request.chat ? encode_message(model, request.source, request.earlier)
                                  : encode_language_text(model, request.source);
    if (request.chat) {
        checked.search.ends = reply_ends(std::move(checked.search.ends), chat_encoder(model), model.config);
    }
    checked.prompt = checked.source.ids.size();
    if (checked.prompt == 0 && model.config.frame.bos_id < 0) {
        throw Error("the prompt is empty, but the model's texts start with a piece: give it some text");
    }
    if (has_target(request)) {
        checked.target =
            with_continuation(tokenizer, model.config, checked.source, continuation_of(model, request, checked.prompt));
    }
}

void read_masked(const ModelDirectory& model, const ExploreRequest& request, CheckedRequest& checked) {
    if (request.target) {
        throw Error("a masked language model continues no text: put [MASK] where a token is to be filled in");
    }
    checked.target = encode_language_text(model, request.source);
    checked.source_length = static_cast<std::int64_t>(checked.target->ids.size()) + 2;
    checked.fills = request.target_tokens;
    const auto masks = std::count(checked.target->ids.begin(), checked.target->ids.end(), model.config.frame.mask_id);
    if (!checked.fills.empty() && std::ssize(checked.fills) != masks) {
        throw Error(fmt::format("the text has {} masks, but {} tokens to fill them", masks, checked.fills.size()));
    }
}

void read_texts(const ModelDirectory& model, const ExploreRequest& request, CheckedRequest& checked) {
    require_left_to_right(model.config);
    if (request.chat) {
        require_architecture(model, Architecture::CausalLm);
    }
    if (traits(model.config.architecture).reads_source) {
        read_pair(model, request, checked);
        return;
    }
    if (request.source_pads != 0) {
        throw Error("a language model reads its text without pads");
    }
    traits(model.config.architecture).continues_text ? read_prompt(model, request, checked)
                                                     : read_masked(model, request, checked);
}

}  // namespace

CheckedRequest check_request(const LoadedModel& translator, const ExploreRequest& request) {
    CheckedRequest checked{
        .edits = request.edits, .source_pads = request.source_pads, .candidates = request.candidates};
    try {
        check_options(translator.model().config, request);
        checked.search = translator.search_options(request.search);
        if (request.layer.has_value()) {
            checked.sites = {*request.layer};
            checked.problem = missing_head(translator.model().config, *request.layer, 1);
        }
        read_texts(translator.model(), request, checked);
    } catch (const Error& error) {
        checked.problem = error.what();
    }
    return checked;
}

CheckedRequest check_request_with_target(const LoadedModel& translator, const ExploreRequest& request) {
    CheckedRequest checked = check_request(translator, request);
    const ModelConfig& config = translator.model().config;
    if (checked.problem.empty() && !checked.target && checked.fills.empty()) {
        checked.problem =
            traits(config.architecture).writes_pieces || config.output.has_classes()
                ? fmt::format("a {} is required: give one", traits(config.architecture).predicted_in)
                : "this model gives a picture a number, not classes: its heads can be seen, but not measured";
    }
    return checked;
}

CheckedRequest check_text_with_target(const LoadedModel& translator, const ExploreRequest& request) {
    try {
        require_text_input(translator.model(), "this view of a text");
    } catch (const Error& error) {
        return {.problem = error.what()};
    }
    return check_request_with_target(translator, request);
}

void check_edits(const ModelConfig& config, const std::vector<AttentionEdit>& edits) {
    for (const AttentionEdit& edit : edits) {
        if (const std::string missing = missing_head(config, edit.site, edit.head); !missing.empty()) {
            throw Error(missing);
        }
        if (edit.kind == EditKind::Pin && edit.key < 0) {
            throw Error("pinning attention needs a token to pin it to");
        }
        if (edit.kind == EditKind::Unmasked && edit.site.kind != AttentionKind::DecoderSelf) {
            throw Error(fmt::format("only a decoder's self-attention has a causal mask to take off, not {} attention",
                                    name_of(edit.site.kind)));
        }
        if (edit.kind == EditKind::Unmasked && config.generation != Generation::LeftToRight) {
            throw Error(
                "this model writes all words in turns (\"generation\" is \"mask_predict\"): no mask to take off");
        }
        if (edit.kind == EditKind::Unmasked && config.attention.score == AttentionScore::Additive) {
            throw Error(
                "the causal mask can be taken off where scores are dot products; this model's \"attention.score\" is "
                "\"additive\"");
        }
    }
}

bool has_target(const ExploreRequest& request) {
    return request.target.has_value() || !request.target_tokens.empty();
}

std::string missing_head(const ModelConfig& config, const AttentionSite& site, int head) {
    try {
        check_layer(site.kind, site.layer + 1, layers_of(config, site.kind));
    } catch (const Error& error) {
        return error.what();
    }
    const int heads = heads_of(config, site.kind);
    return head >= 1 && head <= heads ? "" : fmt::format("head must be between 1 and {}, got {}", heads, head);
}

}  // namespace headscope
