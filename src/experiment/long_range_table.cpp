#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "experiment/long_range.h"
#include "figures/curve.h"
#include "io/atomic_file.h"
#include "io/strict_json.h"
#include "paint/svg.h"
#include "support/check.h"
#include "train/config_changes.h"

namespace headscope {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTableFile = "table.json";

nlohmann::json json_of(const LongRangeSettings& settings) {
    return {{"layers", settings.layers}, {"d_model", settings.d_model}, {"sequences", settings.sequences},
            {"steps", settings.steps},   {"seed", settings.seed},       {"learning_rate", settings.learning_rate}};
}

const char* name_of(LongRangeTask task) {
    return kLongRangeTasks[static_cast<std::size_t>(task)];
}

}  // namespace

LongRange::LongRange(std::string folder, const LongRangeSettings& settings)
    : folder_(std::move(folder)), settings_(json_of(settings)), most_steps_(settings.steps) {
    const std::string file = (fs::path(folder_) / kTableFile).string();
    if (!fs::exists(file)) {
        fs::create_directories(folder_);
        return;
    }
    const nlohmann::json found = read_json_file(file);
    try {
        if (found.at("experiment") != "long-range") {
            throw Error(fmt::format("'{}' is of another experiment: choose another --output", file));
        }
        const std::vector<std::string> changed = differences(found.at("settings"), settings_);
        if (!changed.empty()) {
            throw Error(
                fmt::format("'{}' has results of other settings: {}; give the same options again, or choose "
                            "another --output",
                            folder_, fmt::join(changed, "; ")));
        }
        for (const nlohmann::json& one : found.at("results")) {
            const std::string task = one.at("task");
            results_.push_back(
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
}

const LongRangeResult* LongRange::find(LongRangeTask task, const std::string& layer, std::int64_t distance) const {
    const auto found = std::find_if(results_.begin(), results_.end(), [&](const LongRangeResult& result) {
        return result.task == task && result.layer == layer && result.distance == distance;
    });
    return found == results_.end() ? nullptr : &*found;
}

std::vector<std::int64_t> LongRange::distances() const {
    std::vector<std::int64_t> all;
    for (const LongRangeResult& result : results_) {
        all.push_back(result.distance);
    }
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
}

TextTable LongRange::table() const {
    TextTable table{.head = {"task", "layer", "params"}, .rows = {}, .left = 2};
    const std::vector<std::int64_t> columns = distances();
    for (const std::int64_t distance : columns) {
        table.head.push_back(fmt::format("{}", distance));
    }
    for (const LongRangeTask task : {LongRangeTask::Recall, LongRangeTask::Copy}) {
        for (const LayerKind& kind : layer_kinds()) {
            std::vector<std::string> row = {name_of(task), kind.name, ""};
            for (const std::int64_t distance : columns) {
                const LongRangeResult* found = find(task, kind.name, distance);
                row.push_back(found == nullptr ? ""
                              : found->steps   ? fmt::format("{}", *found->steps)
                                               : fmt::format("{:.0f} %", 100.0 * found->accuracy));
                row[2] = found == nullptr ? row[2] : fmt::format("{}", found->parameters);
            }
            if (!row[2].empty()) {
                table.rows.push_back(std::move(row));
            }
        }
    }
    return table;
}

nlohmann::json LongRange::json() const {
    nlohmann::json results = nlohmann::json::array();
    for (const LongRangeResult& result : results_) {
        results.push_back({{"task", name_of(result.task)},
                           {"layer", result.layer},
                           {"distance", result.distance},
                           {"steps", result.steps ? nlohmann::json(*result.steps) : nlohmann::json()},
                           {"accuracy", result.accuracy},
                           {"parameters", result.parameters}});
    }
    return {{"experiment", "long-range"}, {"settings", settings_}, {"results", results}};
}

void LongRange::add(const LongRangeResult& result) {
    results_.push_back(result);
    write();
}

void LongRange::write() const {
    const auto file = [&](const char* name) { return (fs::path(folder_) / name).string(); };
    atomic_write_file(file(kTableFile), json().dump(2) + "\n");
    atomic_write_file(file("table.md"), table().markdown());
    for (const LongRangeTask task : {LongRangeTask::Recall, LongRangeTask::Copy}) {
        std::vector<Series> all;
        for (const LayerKind& kind : layer_kinds()) {
            Series series{.name = kind.name, .points = {}};
            for (const std::int64_t distance : distances()) {
                const LongRangeResult* found = find(task, kind.name, distance);
                // Not learnt: no point, and nothing beyond.
                if (found != nullptr) {
                    series.points.push_back(
                        {static_cast<double>(distance),
                         found->steps ? static_cast<double>(*found->steps) : std::numeric_limits<double>::quiet_NaN()});
                }
            }
            if (!series.points.empty()) {
                all.push_back(std::move(series));
            }
        }
        if (!all.empty()) {
            const Drawing drawing =
                draw_curves(all, {.title = fmt::format("Steps until 99 % right: {}", name_of(task)),
                                  .x_label = "distance",
                                  .y_label = fmt::format("steps, of at most {}; no point: not learnt", most_steps_),
                                  .logarithmic = true,
                                  .logarithmic_x = true});
            atomic_write_file(file(fmt::format("{}.svg", name_of(task)).c_str()), to_svg(drawing));
        }
    }
}

}  // namespace headscope
