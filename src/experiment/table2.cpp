#include "experiment/table2.h"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "data/corpus.h"
#include "eval/force_references.h"
#include "experiment/table3.h"
#include "infer/loaded_model.h"
#include "io/atomic_file.h"
#include "io/strict_json.h"
#include "io/whole_file.h"
#include "model/training_card.h"
#include "support/check.h"
#include "support/hash.h"

namespace headscope {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kAveraged = 5;      // checkpoints, as for the paper's base model (6.1)
constexpr std::int64_t kCheckpoints = 20;  // in a training: the mean covers its last quarter
constexpr PaperResult kNoPaper = {.model = ""};

const PaperResult& paper_result(const std::string& shape) {
    const char* model = shape == "big" ? kPaperBig.model : kPaperBase.model;
    return *std::find_if(kPaperTable2.begin(), kPaperTable2.end(),
                         [&](const PaperResult& result) { return std::string_view(result.model) == model; });
}

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

std::optional<double> training_flops(const Experiment& experiment, const Trial& trial) {
    const nlohmann::json card = read_training_card((fs::path(experiment.folder()) / trial.name / kTrialModel).string());
    return card.is_object() && card.contains("flops") ? std::optional(card["flops"].get<double>()) : std::nullopt;
}

nlohmann::json to_json(const Table2Result& result) {
    return {{"bleu", result.bleu},
            {"split_bleu", result.split_bleu},
            {"perplexity", result.perplexity},
            {"parameters", result.parameters},
            {"unscored", result.unscored},
            {"untranslated", result.untranslated}};
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
                            .parameters = json.at("parameters").get<std::int64_t>(),
                            .unscored = json.value("unscored", std::size_t{0}),
                            .untranslated = json.value("untranslated", std::size_t{0})};
    } catch (const nlohmann::json::exception& error) {
        throw Error(fmt::format("'{}' is not an experiment's result ({}): remove it, and the models are measured again",
                                file, error.what()));
    }
}

Table2Result translated(Backend& backend, const Experiment& experiment, const Table2Entry& entry,
                        const ParallelText& text) {
    std::vector<std::string> directories;
    for (const std::string& model : entry.models) {
        directories.push_back((fs::path(experiment.folder()) / model).string());
    }
    const LoadedModel translator(backend, directories);
    DecodingOptions options{.search = translator.search_options({})};
    options.search.beam = Decoding().beam;
    options.search.length_penalty = Decoding().length_penalty;
    Table2Result result;
    std::vector<std::string> translations;
    for (TextResult& sentence : translator.translate(text.source, options)) {
        result.untranslated += sentence.problem.empty() ? 0 : 1;
        translations.push_back(std::move(sentence.text));
    }
    result.bleu = corpus_bleu(translations, text.target).score;
    result.split_bleu = corpus_bleu(translations, text.target, {.split_compounds = true}).score;
    const ForcedReferences forced = force_references(backend, translator, text.source, {text.target}, options);
    result.perplexity = forced.statistics.perplexity();
    result.unscored = forced.left_out;
    result.parameters = count_parameters(translator.model().config) * static_cast<std::int64_t>(entry.models.size());
    return result;
}

}  // namespace

Table2::Table2(const nlohmann::json& base, std::vector<std::string> shapes, int seeds) {
    if (base.at("training").value("steps", 0) == 0) {
        throw Error("Table 2 spreads its checkpoints over the steps: set \"training.steps\" or give --steps");
    }
    for (const std::string& shape : shapes) {
        std::vector<std::string> names;
        std::vector<std::string> means;
        for (int seed = 1; seed <= seeds; ++seed) {
            trials_.push_back(averaged_trial(shape, base, seed));
            names.push_back(trials_.back().name);
            means.push_back(names.back() + "/" + kTrialModel);
        }
        entries_.push_back(
            {shape + "-last", shape + ", last checkpoint", {names[0] + "/" + kLastModel}, {names[0]}, nullptr});
        entries_.push_back({shape + "-mean",
                            fmt::format("{}, mean of the last {}", shape, kAveraged),
                            {means[0]},
                            {names[0]},
                            &paper_result(shape)});
        for (const std::ptrdiff_t size : {2, 4}) {
            if (seeds >= size) {
                entries_.push_back({fmt::format("{}-ensemble{}", shape, size),
                                    fmt::format("{}, ensemble of {} means", shape, size),
                                    {means.begin(), means.begin() + size},
                                    {names.begin(), names.begin() + size},
                                    nullptr});
            }
        }
    }
    results_.resize(entries_.size());
}

void Table2::measure(Backend& backend, const Experiment& experiment, const std::string& test) {
    const std::string bytes = read_whole_file(test, "the test text '" + test + "'");
    const std::string fingerprint = fmt::format("{:016x}", fnv1a(bytes));
    const ParallelText text = read_tsv(test);
    problems_.clear();
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
        try {
            const Table2Result result = translated(backend, experiment, entry, text);
            nlohmann::json json = to_json(result);
            json["text"] = fingerprint;
            atomic_write_file(file, json.dump(2) + "\n");
            results_[i] = result;
        } catch (const std::exception& error) {
            problems_.push_back(fmt::format("{}: failed: {}", entry.name, error.what()));
        }
    }
}

std::vector<Table2::Row> Table2::rows(const Experiment& experiment) const {
    std::vector<Row> rows;
    for (std::size_t i = 0; i < entries_.size(); ++i) {
        Row row{.entry = &entries_[i], .result = results_[i], .flops = 0.0};
        for (const Trial& trial : trials_) {
            if (std::count(row.entry->trials.begin(), row.entry->trials.end(), trial.name) > 0) {
                const std::optional<TrialResult> trained = experiment.result_of(trial);
                row.minutes += trained ? trained->minutes : 0.0;
                const std::optional<double> flops = training_flops(experiment, trial);
                row.flops = row.flops && flops ? std::optional(*row.flops + *flops) : std::nullopt;
            }
        }
        rows.push_back(row);
    }
    return rows;
}

TextTable Table2::table(const Experiment& experiment) const {
    TextTable table{
        .head = {"model", "BLEU", "split", "PPL", "params", "minutes", "FLOPs", "paper's BLEU", "paper's FLOPs"},
        .rows = {}};
    const auto text = [](const std::optional<double>& value) { return value ? fmt::format("{:g}", *value) : ""; };
    const auto flops_of = [](const std::optional<double>& flops) { return flops ? flops_text(*flops) : ""; };
    std::vector<const PaperResult*> others;
    for (const PaperResult& paper : kPaperTable2) {
        if (paper.bleu_en_de) {
            others.push_back(&paper);
        }
    }
    for (const Row& row : rows(experiment)) {
        const auto number = [&row](double value, int digits) {
            return row.result ? fmt::format("{:.{}f}", value, digits) : "-";
        };
        const Table2Result result = row.result.value_or(Table2Result{});
        const PaperResult& paper = row.entry->paper != nullptr ? *row.entry->paper : kNoPaper;
        table.rows.push_back({row.entry->model, number(result.bleu, 2), number(result.split_bleu, 2),
                              number(result.perplexity, 2), number(static_cast<double>(result.parameters) / 1e6, 2),
                              number(row.minutes, 1), row.result && row.flops ? flops_text(*row.flops) : "-",
                              text(paper.bleu_en_de), flops_of(paper.flops_en_de)});
        others.erase(std::remove(others.begin(), others.end(), row.entry->paper), others.end());
    }
    for (const PaperResult* paper : others) {
        table.rows.push_back(
            {paper->model, "", "", "", "", "", "", text(paper->bleu_en_de), flops_of(paper->flops_en_de)});
    }
    return table;
}

std::string Table2::notes() const {
    std::string text =
        "BLEU is of the test text: beam 4, length penalty 0.6, cased, 13a tokens, as sacreBLEU counts it; \"split\" "
        "also\n"
        "splits compounds at hyphens, as the paper's scores do (tensor2tensor's get_ende_bleu.sh, there on Moses\n"
        "tokens). The paper's numbers are of newstest2014 English to German; its big model is the mean of 20\n"
        "checkpoints. Parameters are in millions; minutes and FLOPs are of all trainings. Ours are counted from the\n"
        "model's products, the paper's are estimated from hours, GPUs and their speed (6.1).\n";
    for (std::size_t i = 0; i < entries_.size(); ++i) {
        if (const std::string left =
                results_[i] ? left_out_text("test", results_[i]->unscored, results_[i]->untranslated) : std::string();
            !left.empty()) {
            text += fmt::format("{}: {}\n", entries_[i].name, left);
        }
    }
    for (const std::string& problem : problems_) {
        text += problem + "\n";
    }
    return text;
}

nlohmann::json Table2::json(const Experiment& experiment) const {
    const auto or_null = [](const std::optional<double>& value) {
        return value ? nlohmann::json(*value) : nlohmann::json();
    };
    nlohmann::json all = nlohmann::json::array();
    for (const Row& row : rows(experiment)) {
        nlohmann::json one = {{"row", row.entry->name}, {"models", row.entry->models}};
        one["paper"] = row.entry->paper != nullptr ? nlohmann::json(row.entry->paper->model) : nlohmann::json();
        if (row.result) {
            one["ours"] = to_json(*row.result);
            one["ours"]["minutes"] = row.minutes;
            one["ours"]["flops"] = or_null(row.flops);
        }
        all.push_back(std::move(one));
    }
    nlohmann::json papers = nlohmann::json::array();
    for (const PaperResult& paper : kPaperTable2) {
        papers.push_back({{"model", paper.model},
                          {"bleu_en_de", or_null(paper.bleu_en_de)},
                          {"bleu_en_fr", or_null(paper.bleu_en_fr)},
                          {"flops_en_de", or_null(paper.flops_en_de)},
                          {"flops_en_fr", or_null(paper.flops_en_fr)}});
    }
    return {{"experiment", "table2"}, {"rows", all}, {"paper", papers}};
}

}  // namespace headscope
