#include "cli/look/attention_recording.h"

#include <fmt/format.h>

#include "infer/conversation.h"
#include "infer/framed_line.h"
#include "model/family.h"
#include "model/model_chat.h"
#include "observe/decoding_recorder.h"
#include "observe/family_labels.h"
#include "observe/record_attention.h"
#include "support/check.h"
#include "support/usage_error.h"

namespace headscope {

namespace {

// Error for a text that is empty or too long. `length`: with the tokens that the model reads or predicts around it.
void check_text(const RecordedText& text, const char* option, std::int64_t length, const ModelConfig& config) {
    if (text.ids.empty()) {
        throw UsageError(fmt::format("{} is empty", option));
    }
    if (length > config.max_length) {
        throw Error(fmt::format("{} has {} pieces including its end, but the model takes at most {}", option, length,
                                config.max_length));
    }
}

// One layer, or all layers of the kind for a search or --all-heads.
std::vector<AttentionSite> recorded_sites(const AttentionSelection& selection, const ModelConfig& config) {
    if (selection.layer != 0) {
        return {{selection.kind, selection.layer - 1}};
    }
    std::vector<AttentionSite> sites;
    const int layers = layers_of(config, selection.kind);
    sites.reserve(static_cast<std::size_t>(layers));
    for (int layer = 0; layer < layers; ++layer) {
        sites.push_back({selection.kind, layer});
    }
    return sites;
}

// Records the attention of a given text, or of a prompt and its continuation.
AttentionRecord record_language(Backend& backend, const LoadedModel& translator, const RecordRequest& request,
                                const RecordOptions& record) {
    const ModelDirectory& model = translator.model();
    RecordedText text = request.chat ? encode_message(model, request.text) : encode_language_text(model, request.text);
    if (text.ids.empty()) {
        throw UsageError("--text is empty");
    }
    if (request.max_tokens > 0) {
        SearchOptions search =
            translator.search_options({.beam = request.choices.beam, .max_extra = request.max_tokens});
        SourceLine prompt{.text = request.text, .number = 1};
        if (request.chat) {
            prompt = {.text = {}, .number = 1, .ids = target_in_ids(model.config, text)};
            search.ends = reply_ends(std::move(search.ends), chat_encoder(model), model.config);
        }
        const TextResult found = translator.translate({prompt}, {.search = search, .compute = record.compute}).front();
        if (!found.problem.empty()) {
            throw Error(found.problem);
        }
        text = with_continuation(*model.target_tokenizer, model.config, text, found.target_ids);
    }
    return record_attention(backend, translator.network(), {}, text, record);
}

}  // namespace

AttentionRecord record_for(Backend& backend, const LoadedModel& translator, const RecordRequest& request) {
    const ModelDirectory& model = translator.model();
    const RecordOptions record{.sites = recorded_sites(request.selection, model.config),
                               .source_pads = request.pads,
                               .compute = chosen_arithmetic(backend, request.precision).compute};
    if (request.chat) {
        require_architecture(model, Architecture::CausalLm);
    }
    if (!traits(model.config.architecture).reads_source) {
        return record_language(backend, translator, request, record);
    }
    if (model.config.input.patches() && request.pads > 0) {
        throw UsageError("--pads does not apply to pictures, which all have as many patches");
    }
    const SearchOptions search = translator.search_options(request.choices);
    const Frame frame = frame_line(model, search.languages, request.text).frame;
    const RecordedText source = encode_source(model, search.languages, request.text);
    check_text(source, "--text", frame.source_positions(std::ssize(source.ids)), model.config);
    if (!request.target.empty()) {
        const RecordedText target = encode_target(model, frame, request.target);
        check_text(target, "--target", std::ssize(target.ids) + frame.around_target(), model.config);
        return record_attention(backend, translator.transformer(), source, target, record);
    }
    if (request.selection.kind == AttentionKind::EncoderSelf) {
        return record_attention(backend, translator.network(), source, {}, record);
    }
    if (request.pads > 0) {
        throw UsageError("--pads needs --target or --kind encoder: the model translates without pads");
    }
    return record_translation(backend, translator.transformer(), *model.target_tokenizer, source, search, record, frame)
        .record;
}

}  // namespace headscope
