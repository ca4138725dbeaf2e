#include "experiment/replaced.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "experiment/chosen_by_name.h"
#include "experiment/layer_kinds.h"
#include "figures/curve.h"
#include "io/atomic_file.h"
#include "paint/svg.h"
#include "support/check.h"
#include "train/train_config.h"

namespace headscope {

const std::vector<ReplacedRow>& replaced_rows() {
    static const std::vector<ReplacedRow> rows = {
        {.name = "transformer",
         .title = "Transformer",
         .model = {{"mixer.encoder", "self_attention"}, {"mixer.decoder", "self_attention"}}},
        {.name = "restricted",
         .title = "Restricted attention, r = 5",
         .model = {{"mixer.encoder", "restricted"}, {"mixer.decoder", "restricted"}, {"mixer.window", 5}}},
        {.name = "lstm",
         .title = "LSTM without attention",
         .model = {{"mixer.encoder", "lstm"},
                   {"mixer.decoder", "lstm"},
                   {"mixer.bidirectional", true},
                   {"attention.cross", false},
                   {"positions.kind", "none"}}},
        {.name = "lstm-attention",
         .title = "LSTM with attention",
         .model = {{"mixer.encoder", "lstm"},
                   {"mixer.decoder", "lstm"},
                   {"mixer.bidirectional", true},
                   {"attention.heads", 1},
                   {"positions.kind", "none"}}},
        {.name = "lstm-additive",
         .title = "LSTM with additive attention",
         .model = {{"mixer.encoder", "lstm"},
                   {"mixer.decoder", "lstm"},
                   {"mixer.bidirectional", true},
                   {"attention.heads", 1},
                   {"attention.score", "additive"},
                   {"positions.kind", "none"}}},
        {.name = "gru-attention",
         .title = "GRU with attention",
         .model = {{"mixer.encoder", "gru"},
                   {"mixer.decoder", "gru"},
                   {"mixer.bidirectional", true},
                   {"attention.heads", 1},
                   {"positions.kind", "none"}}},
        {.name = "convolution",
         .title = "Convolution with attention",
         .model = {{"mixer.encoder", "convolution"}, {"mixer.decoder", "convolution"}, {"attention.heads", 1}}},
    };
    return rows;
}

nlohmann::json replaced_base(nlohmann::json scale) {
    scale["model"]["norm.placement"] = "pre";
    return scale;
}

std::vector<ReplacedPlan> plan_replaced(const std::vector<std::string>& names, const nlohmann::json& base,
                                        double minutes) {
    std::vector<ReplacedPlan> all;
    for (const ReplacedRow* row : chosen_by_name(replaced_rows(), names, "model")) {
        ReplacedPlan plan{.row = row, .trial = {.name = row->name, .config = with_flat_model(base)}};
        nlohmann::json& model = plan.trial.config["model"];
        nlohmann::json sized = model;
        model.update(row->model);
        sized["source_vocabulary"] = sized["target_vocabulary"] = 8;  // the same in all rows, so they do not matter
        try {
            model["feed_forward.d_ff"] = with_layers(sized, row->model).feed_forward.d_ff;
        } catch (const Error& error) {
            plan.impossible = error.what();
        }
        if (minutes > 0.0) {
            nlohmann::json& training = plan.trial.config["training"];
            for (const char* limit : {"steps", "epochs", "tokens"}) {
                training.erase(limit);
            }
            training["minutes"] = minutes;
        }
        all.push_back(std::move(plan));
    }
    return all;
}

Replaced::Replaced(const Experiment& experiment, const std::vector<ReplacedPlan>& plans) {
    for (const ReplacedPlan& plan : plans) {
        if (!plan.impossible.empty()) {
            continue;
        }
        if (std::optional<TrialResult> result = experiment.result_of(plan.trial)) {
            lines_.push_back({plan.row->name, plan.row->title, std::move(*result)});
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
