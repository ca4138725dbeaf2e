#include "cli/look/attention_corpus.h"

#include <cstdint>
#include <iterator>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "cli/command.h"
#include "cli/look/corpus_report.h"
#include "explore/corpus_importance.h"
#include "figures/corpus_drawings.h"
#include "infer/framed_line.h"
#include "model/family.h"
#include "observe/corpus_search.h"
#include "observe/recorded_text.h"
#include "options/progress.h"
#include "support/check.h"
#include "support/counted.h"
#include "text/lines.h"
#include "text/normalised.h"

namespace headscope {

namespace {

// Lines of "source TAB target", or of a language model's texts. Empty lines are skipped.
CorpusText read_corpus(const CorpusLook& look, Architecture family, bool needs_target) {
    LineReader reader(look.corpus);
    CorpusText text;
    for (std::string line; (look.limit == 0 || text.targets.size() < look.limit) && reader.next(line);) {
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

// What a look found, as bytes.
struct Looked {
    std::string bytes;
    std::string left_out;  // "3 sentences"; empty: none
};

// The request for one sentence; nullopt if the model cannot read it.
std::optional<RecordRequest> sentence_request(const LoadedModel& model, const CorpusLook& look,
                                              const CorpusText& corpus, std::size_t at) {
    RecordRequest request = look.request;
    const bool reads_target = request.selection.kind == AttentionKind::DecoderSelf;
    const Languages languages = model.search_options(request.choices).languages;
    if (!traits(model.model().config.architecture).reads_source) {
        request.text = corpus.targets[at];
        return fits(model, languages, "", request.text) ? std::optional(request) : std::nullopt;
    }
    request.text = corpus.sources[at];
    request.target = reads_target ? corpus.targets[at] : "";
    const bool lacks_target = reads_target && request.target.empty();
    return !lacks_target && fits(model, languages, request.text, request.target) ? std::optional(request)
                                                                                 : std::nullopt;
}

std::string to_bytes(const std::vector<CorpusFinding>& findings, Architecture family, const CorpusLook& look) {
    return look.format.picture != nullptr
               ? write_picture(draw_findings(findings, look.picture.figure.look), look.picture, *look.format.picture)
           : look.format.json ? json_of(findings)
                              : text_of(findings, family);
}

Looked search(const Place& place, const CorpusLook& look, const CorpusText& corpus, const CorpusLook::Find& find) {
    const AttentionSelection& selection = look.request.selection;
    std::vector<CorpusSearch> searches;
    for (const CorpusQuery& query : find.queries) {
        searches.emplace_back(query, selection.kind, selection.rows.join_words);
    }
    ProgressMeter progress("sentence", std::ssize(corpus.targets));
    std::size_t left_out = 0;
    for (std::size_t i = 0; i < corpus.targets.size(); ++i) {
        place.go_on();
        const std::optional<RecordRequest> request = sentence_request(place.model, look, corpus, i);
        if (!request.has_value()) {
            ++left_out;
            continue;
        }
        const AttentionRecord record = record_for(place.backend, place.model, *request);
        for (CorpusSearch& search : searches) {
            search.add(record);
        }
        progress.done(static_cast<std::int64_t>(i) + 1);
    }
    std::vector<CorpusFinding> findings;
    for (const CorpusSearch& search : searches) {
        try {
            findings.push_back(search.result());
        } catch (const Error& error) {  // the other rules may have questions
            if (&search == &searches.back() && findings.empty()) {
                throw;
            }
            progress.clear();
            log_error(fmt::format("headscope: {}", error.what()));
        }
    }
    return {to_bytes(findings, place.model.model().config.architecture, look),
            left_out > 0 ? counted(left_out, "sentence") : ""};
}

std::string to_bytes(const CorpusImportance& importance, const CorpusLook& look) {
    const FigureOptions& figure = look.picture.figure;
    return look.format.picture != nullptr
               ? write_picture(draw_corpus_importance(importance, figure.palette, figure.look), look.picture,
                               *look.format.picture)
           : look.format.json ? json_of(importance)
                              : text_of(importance);
}

Looked measure(const Place& place, const CorpusLook& look, const CorpusText& corpus,
               const CorpusLook::Importance& wanted) {
    ProgressMeter progress("measurement");
    const CorpusImportanceOptions options{
        .translation = {.search = place.model.search_options(look.request.choices), .compute = place.compute},
        .bleu = wanted.bleu};
    const CorpusImportance importance = measure_corpus_importance(
        place.backend, place.model, corpus, options, [&](std::size_t done, std::size_t total) {
            progress.set_all(static_cast<std::int64_t>(total));
            progress.done(static_cast<std::int64_t>(done));
        });
    return {to_bytes(importance, look), importance.left_out > 0 ? counted(importance.left_out, "pair") : ""};
}

}  // namespace

std::string look_at_corpus(OpenedEngine& opened, const CorpusLook& look) {
    const auto* find = std::get_if<CorpusLook::Find>(&look.question);
    const bool pairs = find == nullptr || look.request.selection.kind != AttentionKind::EncoderSelf;
    const CorpusText corpus = read_corpus(look, opened.directory().config.architecture, pairs);
    Looked looked;
    opened.run([&](const Place& place) {
        place.go_on();
        looked = find != nullptr ? search(place, look, corpus, *find)
                                 : measure(place, look, corpus, std::get<CorpusLook::Importance>(look.question));
    });
    if (!looked.left_out.empty()) {
        log_line(fmt::format("headscope: left out {}: empty, or too long for the model", looked.left_out));
    }
    return looked.bytes;
}

}  // namespace headscope
