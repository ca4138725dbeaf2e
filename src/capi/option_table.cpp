#include "capi/option_table.h"

#include <algorithm>
#include <span>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "backend/precision.h"
#include "capi/failures.h"
#include "capi/text.h"
#include "data/task.h"
#include "engine/job.h"
#include "engine/scheduler.h"
#include "explore/text_vectors.h"
#include "figures/head_order.h"
#include "infer/decoding_choices.h"
#include "infer/decoding_keys.h"
#include "infer/filler.h"
#include "options/environment.h"
#include "paint/picture_file.h"
#include "paint/sketch.h"
#include "support/edit_distance.h"

namespace headscope {

namespace {

constexpr Uses kTranslate = use_of(HS_TRANSLATE), kComplete = use_of(HS_COMPLETE), kFill = use_of(HS_FILL),
               kScore = use_of(HS_SCORE), kTokenize = use_of(HS_TOKENIZE), kDetokenize = use_of(HS_DETOKENIZE),
               kAttend = use_of(HS_ATTEND), kRun = use_of(HS_RUN), kImportance = use_of(HS_IMPORTANCE),
               kSaliency = use_of(HS_SALIENCY), kEmbed = use_of(HS_EMBED);
constexpr Uses kWrites = kTranslate | kComplete;
constexpr Uses kReads = kAttend | kRun | kImportance | kSaliency;  // a text with its target
constexpr Uses kOnDevice = kWrites | kFill | kScore | kEmbed | kReads;

constexpr std::pair<Uses, const char*> kNames[] = {{kDevices, "hs_devices"},
                                                   {kModels, "hs_models"},
                                                   {kEngine, "hs_engine_open"},
                                                   {kModel, "hs_model_open"},
                                                   {kFigure, "hs_record_figure"},
                                                   {kTraining, "hs_training_start"},
                                                   {kConform, "hs_conform"},
                                                   {kTranslate, "HS_TRANSLATE"},
                                                   {kComplete, "HS_COMPLETE"},
                                                   {kFill, "HS_FILL"},
                                                   {kScore, "HS_SCORE"},
                                                   {kTokenize, "HS_TOKENIZE"},
                                                   {kDetokenize, "HS_DETOKENIZE"},
                                                   {kAttend, "HS_ATTEND"},
                                                   {kRun, "HS_RUN"},
                                                   {kImportance, "HS_IMPORTANCE"},
                                                   {kSaliency, "HS_SALIENCY"},
                                                   {kEmbed, "HS_EMBED"}};

Uses uses_of(const DecodingKey& key) {
    const std::string_view name = key.key;
    if (name == "echo") {
        return 0;  // results have no place for it
    }
    Uses uses = ((key.writers & kTranslation) != 0 ? kTranslate : 0U) |
                ((key.writers & kCompletes) != 0 ? kComplete : 0U) | (key.explored ? kAttend : 0U);
    if (name == "source_language" || name == "target_language") {
        uses |= kScore | kEmbed | kReads | kTraining;
    }
    uses |= name == "task_prefix" ? kScore | kEmbed | kReads : 0U;
    return uses | (name == "batch_tokens" ? kScore | kEmbed : 0U);
}

OptionRow row_of(const DecodingKey& key) {
    OptionRow row{
        .key = key.key, .type = key.type, .uses = uses_of(key), .least = key.least, .most = key.most, .help = key.help};
    row.help += fmt::format("; default: {}", key.default_for(kTranslation));
    return row;
}

std::vector<std::string> precision_names() {
    return {kPrecisionNames.begin(), kPrecisionNames.end()};
}

std::vector<std::string> names_in(std::span<const char* const> names) {
    return {names.begin(), names.end()};
}

std::vector<std::string> text_tasks() {
    std::vector<std::string> names;
    for (const TaskTraits& task : tasks()) {
        if (!task.reads_pairs) {
            names.emplace_back(task.key);
        }
    }
    return names;
}

std::vector<OptionRow> rows_of_library() {
    constexpr double kMany = 1e15;
    const Bounds bounds;
    return {
        {"path", "list", kModels | kModel, 0, 0, {}, {}, "Folders with a folder \"models\", searched first"},
        {"settings", "object", kDevices | kEngine | kTraining | kConform, 0, 0, known_variables(),
         nlohmann::json::object(), "Names and values as of the environment variables that docs/environment.md lists"},
        {"devices",
         "list",
         kEngine | kConform,
         0,
         0,
         {},
         {},
         "cpu, cuda, vulkan, vulkan:1, .. or all; default: the best GPU or cpu; of hs_conform every GPU"},
        {"precision", "choice", kEngine, 0, 0, precision_names(), "f32", "Storage and products"},
        {"threads",
         "integer",
         kEngine | kTraining | kConform,
         1,
         256,
         {},
         {},
         "Of the device cpu; default: one for each core"},
        {"max_requests",
         "integer",
         kEngine,
         1,
         kMany,
         {},
         bounds.requests,
         "Without a result so far; more are HS_BUSY"},
        {"max_tokens", "integer", kEngine, 1, kMany, {}, bounds.tokens, "Of requests that wait"},
        {"max_tokens_of_client", "integer", kEngine, 1, kMany, {}, bounds.tokens_of_client, "The same for each client"},
        {"client", "text", kOnDevice, 0, 0, {}, "", "Clients share the devices fairly"},
        {"priority", "integer", kOnDevice, -Terms::kMost, Terms::kMost, {}, 0, "Each step up doubles the share"},
        {"timeout", "number", kOnDevice, 0, kMany, {}, {}, "Seconds until the request ends as HS_DEADLINE"},
        {"stream", "boolean", kWrites, 0, 0, {}, false, "hs_request_next() gives the text as it is written"},
        {"prefix", "text", kTranslate, 0, 0, {}, "", "The beginning of each translation"},
        {"alignment",
         "boolean",
         kTranslate,
         0,
         0,
         {},
         false,
         "Also link words of source and output, by cross-attention"},
        {"alignment_layer",
         "integer",
         kTranslate,
         1,
         100'000,
         {},
         {},
         "Decoder layer to align by; default: the last but one"},
        {"alignment_heads",
         "list",
         kTranslate,
         0,
         0,
         {},
         nlohmann::json::array(),
         "Heads to average, from 1; empty: all"},
        {"alignment_pieces", "boolean", kTranslate, 0, 0, {}, false, "Link pieces instead of words"},
        {"number", "integer", kWrites, 0, 4294967295.0, {}, 1, "Of the first input: random numbers follow from it"},
        {"ids", "boolean", kComplete, 0, 0, {}, false, "Inputs are JSON arrays of ids, complete prompts"},
        {"side", "choice", kTokenize | kDetokenize, 0, 0, {"source", "target"}, "source", "Whose pieces"},
        {"mask", "text", kFill, 0, 0, {}, kMaskText, "What stands for a masked word"},
        {"top",
         "integer",
         kFill | kFigure,
         1,
         kAnyNumber,
         {},
         {},
         "Words of each mask (5); strongest lines of each word"},
        {"one_by_one", "boolean", kFill, 0, 0, {}, false, "The most certain mask first; the others see it"},
        {"edits",
         "list",
         kComplete | kFill | kScore | kEmbed | kReads,
         0,
         0,
         {},
         nlohmann::json::array(),
         "Changes of heads: {\"kind\", \"layer\", \"head\", \"edit\": \"off\", \"uniform\", \"pin\" or \"unmasked\", "
         "\"query\", \"key\"}"},
        {"candidates", "integer", kAttend | kRun, 1, 64, {}, 10, "Likeliest tokens that are listed for each step"},
        {"pads", "integer", kAttend | kRun | kImportance, 0, 64, {}, 0, "Pads after the source; needs a target"},
        {"neurons", "boolean", kAttend, 0, 0, {}, false, "Also keep queries and keys, for a page"},
        {"chat", "boolean", kReads, 0, 0, {}, false, "Inputs are messages in the model's chat template"},
        {"steps", "integer", kSaliency, 1, 10'000, {}, 1, "Above 1: integrated gradients"},
        {"unit", "choice", kEmbed, 0, 0, names_in(kVectorUnits), kVectorUnits[0], "What gets a vector"},
        {"pooling", "choice", kEmbed, 0, 0, names_in(kPoolings), kPoolings[0],
         "Of the states of a line's or word's tokens; the first of a line is [CLS]"},
        {"after_layer", "integer", kEmbed, 0, 100'000, {}, {}, "Of vectors; 0: the embeddings; default: the last"},
        {"record", "list", kRun, 0, 0, {}, nlohmann::json::array(), "Patterns of sites whose values are kept"},
        {"kind",
         "choice",
         kAttend | kFigure,
         0,
         0,
         {"encoder", "decoder", "cross"},
         {},
         "Of attention; default: the first"},
        {"layer", "integer", kAttend | kFigure, 1, 100'000, {}, {}, "From 1; default: all; of a figure 5 or the last"},
        {"heads", "list", kFigure, 0, 0, {}, nlohmann::json::array(), "From 1; empty: all"},
        {"words",
         "list",
         kFigure,
         0,
         0,
         {},
         nlohmann::json::array(),
         "Only the lines of these; \"its:2\" is the second"},
        {"positions", "list", kFigure, 0, 0, {}, nlohmann::json::array(), "Only the lines of these columns, from 1"},
        {"looked_at", "boolean", kFigure, 0, 0, {}, false, "Words and positions are keys instead of queries"},
        {"pieces", "boolean", kFigure, 0, 0, {}, false, "One column for each piece, not for each word"},
        {"special", "boolean", kFigure, 0, 0, {}, true, "With the ends of the sentence; else weights are renormalised"},
        {"matrix", "boolean", kFigure, 0, 0, {}, false, "One head as a heat map"},
        {"log", "boolean", kFigure, 0, 0, {}, false, "Logarithmic colours of the heat map"},
        {"page", "boolean", kFigure, 0, 0, {}, false, "All heads as one page for a browser: html"},
        {"all_heads", "boolean", kFigure, 0, 0, {}, false, "Every head of every layer, small"},
        {"sort", "text", kFigure, 0, 0, {}, "model", "Order of all heads: " + head_order_names()},
        {"overview", "boolean", kFigure, 0, 0, {}, false, "Lines of several heads side by side"},
        {"least", "number", kFigure, 0, 1, {}, 0.0, "No line with a smaller weight"},
        {"numbers", "boolean", kFigure, 0, 0, {}, false, "The weights of the chosen words"},
        {"palette", "choice", kFigure, 0, 0, {"paper", "okabe-ito"}, "paper", "Colours of the heads"},
        {"theme", "choice", kFigure, 0, 0, {"light", "dark"}, "light", "Background"},
        {"text_size", "number", kFigure, 1, 1000, {}, Look{}.text_size, "In pixels; all lengths scale with it"},
        {"scale", "number", kFigure, 0.05, 100, {}, kPictureScale, "PNG pixels for each unit of the drawing"},
        {"title", "text", kFigure, 0, 0, {}, "", "Instead of the picture's own"},
        {"caption", "text", kFigure, 0, 0, {}, "", "A line below the picture"},
        {"output", "text", kTraining, 0, 0, {}, "", "The folder of the run, which must be given"},
        {"device", "text", kTraining, 0, 0, {}, "", "cpu, cuda, vulkan, vulkan:1, ..; default: the best GPU or cpu"},
        {"from", "text", kTraining, 0, 0, {}, "", "A model whose weights and tokenizers come first"},
        {"resume", "boolean", kTraining, 0, 0, {}, false, "Go on from the newest checkpoint in the folder"},
        {"data", "text", kTraining, 0, 0, {}, "", "The folder of the configuration's data files"},
        {"source", "text", kTraining, 0, 0, {}, "", "A file of sentences, whose amount chooses the configuration"},
        {"target", "text", kTraining, 0, 0, {}, "", "The file of their translations"},
        {"text", "text", kTraining, 0, 0, {}, "", "A file of text for a language model, instead"},
        {"task", "choice", kTraining, 0, 0, text_tasks(), "causal", "What the text teaches"},
        {"ops", "list", kConform, 0, 0, {}, nlohmann::json::array(), "Only these ops or families of ops"},
        {"dtypes", "list", kConform, 0, 0, {}, nlohmann::json::array(), "Only cases in f32, f16, bf16, tf32, i8, i32"},
        {"paths",
         "list",
         kConform,
         0,
         0,
         {},
         nlohmann::json::array(),
         "Code paths besides the device's own choice; [\"chosen\"]: none; default: all, or with \"quick\" none"},
        {"case", "text", kConform, 0, 0, {}, "", "Only cases whose names contain this text"},
        {"part", "text", kConform, 0, 0, {}, "1/1", "\"K/N\": every N-th group of cases from the K-th on"},
        {"quick", "boolean", kConform, 0, 0, {}, false, "Without large cases and code paths that are not named"},
        {"no_speed", "boolean", kConform, 0, 0, {}, false, "The ops are not timed"},
    };
}

const OptionRow& row_named(std::string_view key) {
    const std::vector<OptionRow>& rows = option_rows();
    const auto found = std::ranges::find(rows, key, &OptionRow::key);
    if (found == rows.end()) {
        std::vector<std::string> keys;
        for (const OptionRow& row : rows) {
            keys.push_back(row.key);
        }
        const std::string guess = nearest(std::string(key), keys);
        throw Failure(HS_NOT_FOUND, fmt::format("there is no option \"{}\"{}; hs_options_keys() lists all", key,
                                                guess.empty() ? "" : fmt::format(": did you mean \"{}\"?", guess)));
    }
    return *found;
}

bool is_decoding(std::string_view key) {
    return std::ranges::any_of(decoding_keys(), [&](const DecodingKey& each) { return key == each.key; });
}

// What the value must be, if it is not that.
std::string wanted(const OptionRow& row, const nlohmann::json& value) {
    const std::string_view type = row.type;
    const auto in_range = [&] { return value.get<double>() >= row.least && value.get<double>() <= row.most; };
    if (type == "boolean") {
        return value.is_boolean() ? "" : "true or false";
    }
    if (type == "integer") {
        return value.is_number_integer() && in_range()
                   ? ""
                   : fmt::format("a whole number from {:.0f} to {:.0f}", row.least, row.most);
    }
    if (type == "number") {
        return value.is_number() && in_range() ? "" : fmt::format("a number from {:g} to {:g}", row.least, row.most);
    }
    if (type == "choice") {
        const bool known =
            value.is_string() && std::ranges::find(row.choices, value.get<std::string>()) != row.choices.end();
        return known ? "" : fmt::format("one of {}", fmt::join(row.choices, ", "));
    }
    return type == "text"      ? value.is_string() ? "" : "a text"
           : type == "list"    ? value.is_array() ? "" : "a list"
           : value.is_object() ? ""
                               : "an object";
}

// Failure for a name of an object that is none of its choices.
void require_names(const OptionRow& row, const nlohmann::json& value) {
    for (const auto& [name, of_name] : value.items()) {
        if (std::ranges::find(row.choices, name) == row.choices.end()) {
            const std::string guess = nearest(name, row.choices);
            throw Failure(HS_INVALID,
                          fmt::format("option: \"{}\" has no \"{}\"{}; docs/environment.md lists what it has", row.key,
                                      name, guess.empty() ? "" : fmt::format(": did you mean \"{}\"?", guess)));
        }
    }
}

}  // namespace

const std::vector<OptionRow>& option_rows() {
    static const std::vector<OptionRow> rows = [] {
        std::vector<OptionRow> all = rows_of_library();
        for (const DecodingKey& key : decoding_keys()) {
            if (uses_of(key) != 0) {
                all.push_back(row_of(key));
            }
        }
        return all;
    }();
    return rows;
}

void require_option(std::string_view key) {
    row_named(key);
}

void check_option(std::string_view key, const nlohmann::json& value) {
    const OptionRow& row = row_named(key);
    if (is_decoding(key)) {
        const DecodingKey& decoding = decoding_key(key);
        if (decoding.type != "list") {  // only a model knows the ids of pieces
            DecodingChoices choices;
            set_choices(choices, {{std::string(key), value}}, "option");
        } else if (!value.is_array()) {
            throw Failure(HS_INVALID, fmt::format("option: \"{}\" must be a list, got {}", key, shown(value)));
        }
        return;
    }
    if (const std::string must = wanted(row, value); !must.empty()) {
        throw Failure(HS_INVALID, fmt::format("option: \"{}\" must be {}, got {}", key, must, shown(value)));
    }
    if (row.type == "object") {
        require_names(row, value);
    }
}

std::vector<std::string> names_of(Uses uses) {
    std::vector<std::string> names;
    for (const auto& [use, name] : kNames) {
        if ((uses & use) != 0) {
            names.emplace_back(name);
        }
    }
    return names;
}

}  // namespace headscope
