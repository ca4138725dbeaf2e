#include "experiment/study_report.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "io/atomic_file.h"
#include "paint/png.h"
#include "paint/svg.h"

namespace headscope {
namespace {

constexpr double kPngScale = 2.0;

std::string text_of(const std::vector<TextTable>& tables, const std::string& notes,
                    std::string (TextTable::*printed)() const) {
    std::string text;
    for (const TextTable& table : tables) {
        if (text.empty() || !table.rows.empty()) {
            text += text.empty() ? "" : "\n";
            text += (table.*printed)();
        }
    }
    return text + (notes.empty() ? "" : "\n" + notes);
}

std::string csv_cell(const nlohmann::json& value) {
    std::string text = value.is_null() ? "" : value.is_string() ? value.get<std::string>() : value.dump();
    if (text.find_first_of(",\"\n") == std::string::npos) {
        return text;
    }
    for (std::size_t at = 0; (at = text.find('"', at)) != std::string::npos; at += 2) {
        text.insert(at, 1, '"');
    }
    return fmt::format("\"{}\"", text);
}

// Adds what is neither an object nor a list: "ours/bleu/mean".
void add_scalars(const nlohmann::json& object, const std::string& before, nlohmann::json& flat) {
    for (const auto& [key, value] : object.items()) {
        if (value.is_object()) {
            add_scalars(value, before + key + "/", flat);
        } else if (!value.is_array()) {
            flat[before + key] = value;
        }
    }
}

std::string csv_of(const nlohmann::json& rows) {
    std::vector<nlohmann::json> flat;
    std::vector<std::string> keys;
    for (const nlohmann::json& row : rows) {
        add_scalars(row, "", flat.emplace_back(nlohmann::json::object()));
        for (const auto& [key, value] : flat.back().items()) {
            if (std::find(keys.begin(), keys.end(), key) == keys.end()) {
                keys.push_back(key);
            }
        }
    }
    std::string text = fmt::format("{}\n", fmt::join(keys, ","));
    for (const nlohmann::json& row : flat) {
        std::vector<std::string> cells;
        for (const std::string& key : keys) {
            cells.push_back(csv_cell(row.value(key, nlohmann::json())));
        }
        text += fmt::format("{}\n", fmt::join(cells, ","));
    }
    return text;
}

}  // namespace

std::string cell_text(const nlohmann::json& value, int digits, double unit) {
    if (value.is_null() || value.is_discarded()) {
        return "-";
    }
    if (value.is_string()) {
        return value.get<std::string>();
    }
    return value.is_number_integer() && unit == 1.0 ? value.dump()
                                                    : fmt::format("{:.{}f}", value.get<double>() / unit, digits);
}

void StudyReport::add_curves(std::string name, std::vector<Series> series, CurveOptions options) {
    std::erase_if(series, [](const Series& one) { return one.points.empty(); });
    if (!series.empty()) {
        pictures.push_back({.name = std::move(name),
                            .drawn = [series = std::move(series), options = std::move(options)](const std::string&) {
                                return draw_curves(series, options);
                            }});
    }
}

std::string StudyReport::plain() const {
    return text_of(tables, notes, &TextTable::plain);
}

std::vector<std::string> StudyReport::write(const std::string& folder) const {
    std::filesystem::create_directories(folder);
    std::vector<std::string> paths;
    const auto write_file = [&](const std::string& name, const std::string& bytes) {
        paths.push_back((std::filesystem::path(folder) / name).string());
        atomic_write_file(paths.back(), bytes);
    };
    write_file("table.json", json.dump(2) + "\n");
    write_file("table.csv", csv_of(json.at(rows)));
    write_file("table.md", text_of(tables, notes, &TextTable::markdown));
    for (const Picture& picture : pictures) {
        const Drawing drawing = picture.drawn(folder);
        write_file(picture.name + ".svg", to_svg(drawing));
        if (picture.png) {
            write_file(picture.name + ".png", to_png(rasterise(drawing, kPngScale)));
        }
    }
    return paths;
}

}  // namespace headscope
