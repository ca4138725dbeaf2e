#include "train/experiment_reader.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "io/config_reader.h"
#include "io/strict_json.h"
#include "support/check.h"

namespace headscope {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// The only study whose table had no title in earlier versions.
constexpr const char* kTable3 = "table3";
constexpr const char* kTable3Title = "Table 3: variations of the model";
constexpr double kLargestNumber = 1e15;
constexpr int kLargestSeed = 1'000'000;

// A number that null and absence leave empty.
std::optional<double> number_of(ConfigReader& reader, const std::string& key, double least) {
    return reader.has(key) && !reader.child(key).is_null()
               ? std::optional(reader.number(key, 0.0, least, kLargestNumber))
               : std::nullopt;
}

double needed(ConfigReader& reader, const std::string& key, double least) {
    reader.child(key);  // fails if it is absent
    return reader.number(key, 0.0, least, kLargestNumber);
}

class TableReader {
public:
    explicit TableReader(std::string file) : file_(std::move(file)) {}

    ExperimentTable table() const {
        std::ifstream stream(file_);
        if (!stream) {
            throw Error(fmt::format("cannot read '{}'", file_));
        }
        const json document = parse_json(stream, file_);
        ConfigReader reader(document, file_, "");
        const std::string kind = reader.text("experiment");
        ExperimentTable table{.title = reader.text("title", kind == kTable3 ? kTable3Title : "")};
        if (table.title.empty()) {
            reader.fail("experiment", fmt::format("is \"{}\", expected \"{}\" or another whose table has a \"title\"",
                                                  kind, kTable3));
        }
        for (const json& one : reader.list("rows")) {
            table.rows.push_back(row(one, fmt::format("rows[{}]", table.rows.size())));
        }
        if (table.rows.empty()) {
            reader.fail("rows", "has no rows");
        }
        return table;
    }

private:
    ExperimentRow row(const json& one, const std::string& key) const {
        ConfigReader reader(one, file_, key);
        ExperimentRow row{.name = reader.text("row"), .varied = reader.text("varied")};
        if (row.name.empty()) {
            reader.fail("row", "is missing");
        }
        ConfigReader paper(reader.child("paper"), file_, key + ".paper");
        row.paper = {.perplexity = number_of(paper, "perplexity", 0.0),
                     .bleu = number_of(paper, "bleu", 0.0),
                     .parameters = number_of(paper, "parameters_millions", 0.0)};
        if (row.paper.parameters) {
            *row.paper.parameters *= 1e6;
        }
        if (reader.has("ours")) {
            add_ours(reader.child("ours"), key + ".ours", row);
        }
        row.impossible = reader.text("impossible");
        row.problems = reader.strings("problems");
        return row;
    }

    void add_ours(const json& one, const std::string& key, ExperimentRow& row) const {
        ConfigReader reader(one, file_, key);
        ExperimentRow::Measured ours{.perplexity = spread(reader, key, "perplexity"),
                                     .bleu = spread(reader, key, "bleu"),
                                     .parameters = needed(reader, "parameters", 0.0)};
        const json& trials = reader.list("trials");
        for (const json& trial : trials) {
            ConfigReader at(trial, file_, fmt::format("{}.trials[{}]", key, row.seeds.size()));
            row.seeds.push_back(static_cast<int>(at.integer("seed", 0, 0, kLargestSeed)));
            ours.minutes += needed(at, "minutes", 0.0) / static_cast<double>(trials.size());
            ours.perplexity.values.push_back(needed(at, "perplexity", 0.0));
            ours.bleu.values.push_back(needed(at, "bleu", 0.0));
        }
        if (row.seeds.empty()) {
            reader.fail("trials", "has no trials");
        }
        row.ours = ours;
    }

    SeedSpread spread(ConfigReader& reader, const std::string& key, const std::string& of) const {
        ConfigReader at(reader.child(of), file_, key + "." + of);
        return {.mean = needed(at, "mean", 0.0), .deviation = number_of(at, "deviation", 0.0)};
    }

    std::string file_;
};

// The seed of a trial's folder; nothing for the folder of another row.
std::optional<int> seed_of(const std::string& folder, const std::string& row) {
    if (folder == row) {
        return 0;
    }
    const std::string before = trial_name(row, 1).substr(0, row.size() + 2);
    int seed = 0;
    if (!folder.starts_with(before)) {
        return std::nullopt;
    }
    const char* const end = folder.data() + folder.size();
    const auto [read, problem] = std::from_chars(folder.data() + before.size(), end, seed);
    return problem == std::errc() && read == end ? std::optional(seed) : std::nullopt;
}

void add_unfinished(const std::string& folder, ExperimentRow& row) {
    std::error_code none;  // a folder that cannot be listed has no further trials to show
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, none)) {
        const std::optional<int> seed = seed_of(entry.path().filename().string(), row.name);
        if (seed && std::find(row.seeds.begin(), row.seeds.end(), *seed) == row.seeds.end()) {
            row.unfinished.push_back(*seed);
        }
    }
    std::sort(row.unfinished.begin(), row.unfinished.end());
}

}  // namespace

std::string experiment_table_file(const std::string& folder) {
    return (fs::path(folder) / "table.json").string();
}

bool has_experiment_table(const std::string& folder) {
    std::error_code none;
    return fs::is_regular_file(experiment_table_file(folder), none);
}

bool has_rows_to_show(const std::string& folder) {
    std::ifstream stream(experiment_table_file(folder));
    const json document = json::parse(stream, nullptr, false);
    return !document.is_object() || document.contains("title") || document.value("experiment", json()) == kTable3;
}

ExperimentTable read_experiment_table(const std::string& folder) {
    ExperimentTable table = TableReader(experiment_table_file(folder)).table();
    table.folder = folder;
    for (ExperimentRow& row : table.rows) {
        add_unfinished(folder, row);
    }
    return table;
}

}  // namespace headscope
