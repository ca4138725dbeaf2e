#include "cli/look/attention_corpus.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/command.h"
#include "cli/look/corpus_report.h"
#include "cli/opened_engine.h"
#include "cli/score/progress.h"
#include "explore/corpus_importance.h"
#include "figures/corpus_drawings.h"
#include "infer/framed_line.h"
#include "io/input_files.h"
#include "model/family.h"
#include "observe/corpus_search.h"
#include "observe/recorded_text.h"
#include "paint/png.h"
#include "paint/svg.h"
#include "support/check.h"
#include "support/counted.h"
#include "support/usage_error.h"
#include "text/lines.h"
#include "text/normalised.h"

namespace headscope {

namespace {

// Lines of "source TAB target", or of a language model's texts. Empty lines are skipped.
CorpusText read_corpus(const AttentionOptions& options, Architecture family, bool needs_target) {
    LineReader reader(options.corpus);
    CorpusText text;
    for (std::string line; (options.limit == 0 || text.targets.size() < options.limit) && reader.next(line);) {
        const std::size_t tab = traits(family).reads_source ? line.find('\t') : std::string::npos;
        const std::string first = line.substr(0, tab);
        if (is_empty_text(first)) {
            continue;
        }
        if (traits(family).reads_source && needs_target && tab == std::string::npos) {
            throw Error(fmt::format("{}, line {}: expected \"source TAB target\", found no TAB", reader.name(),
                                    reader.number()));
        }
        const bool translates = traits(family).reads_source;
        text.sources.push_back(translates ? first : "");
        text.targets.push_back(!translates ? first : tab == std::string::npos ? "" : line.substr(tab + 1));
    }
    if (text.targets.empty()) {
        throw Error(reader.name() + " has no text");
    }
    return text;
}

// Whether the model can read this sentence, or sentence pair.
bool fits(const LoadedModel& translator, const Languages& languages, const std::string& source,
          const std::string& target) {
    const ModelDirectory& model = translator.model();
    const auto within = [&](const RecordedText& text, std::int64_t around) {
        return !text.ids.empty() && std::ssize(text.ids) + around <= model.config.max_length;
    };
    if (!traits(model.config.architecture).reads_source) {
        return within(encode_language_text(model, target), 0);
    }
    const Frame frame = frame_line(model, languages, source).frame;
    return within(encode_source(model, languages, source), frame.around_source()) &&
           (target.empty() || within(encode_target(model, frame, target), frame.around_target()));
}

std::vector<CorpusFinding> search(Backend& backend, const LoadedModel& translator, const AttentionOptions& options,
                                  const CorpusText& corpus, AttentionSelection selection, std::size_t& left_out) {
    const bool translates = traits(translator.model().config.architecture).reads_source;
    const Languages languages = translator.search_options(options.choices).languages;
    std::vector<CorpusSearch> searches;
    for (const CorpusQuery& query : parse_corpus_queries(options.find)) {
        searches.emplace_back(query, selection.kind, selection.rows.join_words);
    }
    AttentionOptions one = options;
    TimedProgress progress;
    left_out = 0;
    for (std::size_t i = 0; i < corpus.targets.size(); ++i) {
        one.text = translates ? corpus.sources[i] : corpus.targets[i];
        one.target = translates && selection.kind == AttentionKind::DecoderSelf ? corpus.targets[i] : "";
        const bool lacks_target = translates && selection.kind == AttentionKind::DecoderSelf && one.target.empty();
        if (lacks_target || !fits(translator, languages, one.text, translates ? one.target : one.text)) {
            ++left_out;
            continue;
        }
        const AttentionRecord record = record_for(backend, translator, one, selection);
        for (CorpusSearch& search : searches) {
            search.add(record);
        }
        progress.show(fmt::format("{} of {} sentences", i + 1, corpus.targets.size()));
    }
    std::vector<CorpusFinding> findings;
    for (const CorpusSearch& search : searches) {
        findings.push_back(search.result());
    }
    return findings;
}

std::string picture(const Drawing& drawing, double scale, PictureFormat format) {
    return format == PictureFormat::Svg ? to_svg(drawing) : to_png(rasterise(drawing, scale));
}

std::string finding_bytes(const std::vector<CorpusFinding>& findings, Architecture family,
                          const PictureOptions& options, PictureFormat format) {
    switch (format) {
        case PictureFormat::Text: return text_of(findings, family);
        case PictureFormat::Json: return json_of(findings);
        default: return picture(draw_findings(findings, options.figure.look), options.scale, format);
    }
}

std::string importance_bytes(const CorpusImportance& importance, const PictureOptions& options, PictureFormat format) {
    switch (format) {
        case PictureFormat::Text: return text_of(importance);
        case PictureFormat::Json: return json_of(importance);
        default:
            return picture(draw_corpus_importance(importance, options.figure.palette, options.figure.look),
                           options.scale, format);
    }
}

}  // namespace

std::string look_at_corpus(const AttentionOptions& options, PictureFormat format) {
    if (options.find.empty() != options.importance) {
        throw UsageError("--corpus needs either --find or --importance");
    }
    if (!options.find.empty()) {
        parse_corpus_queries(options.find);  // reports mistakes before loading the model
    }
    const std::string directory = options.common.model_path();
    InputFiles inputs(options.common.open.settings);
    inputs.add(directory);
    inputs.add({options.corpus});
    inputs.refuse(options.output);
    OpenedEngine opened(options.common, {directory});
    const ModelConfig& config = opened.directory().config;
    check_family_options(options, config.architecture);
    const AttentionSelection selection = checked_selection(options, config);
    const bool pairs = options.importance || selection.kind != AttentionKind::EncoderSelf;
    const CorpusText corpus = read_corpus(options, config.architecture, pairs);
    std::string bytes;
    std::size_t left_out = 0;
    opened.run([&](const Place& place) {
        if (!options.find.empty()) {
            bytes = finding_bytes(search(place.backend, place.model, options, corpus, selection, left_out),
                                  config.architecture, options.picture, format);
            return;
        }
        TimedProgress progress;
        const CorpusImportanceOptions chosen{
            .translation = {.search = place.model.search_options(options.choices), .compute = place.compute},
            .bleu = options.bleu};
        const CorpusImportance importance = measure_corpus_importance(
            place.backend, place.model, corpus, chosen, [&](std::size_t done, std::size_t total) {
                progress.show(fmt::format("{} of {} measurements", done, total));
            });
        left_out = importance.left_out;
        bytes = importance_bytes(importance, options.picture, format);
    });
    if (left_out > 0) {
        log_line(fmt::format("headscope: left out {}: empty, or too long for the model",
                             counted(left_out, options.importance ? "pair" : "sentence")));
    }
    return bytes;
}

}  // namespace headscope
