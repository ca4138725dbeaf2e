// The paper's Table 3 (section 6.2): each row changes a few columns of the base model.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "experiment/studies.h"
#include "model/config.h"
#include "train/train_config.h"

namespace headscope {
namespace {

constexpr const char* kTable3Footer =
    "Trains each row on the same data with the same steps, and prints perplexity, BLEU and parameters beside the\n"
    "paper's; table.json, table.md, table.svg and table.png in the output folder have the same. The same command\n"
    "continues after any end and repeats no finished row; later it may ask for further rows or seeds.\n"
    "docs/experiments.md says what the numbers show.\n\n"
    "Examples:\n"
    "  headscope experiment table3 --config my.json --data data/digits --output out/table3 --dry-run\n"
    "  headscope experiment table3 --config my.json --data data/digits --output out/table3 --rows base,D --seeds 2";

constexpr const char* kTable3Notes =
    "PPL is per piece and BLEU cased with 13a tokens (sacreBLEU's), both of the development data: beam 4, length\n"
    "penalty 0.6, the weights of the last step. Parameters are in millions. The paper's columns are its "
    "base-sized\n"
    "models on newstest2013: compare the differences between rows, not the numbers.\n";

// The sizes of the paper's base model, in the order in which its table has them.
struct Table3Size {
    const char* name;
    std::vector<const char*> keys;
    int paper;
};
const std::vector<Table3Size> kTable3Sizes = {{"N", {"encoder_layers", "decoder_layers"}, 6},
                                              {"d_model", {"d_model"}, 512},
                                              {"d_ff", {"feed_forward.d_ff"}, 2048},
                                              {"h", {"attention.heads"}, 8},
                                              {"d_k", {"attention.d_k"}, 64},
                                              {"d_v", {"attention.d_v"}, 64}};
constexpr int kKilosteps = 100;

// Without an exponent.
std::string ratio(std::int64_t value, int by) {
    if (value % by == 0) {
        return fmt::to_string(value / by);
    }
    constexpr double kSixDigits = 1e5;
    const double exact = static_cast<double>(value) / by;
    return exact < kSixDigits ? fmt::format("{:.6g}", exact) : fmt::format("{:.1f}", exact);
}

// Has all sizes, also those that the base leaves to their defaults, and the weights of the last step: leaves out what
// would make another model, or end the training early.
nlohmann::json complete(const nlohmann::json& base) {
    nlohmann::json config = with_flat_model(base);
    const nlohmann::json model =
        flat_model_keys(parse_model_config(base.value("model", nlohmann::json::object()), "the base", "model"));
    for (const Table3Size& size : kTable3Sizes) {
        for (const char* key : size.keys) {
            config["model"][key] = model.at(key);
        }
    }
    nlohmann::json& training = config["training"];
    for (const char* key : {"validate_bleu", "patience", "ema_decay", "average_always"}) {
        training.erase(key);
    }
    training["validate_every"] = 0;
    training["average_last"] = 1;
    return config;
}

void change_size(const Table3Size& size, int paper, RowConfig& row, std::vector<std::string>& varied) {
    nlohmann::json& model = row.config["model"];
    const auto scaled = [&](const char* key) { return model[key].get<std::int64_t>() * paper; };
    varied.push_back(fmt::format("{} {}", size.name, ratio(scaled(size.keys.front()), size.paper)));
    for (const char* key : size.keys) {
        if (scaled(key) % size.paper != 0) {
            row.impossible = fmt::format("{} would be {} x {} / {}, not a whole number", size.name,
                                         model[key].get<std::int64_t>(), paper, size.paper);
            return;
        }
        model[key] = scaled(key) / size.paper;
    }
}

// In proportion, whichever limits the base has.
void change_length(int paper, nlohmann::json& training, std::vector<std::string>& varied) {
    for (const char* key : {"steps", "tokens", "epochs", "minutes"}) {
        if (training.value(key, 0.0) > 0.0) {
            nlohmann::json& limit = training[key];
            limit = limit.is_number_integer() ? nlohmann::json(limit.get<std::int64_t>() * paper / kKilosteps)
                                              : nlohmann::json(limit.get<double>() * paper / kKilosteps);
            varied.push_back(fmt::format("{} {}", key, limit.dump()));
        }
    }
}

// Rows in the paper's order; it numbers only the groups. What it reports of newstest2013: perplexity per piece, BLEU,
// and parameters where it names them.
std::vector<StudyRow> table3_rows() {
    return {
        {.name = "base", .paper = {4.92, 25.8, 65e6}},
        {.name = "A1", .change = {{"h", 1}, {"d_k", 512}, {"d_v", 512}}, .paper = {5.29, 24.9}},
        {.name = "A2", .change = {{"h", 4}, {"d_k", 128}, {"d_v", 128}}, .paper = {5.00, 25.5}},
        {.name = "A3", .change = {{"h", 16}, {"d_k", 32}, {"d_v", 32}}, .paper = {4.91, 25.8}},
        {.name = "A4", .change = {{"h", 32}, {"d_k", 16}, {"d_v", 16}}, .paper = {5.01, 25.4}},
        {.name = "B1", .change = {{"d_k", 16}}, .paper = {5.16, 25.1, 58e6}},
        {.name = "B2", .change = {{"d_k", 32}}, .paper = {5.01, 25.4, 60e6}},
        {.name = "C1", .change = {{"N", 2}}, .paper = {6.11, 23.7, 36e6}},
        {.name = "C2", .change = {{"N", 4}}, .paper = {5.19, 25.3, 50e6}},
        {.name = "C3", .change = {{"N", 8}}, .paper = {4.88, 25.5, 80e6}},
        {.name = "C4", .change = {{"d_model", 256}, {"d_k", 32}, {"d_v", 32}}, .paper = {5.75, 24.5, 28e6}},
        {.name = "C5", .change = {{"d_model", 1024}, {"d_k", 128}, {"d_v", 128}}, .paper = {4.66, 26.0, 168e6}},
        {.name = "C6", .change = {{"d_ff", 1024}}, .paper = {5.12, 25.4, 53e6}},
        {.name = "C7", .change = {{"d_ff", 4096}}, .paper = {4.75, 26.2, 90e6}},
        {.name = "D1", .change = {{"P_drop", 0.0}}, .paper = {5.77, 24.6}},
        {.name = "D2", .change = {{"P_drop", 0.2}}, .paper = {4.95, 25.5}},
        {.name = "D3", .change = {{"eps_ls", 0.0}}, .paper = {4.67, 25.3}},
        {.name = "D4", .change = {{"eps_ls", 0.2}}, .paper = {5.47, 25.7}},
        {.name = "E", .change = {{"positions", "learned"}}, .paper = {4.92, 25.7}},
        {.name = "big",
         .change = {{"d_model", 1024}, {"d_ff", 4096}, {"h", 16}, {"P_drop", 0.3}, {"kilosteps", 300}},
         .paper = {4.33, 26.4, 213e6}},
    };
}

}  // namespace

RowConfig table3_config(const StudyRow& row, const nlohmann::json& base, const nlohmann::json& /*values*/) {
    const nlohmann::json start = complete(base);
    RowConfig made{.config = start, .varied = {}, .impossible = {}};
    std::vector<std::string> varied;
    for (const Table3Size& size : kTable3Sizes) {
        if (row.change.contains(size.name)) {
            change_size(size, row.change[size.name], made, varied);
        }
    }
    nlohmann::json& training = made.config["training"];
    if (row.change.contains("P_drop")) {
        training["residual_dropout"] = training["embedding_dropout"] = row.change["P_drop"];
        for (const char* key : {"attention_dropout", "activation_dropout"}) {
            if (training.value(key, 0.0) > 0.0) {  // only the base drops there
                training[key] = row.change["P_drop"];
            }
        }
        varied.push_back(fmt::format("P_drop {:.1f}", row.change["P_drop"].get<double>()));
    }
    if (row.change.contains("eps_ls")) {
        training["label_smoothing"] = row.change["eps_ls"];
        varied.push_back(fmt::format("eps_ls {:.1f}", row.change["eps_ls"].get<double>()));
    }
    if (row.change.contains("positions")) {
        made.config["model"]["positions.kind"] = row.change["positions"];
        varied.push_back(row.change["positions"].get<std::string>() + " positions");
    }
    if (row.change.contains("kilosteps")) {
        change_length(row.change["kilosteps"], training, varied);
    }
    made.varied = fmt::format("{}", fmt::join(varied, ", "));
    if (!varied.empty() && made.impossible.empty() && made.config == start) {
        made.impossible = fmt::format("the base model has {} already", made.varied);
    }
    return made;
}

Study table3() {
    return {.name = "table3",
            .summary = "The variations of the model in the paper's Table 3",
            .footer = kTable3Footer,
            .options = row_options("Rows or groups, such as base,A,D2 (default: all)"),
            .title = "Table 3: variations of the model",
            .rows = table3_rows(),
            .columns = {kPerplexityColumn, kBleuColumn, kParametersColumn, kSeedsColumn, kMinutesColumn},
            .notes = kTable3Notes,
            .configure = table3_config};
}

}  // namespace headscope
