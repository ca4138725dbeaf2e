// headscope experiment long-range: the options, results and report of the trainings in long_range.cpp.
#include <algorithm>
#include <filesystem>
#include <limits>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "experiment/long_range.h"
#include "experiment/studies.h"
#include "io/strict_json.h"
#include "support/check.h"
#include "support/usage_error.h"
#include "train/config_changes.h"

namespace headscope {
namespace {

constexpr const char* kLongRangeFooter =
    "Trains a small causal language model for each layer and distance, all with as many parameters, and prints the\n"
    "steps until 99 % of the answers were right, or the accuracy where they never were. recall: after D random "
    "symbols\n"
    "the first one is asked for. copy: D random symbols are to be repeated. table.json, table.md, recall.svg and\n"
    "copy.svg in the output folder have the same. The same command continues after any end.\n\n"
    "Examples:\n"
    "  headscope experiment long-range --output out/long-range --distances 2,4 --steps 40\n"
    "  headscope experiment long-range --output out/short --layers self-attention --distances 4,8 --steps 50";

constexpr LongRangeTask kLongRangeOrder[] = {LongRangeTask::Recall, LongRangeTask::Copy};

const char* name_of(LongRangeTask task) {
    return kLongRangeTasks[static_cast<std::size_t>(task)];
}

nlohmann::json settings_json(const LongRangeSettings& settings) {
    return {{"layers", settings.layers}, {"d_model", settings.d_model}, {"sequences", settings.sequences},
            {"steps", settings.steps},   {"seed", settings.seed},       {"learning_rate", settings.learning_rate}};
}

const LongRangeResult* find_result(const std::vector<LongRangeResult>& results, LongRangeTask task,
                                   const std::string& layer, std::int64_t distance) {
    const auto found = std::find_if(results.begin(), results.end(), [&](const LongRangeResult& result) {
        return result.task == task && result.layer == layer && result.distance == distance;
    });
    return found == results.end() ? nullptr : &*found;
}

std::vector<Column<LongRangeResult>> long_range_columns() {
    using Result = LongRangeResult;
    return {{"", "task", [](const Result& result) { return name_of(result.task); }},
            {"", "layer", [](const Result& result) { return result.layer; }},
            {"", "distance", [](const Result& result) { return result.distance; }},
            {"", "steps",
             [](const Result& result) { return result.steps ? nlohmann::json(*result.steps) : nlohmann::json(); }},
            {"", "accuracy", [](const Result& result) { return result.accuracy; }},
            {"", "parameters", [](const Result& result) { return result.parameters; }}};
}

StudyReport measure_long_range(const nlohmann::json& values, const Bench& bench) {
    const LongRangeSettings settings{.distances = values.at("distances"),
                                     .layers = values.at("depth"),
                                     .d_model = values.at("d-model"),
                                     .sequences = values.at("batch"),
                                     .steps = values.at("steps"),
                                     .seed = values.at("seed")};
    if (settings.d_model % 4 != 0) {
        throw UsageError(fmt::format("--d-model must be a multiple of 4, for four heads, found {}", settings.d_model));
    }
    const std::vector<const LayerKind*> kinds = chosen_layer_kinds(values.at("layers"));
    std::vector<LongRangeResult> results = known_results(bench.output, settings);
    for (const std::int64_t distance : settings.distances) {
        for (const LongRangeTask task : kLongRangeOrder) {
            for (const LayerKind* kind : kinds) {
                if (find_result(results, task, kind->name, distance) != nullptr) {
                    continue;
                }
                const auto result =
                    learn_long_range(bench.backend, settings, task, *kind, distance, bench.stop_requested);
                if (!result) {
                    throw Error("stopped by a signal; the same command continues");
                }
                results.push_back(*result);
                report_of(results, settings).write(bench.output);
                bench.say(fmt::format("{} over {}, {}: {}", name_of(task), distance, kind->name,
                                      result->steps ? fmt::format("{} steps", *result->steps)
                                                    : fmt::format("{:.1f} % right after {} steps",
                                                                  100.0 * result->accuracy, settings.steps)));
            }
        }
    }
    return report_of(results, settings);
}

}  // namespace

std::string steps_text(const LongRangeResult& result) {
    return result.steps ? fmt::format("{}", *result.steps) : fmt::format("{:.0f} %", 100.0 * result.accuracy);
}

std::vector<LongRangeResult> known_results(const std::string& folder, const LongRangeSettings& settings) {
    const std::string file = (std::filesystem::path(folder) / "table.json").string();
    std::vector<LongRangeResult> results;
    if (!std::filesystem::exists(file)) {
        return results;
    }
    const nlohmann::json found = read_json_file(file);
    try {
        if (found.at("experiment") != "long-range") {
            throw Error(fmt::format("'{}' is of another experiment: choose another --output", file));
        }
        const std::vector<std::string> changed = differences(found.at("settings"), settings_json(settings));
        if (!changed.empty()) {
            throw Error(
                fmt::format("'{}' has results of other settings: {}; give the same options again, or choose "
                            "another --output",
                            folder, fmt::join(changed, "; ")));
        }
        for (const nlohmann::json& one : found.at("results")) {
            const std::string task = one.at("task");
            results.push_back(
                {.task = task == name_of(LongRangeTask::Copy) ? LongRangeTask::Copy : LongRangeTask::Recall,
                 .layer = one.at("layer"),
                 .distance = one.at("distance"),
                 .steps = one.at("steps").is_null() ? std::nullopt : std::optional(one.at("steps").get<std::int64_t>()),
                 .accuracy = one.at("accuracy"),
                 .parameters = one.at("parameters")});
        }
    } catch (const nlohmann::json::exception& error) {
        throw Error(fmt::format("'{}' is not a table of headscope experiment long-range ({}): choose another --output",
                                file, error.what()));
    }
    return results;
}

StudyReport report_of(const std::vector<LongRangeResult>& results, const LongRangeSettings& settings) {
    StudyReport report{.json = {{"experiment", "long-range"},
                                {"settings", settings_json(settings)},
                                {"results", json_of(long_range_columns(), results)}},
                       .rows = "results"};
    std::set<std::int64_t> distances;
    for (const LongRangeResult& result : results) {
        distances.insert(result.distance);
    }
    TextTable table{.head = {"task", "layer", "params"}, .rows = {}, .left = 2};
    for (const std::int64_t distance : distances) {
        table.head.push_back(fmt::format("{}", distance));
    }
    for (const LongRangeTask task : kLongRangeOrder) {
        std::vector<Series> curves;
        for (const LayerKind& kind : layer_kinds()) {
            std::vector<std::string> row = {name_of(task), kind.name, ""};
            Series& curve = curves.emplace_back(Series{.name = kind.name, .points = {}});
            for (const std::int64_t distance : distances) {
                const LongRangeResult* found = find_result(results, task, kind.name, distance);
                row.push_back(found == nullptr ? "" : steps_text(*found));
                if (found != nullptr) {
                    row[2] = fmt::format("{}", found->parameters);
                    // Not learnt: no point, and nothing beyond.
                    curve.points.push_back(
                        {static_cast<double>(distance),
                         found->steps ? static_cast<double>(*found->steps) : std::numeric_limits<double>::quiet_NaN()});
                }
            }
            if (!row[2].empty()) {
                table.rows.push_back(std::move(row));
            }
        }
        report.add_curves(name_of(task), std::move(curves),
                          {.title = fmt::format("Steps until 99 % right: {}", name_of(task)),
                           .x_label = "distance",
                           .y_label = fmt::format("steps, of at most {}; no point: not learnt", settings.steps),
                           .logarithmic = true,
                           .logarithmic_x = true});
    }
    report.tables.push_back(std::move(table));
    return report;
}

Study long_range() {
    const LongRangeSettings settings;
    return {.name = "long-range",
            .summary = "How many steps each kind of layer needs to learn a distance",
            .footer = kLongRangeFooter,
            .options = {{"Models", "layers", "LAYER,..", "Kinds of layers (default: all)", nlohmann::json::array()},
                        {"Models", "depth", "N", "Layers of each model", settings.layers, 64},
                        {"Models", "d-model", "N", "Columns, a multiple of 4", settings.d_model, 4096, 4},
                        {"Training", "distances", "N,..",
                         "Symbols between question and answer (default: 8,16,32,64,128)", settings.distances, 4096},
                        {"Training", "steps", "N", "At most, for each model", settings.steps, 1'000'000},
                        {"Training", "batch", "N", "Sequences of each step", settings.sequences, 100'000},
                        {"Training", "seed", "N", "Random seed of weights and sequences", settings.seed,
                         std::numeric_limits<double>::infinity()}},
            .measure = measure_long_range};
}

}  // namespace headscope
