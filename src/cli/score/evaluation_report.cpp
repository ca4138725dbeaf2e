#include "cli/score/evaluation_report.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "answers/json_output.h"
#include "infer/decoding_keys.h"
#include "model/family.h"
#include "support/counted.h"

namespace headscope {

namespace {

using Json = nlohmann::ordered_json;

double percent(std::size_t part, std::size_t all) {
    return all == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(all);
}

std::string words_of(const LengthScores& one) {
    return !one.most        ? fmt::format("{} and more", one.least)
           : one.least == 0 ? fmt::format("up to {}", *one.most)
                            : fmt::format("{} to {}", one.least, *one.most);
}

std::string calibration_line(const ForcedStatistics& of) {
    return fmt::format(
        "calibration error {:.2f} % (ECE, {} bins): the most likely piece has probability {:.1f} % on average and is "
        "right {:.1f} % of the time\n",
        100.0 * of.expected_calibration_error(), kCalibrationBins, 100.0 * of.confidence(), 100.0 * of.accuracy());
}

std::string forced_lines(const ForcedReferences& forced) {
    const ForcedStatistics& of = forced.statistics;
    std::string text =
        fmt::format("perplexity  {:.3f} per piece of the references, over {} pieces including <EOS> ({:.4f} nats)\n",
                    of.perplexity(), of.tokens(), of.nll()) +
        calibration_line(of);
    if (forced.left_out > 0) {
        text += fmt::format("            {} left out: empty or too long for the model\n",
                            counted(forced.left_out, "reference"));
    }
    return text;
}

}  // namespace

Json calibration_json(const ForcedStatistics& of) {
    Json bins = Json::array();
    for (std::size_t i = 0; i < kCalibrationBins; ++i) {
        const CalibrationBin& bin = of.bins()[i];
        const auto bound = [](std::size_t at) {
            return static_cast<double>(at) / static_cast<double>(kCalibrationBins);
        };
        bins.push_back({{"above", bound(i)},
                        {"up_to", bound(i + 1)},
                        {"tokens", bin.tokens},
                        {"confidence", bin.confidence()},
                        {"accuracy", bin.accuracy()}});
    }
    return {{"expected_error", of.expected_calibration_error()},
            {"confidence", of.confidence()},
            {"accuracy", of.accuracy()},
            {"bins", std::move(bins)}};
}

namespace {

Json forced_json(const ForcedReferences& forced) {
    const ForcedStatistics& of = forced.statistics;
    return {{"target_tokens", of.tokens()},  {"nll", of.nll()},
            {"perplexity", of.perplexity()}, {"left_out", forced.left_out},
            {"logit_gap", of.logit_gap()},   {"calibration", calibration_json(of)}};
}

Json rouge_json(const RougeScore& rouge) {
    const auto mean = [](const RougeMean& of) {
        return Json{{"precision", of.precision}, {"recall", of.recall}, {"f1", of.f1}};
    };
    return {{"rouge1", mean(rouge.one)},
            {"rouge2", mean(rouge.two)},
            {"rougeL", mean(rouge.longest)},
            {"signature", rouge.signature()}};
}

Json scores_json(const Scores& scores) {
    return {{"sentences", scores.sentences},
            {"bleu", scores.bleu.score},
            {"signature", scores.bleu.signature()},
            {"precisions", scores.bleu.precisions},
            {"brevity_penalty", scores.bleu.brevity_penalty},
            {"hypothesis_tokens", scores.bleu.system_length},
            {"reference_tokens", scores.bleu.reference_length},
            {"chrf", scores.chrf.score},
            {"chrf_signature", scores.chrf.signature()},
            {"rouge", rouge_json(scores.rouge)},
            {"exact_matches", scores.exact_matches}};
}

}  // namespace

Json evaluated_by_json(const EvaluatedBy& by) {
    Json json{{"directories", by.models}};
    if (by.devices.size() == 1) {
        json["device"] = to_json(by.devices.front().info);
    } else {
        for (const DeviceUse& device : by.devices) {
            json["devices"].push_back(to_json(device.info));
        }
    }
    json["precision"] = name_of(by.precision);
    return json;
}

namespace {

Json translated_by_json(const TranslatedBy& by) {
    Json json = evaluated_by_json(by.by);
    std::vector<const char*> written = {"beam",           "length_penalty",     "length_penalty_form",
                                        "early_stopping", "repetition_penalty", "no_repeat_ngram"};
    if (by.generation == Generation::MaskPredict) {
        written = {"iterations", "lengths"};
    }
    written.insert(written.end(), {"max_extra", "min_length", "split_longer_than", "batch_tokens"});
    for (const char* name : written) {
        const DecodingKey& key = decoding_key(name);
        json[name] = key.value(key, by.options);
    }
    return json;
}

}  // namespace

std::string evaluation_table(const Evaluation& evaluation) {
    const Scores& all = evaluation.scores;
    std::string text = fmt::format(
        "{}\nsignature   {}\nchrF2 = {:.2f}\nsignature   {}\n{}\nsignature   {}\nexact match {} of {} ({:.1f} %)\n",
        all.bleu.to_string(), all.bleu.signature(), all.chrf.score, all.chrf.signature(), all.rouge.to_string(),
        all.rouge.signature(), all.exact_matches, counted(all.sentences, "sentence"),
        percent(all.exact_matches, all.sentences));
    if (evaluation.forced) {
        text += forced_lines(*evaluation.forced);
    }
    if (!evaluation.by_length.empty()) {
        text += fmt::format("\n{:<14}{:>10}{:>8}{:>8}{:>9}\n", "source words", "sentences", "BLEU", "chrF2", "exact");
    }
    for (const LengthScores& one : evaluation.by_length) {
        text += fmt::format("{:<14}{:>10}{:>8.2f}{:>8.2f}{:>7.1f} %\n", words_of(one), one.scores.sentences,
                            one.scores.bleu.score, one.scores.chrf.score,
                            percent(one.scores.exact_matches, one.scores.sentences));
    }
    return text;
}

std::string evaluation_json(const Evaluation& evaluation, const ResultOrigin& origin,
                            const std::optional<TranslatedBy>& by) {
    Json json = to_json(origin);
    if (by) {
        json["model"] = translated_by_json(*by);
    }
    json.update(scores_json(evaluation.scores));
    json["lines_left_out"] = evaluation.lines_left_out;
    if (evaluation.forced) {
        json.update(forced_json(*evaluation.forced));
    }
    for (const LengthScores& one : evaluation.by_length) {
        Json of_length{{"least_words", one.least}, {"most_words", nullptr}};
        if (one.most) {
            of_length["most_words"] = *one.most;
        }
        of_length.update(scores_json(one.scores));
        json["by_source_length"].push_back(std::move(of_length));
    }
    // The name of a folder may not be UTF-8.
    return json_document(json);
}

namespace {

// What each token is predicted from, and the name of the sum in JSON.
struct Measure {
    const char* text;
    const char* name;
};

Measure measure_of(Architecture family) {
    const FamilyTraits& of = traits(family);
    if (of.reads_source) {  // a model of spans
        return {"of hidden spans, 15 % of the text, including sentinels and ends", "span_log_probability"};
    }
    return {of.fills_masks ? "each masked once and predicted from all others: pseudo-log-likelihood"
                           : "including the end of each document",
            of.likelihood_key};
}

std::string per_word_and_byte(const TextEvaluation& evaluation) {
    return fmt::format("perplexity  {} per word\nbits        {} per byte\n",
                       evaluation.words == 0 ? "-" : fmt::format("{:.3f}", evaluation.perplexity_per_word()),
                       evaluation.bytes == 0 ? "-" : fmt::format("{:.4f}", evaluation.bits_per_byte()));
}

}  // namespace

std::string text_evaluation_table(const TextEvaluation& evaluation, Architecture family) {
    const ForcedStatistics& of = evaluation.statistics;
    return fmt::format("{}, {}, {}, {}\n", counted(evaluation.documents, "document"),
                       counted(evaluation.pieces, "piece"), counted(evaluation.words, "word"),
                       counted(evaluation.bytes, "byte")) +
           fmt::format("perplexity  {:.3f} per piece, {} ({:.4f} nats)\n", of.perplexity(), measure_of(family).text,
                       of.nll()) +
           (traits(family).reads_source ? "" : per_word_and_byte(evaluation)) + calibration_line(of);
}

std::string text_evaluation_json(const TextEvaluation& evaluation, Architecture family, const ResultOrigin& origin,
                                 const EvaluatedBy& by) {
    const ForcedStatistics& of = evaluation.statistics;
    Json json = to_json(origin);
    json.update({{"model", evaluated_by_json(by)},
                 {"measure", measure_of(family).name},
                 {"documents", evaluation.documents},
                 {"pieces", evaluation.pieces},
                 {"unknown_pieces", evaluation.unknown},
                 {"words", evaluation.words},
                 {"bytes", evaluation.bytes},
                 {"tokens", of.tokens()},
                 {"nll", of.nll()},
                 {"perplexity", of.perplexity()},
                 {"calibration", calibration_json(of)}});
    if (!traits(family).reads_source) {  // only a part of whose text is hidden
        json["perplexity_per_word"] = evaluation.perplexity_per_word();
        json["bits_per_byte"] = evaluation.bits_per_byte();
    }
    return json_document(json);
}

std::string ranking_evaluation_json(const RankingEvaluation& evaluation, const ResultOrigin& origin,
                                    const EvaluatedBy& by) {
    const ForcedStatistics& of = evaluation.choices;
    Json json = to_json(origin);
    json.update({{"model", evaluated_by_json(by)},
                 {"prompts", evaluation.prompts},
                 {"pairs", of.tokens()},
                 {"accuracy", evaluation.accuracy()},
                 {"nll", of.nll()},
                 {"calibration", calibration_json(of)}});
    for (const auto& [distance, pairs] : evaluation.by_distance) {
        json["by_rank_distance"].push_back(
            {{"distance", distance}, {"pairs", pairs.pairs}, {"accuracy", pairs.accuracy()}});
    }
    return json_document(json);
}

}  // namespace headscope
