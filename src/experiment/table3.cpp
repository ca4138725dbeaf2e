#include "experiment/table3.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "figures/experiment_drawing.h"
#include "io/atomic_file.h"
#include "paint/png.h"
#include "paint/svg.h"
#include "support/check.h"
#include "train/experiment_reader.h"

namespace headscope {
namespace {

namespace fs = std::filesystem;

constexpr double kPngScale = 2.0;

// Over seeds.
struct Spread {
    std::size_t count = 0;
    double mean = 0.0;
    double deviation = 0.0;  // of the sample; 0 for one value

    std::string text(int digits) const {
        return count == 0   ? "-"
               : count == 1 ? fmt::format("{:.{}f}", mean, digits)
                            : fmt::format("{:.{}f} ± {:.{}f}", mean, digits, deviation, digits);
    }
    nlohmann::json json() const {
        return {{"mean", mean}, {"deviation", count > 1 ? nlohmann::json(deviation) : nlohmann::json()}};
    }
};

template <class Value>
Spread spread_of(const std::vector<TrialResult>& results, const Value& value) {
    Spread spread{.count = results.size()};
    for (const TrialResult& result : results) {
        spread.mean += value(result) / static_cast<double>(results.size());
    }
    for (const TrialResult& result : results) {
        spread.deviation += std::pow(value(result) - spread.mean, 2.0);
    }
    spread.deviation = results.size() > 1 ? std::sqrt(spread.deviation / static_cast<double>(results.size() - 1)) : 0.0;
    return spread;
}

Spread perplexity_of(const Table3Line& line) {
    return spread_of(line.results, [](const TrialResult& result) { return result.perplexity; });
}

Spread bleu_of(const Table3Line& line) {
    return spread_of(line.results, [](const TrialResult& result) { return result.bleu.front(); });
}

std::string varied_of(const Table3Line& line) {
    return line.planned.varied.empty() ? "the base model" : line.planned.varied;
}

}  // namespace

std::vector<const Table3Row*> chosen_rows(const std::vector<std::string>& names) {
    std::vector<const Table3Row*> chosen;
    const auto add = [&](const Table3Row& row) {
        if (std::find(chosen.begin(), chosen.end(), &row) == chosen.end()) {
            chosen.push_back(&row);
        }
    };
    for (const std::string& name : names) {
        bool group = false;
        for (const Table3Row& row : table3_rows()) {
            if (name.size() == 1 && row.name[0] == name[0]) {
                add(row);
                group = true;
            }
        }
        if (!group) {
            add(table3_row(name));
        }
    }
    if (names.empty()) {
        std::for_each(table3_rows().begin(), table3_rows().end(), add);
    }
    return chosen;
}

Trial table3_trial(const Table3Row& row, const nlohmann::json& base, int seed) {
    Trial trial{.name = fmt::format("{}-s{}", row.name, seed), .config = row_config(row, base).config};
    trial.config["training"]["seed"] = seed;
    return trial;
}

Table3::Table3(const nlohmann::json& base, const Experiment& experiment, int seeds) {
    for (const Table3Row& row : table3_rows()) {
        Table3Line line{.row = &row, .planned = row_config(row, base)};
        for (int seed = 1; line.planned.impossible.empty(); ++seed) {
            std::optional<TrialResult> result = experiment.result_of(table3_trial(row, base, seed));
            if (result) {
                line.results.push_back(std::move(*result));
                line.seeds.push_back(seed);
            } else if (seed >= seeds) {
                break;
            }
        }
        lines_.push_back(std::move(line));
    }
}

void Table3::add_problem(const Table3Row& row, int seed, const std::string& problem) {
    const auto line = std::find_if(lines_.begin(), lines_.end(), [&](const auto& one) { return one.row == &row; });
    line->problems.push_back(fmt::format("seed {}: {}", seed, problem));
}

TextTable Table3::table() const {
    TextTable table{.head = {"row", "varied", "PPL", "paper", "BLEU", "paper", "params", "paper", "seeds", "minutes"},
                    .rows = {},
                    .left = 2};
    for (const Table3Line& line : lines_) {
        const Table3Row& row = *line.row;
        const bool any = !line.results.empty();
        const Spread minutes = spread_of(line.results, [](const TrialResult& result) { return result.minutes; });
        table.rows.push_back(
            {row.name, varied_of(line), perplexity_of(line).text(2), fmt::format("{:.2f}", row.perplexity),
             bleu_of(line).text(1), fmt::format("{:.1f}", row.bleu),
             any ? fmt::format("{:.2f}", static_cast<double>(line.results.front().parameters) / 1e6) : "-",
             row.parameters ? fmt::format("{:.0f}", *row.parameters) : "",
             any ? std::to_string(line.seeds.size()) : "-", any ? fmt::format("{:.1f}", minutes.mean) : "-"});
    }
    return table;
}

std::string Table3::notes() const {
    std::string text =
        "PPL is per piece and BLEU cased with 13a tokens (sacreBLEU's), both of the development data: beam 4, length\n"
        "penalty 0.6, the weights of the last step. Parameters are in millions. The paper's columns are its "
        "base-sized\n"
        "models on newstest2013: compare the differences between rows, not the numbers.\n";
    for (const Table3Line& line : lines_) {
        if (!line.planned.impossible.empty()) {
            text += fmt::format("{}: impossible with this base: {}\n", line.row->name, line.planned.impossible);
        }
        for (std::size_t i = 0; i < line.results.size(); ++i) {
            const TrialResult& result = line.results[i];
            if (const std::string left = left_out_text("development", result.unscored, result.untranslated);
                !left.empty()) {
                text += fmt::format("{}: seed {}: {}\n", line.row->name, line.seeds[i], left);
            }
        }
        for (const std::string& problem : line.problems) {
            text += fmt::format("{}: failed: {}\n", line.row->name, problem);
        }
    }
    return text;
}

nlohmann::json Table3::json() const {
    nlohmann::json rows = nlohmann::json::array();
    for (const Table3Line& line : lines_) {
        const Table3Row& row = *line.row;
        nlohmann::json one = {
            {"row", row.name},
            {"varied", line.planned.varied},
            {"paper",
             {{"perplexity", row.perplexity},
              {"bleu", row.bleu},
              {"parameters_millions", row.parameters ? nlohmann::json(*row.parameters) : nlohmann::json()}}}};
        if (!line.planned.impossible.empty()) {
            one["impossible"] = line.planned.impossible;
        }
        if (!line.problems.empty()) {
            one["problems"] = line.problems;
        }
        if (!line.results.empty()) {
            nlohmann::json trials = nlohmann::json::array();
            for (std::size_t i = 0; i < line.results.size(); ++i) {
                const TrialResult& result = line.results[i];
                trials.push_back({{"seed", line.seeds[i]},
                                  {"perplexity", result.perplexity},
                                  {"accuracy", result.accuracy},
                                  {"calibration_error", result.calibration_error},
                                  {"bleu", result.bleu.front()},
                                  {"unscored", result.unscored},
                                  {"untranslated", result.untranslated},
                                  {"minutes", result.minutes}});
            }
            one["ours"] = {{"parameters", line.results.front().parameters},
                           {"steps", line.results.front().steps},
                           {"perplexity", perplexity_of(line).json()},
                           {"bleu", bleu_of(line).json()},
                           {"trials", trials}};
        }
        rows.push_back(std::move(one));
    }
    return {{"experiment", "table3"}, {"rows", rows}};
}

void Table3::write(const std::string& folder) const {
    const auto file = [&](const char* name) { return (fs::path(folder) / name).string(); };
    atomic_write_file(file("table.json"), json().dump(2) + "\n");
    atomic_write_file(file("table.md"), table().markdown() + "\n" + notes());
    const Drawing drawing = draw_experiment(read_experiment_table(folder));
    atomic_write_file(file("table.svg"), to_svg(drawing));
    atomic_write_file(file("table.png"), to_png(rasterise(drawing, kPngScale)));
}

}  // namespace headscope
