// The paper's Table 4: constituency parsing, by parsers that are trained here and those of the paper.
#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "data/corpus.h"
#include "eval/parsed_trees.h"
#include "experiment/measured_file.h"
#include "experiment/studies.h"
#include "infer/loaded_model.h"
#include "support/check.h"
#include "support/counted.h"
#include "text/lines.h"
#include "trees/tree_reader.h"
#include "trees/tree_vocabulary.h"

namespace headscope {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTable4Footer =
    "Trains a parser on the configuration's trees and, with silver.tsv, a second one on both; parses test.tsv with\n"
    "the paper's search, and prints F1 beside the paper's table. headscope trees linearise writes such files;\n"
    "docs/parsing.md says how silver trees are made. table.json and table.md in the output folder have the same.\n"
    "The same command continues after any end.\n\n"
    "Examples:\n"
    "  headscope experiment table4 --config parser.json --data data/trees --output out/table4 --rows gold --dry-run\n"
    "  headscope experiment table4 --config parser.json --data data/trees --output out/table4 --beside grammar.trees";

constexpr const char* kTable4Notes =
    "F1 is EVALB's with COLLINS.prm over all sentences; tags are the gold ones. Ours search with beam 21 and length\n"
    "penalty 0.3, as the paper does, and only for trees of the words. The paper's rows are of other data, section 23\n"
    "of the Wall Street Journal: compare how they differ, not the numbers.\n";

// In the paper's order.
struct PaperParser {
    const char* name;
    const char* training;
    double f1;
};
constexpr const char* kGoldOnly = "WSJ only, discriminative";
constexpr const char* kSilverToo = "semi-supervised";
constexpr std::array<PaperParser, 12> kPaperTable4 = {{
    {"Vinyals & Kaiser et al. (2014)", kGoldOnly, 88.3},
    {"Petrov et al. (2006)", kGoldOnly, 90.4},
    {"Zhu et al. (2013)", kGoldOnly, 90.4},
    {"Dyer et al. (2016)", kGoldOnly, 91.7},
    {"Transformer (4 layers)", kGoldOnly, 91.3},
    {"Zhu et al. (2013)", kSilverToo, 91.3},
    {"Huang & Harper (2009)", kSilverToo, 91.3},
    {"McClosky et al. (2006)", kSilverToo, 92.1},
    {"Vinyals & Kaiser et al. (2014)", kSilverToo, 92.1},
    {"Transformer (4 layers)", kSilverToo, 92.7},
    {"Luong et al. (2015)", "multi-task", 93.0},
    {"Dyer et al. (2016)", "generative", 93.3},
}};

struct ParserRow {
    std::string name;      // of its training's folder, or of its file; "": the paper's
    std::string parser;    // what it is, for people
    std::string training;  // on what
    std::string tested;
    nlohmann::json measured = {};  // "f1" and more; null: nothing yet
};

nlohmann::json measure_of(const ParserRow& row, const char* key) {
    return row.measured.is_null() ? nlohmann::json() : row.measured.value(key, nlohmann::json());
}

std::vector<Column<ParserRow>> parser_columns() {
    const auto number = [](const char* key) {
        return [key](const ParserRow& row) -> nlohmann::json {
            const nlohmann::json value = measure_of(row, key);
            return value.is_null() && row.name.empty() ? nlohmann::json("") : value;
        };
    };
    return {
        {"parser", "parser", [](const ParserRow& row) { return row.parser; }},
        {"training", "training", [](const ParserRow& row) { return row.training; }},
        {"tested on", "tested_on", [](const ParserRow& row) { return row.tested; }},
        {"F1", "f1", [](const ParserRow& row) { return measure_of(row, "f1"); }, 1},
        {"recall", "recall", number("recall"), 1},
        {"precision", "precision", number("precision"), 1},
        {"exact %", "exact_percent", number("exact_percent"), 1},
        {"params", "parameters", number("parameters"), 2, 1e6},
        {"minutes", "minutes", number("minutes"), 1},
        {"", "row", [](const ParserRow& row) { return row.name; }},
    };
}

nlohmann::json measures_of(const TreeScores& scores) {
    const ScoreTotals& all = scores.all;
    return {{"f1", percent_of(all)},
            {"recall", all.recall()},
            {"precision", all.precision()},
            {"exact_percent", all.share(all.exact)},
            {"sentences", all.valid()}};
}

// Gives the words of a tree these tags, from the `next` on.
void retag(Tree& tree, const std::vector<std::string>& tags, std::size_t& next) {
    if (tree.is_leaf()) {
        tree.label = tags.at(next++);
    }
    for (Tree& child : tree.children) {
        retag(child, tags, next);
    }
}

class Table4 final : public Trainings {
public:
    explicit Table4(const StudyRequest& request) : test_(file_of(request, "test.tsv")) {
        const bool exists = fs::is_regular_file(test_);
        if (!exists || !terminals_of_sequences(read_tsv(test_).target)) {
            throw Error(fmt::format("'{}' {}: Table 4 needs test trees as headscope trees linearise writes them", test_,
                                    exists ? "holds no trees" : "does not exist"));
        }
        const std::string silver = file_of(request, "silver.tsv");
        const auto asked = request.values.at("rows").get<std::vector<std::string>>();
        const auto wants = [&](const char* row) { return std::find(asked.begin(), asked.end(), row) != asked.end(); };
        if (wants("silver") && !fs::is_regular_file(silver)) {
            throw Error(
                fmt::format("'{}' does not exist: the row \"silver\" needs trees that a parser wrote "
                            "(docs/parsing.md)",
                            silver));
        }
        if (asked.empty() || wants("gold")) {
            add_training("gold", "gold trees", request.base);
        }
        if (fs::is_regular_file(silver) && (asked.empty() || wants("silver"))) {
            add_training("silver", "gold and silver trees", with_silver(request.base, silver));
        }
        beside_ = request.values.at("beside").get<std::vector<std::string>>();
        for (const std::string& file : beside_) {
            if (!fs::is_regular_file(file)) {
                throw Error(fmt::format("--beside: '{}' does not exist", file));
            }
        }
    }

    // Measures every row whose training is finished and that has no result for this text yet.
    StudyReport report(const Experiment& experiment, const std::vector<TrialProblem>& problems) override {
        const ParallelText test = read_tsv(test_);
        const std::string text = name_of_text(test_);
        const std::string tested = fmt::format("{} of test.tsv", counted(test.source.size(), "sentence"));
        std::vector<ParserRow> rows;
        for (std::size_t i = 0; i < trials_.size(); ++i) {
            rows.push_back({trials_[i].name, "Transformer, trained here", trainings_[i], tested,
                            measured(experiment, trials_[i], test, text)});
        }
        for (const std::string& file : beside_) {
            rows.push_back({fs::path(file).filename().string(), fs::path(file).filename().string(), "", tested,
                            measures_of(scored_file(file, test))});
        }
        const nlohmann::json ours = json_of(parser_columns(), rows);
        std::vector<ParserRow> papers;
        for (const PaperParser& one : kPaperTable4) {
            papers.push_back({"", one.name, one.training, "WSJ 23", {{"f1", one.f1}}});
        }
        const nlohmann::json theirs = json_of(parser_columns(), papers);
        rows.insert(rows.end(), papers.begin(), papers.end());
        return {.json = {{"experiment", "table4"}, {"rows", ours}, {"paper", theirs}},
                .tables = {table_of(parser_columns(), rows, 3)},
                .notes = kTable4Notes + problem_lines(problems)};
    }

private:
    static std::string file_of(const StudyRequest& request, const char* name) {
        return (fs::path(request.data) / name).string();
    }

    static nlohmann::json with_silver(nlohmann::json base, const std::string& silver) {
        nlohmann::json& train = base["data"]["train"];
        if (!train.is_array()) {
            train = nlohmann::json::array({train});
        }
        train.push_back({{"tsv", fs::absolute(silver).string()}});
        return base;
    }

    void add_training(const char* row, const char* data, nlohmann::json config) {
        trials_.push_back(seeded_trial(row, std::move(config), 0));
        trials_.back().decodings = {{.beam = kTreeBeam, .length_penalty = kTreePenalty}};
        trainings_.emplace_back(data);
    }

    static nlohmann::json measured(const Experiment& experiment, const Trial& trial, const ParallelText& test,
                                   const std::string& text) {
        const std::optional<TrialResult> trained = experiment.result_of(trial);
        if (!trained) {
            return nullptr;
        }
        const std::string folder = (fs::path(experiment.folder()) / trial.name).string();
        const std::string file = folder + "-test.json";
        nlohmann::json measures = known_measures(file, text, {"f1"});
        if (measures.is_null()) {
            const auto backend = experiment.open();
            const LoadedModel parser(*backend, (fs::path(folder) / kTrialModel).string(), Arithmetic().weights());
            const Terminals terminals = require_terminals(parser.model());
            DecodingOptions options = paper_tree_search();
            keep_to_trees(options, parser.model(), terminals);
            measures =
                measures_of(score_found_trees(test, parser.translate(numbered(test.source), options), terminals));
            keep_measures(file, text, measures);
        }
        measures["minutes"] = trained->minutes;
        measures["parameters"] = trained->parameters;
        return measures;
    }

    // A line has the trees of a sentence.
    static TreeScores scored_file(const std::string& file, const ParallelText& test) {
        const std::vector<std::string> lines = read_lines(file);
        if (lines.size() != test.source.size()) {
            throw Error(fmt::format("--beside: '{}' has {}, expected a tree for each of the {} of test.tsv", file,
                                    counted(lines.size(), "line"), counted(test.source.size(), "sentence")));
        }
        const Terminals terminals = terminals_of_sequences(test.target).value();
        return score_trees_of(
            test, terminals,
            [&](std::size_t pair, const std::vector<std::string>& words, const std::vector<std::string>& tags) {
                const std::string place = fmt::format("'{}' line {}", file, pair + 1);
                std::vector<Tree> trees = parse_trees(lines[pair], place);
                if (trees.empty()) {
                    return restored("", words, &tags, terminals).tree;
                }
                if (trees.size() > 1 || split_at_blanks(words_of(trees.front())) != words) {
                    throw Error(
                        fmt::format("--beside: {}: expected one tree of the words of line {} "
                                    "of test.tsv",
                                    place, pair + 1));
                }
                std::size_t next = 0;
                retag(trees.front(), tags, next);
                return std::move(trees.front());
            });
    }

    std::string test_;
    std::vector<std::string> trainings_;  // of the trials: on what
    std::vector<std::string> beside_;     // files of trees
};

}  // namespace

Study table4() {
    return {.name = "table4",
            .summary = "Constituency parsing: Table 4",
            .footer = kTable4Footer,
            .options = {{.group = "Rows",
                         .name = "rows",
                         .type = "ROW,..",
                         .help = "Parsers to train: gold, silver (default: both if there is silver.tsv)",
                         .value = nlohmann::json::array(),
                         .known = {"gold", "silver"}},
                        {"Rows", "beside", "FILE,..",
                         "Trees that other parsers found for test.tsv, a line each, to score beside",
                         nlohmann::json::array()}},
            .prepare = [](nlohmann::json& base, const nlohmann::json& /*values*/) { prepare_parser(base, "table4"); },
            .begin = [](const StudyRequest& request) -> std::unique_ptr<Trainings> {
                return std::make_unique<Table4>(request);
            }};
}

}  // namespace headscope
