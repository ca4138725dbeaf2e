#include "experiment/trial.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <limits>
#include <type_traits>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "data/corpus.h"
#include "eval/bleu.h"
#include "eval/evaluation.h"
#include "eval/force_references.h"
#include "eval/parsed_trees.h"
#include "infer/loaded_model.h"
#include "io/atomic_file.h"
#include "io/strict_json.h"
#include "model/generator.h"
#include "model/tokenizer_files.h"
#include "support/check.h"
#include "support/counted.h"
#include "train/config_changes.h"
#include "train/log_reader.h"
#include "train/model_source.h"
#include "train/run_tokenizers.h"
#include "train/training_job.h"
#include "trees/tree_vocabulary.h"

namespace headscope {
namespace {

namespace fs = std::filesystem;

constexpr const char* kResultFile = "result.json";

ParallelText development_text(const TrainConfig& config) {
    ParallelText text;
    for (const CorpusFiles& corpus : config.data.valid) {
        for_each_reader(corpus, [&](PairReader& reader) {
            for (std::string source, target; reader.next(source, target);) {
                text.source.push_back(corpus.given(source));
                text.target.push_back(std::move(target));
            }
        });
    }
    return text;
}

std::vector<ScoreOfLength> bleu_by_length(const ParallelText& text, const std::vector<std::string>& translations) {
    std::vector<ScoreOfLength> all;
    for (const LengthScores& scores : score_by_length(text.source, translations, {text.target}, {})) {
        all.push_back({.least = static_cast<std::int64_t>(scores.least),
                       .sentences = static_cast<std::int64_t>(scores.scores.sentences),
                       .score = scores.scores.bleu.score});
    }
    return all;
}

std::vector<ScoreOfLength> f1_by_length(const TreeScores& scores) {
    std::vector<ScoreOfLength> all;
    for (const auto& [least, totals] : scores.by_length) {
        all.push_back({.least = least, .sentences = totals.sentences, .score = percent_of(totals)});
    }
    return all;
}

// Fills in what the model in `directory` does on development data.
void measure(Backend& backend, const TrainConfig& config, const std::string& directory,
             const std::vector<Decoding>& decodings, TrialResult& result) {
    const ParallelText text = development_text(config);
    const Arithmetic products{.compute = arithmetic_of(config, backend).compute};
    const LoadedModel translator(backend, directory, products.weights());
    DecodingOptions options{.search = translator.search_options({}), .compute = products.compute};
    const auto [forced, left_out] = force_references(backend, translator, text.source, {text.target}, options);
    result.unscored = left_out;
    result.perplexity = forced.perplexity();
    result.accuracy = forced.accuracy();
    result.calibration_error = forced.expected_calibration_error();
    result.logit_gap = forced.logit_gap();
    const std::optional<Terminals> terminals = terminals_in(*translator.model().target_tokenizer);
    if (terminals) {
        options.search.max_extra = kExtraSymbols;
    }
    for (const Decoding& decoding : decodings) {
        const auto start = std::chrono::steady_clock::now();
        std::size_t tokens = 0;
        options.search.beam = decoding.beam;
        options.search.length_penalty = decoding.length_penalty;
        if (terminals) {
            keep_to_trees(options, translator.model(), *terminals);
        }
        result.untranslated = 0;
        std::vector<std::string> translations;
        const std::vector<TextResult> found = translator.translate(numbered(text.source), options);
        for (const TextResult& sentence : found) {
            result.untranslated += sentence.problem.empty() ? 0 : 1;
            tokens += sentence.target_ids.size();
            translations.push_back(sentence.text);
        }
        if (result.bleu.empty()) {
            const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
            result.decoding_speed = static_cast<double>(tokens) / seconds.count();
            if (!terminals) {
                result.by_length = bleu_by_length(text, translations);
            }
        }
        if (terminals) {
            const TreeScores scores = score_found_trees(text, found, *terminals);
            if (result.f1.empty()) {
                result.by_length = f1_by_length(scores);
            }
            result.f1.push_back(percent_of(scores.all));
        }
        result.bleu.push_back(corpus_bleu(translations, text.target).score);
    }
}

double training_speed(const std::string& folder) {
    std::vector<double> speeds;
    for (const LossPoint& point : read_training_log((fs::path(folder) / "log.jsonl").string()).training) {
        if (std::isfinite(point.tokens_per_second)) {
            speeds.push_back(point.tokens_per_second);
        }
    }
    if (speeds.empty()) {
        return 0.0;
    }
    const auto middle = speeds.begin() + static_cast<std::ptrdiff_t>(speeds.size() / 2);
    std::nth_element(speeds.begin(), middle, speeds.end());
    return *middle;
}

// From the newest checkpoint.
void write_last_model(Backend& backend, const std::string& folder) {
    const ModelSource::Loaded last = ModelSource::at(folder).load(backend, std::nullopt, DType::F32);
    const ModelDirectory& model = last.translator->model();
    write_model_directory(backend, (fs::path(folder) / kLastModel).string(), model.config,
                          last.translator->parameters(), DType::F32, *model.source_tokenizer, *model.target_tokenizer);
}

// Calls visit(key, number, always): whether all versions wrote it.
template <class Result, class Visit>
void visit_numbers(Result& result, const Visit& visit) {
    visit("parameters", result.parameters, true);
    visit("steps", result.steps, true);
    visit("minutes", result.minutes, true);
    visit("perplexity", result.perplexity, true);
    visit("accuracy", result.accuracy, true);
    visit("calibration_error", result.calibration_error, true);
    visit("logit_gap", result.logit_gap, false);
    visit("untranslated", result.untranslated, true);
    visit("unscored", result.unscored, false);
    visit("training_tokens_per_second", result.training_speed, false);
    visit("decoding_tokens_per_second", result.decoding_speed, false);
}

constexpr const char* kInfinite = "infinite";  // which JSON has no number for

// In result.json, alone and before kByLength.
const char* score_key(const TrialResult& result) {
    return result.f1.empty() ? "bleu" : "f1";
}
const std::string kByLength = "_by_length";

}  // namespace

std::string left_out_text(const char* data, std::size_t unscored, std::size_t untranslated) {
    return unscored + untranslated == 0 ? ""
                                        : fmt::format("{} of the {} data not in PPL, {} count as empty in BLEU",
                                                      counted(unscored, "pair"), data, untranslated);
}

nlohmann::json to_json(const TrialResult& result, const std::vector<Decoding>& decodings) {
    nlohmann::json bleu = nlohmann::json::array();
    for (std::size_t i = 0; i < decodings.size(); ++i) {
        bleu.push_back({{"beam", decodings[i].beam},
                        {"length_penalty", decodings[i].length_penalty},
                        {"bleu", result.bleu.at(i)}});
        if (!result.f1.empty()) {
            bleu.back()["f1"] = result.f1.at(i);
        }
    }
    const char* score = score_key(result);
    nlohmann::json by_length = nlohmann::json::array();
    for (const ScoreOfLength& one : result.by_length) {
        by_length.push_back({{"words_from", one.least}, {"sentences", one.sentences}, {score, one.score}});
    }
    nlohmann::json json = {{"decodings", bleu}, {score + kByLength, by_length}, {"config", result.config}};
    visit_numbers(result, [&](const char* key, const auto& value, bool /*always*/) {
        json[key] = value;
        if (static_cast<double>(value) == std::numeric_limits<double>::infinity()) {
            json[key] = kInfinite;
        }
    });
    return json;
}

std::optional<TrialResult> read_result(const std::string& folder, const Trial& trial) {
    const std::string file = (fs::path(folder) / kResultFile).string();
    if (!fs::exists(file)) {
        return std::nullopt;
    }
    const nlohmann::json json = read_json_file(file);
    TrialResult result;
    try {
        visit_numbers(result, [&](const char* key, auto& value, bool always) {
            if (json.contains(key) && json[key] == kInfinite) {
                value = std::numeric_limits<std::decay_t<decltype(value)>>::infinity();
            } else if (always || json.contains(key)) {
                json.at(key).get_to(value);
            }
        });
        result.config = json.at("config");
        std::vector<Decoding> decodings;
        for (const nlohmann::json& one : json.at("decodings")) {
            decodings.push_back({one.at("beam"), one.at("length_penalty")});
            result.bleu.push_back(one.at("bleu"));
            if (one.contains("f1")) {
                result.f1.push_back(one["f1"]);
            }
        }
        const char* score = score_key(result);
        for (const nlohmann::json& one : json.value(score + kByLength, nlohmann::json::array())) {
            result.by_length.push_back({one.at("words_from"), one.at("sentences"), one.at(score)});
        }
        if (decodings != trial.decodings) {
            throw Error(
                fmt::format("'{}' was translated with other beams or length penalties: choose another --output", file));
        }
    } catch (const nlohmann::json::exception& error) {
        throw Error(fmt::format("'{}' is not an experiment's result ({}): remove it, and the model is trained again",
                                file, error.what()));
    }
    if (const std::vector<std::string> changed = differences(result.config, trial.config); !changed.empty()) {
        throw Error(
            fmt::format("'{}' is the result of another configuration: {}; give the same options again, or "
                        "choose another --output",
                        file, fmt::join(changed, "; ")));
    }
    return result;
}

std::optional<TrialResult> run_trial(Backend& backend, const Trial& trial, const std::string& folder,
                                     const std::string& tokenizers, const RunHooks& hooks) {
    const Log quiet = [](const std::string&) {};  // the experiment has said it
    TrainingRequest request;
    request.config.emplace(trial.config, RunConfig::file_in(folder));
    request.output = folder;
    request.tokenizers = load_tokenizers(tokenizers);
    TrainingJob job(std::move(request), quiet);
    const TrainConfig& config = job.config();
    RunFolder held(folder, hooks.say);
    job.use(backend);
    const bool resumed = holds_checkpoints(folder);
    job.prepare_data((fs::path(folder) / "tokenizer").string(), resumed ? &held : nullptr);
    TrialResult result{.config = trial.config};
    const ModelConfig model = config.model_config(*job.data().source_tokenizer, *job.data().target_tokenizer);
    require_left_to_right(model);  // measure() needs it
    result.parameters = count_parameters(model);
    const TrainingResult trained = job.train(held, resumed, hooks);
    if (trained.end == RunEnd::Stopped) {
        return std::nullopt;
    }
    result.steps = trained.step;
    result.minutes = trained.minutes;
    result.training_speed = training_speed(folder);
    if (config.training.average_last > 1) {
        write_last_model(backend, folder);
    }
    measure(backend, config, (fs::path(folder) / kTrialModel).string(), trial.decodings, result);
    constexpr double kMostPerplexity = 1e15;
    if (!(result.perplexity < kMostPerplexity)) {  // nor if it is not a number
        throw Error(fmt::format("the model has perplexity {:.3g} on the development data: its training diverged",
                                result.perplexity));
    }
    atomic_write_file((fs::path(folder) / kResultFile).string(), to_json(result, trial.decodings).dump(2) + "\n");
    remove_checkpoints(folder);
    return result;
}

void remove_checkpoints(const std::string& folder) {
    fs::remove_all(fs::path(folder) / "checkpoints");
}

}  // namespace headscope
