#include "experiment/study.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "experiment/chosen_by_name.h"
#include "figures/experiment_drawing.h"
#include "support/check.h"
#include "train/experiment_reader.h"
#include "train/run_config.h"

namespace headscope {
namespace {

SeedSpread spread_of(const RowResults& row, const std::function<double(const TrialResult&)>& value) {
    SeedSpread spread;
    const auto count = static_cast<double>(row.results.size());
    for (const TrialResult& result : row.results) {
        spread.values.push_back(value(result));
        spread.mean += spread.values.back() / count;
    }
    double squares = 0.0;
    for (const double one : spread.values) {
        squares += std::pow(one - spread.mean, 2.0);
    }
    if (count > 1.0) {
        spread.deviation = std::sqrt(squares / (count - 1.0));
    }
    return spread;
}

nlohmann::json spread_json(const SeedSpread& spread) {
    return {{"mean", spread.mean}, {"deviation", or_null(spread.deviation)}};
}

// `change` as a merge patch.
RowConfig patched(const StudyRow& row, const nlohmann::json& base, const nlohmann::json& /*values*/) {
    RowConfig made{.config = with_flat_model(base), .varied = row.label, .impossible = {}};
    made.config.merge_patch(row.change);
    try {
        static_cast<void>(RunConfig(made.config, row.name).parsed());
    } catch (const Error& error) {
        made.impossible = error.what();
    }
    return made;
}

class RowTrainings final : public Trainings {
public:
    RowTrainings(const Study& study, const StudyRequest& request)
        : study_(study), seeds_(request.values.value("seeds", 0)), task_(request.values.value("task", "")) {
        const auto configure = study.configure != nullptr ? study.configure : patched;
        for (const StudyRow& row : study.rows) {
            rows_.push_back({.row = &row, .planned = configure(row, request.base, request.values)});
        }
        const auto chosen = chosen_by_name(study.rows, request.values.value(study.chosen, std::vector<std::string>()),
                                           std::string(study.chosen).substr(0, std::string(study.chosen).size() - 1));
        for (int seed = first_seed(); seed <= seeds_; ++seed) {
            for (const StudyRow* row : chosen) {
                const auto number = static_cast<std::size_t>(row - study.rows.data());
                const RowConfig& planned = rows_[number].planned;
                if (planned.impossible.empty()) {
                    trials_.push_back(seeded_trial(row->name, planned.config, seed));
                    origins_.push_back({number, seed});
                } else if (seed == first_seed()) {
                    remarks_.push_back(
                        fmt::format("{} is impossible with this base: {}", row->name, planned.impossible));
                }
            }
        }
    }

    StudyReport report(const Experiment& experiment, const std::vector<TrialProblem>& problems) override {
        std::vector<RowResults> rows = rows_;
        for (RowResults& row : rows) {
            read_results(experiment, row);
        }
        for (const auto& [trial, text] : problems) {
            const auto [row, seed] = origins_[trial];
            rows[row].problems.push_back((seed == 0 ? "" : fmt::format("seed {}: ", seed)) + text);
        }
        StudyReport report{
            .json = {{"experiment", study_.name}, {"title", study_.title}, {"rows", json_of(columns(), rows)}},
            .notes = study_.notes};
        for (const RowResults& row : rows) {
            report.notes += notes_of(row);
        }
        report.pictures.push_back(
            {"table", [](const std::string& folder) { return draw_experiment(read_experiment_table(folder)); }, true});
        std::erase_if(rows, [&](const RowResults& row) {  // a row that has neither ours nor the paper's numbers
            return row.results.empty() && row.row->paper == ExperimentRow::Reported{};
        });
        report.tables.push_back(table_of(columns(), rows, labelled() ? 1 : 2));
        if (study_.extend != nullptr) {
            study_.extend(rows, report);
        }
        return report;
    }

private:
    int first_seed() const { return std::min(seeds_, 1); }
    bool labelled() const { return !study_.rows.front().label.empty(); }

    // Of seeds that were asked for, and of further ones without a gap.
    void read_results(const Experiment& experiment, RowResults& row) const {
        for (int seed = first_seed(); row.planned.impossible.empty(); ++seed) {
            std::optional<TrialResult> result =
                experiment.result_of(seeded_trial(row.row->name, row.planned.config, seed));
            if (result) {
                row.results.push_back(std::move(*result));
                row.seeds.push_back(seed);
            }
            if (seeds_ == 0 || (!result && seed >= seeds_)) {
                break;
            }
        }
    }

    std::vector<Column<RowResults>> columns() const {
        using Row = RowResults;
        std::vector<Column<Row>> all;
        if (labelled()) {
            all.push_back({"model", "", [](const Row& row) { return row.row->label; }});
        } else {
            all.push_back({"row", "", [](const Row& row) { return row.row->name; }});
            all.push_back({"varied", "", [](const Row& row) {
                               return row.planned.varied.empty() ? "the base model" : row.planned.varied;
                           }});
        }
        for (const StudyColumn& column : study_.columns) {
            if (column.task == nullptr || column.task == task_) {
                add_column(column, all);
            }
        }
        all.push_back({"", "row", [](const Row& row) { return row.row->name; }});
        all.push_back({"", "varied", [](const Row& row) { return row.planned.varied; }});
        all.push_back({"", "paper", [](const Row& row) -> nlohmann::json {
                           const ExperimentRow::Reported& paper = row.row->paper;
                           return {{"perplexity", or_null(paper.perplexity)},
                                   {"bleu", or_null(paper.bleu)},
                                   {"parameters_millions",
                                    paper.parameters ? nlohmann::json(*paper.parameters / 1e6) : nlohmann::json()}};
                       }});
        all.push_back({"", "impossible", [](const Row& row) {
                           const std::string& why = row.planned.impossible;
                           return why.empty() ? kLeftOut : nlohmann::json(why);
                       }});
        all.push_back({"", "problems",
                       [](const Row& row) { return row.problems.empty() ? kLeftOut : nlohmann::json(row.problems); }});
        all.push_back({"", "ours", [this](const Row& row) { return row.results.empty() ? kLeftOut : ours_of(row); }});
        return all;
    }

    static void add_column(const StudyColumn& column, std::vector<Column<RowResults>>& all) {
        all.push_back({column.heading, "",
                       [column](const RowResults& row) -> nlohmann::json {
                           if (row.results.empty()) {
                               return nullptr;
                           }
                           if (column.of == nullptr) {
                               return row.seeds.size();
                           }
                           const SeedSpread spread = spread_of(row, column.of);
                           return column.spread && spread.deviation ? nlohmann::json(spread.text(column.digits))
                                                                    : nlohmann::json(spread.mean);
                       },
                       column.digits, column.unit});
        if (column.paper != nullptr) {
            all.push_back({"paper", "",
                           [column](const RowResults& row) -> nlohmann::json {
                               const std::optional<double>& value = row.row->paper.*column.paper;
                               return value ? nlohmann::json(*value) : nlohmann::json("");
                           },
                           column.paper_digits, column.unit});
        }
    }

    nlohmann::json ours_of(const RowResults& row) const {
        nlohmann::json trials = nlohmann::json::array();
        for (std::size_t i = 0; i < row.results.size(); ++i) {
            nlohmann::json trial = to_json(row.results[i], {{}});
            trial.erase("config");
            trial.erase("decodings");
            trial["bleu"] = row.results[i].bleu.front();
            trial["seed"] = row.seeds[i];
            trials.push_back(std::move(trial));
        }
        nlohmann::json ours = {{"parameters", row.results.front().parameters},
                               {"steps", row.results.front().steps},
                               {"perplexity", spread_json(spread_of(row, kPerplexityColumn.of))},
                               {"bleu", spread_json(spread_of(row, kBleuColumn.of))},
                               {"trials", trials}};
        for (const StudyColumn& column : study_.columns) {
            if (*column.key != '\0' && (column.task == nullptr || column.task == task_)) {
                ours[column.key] = spread_json(spread_of(row, column.of));
            }
        }
        return ours;
    }

    // What is impossible, was left out or failed.
    static std::string notes_of(const RowResults& row) {
        std::string text;
        if (!row.planned.impossible.empty()) {
            text += fmt::format("{}: impossible with this base: {}\n", row.row->name, row.planned.impossible);
        }
        for (std::size_t i = 0; i < row.results.size(); ++i) {
            const std::string left = left_out_text("development", row.results[i].unscored, row.results[i].untranslated);
            if (!left.empty()) {
                const std::string seed = row.seeds[i] == 0 ? "" : fmt::format("seed {}: ", row.seeds[i]);
                text += fmt::format("{}: {}{}\n", row.row->name, seed, left);
            }
        }
        for (const std::string& problem : row.problems) {
            text += fmt::format("{}: failed: {}\n", row.row->name, problem);
        }
        return text;
    }

    const Study& study_;
    int seeds_;
    std::string task_;              // "": the study has only one
    std::vector<RowResults> rows_;  // of the study, without results
    struct Origin {
        std::size_t row;
        int seed;
    };
    std::vector<Origin> origins_;  // of the trials
};

}  // namespace

const StudyColumn kPerplexityColumn = {.heading = "PPL",
                                       .key = "",
                                       .digits = 2,
                                       .of = [](const TrialResult& result) { return result.perplexity; },
                                       .spread = true,
                                       .paper = &ExperimentRow::Reported::perplexity,
                                       .paper_digits = 2};
const StudyColumn kBleuColumn = {.heading = "BLEU",
                                 .key = "",
                                 .digits = 1,
                                 .of = [](const TrialResult& result) { return result.bleu.front(); },
                                 .spread = true,
                                 .paper = &ExperimentRow::Reported::bleu,
                                 .paper_digits = 1};
const StudyColumn kParametersColumn = {
    .heading = "params",
    .key = "",
    .digits = 2,
    .of = [](const TrialResult& result) { return static_cast<double>(result.parameters); },
    .unit = 1e6,
    .paper = &ExperimentRow::Reported::parameters};
const StudyColumn kSeedsColumn = {.heading = "seeds", .key = "", .digits = 0, .of = nullptr};
const StudyColumn kMinutesColumn = {
    .heading = "minutes", .key = "", .digits = 1, .of = [](const TrialResult& result) { return result.minutes; }};

std::string Trainings::problem_lines(const std::vector<TrialProblem>& problems) const {
    std::string lines;
    for (const auto& [trial, text] : problems) {
        lines += fmt::format("{}: failed: {}\n", trials_[trial].name, text);
    }
    return lines;
}

std::string Bench::device() const {
    return fmt::format("{} ({})", backend.device().id, backend.device().name);
}

std::vector<StudyOption> row_options(const char* rows_help) {
    return {{"Rows", "rows", "ROW,..", rows_help, nlohmann::json::array()},
            {"Rows", "seeds", "N", "Trainings of each row, with seeds from 1", 1, 1000}};
}

Trial seeded_trial(const std::string& row, nlohmann::json config, int seed) {
    if (seed > 0) {
        config["training"]["seed"] = seed;
    }
    return {.name = trial_name(row, seed), .config = std::move(config)};
}

std::unique_ptr<Trainings> begin_trainings(const Study& study, const StudyRequest& request) {
    return study.begin != nullptr ? study.begin(request) : std::make_unique<RowTrainings>(study, request);
}

const Study& study_named(const std::string& name) {
    return *chosen_by_name(studies(), {name}, "study").front();
}

}  // namespace headscope
