// The paper's Table 2 at a small scale: translation quality of a base-like and a big-like model, alone, as the mean of
// their last checkpoints, and as ensembles.
#include <algorithm>
#include <filesystem>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "data/corpus.h"
#include "eval/bleu.h"
#include "eval/force_references.h"
#include "eval/training_cost.h"
#include "experiment/chosen_by_name.h"
#include "experiment/measured_file.h"
#include "experiment/studies.h"
#include "infer/loaded_model.h"
#include "model/training_card.h"
#include "support/check.h"
#include "support/counted.h"

namespace headscope {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTable2Footer =
    "Trains models of two shapes, translates test.tsv with the last checkpoint, the mean of the last five, and\n"
    "ensembles of two and four seeds, and prints BLEU beside the paper's; table.json and table.md in the output "
    "folder\n"
    "have the same. The same command continues after any end. docs/experiments.md says what the numbers show.\n\n"
    "Example:\n"
    "  headscope experiment table2 --config my.json --data data/digits --output out/table2 --shapes base --seeds 2";

constexpr const char* kTable2Notes =
    "BLEU is of the test text: beam 4, length penalty 0.6, cased, 13a tokens, as sacreBLEU counts it; \"split\" "
    "also\n"
    "splits compounds at hyphens, as the paper's scores do (tensor2tensor's get_ende_bleu.sh, there on Moses\n"
    "tokens). The paper's numbers are of newstest2014 English to German; its big model is the mean of 20\n"
    "checkpoints. Parameters are in millions; minutes and FLOPs are of all trainings. Ours are counted from the\n"
    "model's products, the paper's are estimated from hours, GPUs and their speed (6.1).\n";

constexpr std::int64_t kAveraged = 5;      // checkpoints, as for the paper's base model (6.1)
constexpr std::int64_t kCheckpoints = 20;  // in a training: the mean covers its last quarter

// The models of an entry are translated with, and its trials were needed for them.
struct Table2Row {
    std::string name;                      // "base-ensemble2"; "": another model of the paper
    std::string model;                     // what it is, for people
    std::vector<std::string> models = {};  // model directories in the experiment's folder; several: an ensemble
    std::vector<std::size_t> trials = {};
    PaperResult paper = {.model = nullptr};  // of the same model
    nlohmann::json ours = {};                // what was measured; null: nothing yet

    nlohmann::json value(const char* key) const {
        return name.empty() ? nlohmann::json("") : ours.is_null() ? nlohmann::json() : ours.at(key);
    }
};

// A shape's training: the paper writes checkpoints by time, here they are spread over the steps.
Trial averaged_trial(const Study& table3, const std::string& shape, const nlohmann::json& base, int seed) {
    Trial trial =
        seeded_trial(shape, table3_config(*chosen_by_name(table3.rows, {shape}, "row").front(), base).config, seed);
    nlohmann::json& training = trial.config["training"];
    training["average_last"] = training["keep_last"] = kAveraged;
    training["checkpoint_minutes"] = 0;
    training["checkpoint_every"] = std::max<std::int64_t>(training["steps"].get<std::int64_t>() / kCheckpoints, 1);
    return trial;
}

nlohmann::json translated(Backend& backend, const std::vector<std::string>& directories, const ParallelText& text) {
    const LoadedModel translator(backend, directories, Arithmetic().weights());
    DecodingOptions options{.search = translator.search_options({})};
    options.search.beam = Decoding().beam;
    options.search.length_penalty = Decoding().length_penalty;
    std::size_t untranslated = 0;
    std::vector<std::string> translations;
    for (TextResult& sentence : translator.translate(numbered(text.source), options)) {
        untranslated += sentence.problem.empty() ? 0 : 1;
        translations.push_back(std::move(sentence.text));
    }
    const ForcedReferences forced = force_references(backend, translator, text.source, {text.target}, options);
    return {{"bleu", corpus_bleu(translations, text.target).score},  // sacreBLEU's: cased, 13a tokens
            {"split_bleu", corpus_bleu(translations, text.target, {.split_compounds = true}).score},
            {"perplexity", forced.statistics.perplexity()},  // per piece
            {"parameters", count_parameters(translator.model().config) * static_cast<std::int64_t>(directories.size())},
            {"unscored", forced.left_out},
            {"untranslated", untranslated}};  // sentences that count as empty
}

std::vector<Column<Table2Row>> table2_columns() {
    const auto ours = [](const char* key) { return [key](const Table2Row& row) { return row.value(key); }; };
    const auto flops = [](const nlohmann::json& value) {
        return value.is_number() ? nlohmann::json(flops_text(value.get<double>())) : value;
    };
    return {
        {"model", "", [](const Table2Row& row) { return row.model; }},
        {"BLEU", "", ours("bleu")},
        {"split", "", ours("split_bleu")},
        {"PPL", "", ours("perplexity")},
        {"params", "", ours("parameters"), 2, 1e6},
        {"minutes", "", ours("minutes"), 1},
        {"FLOPs", "", [flops](const Table2Row& row) { return flops(row.value("flops")); }},
        {"paper's BLEU", "",
         [](const Table2Row& row) { return row.paper.bleu_en_de ? fmt::format("{:g}", *row.paper.bleu_en_de) : ""; }},
        {"paper's FLOPs", "",
         [](const Table2Row& row) { return row.paper.flops_en_de ? flops_text(*row.paper.flops_en_de) : ""; }},
        {"", "row", [](const Table2Row& row) { return row.name; }},
        {"", "models", [](const Table2Row& row) { return row.models; }},
        {"", "paper",
         [](const Table2Row& row) -> nlohmann::json {
             return row.paper.model != nullptr ? nlohmann::json(row.paper.model) : nlohmann::json();
         }},
        {"", "ours", [](const Table2Row& row) { return row.ours.is_null() ? kLeftOut : row.ours; }},
    };
}

class Table2 final : public Trainings {
public:
    explicit Table2(const StudyRequest& request) : test_((fs::path(request.data) / "test.tsv").string()) {
        const bool exists = fs::is_regular_file(test_);
        if (!exists || read_tsv(test_).source.empty()) {
            throw Error(fmt::format("'{}' {}: Table 2 needs a test text of \"source TAB target\" lines", test_,
                                    exists ? "is empty" : "does not exist"));
        }
        if (request.base.at("training").value("steps", 0) == 0) {
            throw Error("Table 2 spreads its checkpoints over the steps: set \"training.steps\" or give --steps");
        }
        const Study rows = table3();
        for (const std::string& shape : request.values.at("shapes").get<std::vector<std::string>>()) {
            add_shape(shape, rows, request.base, request.values.at("seeds"));
        }
    }

    // Measures every row whose trainings are finished and that has no result for this text yet. A row that fails does
    // not end the others.
    StudyReport report(const Experiment& experiment, const std::vector<TrialProblem>& problems) override {
        const auto backend = experiment.open();
        const std::string text = name_of_text(test_);
        std::string notes = kTable2Notes;
        std::string failed;
        std::size_t failures = 0;
        for (Table2Row& row : rows_) {
            try {
                measure(*backend, experiment, text, row);
            } catch (const Unmeasured& problem) {
                failed += fmt::format("{}: failed: {}\n", row.name, problem.what());
                ++failures;
            }
            const std::string left =
                row.ours.is_null() ? "" : left_out_text("test", row.ours["unscored"], row.ours["untranslated"]);
            notes += left.empty() ? "" : fmt::format("{}: {}\n", row.name, left);
        }
        return {.json = {{"experiment", "table2"}, {"rows", json_of(table2_columns(), rows_)}, {"paper", paper_json()}},
                .tables = {table_of(table2_columns(), with_the_papers())},
                .notes = notes + failed + problem_lines(problems),
                .problem = failures == 0 ? ""
                                         : fmt::format("{} could not be measured; the same command tries again",
                                                       counted(failures, "row"))};
    }

private:
    struct Unmeasured : Error {
        using Error::Error;
    };

    // Each training keeps the mean of its last five checkpoints and the last one.
    void add_shape(const std::string& shape, const Study& table3, const nlohmann::json& base, int seeds) {
        const std::size_t first = trials_.size();
        std::vector<std::string> means;
        std::vector<std::size_t> trials;
        for (int seed = 1; seed <= seeds; ++seed) {
            trials.push_back(trials_.size());
            trials_.push_back(averaged_trial(table3, shape, base, seed));
            means.push_back(trials_.back().name + "/" + kTrialModel);
        }
        const std::string_view model = shape == "big" ? kPaperBig.model : kPaperBase.model;
        const PaperResult& paper =
            *std::find_if(kPaperTable2.begin(), kPaperTable2.end(),
                          [&](const PaperResult& result) { return std::string_view(result.model) == model; });
        rows_.push_back(
            {shape + "-last", shape + ", last checkpoint", {trials_[first].name + "/" + kLastModel}, {first}});
        rows_.push_back(
            {shape + "-mean", fmt::format("{}, mean of the last {}", shape, kAveraged), {means[0]}, {first}, paper});
        for (const std::ptrdiff_t size : {2, 4}) {
            if (seeds >= size) {
                rows_.push_back({fmt::format("{}-ensemble{}", shape, size),
                                 fmt::format("{}, ensemble of {} means", shape, size),
                                 {means.begin(), means.begin() + size},
                                 {trials.begin(), trials.begin() + size}});
            }
        }
    }

    void measure(Backend& backend, const Experiment& experiment, const std::string& text, Table2Row& row) const {
        double minutes = 0.0;
        std::optional<double> flops = 0.0;  // the sum of the training cards; empty: one does not know
        row.ours = nullptr;
        for (const std::size_t trial : row.trials) {
            const std::optional<TrialResult> trained = experiment.result_of(trials_[trial]);
            if (!trained) {
                return;
            }
            minutes += trained->minutes;
            const nlohmann::json card =
                read_training_card((fs::path(experiment.folder()) / trials_[trial].name / kTrialModel).string());
            flops = flops && card.is_object() && card.contains("flops")
                        ? std::optional(*flops + card["flops"].get<double>())
                        : std::nullopt;
        }
        const std::string file = (fs::path(experiment.folder()) / (row.name + ".json")).string();
        nlohmann::json measured = known_measures(file, text, {"bleu", "split_bleu", "perplexity", "parameters"});
        if (measured.is_null()) {
            try {
                std::vector<std::string> directories;
                for (const std::string& model : row.models) {
                    directories.push_back((fs::path(experiment.folder()) / model).string());
                }
                measured = translated(backend, directories, read_tsv(test_));
                keep_measures(file, text, measured);
            } catch (const std::exception& error) {
                throw Unmeasured(error.what());
            }
        }
        for (const char* key : {"unscored", "untranslated"}) {  // earlier versions did not count them
            measured[key] = measured.value(key, std::size_t{0});
        }
        measured["minutes"] = minutes;
        measured["flops"] = or_null(flops);
        row.ours = std::move(measured);
    }

    // And the paper's other models.
    std::vector<Table2Row> with_the_papers() const {
        std::vector<Table2Row> all = rows_;
        for (const PaperResult& paper : kPaperTable2) {
            const bool ours = std::any_of(rows_.begin(), rows_.end(),
                                          [&](const Table2Row& row) { return row.paper.model == paper.model; });
            if (paper.bleu_en_de && !ours) {
                all.push_back({.name = {}, .model = paper.model, .paper = paper});
            }
        }
        return all;
    }

    static nlohmann::json paper_json() {
        nlohmann::json papers = nlohmann::json::array();
        for (const PaperResult& paper : kPaperTable2) {
            papers.push_back({{"model", paper.model},
                              {"bleu_en_de", or_null(paper.bleu_en_de)},
                              {"bleu_en_fr", or_null(paper.bleu_en_fr)},
                              {"flops_en_de", or_null(paper.flops_en_de)},
                              {"flops_en_fr", or_null(paper.flops_en_fr)}});
        }
        return papers;
    }

    std::string test_;
    std::vector<Table2Row> rows_;
};

}  // namespace

Study table2() {
    return {.name = "table2",
            .summary = "Translation quality of one model, means and ensembles: Table 2",
            .footer = kTable2Footer,
            .options = {{.group = "Models",
                         .name = "shapes",
                         .type = "SHAPE,..",
                         .help = "Shapes of the model: base,big (default), or one of them",
                         .value = {"base", "big"},
                         .known = {"base", "big"}},
                        {"Models", "seeds", "N", "Trainings of each shape; ensembles need 2 and 4", 4, 4}},
            .begin = [](const StudyRequest& request) -> std::unique_ptr<Trainings> {
                return std::make_unique<Table2>(request);
            }};
}

}  // namespace headscope
