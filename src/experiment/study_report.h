// What a study found: rows that are made once and reported as text, Markdown, JSON, CSV and pictures.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "experiment/text_table.h"
#include "figures/curve.h"
#include "paint/drawing.h"

namespace headscope {

template <class Row>
struct Column {
    std::string heading;  // of the table; "": only in JSON
    std::string key;      // in JSON; "": only in the table
    // Text or a number; null where there is none, which the table shows as "-"; kLeftOut where JSON has no such key.
    std::function<nlohmann::json(const Row&)> of;
    int digits = 2;     // of numbers in the table
    double unit = 1.0;  // of the table
};
inline const nlohmann::json kLeftOut = nlohmann::json::value_t::discarded;

// A number, or null.
inline nlohmann::json or_null(const std::optional<double>& value) {
    return value ? nlohmann::json(*value) : nlohmann::json();
}

// "-" for null; numbers that are not whole, or have a unit, with `digits`.
std::string cell_text(const nlohmann::json& value, int digits, double unit);

template <class Row>
TextTable table_of(const std::vector<Column<Row>>& columns, const std::vector<Row>& rows, std::size_t left = 1) {
    TextTable table{.head = {}, .rows = std::vector<std::vector<std::string>>(rows.size()), .left = left};
    for (const Column<Row>& column : columns) {
        if (column.heading.empty()) {
            continue;
        }
        table.head.push_back(column.heading);
        for (std::size_t i = 0; i < rows.size(); ++i) {
            table.rows[i].push_back(cell_text(column.of(rows[i]), column.digits, column.unit));
        }
    }
    return table;
}

template <class Row>
nlohmann::json json_of(const std::vector<Column<Row>>& columns, const std::vector<Row>& rows) {
    nlohmann::json all = nlohmann::json::array();
    for (const Row& row : rows) {
        nlohmann::json one = nlohmann::json::object();
        for (const Column<Row>& column : columns) {
            nlohmann::json value = column.key.empty() ? kLeftOut : column.of(row);
            if (!value.is_discarded()) {
                one[column.key] = std::move(value);
            }
        }
        all.push_back(std::move(one));
    }
    return all;
}

struct StudyReport {
    struct Picture {
        std::string name;                                         // of its file, without ".svg"
        std::function<Drawing(const std::string& folder)> drawn;  // when all other files are there
        bool png = false;                                         // as well
    };
    nlohmann::json json;                 // of table.json
    std::string rows = "rows";           // the key of its rows, from which table.csv is made
    std::vector<TextTable> tables = {};  // the first, and those of the others that have rows
    std::string notes = {};
    std::vector<Picture> pictures = {};
    std::string problem = {};  // why something is not in the report, for the end of the command; "" unless it is

    // Adds a picture of curves, unless there are none.
    void add_curves(std::string name, std::vector<Series> series, CurveOptions options);
    std::string plain() const;
    // Replaces table.json, table.csv, table.md and the pictures in the folder, which it creates. Returns their paths.
    std::vector<std::string> write(const std::string& folder) const;
};

}  // namespace headscope
