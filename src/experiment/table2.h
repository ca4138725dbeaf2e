// The paper's Table 2 at a small scale: translation quality of a base-like and a big-like model, alone, as the mean of
// their last checkpoints, and as ensembles.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "backend/backend.h"
#include "eval/bleu.h"
#include "eval/training_cost.h"
#include "experiment/experiment.h"
#include "experiment/text_table.h"

namespace headscope {

inline constexpr const char* kTable2Shapes[] = {"base", "big"};

struct Table2Entry {
    std::string name;                 // "base-ensemble2"
    std::string model;                // what it is, for people
    std::vector<std::string> models;  // model directories in the experiment's folder; several: an ensemble
    std::vector<std::string> trials;  // whose training they need
    const PaperResult* paper;         // of the same model; null: none
};

struct Table2Result {
    double bleu = 0.0;             // sacreBLEU's: cased, 13a tokens
    double split_bleu = 0.0;       // compounds split at hyphens (BleuOptions::split_compounds)
    double perplexity = 0.0;       // per piece
    std::int64_t parameters = 0;   // of all models
    std::size_t unscored = 0;      // pairs that the perplexity leaves out: ForcedReferences
    std::size_t untranslated = 0;  // sentences that count as empty
};

class Table2 {
public:
    // `seeds`: trainings of each shape, at most 4 of which make ensembles. Error if `base` sets no steps.
    Table2(const nlohmann::json& base, std::vector<std::string> shapes, int seeds);

    // Each keeps the mean of its last five checkpoints and the last one.
    const std::vector<Trial>& trials() const { return trials_; }

    // Translates the test text, a TSV file, with every entry whose trainings are finished and that has no result for
    // this text yet. Results are kept in the experiment's folder. An entry that fails does not end the others: it is in
    // problems().
    void measure(Backend& backend, const Experiment& experiment, const std::string& test);
    const std::vector<std::string>& problems() const { return problems_; }

    // Ours beside the paper's of the same model, and then the paper's other models.
    TextTable table(const Experiment& experiment) const;
    std::string notes() const;
    nlohmann::json json(const Experiment& experiment) const;

private:
    struct Row {
        const Table2Entry* entry;
        std::optional<Table2Result> result;
        double minutes = 0.0;              // of its trainings
        std::optional<double> flops = {};  // their training cards' sum; empty: one does not know
    };
    std::vector<Row> rows(const Experiment& experiment) const;

    std::vector<Trial> trials_;
    std::vector<Table2Entry> entries_;
    std::vector<std::optional<Table2Result>> results_;  // by entry
    std::vector<std::string> problems_;                 // "base-mean: failed: ...", of the last measure()
};

}  // namespace headscope
