#include "cli/look/attention_recording.h"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

#include "cli/command.h"
#include "infer/framed_line.h"
#include "model/family.h"
#include "observe/decoding_recorder.h"
#include "observe/family_labels.h"
#include "observe/head_search.h"
#include "observe/record_attention.h"
#include "support/check.h"
#include "support/usage_error.h"

namespace headscope {

namespace {

// The layer of the paper's Figures 3 to 5.
constexpr int kPaperLayer = 5;

// Error for a text that is empty or too long. `around`: tokens that the model reads or predicts around it.
void check_text(const RecordedText& text, const char* option, std::int64_t around, const ModelConfig& config) {
    if (text.ids.empty()) {
        throw UsageError(fmt::format("{} is empty", option));
    }
    const auto length = std::ssize(text.ids) + around;
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
AttentionRecord record_language(Backend& backend, const LoadedModel& translator, const AttentionOptions& options,
                                const RecordOptions& record) {
    const ModelDirectory& model = translator.model();
    RecordedText text = encode_language_text(model, options.text);
    if (text.ids.empty()) {
        throw UsageError("--text is empty");
    }
    if (options.max_tokens > 0) {
        const SearchOptions search =
            translator.search_options({.beam = options.choices.beam, .max_extra = options.max_tokens});
        const TextResult found = translator.translate_line(options.text, {.search = search, .compute = record.compute});
        text = with_continuation(*model.target_tokenizer, model.config, text, found.target_ids);
    }
    return record_attention(backend, translator.network(), {}, text, record);
}

}  // namespace

void check_family_options(const AttentionOptions& options, Architecture family) {
    const bool translates = traits(family).reads_source;
    const bool completes = traits(family).continues_text;
    for (const auto& [option, given, applies] :
         {std::tuple("--target", !options.target.empty(), translates),
          std::tuple("--pads", options.pads > 0, translates),
          std::tuple("--max-tokens", options.max_tokens > 0, completes),
          std::tuple("--beam", options.choices.beam.has_value(), translates || completes)}) {
        if (given && !applies) {
            throw UsageError(fmt::format("{} does not apply to this model: it is a {}", option, name_of(family)));
        }
    }
    if (completes && options.choices.beam.has_value() && options.max_tokens == 0) {
        throw UsageError("--beam needs --max-tokens: without it nothing is written");
    }
}

AttentionSelection checked_selection(const AttentionOptions& options, const ModelConfig& config) {
    AttentionSelection selection = options.selection;
    selection.kind = options.kind.empty() ? usual_kind(config) : parse_attention_kind(options.kind);
    if (kinds_of(config).empty()) {
        throw Error(kNoAttention);
    }
    const int layers = layers_of(config, traits(config.architecture, selection.kind).kind);
    if (selection.layer == 0 && options.find.empty() && !options.all_heads) {
        selection.layer = std::min(kPaperLayer, layers);
    }
    if (selection.layer != 0 || layers == 0) {
        check_layer(selection.kind, selection.layer, layers);
    }
    check_heads(selection.heads, heads_of(config, selection.kind));
    selection.rows = {
        .join_words = !options.pieces, .show_pads = options.pads > 0, .show_special = !options.no_special};
    return selection;
}

void choose_found(AttentionSelection& selection, const AttentionRecord& record, const AttentionOptions& options) {
    const std::vector<FoundHead> found = find_heads(record, selection, parse_head_query(options.find));
    if (options.rank > static_cast<int>(found.size())) {
        throw UsageError(fmt::format("--rank {} is out of range: the search found {}", options.rank, found.size()));
    }
    const AttentionSite site = found[static_cast<std::size_t>(options.rank - 1)].site;
    selection.layer = site.layer + 1;
    selection.heads.clear();
    for (auto at = found.begin() + (options.rank - 1);
         at != found.end() && static_cast<int>(selection.heads.size()) < options.best; ++at) {
        if (at->site == site) {
            selection.heads.push_back(at->head);
            log_line(fmt::format("layer {}, head {}: {}", selection.layer, at->head, at->what));
        }
    }
    std::sort(selection.heads.begin(), selection.heads.end());
}

AttentionRecord record_for(Backend& backend, const LoadedModel& translator, const AttentionOptions& options,
                           const AttentionSelection& selection) {
    const ModelDirectory& model = translator.model();
    const RecordOptions record{.sites = recorded_sites(selection, model.config),
                               .source_pads = options.pads,
                               .compute = chosen_arithmetic(backend, options.common.precision).compute};
    if (!traits(model.config.architecture).reads_source) {
        return record_language(backend, translator, options, record);
    }
    const SearchOptions search = translator.search_options(options.choices);
    const Frame frame = frame_line(model, search.languages, options.text).frame;
    const RecordedText source = encode_source(model, search.languages, options.text);
    check_text(source, "--text", frame.around_source(), model.config);
    if (!options.target.empty()) {
        const RecordedText target = encode_target(model, frame, options.target);
        check_text(target, "--target", frame.around_target(), model.config);
        return record_attention(backend, translator.transformer(), source, target, record);
    }
    if (selection.kind == AttentionKind::EncoderSelf) {
        return record_attention(backend, translator.transformer(), source, {}, record);
    }
    if (options.pads > 0) {
        throw UsageError("--pads needs --target or --kind encoder: the model translates without pads");
    }
    return record_translation(backend, translator.transformer(), *model.target_tokenizer, source, search, record, frame)
        .record;
}

}  // namespace headscope
