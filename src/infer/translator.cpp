#include "infer/translator.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <numeric>
#include <utility>

#include "data/batch.h"
#include "infer/beam_search.h"
#include "infer/ensemble.h"
#include "support/check.h"

namespace headscope {

namespace {

std::shared_ptr<const Parameters> read_parameters(Backend& backend, const ModelDirectory& model, DType storage) {
    auto parameters = std::make_shared<Parameters>(backend, model.config, false, storage);
    load_parameters(backend, (std::filesystem::path(model.path) / "model.safetensors").string(), *parameters);
    return parameters;
}

std::vector<SourceLine> numbered(const std::vector<std::string>& lines) {
    std::vector<SourceLine> sources;
    for (const std::string& line : lines) {
        sources.push_back({.text = line, .number = static_cast<std::uint32_t>(sources.size() + 1)});
    }
    return sources;
}

}  // namespace

Translator::Translator(Backend& backend, const std::string& directory, DType storage)
    : Translator(backend, std::vector<std::string>{directory}, storage) {}

Translator::Translator(Backend& backend, const std::vector<std::string>& directories, DType storage)
    : backend_(backend),
      model_(open_model_directory(directories.at(0))),
      parameters_(read_parameters(backend, model_, storage)),
      transformer_(std::make_shared<Transformer>(model_.config, *parameters_)),
      longest_(model_.config.max_length) {
    for (auto directory = directories.begin() + 1; directory != directories.end(); ++directory) {
        const ModelDirectory other = open_model_directory(*directory);
        check_same_vocabulary(model_, other);
        const auto parameters = read_parameters(backend, other, storage);
        others_.push_back({parameters, std::make_shared<Transformer>(other.config, *parameters)});
        longest_ = std::min(longest_, other.config.max_length);
    }
}

Translator::Translator(Backend& backend, ModelDirectory model, std::shared_ptr<const Parameters> parameters)
    : backend_(backend),
      model_(std::move(model)),
      parameters_(std::move(parameters)),
      transformer_(std::make_shared<Transformer>(model_.config, *parameters_)),
      longest_(model_.config.max_length) {}

std::vector<const Transformer*> Translator::transformers() const {
    std::vector<const Transformer*> all{transformer_.get()};
    std::transform(others_.begin(), others_.end(), std::back_inserter(all),
                   [](const Member& member) { return member.transformer.get(); });
    return all;
}

std::vector<std::vector<std::size_t>> batches_by_length(const std::vector<std::int64_t>& lengths, std::int64_t budget) {
    std::vector<std::size_t> order(lengths.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    // Longest first: memory that suffices for the first batch suffices for all.
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return lengths[a] > lengths[b]; });
    std::vector<std::vector<std::size_t>> batches;
    std::int64_t most_rows = 0;
    for (const std::size_t index : order) {
        if (lengths[index] == 0) {
            break;
        }
        if (batches.empty() || static_cast<std::int64_t>(batches.back().size()) >= most_rows) {
            batches.emplace_back();
            most_rows = std::max<std::int64_t>(1, budget / padded_length(lengths[index]));
        }
        batches.back().push_back(index);
    }
    return batches;
}

Translator::Work Translator::prepare(const std::vector<SourceLine>& lines, const TranslationOptions& options) const {
    Work work;
    std::vector<std::int64_t> lengths;
    for (const SourceLine& line : lines) {
        PreparedLine prepared = prepare_line(model_, line, options, longest_);
        work.lines.push_back(
            {.first_unit = work.units.size(), .units = prepared.units.size(), .remark = std::move(prepared.remark)});
        for (TranslationUnit& unit : prepared.units) {
            const bool translated = unit.sentence.problem.empty() && !unit.sentence.source_ids.empty();
            work.lines.back().waiting += translated ? 1 : 0;
            lengths.push_back(translated ? static_cast<std::int64_t>(unit.sentence.source_ids.size()) : 0);
            work.line_of.push_back(work.lines.size() - 1);
            work.units.push_back(std::move(unit));
        }
    }
    work.batches = batches_by_length(lengths, options.batch_tokens);
    return work;
}

void Translator::translate_batch(Work& work, const std::vector<std::size_t>& batch,
                                 const TranslationOptions& options) const {
    const ModelConfig& config = model_.config;
    std::vector<std::vector<std::int32_t>> pieces;
    std::vector<SearchTask> tasks;
    for (const std::size_t index : batch) {
        const TranslationUnit& unit = work.units[index];
        pieces.emplace_back(unit.sentence.source_ids.begin(), unit.sentence.source_ids.end() - 1);
        tasks.push_back(unit.task);
    }
    Context ctx{.backend = backend_, .compute = options.compute};
    const std::unique_ptr<Scorer> scorer = make_scorer(ctx, transformers(), pieces);
    auto found =
        search_tasks(*scorer, tasks, config.bos_id, token_rules(config, options.search.allow_unknown), options.search);
    for (std::size_t i = 0; i < batch.size(); ++i) {
        take_hypotheses(work.units[batch[i]].sentence, std::move(found[i]), model_);
        --work.lines[work.line_of[batch[i]]].waiting;
    }
}

TranslatedSentence Translator::finished_line(Work& work, std::size_t line, const TranslationOptions& options) {
    Work::Line& finished = work.lines[line];
    std::vector<TranslatedSentence> units;
    for (std::size_t i = 0; i < finished.units; ++i) {
        units.push_back(std::move(work.units[finished.first_unit + i].sentence));
    }
    return join_units(std::move(units), std::move(finished.remark), options.search);
}

std::vector<TranslatedSentence> Translator::translate_sources(const std::vector<SourceLine>& lines,
                                                              const TranslationOptions& options) const {
    Work work = prepare(lines, options);
    for (const std::vector<std::size_t>& batch : work.batches) {
        translate_batch(work, batch, options);
    }
    std::vector<TranslatedSentence> results;
    for (std::size_t line = 0; line < work.lines.size(); ++line) {
        results.push_back(finished_line(work, line, options));
    }
    return results;
}

std::vector<TranslatedSentence> Translator::translate(const std::vector<std::string>& lines,
                                                      const TranslationOptions& options) const {
    return translate_sources(numbered(lines), options);
}

void Translator::translate_in_order(const std::vector<std::string>& lines, const TranslationOptions& options,
                                    const TranslatedSink& sink) const {
    translate_in_order(numbered(lines), options, sink);
}

void Translator::translate_in_order(const std::vector<SourceLine>& lines, const TranslationOptions& options,
                                    const TranslatedSink& sink) const {
    Work work = prepare(lines, options);
    // The batch of the first line that is waited for comes first, so that results begin to go out at once.
    const auto soonest = [](const std::vector<std::size_t>& batch) {
        return *std::min_element(batch.begin(), batch.end());
    };
    std::sort(work.batches.begin(), work.batches.end(),
              [&](const auto& a, const auto& b) { return soonest(a) < soonest(b); });
    const auto finished = [&] {
        return std::count_if(work.lines.begin(), work.lines.end(),
                             [](const Work::Line& line) { return line.waiting == 0; });
    };
    std::size_t handed_out = 0;
    const auto hand_out = [&] {
        const auto count = static_cast<std::size_t>(finished());
        std::vector<TranslatedSentence> next;
        for (; handed_out < work.lines.size() && work.lines[handed_out].waiting == 0; ++handed_out) {
            next.push_back(finished_line(work, handed_out, options));
        }
        sink(std::move(next), count);
    };
    hand_out();
    for (const std::vector<std::size_t>& batch : work.batches) {
        translate_batch(work, batch, options);
        hand_out();
    }
}

TranslatedSentence Translator::translate_line(const std::string& line, const TranslationOptions& options) const {
    TranslatedSentence sentence = translate(std::vector<std::string>{line}, options).front();
    if (!sentence.problem.empty()) {
        throw Error(sentence.problem);
    }
    return sentence;
}

}  // namespace headscope
