// What the Transformer replaced, beside it: recurrent and convolutional translators with as many parameters, trained on
// the same data.
#include <algorithm>
#include <limits>
#include <map>

#include <fmt/format.h>

#include "experiment/layer_kinds.h"
#include "experiment/studies.h"
#include "support/check.h"
#include "train/train_config.h"

namespace headscope {
namespace {

constexpr const char* kTranslation = "translation";
constexpr const char* kParsing = "parsing";

constexpr const char* kReplacedFooter =
    "Trains translators of other kinds of layers with as many parameters as the Transformer, and prints BLEU,\n"
    "perplexity and speeds of the development data; table.json, table.md and by-length.svg in the output folder have\n"
    "the same, and BLEU by the length of the source. All have layer norms before each part. --task parsing trains\n"
    "parsers instead, on pairs of headscope trees linearise, and prints F1. The same command continues after any\n"
    "end.\n\n"
    "Examples:\n"
    "  headscope experiment replaced --data data/digits --config my.json --output out/replaced --models transformer\n"
    "  headscope experiment replaced --config my.json --data data/digits --output out/timed --minutes 5 --dry-run";

// Changes of the base's model.
std::vector<StudyRow> replaced_rows() {
    const auto both = [](const char* mixer) {
        return nlohmann::json{{"mixer.encoder", mixer}, {"mixer.decoder", mixer}};
    };
    const auto recurrent = [&](const char* mixer, const nlohmann::json& more) {
        nlohmann::json change = both(mixer);
        change.update({{"mixer.bidirectional", true}, {"positions.kind", "none"}});
        change.update(more);
        return change;
    };
    const auto with = [](nlohmann::json change, const nlohmann::json& more) {
        change.update(more);
        return change;
    };
    return {
        {"transformer", "Transformer", both("self_attention")},
        {"restricted", "Restricted attention, r = 5", with(both("restricted"), {{"mixer.window", 5}})},
        {"lstm", "LSTM without attention", recurrent("lstm", {{"attention.cross", false}})},
        {"lstm-attention", "LSTM with attention", recurrent("lstm", {{"attention.heads", 1}})},
        {"lstm-additive", "LSTM with additive attention",
         recurrent("lstm", {{"attention.heads", 1}, {"attention.score", "additive"}})},
        {"gru-attention", "GRU with attention", recurrent("gru", {{"attention.heads", 1}})},
        {"convolution", "Convolution with attention", with(both("convolution"), {{"attention.heads", 1}})},
    };
}

RowConfig replaced_config(const StudyRow& row, const nlohmann::json& base, const nlohmann::json& values) {
    RowConfig made{.config = with_flat_model(base), .varied = row.label, .impossible = {}};
    nlohmann::json& model = made.config["model"];
    nlohmann::json sized = model;
    model.update(row.change);
    sized["source_vocabulary"] = sized["target_vocabulary"] = 8;  // the same in all rows, so they do not matter
    try {
        model["feed_forward.d_ff"] = with_layers(sized, row.change).feed_forward.d_ff;
    } catch (const Error& error) {
        made.impossible = error.what();
    }
    if (const double minutes = values.value("minutes", 0.0); minutes > 0.0) {
        nlohmann::json& training = made.config["training"];
        for (const char* limit : {"steps", "epochs", "tokens"}) {
            training.erase(limit);
        }
        training["minutes"] = minutes;
    }
    return made;
}

// Parsers have a vocabulary of symbols; other translators may share theirs.
void prepare_replaced(nlohmann::json& base, const nlohmann::json& values) {
    base = with_flat_model(std::move(base));
    base["model"]["norm.placement"] = "pre";
    if (values.at("task") == kParsing) {
        prepare_parser(base, "--task parsing");
    }
}

// The score of sources by their number of words. Lengths with fewer sentences are in the table, but not in the picture.
void add_lengths(const std::vector<RowResults>& rows, StudyReport& report) {
    constexpr std::int64_t kFewest = 20;
    std::map<std::int64_t, std::int64_t> lengths;  // and how many sentences there are
    std::vector<Series> curves;
    for (const RowResults& row : rows) {
        Series& series = curves.emplace_back(Series{.name = row.row->label, .points = {}});
        for (const ScoreOfLength& one : row.results.front().by_length) {
            lengths[one.least] = one.sentences;
            if (one.sentences >= kFewest) {
                series.points.push_back({static_cast<double>(one.least), one.score});
            }
        }
    }
    std::vector<Column<RowResults>> columns = {
        {"words of the source", "", [](const RowResults& row) { return row.row->label; }}};
    for (auto at = lengths.begin(); at != lengths.end(); ++at) {
        const auto next = std::next(at);
        const std::string words = next == lengths.end() ? fmt::format("{} and more", at->first)
                                                        : fmt::format("{} to {}", at->first, next->first - 1);
        columns.push_back({fmt::format("{} ({})", words, at->second), "",
                           [least = at->first](const RowResults& row) -> nlohmann::json {
                               const auto& all = row.results.front().by_length;
                               const auto found = std::find_if(all.begin(), all.end(), [&](const ScoreOfLength& one) {
                                   return one.least == least;
                               });
                               return found == all.end() ? nlohmann::json("") : nlohmann::json(found->score);
                           },
                           1});
    }
    report.tables.push_back(table_of(columns, rows));
    const bool parsers = std::any_of(rows.begin(), rows.end(), [](const RowResults& row) {
        return !row.results.empty() && !row.results.front().f1.empty();
    });
    const std::string score = parsers ? "F1" : "BLEU";
    report.add_curves("by-length", std::move(curves),
                      {.title = score + " by length", .x_label = "words of the source, from", .y_label = score});
}

}  // namespace

Study replaced() {
    return {.name = "replaced",
            .summary = "The recurrent and convolutional models that came before",
            .footer = kReplacedFooter,
            .options = {{"Models", "models", "MODEL,..", "Models to train (default: all)", nlohmann::json::array()},
                        {.group = "Training",
                         .name = "minutes",
                         .type = "N",
                         .help = "Train each for this long, instead of the same steps",
                         .value = 0.0,
                         .most = 1e6,
                         .least = 0.001,
                         .excludes = "--steps"},
                        {.group = "Models",
                         .name = "task",
                         .type = "TASK",
                         .help = "What they learn",
                         .value = kTranslation,
                         .known = {kTranslation, kParsing}}},
            .title = "What the Transformer replaced",
            .rows = replaced_rows(),
            .chosen = "models",
            .prepare = prepare_replaced,
            .columns =
                {
                    {.heading = "BLEU", .key = "", .digits = 1, .of = kBleuColumn.of, .task = kTranslation},
                    {.heading = "F1",
                     .key = "f1",
                     .digits = 1,
                     .of =
                         [](const TrialResult& result) {
                             return result.f1.empty() ? std::numeric_limits<double>::quiet_NaN() : result.f1.front();
                         },
                     .task = kParsing},
                    {"PPL", "", 2, kPerplexityColumn.of},
                    {"params", "", 2, kParametersColumn.of, 1e6},
                    {"steps", "", 0, [](const TrialResult& result) { return static_cast<double>(result.steps); }},
                    kMinutesColumn,
                    {"training tokens/s", "training_tokens_per_second", 0,
                     [](const TrialResult& result) { return result.training_speed; }},
                    {"decoding tokens/s", "decoding_tokens_per_second", 0,
                     [](const TrialResult& result) { return result.decoding_speed; }},
                },
            .configure = replaced_config,
            .extend = add_lengths};
}

}  // namespace headscope
