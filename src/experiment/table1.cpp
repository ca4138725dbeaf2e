#include "experiment/table1.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <set>
#include <span>

#include <fmt/format.h>

#include "figures/curve.h"
#include "io/atomic_file.h"
#include "paint/svg.h"

namespace headscope {
namespace {

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

// The 97.5 % quantile of Student's t: exact where few degrees of freedom are left, else its expansion around the normal
// one (Abramowitz and Stegun, 26.7.5).
double student_quantile(std::ptrdiff_t freedom) {
    constexpr double kExact[] = {12.7062, 4.3027, 3.1824, 2.7764};
    if (freedom <= std::ssize(kExact)) {
        return kExact[freedom - 1];
    }
    constexpr double z = 1.959964;
    const auto n = static_cast<double>(freedom);
    const double z3 = std::pow(z, 3);
    const double z5 = std::pow(z, 5);
    return z + (z3 + z) / (4.0 * n) + (5.0 * z5 + 16.0 * z3 + 3.0 * z) / (96.0 * n * n);
}

}  // namespace

Exponent fit_exponent(const std::vector<PowerPoint>& points) {
    struct Group {
        double x = 0.0, y = 0.0, count = 0.0;
    };
    std::map<std::int64_t, Group> groups;
    for (const PowerPoint& point : points) {
        Group& group = groups[point.group];
        group.x += std::log(point.x);
        group.y += std::log(point.y);
        group.count += 1.0;
    }
    double xx = 0.0;
    double xy = 0.0;
    double yy = 0.0;
    for (const PowerPoint& point : points) {
        const Group& group = groups[point.group];
        const double x = std::log(point.x) - group.x / group.count;
        const double y = std::log(point.y) - group.y / group.count;
        xx += x * x;
        xy += x * y;
        yy += y * y;
    }
    constexpr double kNone = std::numeric_limits<double>::infinity();
    if (xx == 0.0) {
        return {.value = std::numeric_limits<double>::quiet_NaN(), .error = kNone};
    }
    Exponent fitted{.value = xy / xx, .error = kNone};
    const auto freedom = std::ssize(points) - std::ssize(groups) - 1;
    if (freedom >= 1) {
        const auto degrees = static_cast<double>(freedom);
        const double residual = std::max(yy - fitted.value * xy, 0.0);
        fitted.error = student_quantile(freedom) * std::sqrt(residual / degrees / xx);
    }
    return fitted;
}

TextTable Table1::table() const {
    TextTable table{.head = {"layer", "paper"}, .rows = {}, .left = 2};
    for (const auto& [name, measure] : std::span(kMeasures).first(kShown)) {
        table.head.push_back(fmt::format("{}: n", name));
        table.head.emplace_back("d");
    }
    for (const char* head : {"sequential", "paper", "path", "paper"}) {
        table.head.emplace_back(head);
    }
    for (const Table1Line& line : lines_) {
        std::vector<std::string> row = {line.kind->title, line.kind->complexity};
        for (const auto& [name, measure] : std::span(kMeasures).first(kShown)) {
            const Growth growth = growth_of(line.costs, measure);
            row.push_back(exponent_text(growth.length));
            row.push_back(exponent_text(growth.width));
        }
        row.push_back(path_text(line.paths, &LayerPath::sequential));
        row.emplace_back(line.kind->sequential);
        row.push_back(path_text(line.paths, &LayerPath::path));
        row.emplace_back(line.kind->path);
        table.rows.push_back(std::move(row));
    }
    return table;
}

TextTable Table1::crossings() const {
    TextTable table{.head = {"d", "self-attention is no slower up to n", "of"}, .rows = {}, .left = 0};
    const auto line_of = [&](const char* name) -> const Table1Line* {
        const auto found = std::find_if(lines_.begin(), lines_.end(),
                                        [&](const Table1Line& line) { return std::string(name) == line.kind->name; });
        return found == lines_.end() ? nullptr : &*found;
    };
    const Table1Line* attention = line_of("self-attention");
    const Table1Line* recurrent = line_of("lstm");
    if (attention == nullptr || recurrent == nullptr) {
        return table;
    }
    const std::set<std::int64_t> lengths = values_of(lines_, &LayerCost::length);
    for (const std::int64_t width : values_of(lines_, &LayerCost::width)) {
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

nlohmann::json Table1::json() const {
    nlohmann::json lines = nlohmann::json::array();
    for (const Table1Line& line : lines_) {
        nlohmann::json costs = nlohmann::json::array();
        for (const LayerCost& cost : line.costs) {
            costs.push_back({{"n", cost.length},
                             {"d", cost.width},
                             {"forward_seconds", cost.pass.forward_seconds},
                             {"backward_seconds", cost.pass.backward_seconds},
                             {"multiply_adds", cost.multiply_adds},
                             {"bytes", cost.pass.bytes}});
        }
        nlohmann::json paths = nlohmann::json::array();
        for (const LayerPath& path : line.paths) {
            paths.push_back({{"n", path.length},
                             {"layers", path.layers},
                             {"sequential_ops", path.sequential},
                             {"path_ops", path.path}});
        }
        nlohmann::json one = {
            {"layer", line.kind->name},
            {"paper",
             {{"complexity", line.kind->complexity}, {"sequential", line.kind->sequential}, {"path", line.kind->path}}},
            {"costs", costs},
            {"paths", paths}};
        for (const auto& [name, measure] : kMeasures) {
            const Growth growth = growth_of(line.costs, measure);
            one["growth"][name] = {{"n", exponent_json(growth.length)}, {"d", exponent_json(growth.width)}};
        }
        lines.push_back(std::move(one));
    }
    return {{"experiment", "table1"}, {"device", device_}, {"layers", lines}};
}

void Table1::write(const std::string& folder) const {
    namespace fs = std::filesystem;
    fs::create_directories(folder);
    const auto file = [&](const char* name) { return (fs::path(folder) / name).string(); };
    atomic_write_file(file("table.json"), json().dump(2) + "\n");
    atomic_write_file(file("table.md"), table().markdown() + "\n" + crossings().markdown());
    const std::int64_t width = middle_of(values_of(lines_, &LayerCost::width));
    const std::int64_t length = middle_of(values_of(lines_, &LayerCost::length));
    const auto plot = [&](const char* name, std::int64_t LayerCost::*along, std::int64_t LayerCost::*fixed,
                          std::int64_t at, const std::string& title, const char* label) {
        std::vector<Series> all;
        for (const Table1Line& line : lines_) {
            Series series{.name = line.kind->title, .points = {}};
            for (const LayerCost& cost : line.costs) {
                if (cost.*fixed == at) {
                    series.points.push_back({static_cast<double>(cost.*along), 1e3 * total_seconds(cost)});
                }
            }
            all.push_back(std::move(series));
        }
        atomic_write_file(file(name), to_svg(draw_curves(all, {.title = title,
                                                               .x_label = label,
                                                               .y_label = "milliseconds, forward and backward",
                                                               .logarithmic = true,
                                                               .logarithmic_x = true})));
    };
    plot("by-length.svg", &LayerCost::length, &LayerCost::width, width, fmt::format("One layer, d = {}", width),
         "positions n");
    plot("by-width.svg", &LayerCost::width, &LayerCost::length, length, fmt::format("One layer, n = {}", length),
         "columns d");
}

}  // namespace headscope
