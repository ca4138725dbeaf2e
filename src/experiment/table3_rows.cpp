#include "experiment/table3_rows.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "model/config.h"
#include "support/check.h"
#include "train/train_config.h"

namespace headscope {
namespace {

constexpr std::array kRows = {
    Table3Row{.name = "base", .perplexity = 4.92, .bleu = 25.8, .parameters = 65},
    Table3Row{.name = "A1", .heads = 1, .d_k = 512, .d_v = 512, .perplexity = 5.29, .bleu = 24.9},
    Table3Row{.name = "A2", .heads = 4, .d_k = 128, .d_v = 128, .perplexity = 5.00, .bleu = 25.5},
    Table3Row{.name = "A3", .heads = 16, .d_k = 32, .d_v = 32, .perplexity = 4.91, .bleu = 25.8},
    Table3Row{.name = "A4", .heads = 32, .d_k = 16, .d_v = 16, .perplexity = 5.01, .bleu = 25.4},
    Table3Row{.name = "B1", .d_k = 16, .perplexity = 5.16, .bleu = 25.1, .parameters = 58},
    Table3Row{.name = "B2", .d_k = 32, .perplexity = 5.01, .bleu = 25.4, .parameters = 60},
    Table3Row{.name = "C1", .layers = 2, .perplexity = 6.11, .bleu = 23.7, .parameters = 36},
    Table3Row{.name = "C2", .layers = 4, .perplexity = 5.19, .bleu = 25.3, .parameters = 50},
    Table3Row{.name = "C3", .layers = 8, .perplexity = 4.88, .bleu = 25.5, .parameters = 80},
    Table3Row{.name = "C4", .d_model = 256, .d_k = 32, .d_v = 32, .perplexity = 5.75, .bleu = 24.5, .parameters = 28},
    Table3Row{
        .name = "C5", .d_model = 1024, .d_k = 128, .d_v = 128, .perplexity = 4.66, .bleu = 26.0, .parameters = 168},
    Table3Row{.name = "C6", .d_ff = 1024, .perplexity = 5.12, .bleu = 25.4, .parameters = 53},
    Table3Row{.name = "C7", .d_ff = 4096, .perplexity = 4.75, .bleu = 26.2, .parameters = 90},
    Table3Row{.name = "D1", .dropout = 0.0, .perplexity = 5.77, .bleu = 24.6},
    Table3Row{.name = "D2", .dropout = 0.2, .perplexity = 4.95, .bleu = 25.5},
    Table3Row{.name = "D3", .smoothing = 0.0, .perplexity = 4.67, .bleu = 25.3},
    Table3Row{.name = "D4", .smoothing = 0.2, .perplexity = 5.47, .bleu = 25.7},
    Table3Row{.name = "E", .learned_positions = true, .perplexity = 4.92, .bleu = 25.7},
    Table3Row{.name = "big",
              .d_model = 1024,
              .d_ff = 4096,
              .heads = 16,
              .dropout = 0.3,
              .kilosteps = 300,
              .perplexity = 4.33,
              .bleu = 26.4,
              .parameters = 213},
};
constexpr const Table3Row& kBase = kRows.front();

// Without an exponent.
std::string ratio(std::int64_t value, int by) {
    if (value % by == 0) {
        return fmt::to_string(value / by);
    }
    constexpr double kSixDigits = 1e5;
    const double exact = static_cast<double>(value) / by;
    return exact < kSixDigits ? fmt::format("{:.6g}", exact) : fmt::format("{:.1f}", exact);
}

// Applies the columns of a row one after the other.
class Columns {
public:
    explicit Columns(const nlohmann::json& base) : config_(with_flat_model(base)) {
        const ModelConfig model =
            parse_model_config(base.value("model", nlohmann::json::object()), "the base", "model");
        nlohmann::json& sizes = config_["model"];  // also those that the base leaves to their defaults
        sizes["encoder_layers"] = model.encoder_layers;
        sizes["decoder_layers"] = model.decoder_layers;
        sizes["d_model"] = model.d_model;
        sizes["feed_forward.d_ff"] = model.feed_forward.d_ff;
        sizes["attention.heads"] = model.attention.heads;
        sizes["attention.d_k"] = model.attention.d_k;
        sizes["attention.d_v"] = model.attention.d_v;
        keep_last_weights(config_["training"]);
        base_ = config_;
    }

    void size(const char* name, const char* section, const std::vector<const char*>& keys, int paper, int paper_base) {
        if (paper == paper_base) {
            return;
        }
        const auto scaled = [&](const char* key) { return config_[section][key].get<std::int64_t>() * paper; };
        varied_.push_back(fmt::format("{} {}", name, ratio(scaled(keys.front()), paper_base)));
        for (const char* key : keys) {
            nlohmann::json& value = config_[section][key];
            if (scaled(key) % paper_base != 0) {
                impossible_ = fmt::format("{} would be {} x {} / {}, not a whole number", name,
                                          value.get<std::int64_t>(), paper, paper_base);
                return;
            }
            value = scaled(key) / paper_base;
        }
    }

    // In proportion, whichever limits the base has.
    void length(int paper, int paper_base) {
        if (paper == paper_base) {
            return;
        }
        for (const char* key : {"steps", "tokens", "epochs", "minutes"}) {
            nlohmann::json& training = config_["training"];
            if (training.value(key, 0.0) > 0.0) {
                nlohmann::json& limit = training[key];
                limit = limit.is_number_integer() ? nlohmann::json(limit.get<std::int64_t>() * paper / paper_base)
                                                  : nlohmann::json(limit.get<double>() * paper / paper_base);
                varied_.push_back(fmt::format("{} {}", key, limit.dump()));
            }
        }
    }

    // Also of those places that only the base drops at.
    void dropout(double paper, double paper_base) {
        std::vector<const char*> keys{"residual_dropout", "embedding_dropout"};
        for (const char* key : {"attention_dropout", "activation_dropout"}) {
            if (config_["training"].value(key, 0.0) > 0.0) {
                keys.push_back(key);
            }
        }
        rate("P_drop", keys, paper, paper_base);
    }

    void rate(const char* name, const std::vector<const char*>& keys, double paper, double paper_base) {
        if (paper == paper_base) {
            return;
        }
        for (const char* key : keys) {
            config_["training"][key] = paper;
        }
        varied_.push_back(fmt::format("{} {:.1f}", name, paper));
    }

    void positions(bool learned) {
        if (learned) {
            config_["model"]["positions.kind"] = "learned";
            varied_.emplace_back("learned positions");
        }
    }

    RowConfig done() {
        if (!varied_.empty() && impossible_.empty() && config_ == base_) {
            impossible_ = fmt::format("the base model has {} already", fmt::join(varied_, ", "));
        }
        return {std::move(config_), fmt::format("{}", fmt::join(varied_, ", ")), std::move(impossible_)};
    }

private:
    // Leaves out what would make another model than the last step's, or end the training early.
    static void keep_last_weights(nlohmann::json& training) {
        for (const char* key : {"validate_bleu", "patience", "ema_decay", "average_always"}) {
            training.erase(key);
        }
        training["validate_every"] = 0;
        training["average_last"] = 1;
    }

    nlohmann::json config_, base_;
    std::vector<std::string> varied_;
    std::string impossible_;
};

}  // namespace

std::span<const Table3Row> table3_rows() {
    return kRows;
}

const Table3Row& table3_row(const std::string& name) {
    const auto* const found =
        std::find_if(kRows.begin(), kRows.end(), [&](const auto& row) { return name == row.name; });
    if (found == kRows.end()) {
        std::vector<std::string> names;
        std::transform(kRows.begin(), kRows.end(), std::back_inserter(names), [](const auto& row) { return row.name; });
        throw Error(
            fmt::format("Table 3 has no row \"{}\": expected {}, or a group (A to D)", name, fmt::join(names, ", ")));
    }
    return *found;
}

RowConfig row_config(const Table3Row& row, const nlohmann::json& base) {
    Columns columns(base);
    columns.size("N", "model", {"encoder_layers", "decoder_layers"}, row.layers, kBase.layers);
    columns.size("d_model", "model", {"d_model"}, row.d_model, kBase.d_model);
    columns.size("d_ff", "model", {"feed_forward.d_ff"}, row.d_ff, kBase.d_ff);
    columns.size("h", "model", {"attention.heads"}, row.heads, kBase.heads);
    columns.size("d_k", "model", {"attention.d_k"}, row.d_k, kBase.d_k);
    columns.size("d_v", "model", {"attention.d_v"}, row.d_v, kBase.d_v);
    columns.dropout(row.dropout, kBase.dropout);
    columns.rate("eps_ls", {"label_smoothing"}, row.smoothing, kBase.smoothing);
    columns.positions(row.learned_positions);
    columns.length(row.kilosteps, kBase.kilosteps);
    return columns.done();
}

}  // namespace headscope
