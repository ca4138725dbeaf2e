#include "infer/translator.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <utility>

#include "data/batch.h"
#include "infer/model_scorer.h"
#include "support/check.h"

namespace headscope {

namespace {

std::shared_ptr<const Parameters> read_parameters(Backend& backend, const ModelDirectory& model, DType storage) {
    auto parameters = std::make_shared<Parameters>(backend, model.config, false, storage);
    load_parameters(backend, (std::filesystem::path(model.path) / "model.safetensors").string(), *parameters);
    return parameters;
}

}  // namespace

Translator::Translator(Backend& backend, const std::string& directory, DType storage)
    : backend_(backend),
      model_(open_model_directory(directory)),
      parameters_(read_parameters(backend, model_, storage)),
      transformer_(std::make_shared<Transformer>(model_.config, *parameters_)) {}

Translator::Translator(Backend& backend, ModelDirectory model, std::shared_ptr<const Parameters> parameters)
    : backend_(backend),
      model_(std::move(model)),
      parameters_(std::move(parameters)),
      transformer_(std::make_shared<Transformer>(model_.config, *parameters_)) {}

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

TranslatedSentence Translator::prepare_line(const std::string& line) const {
    TranslatedSentence sentence;
    try {
        sentence.source_ids = model_.source_tokenizer->encode(line);
    } catch (const Error& error) {
        sentence.problem = error.what();
        return sentence;
    }
    if (sentence.source_ids.empty()) {
        return sentence;
    }
    sentence.source_ids.push_back(model_.config.eos_id);
    const auto length = static_cast<std::int64_t>(sentence.source_ids.size());
    if (length > model_.config.max_length) {
        sentence.problem = fmt::format(
            "{} pieces with the end of sentence, and the model takes at most {}: split the line "
            "into sentences",
            length, model_.config.max_length);
        sentence.source_ids = {};
    }
    return sentence;
}

Translator::Work Translator::prepare(const std::vector<std::string>& lines, const TranslationOptions& options) const {
    Work work;
    std::vector<std::int64_t> lengths;
    for (const std::string& line : lines) {
        work.sentences.push_back(prepare_line(line));
        lengths.push_back(static_cast<std::int64_t>(work.sentences.back().source_ids.size()));
    }
    work.batches = batches_by_length(lengths, options.batch_tokens);
    return work;
}

void Translator::translate_batch(Work& work, const std::vector<std::size_t>& batch,
                                 const TranslationOptions& options) const {
    const ModelConfig& config = model_.config;
    std::vector<std::vector<std::int32_t>> pieces;
    std::vector<std::int64_t> limits;
    for (const std::size_t index : batch) {
        const std::vector<std::int32_t>& source = work.sentences[index].source_ids;
        pieces.emplace_back(source.begin(), source.end() - 1);
        limits.push_back(
            std::min(static_cast<std::int64_t>(source.size()) + options.search.max_extra, config.max_length));
    }
    Context ctx{.backend = backend_, .compute = options.compute};
    ModelScorer scorer(ctx, *transformer_, pieces);
    const TokenRules rules = token_rules(config, options.search.allow_unknown);
    std::vector<Hypothesis> found = search(scorer, limits, config.bos_id, rules, options.search);
    for (std::size_t i = 0; i < batch.size(); ++i) {
        TranslatedSentence& sentence = work.sentences[batch[i]];
        if (found[i].end == EndReason::Unusable) {
            sentence.problem = unusable_message(found[i]);
            continue;
        }
        sentence.target_ids = std::move(found[i].tokens);
        sentence.log_probability = found[i].log_probability;
        sentence.score = found[i].score;
        sentence.end = found[i].end;
        std::vector<std::int32_t> words = sentence.target_ids;
        if (!words.empty() && words.back() == config.eos_id) {
            words.pop_back();
        }
        sentence.text = model_.target_tokenizer->decode(words);
    }
}

std::vector<TranslatedSentence> Translator::translate(const std::vector<std::string>& lines,
                                                      const TranslationOptions& options) const {
    Work work = prepare(lines, options);
    for (const std::vector<std::size_t>& batch : work.batches) {
        translate_batch(work, batch, options);
    }
    return std::move(work.sentences);
}

void Translator::translate_in_order(const std::vector<std::string>& lines, const TranslationOptions& options,
                                    const TranslatedSink& sink) const {
    Work work = prepare(lines, options);
    // The batch of the first line that is waited for comes first, so that results begin to go out at once.
    const auto soonest = [](const std::vector<std::size_t>& batch) {
        return *std::min_element(batch.begin(), batch.end());
    };
    std::sort(work.batches.begin(), work.batches.end(),
              [&](const auto& a, const auto& b) { return soonest(a) < soonest(b); });
    std::vector<bool> finished(lines.size(), true);
    std::size_t count = lines.size();
    for (const std::vector<std::size_t>& batch : work.batches) {
        count -= batch.size();
        for (const std::size_t index : batch) {
            finished[index] = false;
        }
    }
    std::size_t handed_out = 0;
    const auto hand_out = [&] {
        std::vector<TranslatedSentence> next;
        for (; handed_out < lines.size() && finished[handed_out]; ++handed_out) {
            next.push_back(std::move(work.sentences[handed_out]));
        }
        sink(std::move(next), count);
    };
    hand_out();
    for (const std::vector<std::size_t>& batch : work.batches) {
        translate_batch(work, batch, options);
        count += batch.size();
        for (const std::size_t index : batch) {
            finished[index] = true;
        }
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
