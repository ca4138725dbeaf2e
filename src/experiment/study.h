// A study: what is varied, what is measured of it, and how it is reported. docs/experiments.md shows how to add one.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "backend/backend.h"
#include "eval/experiment_table.h"
#include "experiment/experiment.h"
#include "experiment/study_report.h"

namespace headscope {

struct StudyOption {
    const char* group;  // in --help
    const char* name;   // "lengths"
    const char* type;   // "N,.."
    const char* help;
    // By default: a whole number, a real one (0: not given), a word, or a list of whole numbers or, like the empty
    // list, words.
    nlohmann::json value;
    double most = 2147483647.0;  // of each number; infinity: a random seed
    double least = 1.0;
    std::vector<std::string> known = {};  // words; any if empty
    const char* excludes = nullptr;       // another option: "--steps"
};

// What a command asks of a study.
struct StudyRequest {
    nlohmann::json values = {};  // of its options by their names
    nlohmann::json base = {};    // a training configuration whose data files are absolute
    std::string data = {};       // the folder of its texts
};

// ------------------------------------------------------------------------------------- studies without trainings
// The device and what else such a study needs.
struct Bench {
    Backend& backend;
    std::function<std::unique_ptr<Backend>()> cpu;  // opens the CPU
    std::string output;
    Log say;
    std::function<bool()> stop_requested;

    std::string device() const;  // "cpu (AMD EPYC)"
};

// ------------------------------------------------------------------------------------- studies of trainings
struct StudyRow {
    std::string name;                                  // "A1"; of its folder, too
    std::string label = {};                            // in the table; "": what its configuration varies
    nlohmann::json change = nlohmann::json::object();  // of the base, as configure() reads it
    ExperimentRow::Reported paper = {};
};

struct RowConfig {
    nlohmann::json config;   // a training configuration
    std::string varied;      // "h 1, d_k 128, d_v 128"; "" for the base
    std::string impossible;  // why there is no such model; "" if there is
};

// The mean over a row's seeds.
struct StudyColumn {
    const char* heading;
    const char* key;  // in JSON, among ours; "" for what is there in any case
    int digits;
    double (*of)(const TrialResult&);  // null: the number of seeds
    double unit = 1.0;
    bool spread = false;                                              // with the standard deviation over seeds
    std::optional<double> ExperimentRow::Reported::*paper = nullptr;  // a column beside it
    int paper_digits = 0;
    const char* task = nullptr;  // only with this value of the option "task"
};

struct TrialProblem {
    std::size_t trial = 0;
    std::string text;
};

// The trainings of a study, and what their results say.
class Trainings {
public:
    virtual ~Trainings() = default;
    const std::vector<Trial>& trials() const { return trials_; }
    // "A1 is impossible with this base: ..."
    const std::vector<std::string>& remarks() const { return remarks_; }
    // Of the results that the experiment's folder has, and of the trials that failed.
    virtual StudyReport report(const Experiment& experiment, const std::vector<TrialProblem>& problems) = 0;

protected:
    // A line for each: "base-s1: failed: no disk".
    std::string problem_lines(const std::vector<TrialProblem>& problems) const;

    std::vector<Trial> trials_;
    std::vector<std::string> remarks_;
};

struct RowResults {
    const StudyRow* row = nullptr;
    RowConfig planned = {};
    std::vector<TrialResult> results = {};
    std::vector<int> seeds = {};  // of the results; 0: the base's
    std::vector<std::string> problems = {};
};

struct Study {
    const char* name;
    const char* summary;  // in --help, like the next
    const char* footer;
    std::vector<StudyOption> options = {};
    // Of a study without trainings: measures and reports.
    StudyReport (*measure)(const nlohmann::json& values, const Bench& bench) = nullptr;

    // Of one with trainings, each of a row and, with an option "seeds", a seed from 1 on. The first row is the base
    // that the picture compares with; the rows of the option "rows" are trained.
    const char* title = "";  // of the picture
    std::vector<StudyRow> rows = {};
    const char* chosen = "rows";                                                    // another name of that option
    void (*prepare)(nlohmann::json& base, const nlohmann::json& values) = nullptr;  // changes every base
    std::vector<StudyColumn> columns = {};
    const char* notes = "";  // below the table
    // Null: the change of a row is a merge patch of the base.
    RowConfig (*configure)(const StudyRow& row, const nlohmann::json& base, const nlohmann::json& values) = nullptr;
    void (*extend)(const std::vector<RowResults>& rows, StudyReport& report) = nullptr;  // adds tables and pictures
    // Instead of rows: trainings that are not of one row and one seed.
    std::unique_ptr<Trainings> (*begin)(const StudyRequest& request) = nullptr;
};

// Rows and seeds as options.
std::vector<StudyOption> row_options(const char* rows_help = "Rows to train (default: all)");
// Perplexity and BLEU, of which the picture is made, with the paper's; parameters; minutes.
extern const StudyColumn kPerplexityColumn, kBleuColumn, kParametersColumn, kSeedsColumn, kMinutesColumn;

// Error, before anything is trained, for a row that does not exist.
std::unique_ptr<Trainings> begin_trainings(const Study& study, const StudyRequest& request);
Trial seeded_trial(const std::string& row, nlohmann::json config, int seed);

// In the order of --help.
const std::vector<Study>& studies();
// Error, listing all, for an unknown one.
const Study& study_named(const std::string& name);

}  // namespace headscope
