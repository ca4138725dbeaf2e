#include "experiment/table1.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "experiment/head_costs.h"
#include "experiment/studies.h"
#include "support/check.h"

namespace headscope {
namespace {

constexpr const char* kTable1Footer =
    "Times one layer of each kind, forward and backward, for one sequence of n positions and d columns, and prints "
    "the\n"
    "exponents with which its multiply-adds and times grow, with 95 % intervals. Sequential operations are the "
    "longest\n"
    "chain of dependent ops in a layer; the path is that from the first position to the last one through as many "
    "layers\n"
    "as connect them. Both are counted on the CPU. So is the gradient: that of the last output at the first position,\n"
    "through these layers, as a share of that at the last one. Further tables have where self-attention overtakes an\n"
    "LSTM, and the time of 1 to 32 heads with as many columns in all. table.json, table.md, by-length.svg,\n"
    "by-width.svg, by-heads.svg and gradient.svg in the output folder have all measurements. docs/experiments.md says\n"
    "what they show.\n\n"
    "Examples:\n"
    "  headscope experiment table1 --output out/table1 --lengths 64,128,256 --widths 64,128 --repeat 1\n"
    "  headscope experiment table1 --output out/few --lengths 16,32,64 --widths 16,32 --layers self-attention --repeat "
    "1";

constexpr std::int64_t kLong = 256;
constexpr std::int64_t kWide = 128;

double total_seconds(const LayerCost& cost) {
    return cost.pass.forward_seconds + cost.pass.backward_seconds;
}

std::vector<LayerCost> large(const std::vector<LayerCost>& costs) {
    std::vector<LayerCost> chosen;
    std::set<std::int64_t> lengths;
    std::set<std::int64_t> widths;
    for (const LayerCost& cost : costs) {
        if (cost.length >= kLong && cost.width >= kWide) {
            chosen.push_back(cost);
            lengths.insert(cost.length);
            widths.insert(cost.width);
        }
    }
    return lengths.size() >= 3 && widths.size() >= 2 ? chosen : costs;
}

using Measure = double (*)(const LayerCost&);
// The table shows the first three.
constexpr std::size_t kShown = 3;
constexpr std::pair<const char*, Measure> kMeasures[] = {
    {"multiply-adds", [](const LayerCost& cost) { return cost.multiply_adds; }},
    {"time", total_seconds},
    {"memory", [](const LayerCost& cost) { return static_cast<double>(cost.pass.bytes); }},
    {"forward", [](const LayerCost& cost) { return cost.pass.forward_seconds; }},
    {"backward", [](const LayerCost& cost) { return cost.pass.backward_seconds; }},
};

struct Growth {
    Exponent length, width;
};

Growth growth_of(const std::vector<LayerCost>& costs, Measure measure) {
    std::vector<PowerPoint> by_length;
    std::vector<PowerPoint> by_width;
    for (const LayerCost& cost : large(costs)) {
        by_length.push_back({static_cast<double>(cost.length), measure(cost), cost.width});
        by_width.push_back({static_cast<double>(cost.width), measure(cost), cost.length});
    }
    return {fit_exponent(by_length), fit_exponent(by_width)};
}

Exponent growth_of(const std::vector<LayerPath>& paths, std::int64_t LayerPath::*count) {
    std::vector<PowerPoint> points;
    for (const LayerPath& path : paths) {
        points.push_back({static_cast<double>(path.length), static_cast<double>(path.*count), 0});
    }
    return fit_exponent(points);
}

std::string exponent_text(const Exponent& exponent) {
    if (std::isnan(exponent.value)) {
        return "-";
    }
    return std::isfinite(exponent.error) ? fmt::format("{:.2f} ± {:.2f}", exponent.value, exponent.error)
                                         : fmt::format("{:.2f}", exponent.value);
}

nlohmann::json exponent_json(const Exponent& exponent) {
    return {{"exponent", std::isnan(exponent.value) ? nlohmann::json() : nlohmann::json(exponent.value)},
            {"error", std::isfinite(exponent.error) ? nlohmann::json(exponent.error) : nlohmann::json()}};
}

std::string path_text(const std::vector<LayerPath>& paths, std::int64_t LayerPath::*count) {
    const LayerPath& longest = paths.back();
    return fmt::format("{} (n^{:.2f})", longest.*count, growth_of(paths, count).value);
}

// The largest with as many positions as columns, where n d^2 and n^2 d are the same; null without one.
const LayerCost* square_of(const std::vector<LayerCost>& costs) {
    const LayerCost* largest = nullptr;
    for (const LayerCost& cost : costs) {
        if (cost.length == cost.width && (largest == nullptr || cost.width > largest->width)) {
            largest = &cost;
        }
    }
    return largest;
}

nlohmann::json of_square(const std::vector<LayerCost>& costs, double (*value)(const LayerCost&)) {
    const LayerCost* square = square_of(costs);
    return square == nullptr ? nlohmann::json() : nlohmann::json(value(*square));
}

std::set<std::int64_t> values_of(const std::vector<Table1Line>& lines, std::int64_t LayerCost::*size) {
    std::set<std::int64_t> values;
    for (const Table1Line& line : lines) {
        for (const LayerCost& cost : line.costs) {
            values.insert(cost.*size);
        }
    }
    return values;
}

std::int64_t middle_of(const std::set<std::int64_t>& values) {
    return *std::next(values.begin(), static_cast<std::ptrdiff_t>(values.size() / 2));
}

const LayerCost* find_cost(const std::vector<LayerCost>& costs, std::int64_t length, std::int64_t width) {
    const auto found = std::find_if(costs.begin(), costs.end(), [&](const LayerCost& cost) {
        return cost.length == length && cost.width == width;
    });
    return found == costs.end() ? nullptr : &*found;
}

nlohmann::json costs_json(const Table1Line& line) {
    nlohmann::json costs = nlohmann::json::array();
    for (const LayerCost& cost : line.costs) {
        costs.push_back({{"n", cost.length},
                         {"d", cost.width},
                         {"forward_seconds", cost.pass.forward_seconds},
                         {"backward_seconds", cost.pass.backward_seconds},
                         {"multiply_adds", cost.multiply_adds},
                         {"bytes", cost.pass.bytes}});
    }
    return costs;
}

nlohmann::json paths_json(const Table1Line& line) {
    nlohmann::json paths = nlohmann::json::array();
    for (const LayerPath& path : line.paths) {
        paths.push_back({{"n", path.length},
                         {"layers", path.layers},
                         {"sequential_ops", path.sequential},
                         {"path_ops", path.path},
                         {"gradient", path.influence}});
    }
    return paths;
}

nlohmann::json growths_json(const Table1Line& line) {
    nlohmann::json growths;
    for (const auto& [name, measure] : kMeasures) {
        const Growth growth = growth_of(line.costs, measure);
        growths[name] = {{"n", exponent_json(growth.length)}, {"d", exponent_json(growth.width)}};
    }
    return growths;
}

// Ours beside the paper's.
std::vector<Column<Table1Line>> table1_columns() {
    using Line = Table1Line;
    std::vector<Column<Line>> all = {{"layer", "", [](const Line& line) { return line.kind->title; }},
                                     {"paper", "", [](const Line& line) { return line.kind->complexity; }}};
    for (std::size_t i = 0; i < kShown; ++i) {
        const auto& [name, measure] = kMeasures[i];
        all.push_back({fmt::format("{}: n", name), "", [measure = measure](const Line& line) {
                           return exponent_text(growth_of(line.costs, measure).length);
                       }});
        all.push_back({"d", "", [measure = measure](const Line& line) {
                           return exponent_text(growth_of(line.costs, measure).width);
                       }});
    }
    const std::vector<Column<Line>> more = {
        {"/ n d^2 at n = d", "",
         [](const Line& line) {
             return of_square(line.costs, [](const LayerCost& cost) {
                 return cost.multiply_adds / std::pow(static_cast<double>(cost.width), 3.0);
             });
         }},
        {"ms", "",
         [](const Line& line) {
             return of_square(line.costs, [](const LayerCost& cost) { return 1e3 * total_seconds(cost); });
         }},
        {"sequential", "", [](const Line& line) { return path_text(line.paths, &LayerPath::sequential); }},
        {"paper", "", [](const Line& line) { return line.kind->sequential; }},
        {"path", "", [](const Line& line) { return path_text(line.paths, &LayerPath::path); }},
        {"paper", "", [](const Line& line) { return line.kind->path; }},
        {"gradient", "", [](const Line& line) { return fmt::format("{:.1e}", line.paths.back().influence); }},
        {"", "layer", [](const Line& line) { return line.kind->name; }},
        {"", "paper",
         [](const Line& line) -> nlohmann::json {
             return {{"complexity", line.kind->complexity},
                     {"sequential", line.kind->sequential},
                     {"path", line.kind->path}};
         }},
        {"", "costs", costs_json},
        {"", "paths", paths_json},
        {"", "growth", growths_json},
    };
    all.insert(all.end(), more.begin(), more.end());
    return all;
}

const Table1Line* find_line(const std::vector<Table1Line>& lines, const char* name) {
    const auto found = std::find_if(lines.begin(), lines.end(),
                                    [&](const Table1Line& line) { return std::string(name) == line.kind->name; });
    return found == lines.end() ? nullptr : &*found;
}

// For each width the greatest length at which self-attention takes no longer than the LSTM.
TextTable crossings_of(const std::vector<Table1Line>& lines) {
    TextTable table{.head = {"d", "self-attention is no slower up to n", "of"}, .rows = {}, .left = 0};
    const Table1Line* attention = find_line(lines, "self-attention");
    const Table1Line* recurrent = find_line(lines, "lstm");
    if (attention == nullptr || recurrent == nullptr) {
        return table;
    }
    const std::set<std::int64_t> lengths = values_of(lines, &LayerCost::length);
    for (const std::int64_t width : values_of(lines, &LayerCost::width)) {
        std::int64_t most = 0;
        for (const std::int64_t length : lengths) {
            const LayerCost* one = find_cost(attention->costs, length, width);
            const LayerCost* other = find_cost(recurrent->costs, length, width);
            if (one != nullptr && other != nullptr && total_seconds(*one) <= total_seconds(*other)) {
                most = length;
            }
        }
        table.rows.push_back({fmt::format("{}", width), most == 0 ? "none" : fmt::format("{}", most),
                              fmt::format("{}", *lengths.rbegin())});
    }
    return table;
}

StudyReport measure_table1(const nlohmann::json& values, const Bench& bench) {
    constexpr std::int64_t kPathLengths[] = {8, 16, 32, 64};
    constexpr std::int64_t kPathWidth = 16;
    const auto sizes = [&](const char* name) { return values.at(name).get<std::set<std::int64_t>>(); };
    std::vector<Table1Line> lines;
    for (const LayerKind* kind : chosen_layer_kinds(values.at("layers"))) {
        Table1Line& line = lines.emplace_back(Table1Line{.kind = kind});
        for (const std::int64_t length : kPathLengths) {
            line.paths.push_back(measure_path(bench.cpu, *kind, length, kPathWidth));
        }
        for (const std::int64_t width : sizes("widths")) {
            for (const std::int64_t length : sizes("lengths")) {
                if (bench.stop_requested()) {
                    throw Error("stopped by a signal; nothing was written");
                }
                line.costs.push_back(LayerProbe(bench.backend, *kind, length, width).measure(values.at("repeat")));
            }
            const LayerCost& longest = line.costs.back();
            bench.say(fmt::format("{}, d = {}: {:.3g} ms forward and {:.3g} ms backward for n = {}", kind->name, width,
                                  1e3 * longest.pass.forward_seconds, 1e3 * longest.pass.backward_seconds,
                                  longest.length));
        }
    }
    StudyReport report = report_of(lines, bench.device());
    if (find_line(lines, "self-attention") != nullptr) {
        const auto middle = [&](std::int64_t LayerCost::*size) { return middle_of(values_of(lines, size)); };
        add_head_costs(measure_heads(bench.backend, sizes("heads"), middle(&LayerCost::length),
                                     middle(&LayerCost::width), values.at("repeat")),
                       report);
    }
    return report;
}

}  // namespace

StudyReport report_of(const std::vector<Table1Line>& lines, const std::string& device) {
    StudyReport report{
        .json = {{"experiment", "table1"}, {"device", device}, {"layers", json_of(table1_columns(), lines)}},
        .rows = "layers",
        .tables = {table_of(table1_columns(), lines, 2), crossings_of(lines)}};
    const auto plot = [&](const char* name, std::int64_t LayerCost::*along, std::int64_t LayerCost::*fixed,
                          const char* title, const char* label) {
        const std::int64_t at = middle_of(values_of(lines, fixed));
        std::vector<Series> all;
        for (const Table1Line& line : lines) {
            Series& series = all.emplace_back(Series{.name = line.kind->title, .points = {}});
            for (const LayerCost& cost : line.costs) {
                if (cost.*fixed == at) {
                    series.points.push_back({static_cast<double>(cost.*along), 1e3 * total_seconds(cost)});
                }
            }
        }
        report.add_curves(name, std::move(all),
                          {.title = fmt::format("One layer, {} = {}", title, at),
                           .x_label = label,
                           .y_label = "milliseconds, forward and backward",
                           .logarithmic = true,
                           .logarithmic_x = true});
    };
    plot("by-length", &LayerCost::length, &LayerCost::width, "d", "positions n");
    plot("by-width", &LayerCost::width, &LayerCost::length, "n", "columns d");
    std::vector<Series> gradients;
    for (const Table1Line& line : lines) {
        Series& series = gradients.emplace_back(Series{.name = line.kind->title, .points = {}});
        for (const LayerPath& path : line.paths) {
            series.points.push_back({static_cast<double>(path.length), path.influence});
        }
    }
    report.add_curves("gradient", std::move(gradients),
                      {.title = "Gradient at the first position over that at the last",
                       .x_label = "positions n",
                       .y_label = "share",
                       .logarithmic = true,
                       .height = 34.0});
    return report;
}

Study table1() {
    const nlohmann::json none = nlohmann::json::array();
    return {.name = "table1",
            .summary = "Cost and path length of each kind of layer: Table 1",
            .footer = kTable1Footer,
            .options = {{"Models", "layers", "LAYER,..", "Kinds of layers (default: all)", none},
                        {"Models",
                         "lengths",
                         "N,..",
                         "Positions n (default: 16 to 4,096, doubling)",
                         {16, 32, 64, 128, 256, 512, 1024, 2048, 4096},
                         65'536},
                        {"Models",
                         "widths",
                         "N,..",
                         "Columns d (default: 64 to 1,024, doubling)",
                         {64, 128, 256, 512, 1024},
                         16'384,
                         2},
                        {"Models",
                         "heads",
                         "N,..",
                         "Heads to time at the middle length and width, whose divisors they are (default: 1 to 32)",
                         {1, 2, 4, 8, 16, 32},
                         1024},
                        {"Measurement", "repeat", "N", "Runs of each size; the median is reported", 3, 1000}},
            .measure = measure_table1};
}

}  // namespace headscope
