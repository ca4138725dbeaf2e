#include "experiment/replaced.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "experiment/layer_kinds.h"
#include "figures/curve.h"
#include "io/atomic_file.h"
#include "paint/svg.h"
#include "support/check.h"

namespace headscope {

const std::vector<ReplacedRow>& replaced_rows() {
    static const std::vector<ReplacedRow> rows = {
        {.name = "transformer", .title = "Transformer", .model = nlohmann::json::object()},
        {.name = "restricted",
         .title = "Restricted attention, r = 5",
         .model = {{"encoder_mixer", "restricted"}, {"decoder_mixer", "restricted"}, {"attention_window", 5}}},
        {.name = "lstm",
         .title = "LSTM without attention",
         .model = {{"encoder_mixer", "lstm"},
                   {"decoder_mixer", "lstm"},
                   {"bidirectional", true},
                   {"cross_attention", false},
                   {"positions", "none"}}},
        {.name = "lstm-attention",
         .title = "LSTM with attention",
         .model = {{"encoder_mixer", "lstm"},
                   {"decoder_mixer", "lstm"},
                   {"bidirectional", true},
                   {"heads", 1},
                   {"positions", "none"}}},
        {.name = "gru-attention",
         .title = "GRU with attention",
         .model = {{"encoder_mixer", "gru"},
                   {"decoder_mixer", "gru"},
                   {"bidirectional", true},
                   {"heads", 1},
                   {"positions", "none"}}},
        {.name = "convolution",
         .title = "Convolution with attention",
         .model = {{"encoder_mixer", "convolution"}, {"decoder_mixer", "convolution"}, {"heads", 1}}},
    };
    return rows;
}

std::vector<const ReplacedRow*> chosen_replaced_rows(const std::vector<std::string>& names) {
    std::vector<const ReplacedRow*> chosen;
    for (const ReplacedRow& row : replaced_rows()) {
        if (names.empty() || std::find(names.begin(), names.end(), row.name) != names.end()) {
            chosen.push_back(&row);
        }
    }
    for (const std::string& name : names) {
        if (std::none_of(chosen.begin(), chosen.end(), [&](const auto* row) { return name == row->name; })) {
            std::vector<std::string> known;
            for (const ReplacedRow& row : replaced_rows()) {
                known.emplace_back(row.name);
            }
            throw Error(fmt::format("there is no model \"{}\"; there are {}", name, fmt::join(known, ", ")));
        }
    }
    return chosen;
}

nlohmann::json replaced_base(nlohmann::json scale) {
    scale["model"]["norm"] = "pre";
    return scale;
}

Trial replaced_trial(const ReplacedRow& row, const nlohmann::json& base, double minutes) {
    Trial trial{.name = row.name, .config = base};
    nlohmann::json& model = trial.config["model"];
    model.update(row.model);
    nlohmann::json sized = base["model"];
    sized["source_vocabulary"] = sized["target_vocabulary"] = 8;  // the same in all rows, so they do not matter
    model["d_ff"] = with_layers(sized, row.model).d_ff;
    if (minutes > 0.0) {
        nlohmann::json& training = trial.config["training"];
        for (const char* limit : {"steps", "epochs", "tokens"}) {
            training.erase(limit);
        }
        training["minutes"] = minutes;
    }
    return trial;
}

Replaced::Replaced(const Experiment& experiment, const std::vector<Trial>& trials) {
    for (const Trial& trial : trials) {
        if (std::optional<TrialResult> result = experiment.result_of(trial)) {
            const ReplacedRow* row = chosen_replaced_rows({trial.name}).front();
            lines_.push_back({row->name, row->title, std::move(*result)});
        }
    }
}

TextTable Replaced::table() const {
    TextTable table{
        .head = {"model", "BLEU", "PPL", "params", "steps", "minutes", "training tokens/s", "decoding tokens/s"},
        .rows = {}};
    for (const auto& [name, title, result] : lines_) {
        table.rows.push_back(
            {title, fmt::format("{:.1f}", result.bleu.front()), fmt::format("{:.2f}", result.perplexity),
             fmt::format("{:.2f}", static_cast<double>(result.parameters) / 1e6), fmt::format("{}", result.steps),
             fmt::format("{:.1f}", result.minutes), fmt::format("{:.0f}", result.training_speed),
             fmt::format("{:.0f}", result.decoding_speed)});
    }
    return table;
}

TextTable Replaced::by_length() const {
    TextTable table{.head = {"words of the source"}, .rows = {}};
    std::map<std::int64_t, std::int64_t> lengths;  // and how many sentences there are
    for (const Line& line : lines_) {
        for (const BleuOfLength& one : line.result.by_length) {
            lengths[one.least] = one.sentences;
        }
    }
    for (auto at = lengths.begin(); at != lengths.end(); ++at) {
        const auto next = std::next(at);
        const std::string words = next == lengths.end() ? fmt::format("{} and more", at->first)
                                                        : fmt::format("{} to {}", at->first, next->first - 1);
        table.head.push_back(fmt::format("{} ({})", words, at->second));
    }
    for (const Line& line : lines_) {
        std::vector<std::string> row = {line.title};
        for (const auto& [least, sentences] : lengths) {
            const auto& all = line.result.by_length;
            const auto found = std::find_if(all.begin(), all.end(),
                                            [&, from = least](const BleuOfLength& one) { return one.least == from; });
            row.push_back(found == all.end() ? "" : fmt::format("{:.1f}", found->bleu));
        }
        table.rows.push_back(std::move(row));
    }
    return table;
}

// Lengths with fewer sentences are in the table, but not in the picture.
void Replaced::write(const std::string& folder) const {
    constexpr std::int64_t kFewest = 20;
    const auto file = [&](const char* name) { return (std::filesystem::path(folder) / name).string(); };
    nlohmann::json lines = nlohmann::json::array();
    std::vector<Series> curves;
    for (const auto& [name, title, result] : lines_) {
        nlohmann::json one = to_json(result, {{}});
        one["model"] = name;
        one.erase("config");
        lines.push_back(std::move(one));
        Series series{.name = title, .points = {}};
        for (const BleuOfLength& length : result.by_length) {
            if (length.sentences < kFewest) {
                continue;
            }
            series.points.push_back({static_cast<double>(length.least), length.bleu});
        }
        curves.push_back(std::move(series));
    }
    const nlohmann::json json = {{"experiment", "replaced"}, {"models", lines}};
    atomic_write_file(file("table.json"), json.dump(2) + "\n");
    atomic_write_file(file("table.md"), table().markdown() + "\n" + by_length().markdown());
    if (!curves.empty()) {
        atomic_write_file(
            file("by-length.svg"),
            to_svg(draw_curves(
                curves, {.title = "BLEU by length", .x_label = "words of the source, from", .y_label = "BLEU"})));
    }
}

}  // namespace headscope
