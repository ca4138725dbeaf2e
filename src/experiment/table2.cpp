#include "experiment/table2.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "data/corpus.h"
#include "eval/force_references.h"
#include "experiment/table3.h"
#include "infer/translator.h"
#include "io/atomic_file.h"
#include "io/strict_json.h"
#include "io/whole_file.h"
#include "support/check.h"
#include "support/hash.h"

namespace headscope {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kAveraged = 5;      // checkpoints, as for the paper's base model (6.1)
constexpr std::int64_t kCheckpoints = 20;  // in a training: the mean covers its last quarter
constexpr double kBaseBleu = 27.3, kBigBleu = 28.4;
constexpr double kBaseOperations = 3.3e18, kBigOperations = 2.3e19;

// A shape's training: the paper writes checkpoints by time, here they are spread over the steps.
Trial averaged_trial(const std::string& shape, const nlohmann::json& base, int seed) {
    Trial trial = table3_trial(table3_row(shape), base, seed);
    nlohmann::json& training = trial.config["training"];
    training["average_last"] = training["keep_last"] = kAveraged;
    training["checkpoint_minutes"] = 0;
    training["checkpoint_every"] = std::max<std::int64_t>(training["steps"].get<std::int64_t>() / kCheckpoints, 1);
    return trial;
}

std::string result_file(const Experiment& experiment, const Table2Entry& entry) {
    return (fs::path(experiment.folder()) / (entry.name + ".json")).string();
}

nlohmann::json to_json(const Table2Result& result) {
    return {{"bleu", result.bleu},
            {"split_bleu", result.split_bleu},
            {"perplexity", result.perplexity},
            {"parameters", result.parameters}};
}

std::optional<Table2Result> read_result(const std::string& file, const std::string& text) {
    if (!fs::exists(file)) {
        return std::nullopt;
    }
    const nlohmann::json json = read_json_file(file);
    if (json.value("text", "") != text) {
        return std::nullopt;  // of another test text
    }
    try {
        return Table2Result{.bleu = json.at("bleu").get<double>(),
                            .split_bleu = json.at("split_bleu").get<double>(),
                            .perplexity = json.at("perplexity").get<double>(),
                            .parameters = json.at("parameters").get<std::int64_t>()};
    } catch (const nlohmann::json::exception& error) {
        throw Error(fmt::format("'{}' is no result of an experiment ({}): remove it, and the models are measured again",
                                file, error.what()));
    }
}

}  // namespace

Table2::Table2(const nlohmann::json& base, std::vector<std::string> shapes, int seeds) {
    if (base.at("training").value("steps", 0) == 0) {
        throw Error("Table 2 spreads its checkpoints over the steps: set \"training.steps\" or give --steps");
    }
    for (const std::string& shape : shapes) {
        const bool big = shape == "big";
        std::vector<std::string> names;
        std::vector<std::string> means;
        for (int seed = 1; seed <= seeds; ++seed) {
            trials_.push_back(averaged_trial(shape, base, seed));
            names.push_back(trials_.back().name);
            means.push_back(names.back() + "/" + kTrialModel);
        }
        entries_.push_back(
            {shape + "-last", shape + ", last checkpoint", {names[0] + "/" + kLastModel}, {names[0]}, {}, {}});
        entries_.push_back({shape + "-mean",
                            fmt::format("{}, mean of the last {}", shape, kAveraged),
                            {means[0]},
                            {names[0]},
                            big ? kBigBleu : kBaseBleu,
                            big ? kBigOperations : kBaseOperations});
        for (const std::ptrdiff_t size : {2, 4}) {
            if (seeds >= size) {
                entries_.push_back({fmt::format("{}-ensemble{}", shape, size),
                                    fmt::format("{}, ensemble of {} means", shape, size),
                                    {means.begin(), means.begin() + size},
                                    {names.begin(), names.begin() + size},
                                    {},
                                    {}});
            }
        }
    }
    results_.resize(entries_.size());
}

void Table2::measure(Backend& backend, const Experiment& experiment, const std::string& test) {
    const std::string bytes = read_whole_file(test, "the test text '" + test + "'");
    const std::string fingerprint = fmt::format("{:016x}", fnv1a(bytes));
    const ParallelText text = read_tsv(test);
    for (std::size_t i = 0; i < entries_.size(); ++i) {
        const Table2Entry& entry = entries_[i];
        const bool trained = std::all_of(entry.trials.begin(), entry.trials.end(), [&](const std::string& name) {
            const auto trial =
                std::find_if(trials_.begin(), trials_.end(), [&](const Trial& one) { return one.name == name; });
            return experiment.result_of(*trial).has_value();
        });
        const std::string file = result_file(experiment, entry);
        results_[i] = trained ? read_result(file, fingerprint) : std::nullopt;
        if (!trained || results_[i]) {
            continue;
        }
        std::vector<std::string> directories;
        for (const std::string& model : entry.models) {
            directories.push_back((fs::path(experiment.folder()) / model).string());
        }
        const Translator translator(backend, directories);
        TranslationOptions options{.search = translator.search_options({})};
        options.search.beam = Decoding().beam;
        options.search.length_penalty = Decoding().length_penalty;
        std::vector<std::string> translations;
        for (TranslatedSentence& sentence : translator.translate(text.source, options)) {
            translations.push_back(std::move(sentence.text));
        }
        Table2Result result{.bleu = corpus_bleu(translations, text.target).score,
                            .split_bleu = corpus_bleu(translations, text.target, {.split_compounds = true}).score};
        result.perplexity =
            force_references(backend, translator, text.source, {text.target}, options).statistics.perplexity();
        result.parameters =
            count_parameters(translator.model().config) * static_cast<std::int64_t>(entry.models.size());
        nlohmann::json json = to_json(result);
        json["text"] = fingerprint;
        atomic_write_file(file, json.dump(2) + "\n");
        results_[i] = result;
    }
}

std::vector<Table2::Row> Table2::rows(const Experiment& experiment) const {
    std::vector<Row> rows;
    for (std::size_t i = 0; i < entries_.size(); ++i) {
        Row row{.entry = &entries_[i], .result = results_[i], .minutes = 0.0};
        for (const Trial& trial : trials_) {
            if (std::count(row.entry->trials.begin(), row.entry->trials.end(), trial.name) > 0) {
                const std::optional<TrialResult> trained = experiment.result_of(trial);
                row.minutes += trained ? trained->minutes : 0.0;
            }
        }
        rows.push_back(row);
    }
    return rows;
}

TextTable Table2::table(const Experiment& experiment) const {
    TextTable table{.head = {"model", "BLEU", "split", "paper", "PPL", "params", "minutes", "paper's FLOPs"},
                    .rows = {}};
    const auto number = [](bool known, double value, int digits) {
        return known ? fmt::format("{:.{}f}", value, digits) : "-";
    };
    for (const Row& row : rows(experiment)) {
        const bool known = row.result.has_value();
        const Table2Result result = row.result.value_or(Table2Result{});
        const std::optional<double> operations = row.entry->paper_operations;
        table.rows.push_back({row.entry->model, number(known, result.bleu, 2), number(known, result.split_bleu, 2),
                              row.entry->paper_bleu ? fmt::format("{:.1f}", *row.entry->paper_bleu) : "",
                              number(known, result.perplexity, 2),
                              number(known, static_cast<double>(result.parameters) / 1e6, 2),
                              number(known, row.minutes, 1), operations ? fmt::format("{:.1e}", *operations) : ""});
    }
    return table;
}

std::string Table2::notes() {
    return "BLEU is of the test text: beam 4, length penalty 0.6, cased, 13a tokens, as sacreBLEU counts it; \"split\" "
           "also\n"
           "splits compounds at hyphens, as the paper's scores do (tensor2tensor's get_ende_bleu.sh, there on Moses\n"
           "tokens). The paper's numbers are of newstest2014 English to German; its big model is the mean of 20\n"
           "checkpoints. Parameters are in millions, and minutes are of all trainings.\n";
}

nlohmann::json Table2::json(const Experiment& experiment) const {
    nlohmann::json all = nlohmann::json::array();
    const auto or_null = [](const std::optional<double>& value) {
        return value ? nlohmann::json(*value) : nlohmann::json();
    };
    for (const Row& row : rows(experiment)) {
        nlohmann::json one = {
            {"row", row.entry->name},
            {"models", row.entry->models},
            {"paper",
             {{"bleu", or_null(row.entry->paper_bleu)}, {"operations", or_null(row.entry->paper_operations)}}}};
        if (row.result) {
            one["ours"] = to_json(*row.result);
            one["ours"]["minutes"] = row.minutes;
        }
        all.push_back(std::move(one));
    }
    return {{"experiment", "table2"}, {"rows", all}};
}

}  // namespace headscope
