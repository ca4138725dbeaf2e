#include "viewer/session/state_file.h"

#include <array>
#include <cmath>
#include <limits>
#include <sstream>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "io/config_reader.h"
#include "io/strict_json.h"
#include "io/whole_file.h"
#include "support/check.h"

namespace headscope::viewer {

namespace {

using nlohmann::json;

constexpr const char* kFormat = "headscope view";
constexpr int kVersion = 1;
constexpr int kLargest = 1'000'000;  // of any count in a view
constexpr std::int64_t kAny = std::numeric_limits<std::int64_t>::max();

template <class Enum, std::size_t N>
using NameTable = std::array<std::pair<const char*, Enum>, N>;

constexpr NameTable<AttentionKind, 3> kKinds{{{"encoder", AttentionKind::EncoderSelf},
                                              {"decoder", AttentionKind::DecoderSelf},
                                              {"cross", AttentionKind::Cross}}};
constexpr NameTable<Direction, 2> kDirections{{{"from", Direction::From}, {"to", Direction::To}}};
constexpr NameTable<Palette, 2> kPalettes{{{"paper", Palette::Paper}, {"okabe-ito", Palette::OkabeIto}}};
constexpr NameTable<MatrixView, 4> kMatrices{{{"head", MatrixView::Head},
                                              {"head mean", MatrixView::HeadMean},
                                              {"layer mean", MatrixView::LayerMean},
                                              {"rollout", MatrixView::Rollout}}};
NameTable<PanelId, kPanels> panel_names() {
    NameTable<PanelId, kPanels> names;
    for (int panel = 0; panel < kPanels; ++panel) {
        const auto id = static_cast<PanelId>(panel);
        names[static_cast<std::size_t>(panel)] = {name_of(id), id};
    }
    return names;
}

NameTable<HeadOrder, kHeadOrders.size()> order_names() {
    NameTable<HeadOrder, kHeadOrders.size()> names;
    for (const HeadOrderRow& row : kHeadOrders) {
        names[static_cast<std::size_t>(row.order)] = {row.name, row.order};
    }
    return names;
}

NameTable<SentenceRule, kSentenceRules.size()> rule_names() {
    NameTable<SentenceRule, kSentenceRules.size()> names;
    for (const SentenceRuleLabels& labels : kSentenceRules) {
        names[static_cast<std::size_t>(labels.rule)] = {labels.name, labels.rule};
    }
    return names;
}

template <class Enum, std::size_t N>
const char* name_in(const NameTable<Enum, N>& table, Enum value) {
    for (const auto& [name, known] : table) {
        if (known == value) {
            return name;
        }
    }
    check_failed(__FILE__, __LINE__, "value", "a value without a name");
}

// Reads numbers. One that is out of range becomes the nearest valid one: another version may have had other limits.
class Numbers {
public:
    Numbers(ConfigReader& reader, std::string prefix, std::vector<std::string>& notes)
        : reader_(reader), prefix_(std::move(prefix)), notes_(notes) {}

    std::int64_t integer(const char* key, std::int64_t otherwise, std::int64_t least, std::int64_t most) {
        if (!reader_.has(key)) {
            return otherwise;
        }
        const json& found = reader_.child(key);
        return whole(found) && outside(key, found, least, most) ? nearest(found, least, most)
                                                                : reader_.integer(key, otherwise, least, most);
    }
    double number(const char* key, double otherwise, double least, double most) {
        if (!reader_.has(key)) {
            return otherwise;
        }
        const json& found = reader_.child(key);
        return found.is_number() && outside(key, found, least, most) ? nearest(found, least, most)
                                                                     : reader_.number(key, otherwise, least, most);
    }
    int count(const char* key, int otherwise, int least) {
        return static_cast<int>(integer(key, otherwise, least, kLargest));
    }
    // Ascending numbers from 1.
    std::vector<int> rising(const char* key) {
        std::vector<int> values;
        double before = -std::numeric_limits<double>::infinity();
        for (const json& found : reader_.list(key)) {
            if (!whole(found) || found.get<double>() <= before) {
                reader_.fail(key, "must hold ascending whole numbers, found " + found.dump());
            }
            before = found.get<double>();
            const int value = outside(key, found, 1, kLargest) ? nearest(found, 1, kLargest) : found.get<int>();
            if (values.empty() || value > values.back()) {
                values.push_back(value);
            }
        }
        return values;
    }

private:
    // The JSON parser reads whole numbers too large for an integer as floating-point numbers.
    static bool whole(const json& found) {
        return found.is_number_integer() || (found.is_number_float() && std::floor(found.get<double>()) == found &&
                                             std::abs(found.get<double>()) > kLargest);
    }
    template <class Value>
    static Value nearest(const json& found, Value least, Value most) {
        return found.get<double>() < static_cast<double>(least) ? least : most;
    }
    template <class Value>
    bool outside(const char* key, const json& found, Value least, Value most) {
        const auto value = found.get<double>();
        if (value >= static_cast<double>(least) && value <= static_cast<double>(most)) {
            return false;
        }
        notes_.push_back(fmt::format("\"{}{}\" is {}, not between {} and {}: using {}", prefix_, key, found.dump(),
                                     least, most, nearest(found, least, most)));
        return true;
    }

    ConfigReader& reader_;
    std::string prefix_;
    std::vector<std::string>& notes_;
};

json write_edit(const AttentionEdit& edit) {
    return {{"kind", name_of(edit.site.kind)},        {"layer", edit.site.layer + 1}, {"head", edit.head},
            {"edit", name_in(kEditNames, edit.kind)}, {"query", edit.query},          {"key", edit.key}};
}

AttentionEdit read_edit(const json& object, const std::string& file, std::vector<std::string>& notes) {
    ConfigReader reader(object, file, "view.edits");
    Numbers numbers(reader, "view.edits.", notes);
    AttentionEdit edit;
    edit.site.kind = reader.choice_of("kind", kKinds, edit.site.kind);
    edit.site.layer = numbers.count("layer", 1, 1) - 1;
    edit.head = numbers.count("head", 1, 1);
    edit.kind = reader.choice_of("edit", kEditNames, edit.kind);
    edit.query = numbers.count("query", -1, -1);
    edit.key = numbers.count("key", -1, -1);
    reader.finish();
    return edit;
}

ChosenHead read_chosen(const json& object, const std::string& file, std::vector<std::string>& notes) {
    ConfigReader reader(object, file, "view.chosen");
    Numbers numbers(reader, "view.chosen.", notes);
    ChosenHead chosen;
    chosen.kind = reader.choice_of("kind", kKinds, chosen.kind);
    chosen.layer = numbers.count("layer", chosen.layer, 0);
    chosen.head = numbers.count("head", chosen.head, 0);
    chosen.text = reader.text("text");
    reader.finish();
    return chosen;
}

json write_state(const ViewState& state) {
    json out{{"text", state.text},
             {"beam", state.beam},
             {"length_penalty", state.length_penalty},
             {"edits", json::array()},
             {"panel", name_of(state.panel)},
             {"kind", name_of(state.kind)},
             {"layer", state.layer},
             {"heads", state.heads},
             {"word", state.word},
             {"direction", name_in(kDirections, state.direction)},
             {"key", state.key},
             {"join_words", state.join_words},
             {"show_special", state.show_special},
             {"palette", name_in(kPalettes, state.palette)},
             {"order", row_of(state.order).name},
             {"small_figures", state.small_figures},
             {"matrix", name_in(kMatrices, state.matrix)},
             {"logarithmic", state.logarithmic},
             {"step", state.step},
             {"show_fallen", state.show_fallen},
             {"block", state.block}};
    if (state.overview.has_value()) {
        out["overview"] = *state.overview;
    }
    if (state.target.has_value()) {
        out["target"] = *state.target;
    }
    if (state.checkpoint.has_value()) {
        out["checkpoint"] = *state.checkpoint;
    }
    if (!state.source_language.empty()) {
        out["source_language"] = state.source_language;
    }
    if (!state.target_language.empty()) {
        out["target_language"] = state.target_language;
    }
    const ViewState usual;  // most views lack these keys
    if (state.continuation_beam != usual.continuation_beam) {
        out["continuation_beam"] = state.continuation_beam;
    }
    if (state.max_tokens != usual.max_tokens) {
        out["max_tokens"] = state.max_tokens;
    }
    if (state.chat != usual.chat) {
        out["chat"] = state.chat;
    }
    if (state.conversation != usual.conversation) {
        out["conversation"] = to_json(state.conversation);
    }
    if (state.second != usual.second) {
        out["second"] = state.second;
    }
    if (state.sentence != usual.sentence) {
        out["sentence"] = state.sentence;
    }
    if (state.least != usual.least) {
        out["least"] = state.least;
    }
    if (state.top != usual.top) {
        out["top"] = state.top;
    }
    if (state.show_first != usual.show_first) {
        out["show_first"] = state.show_first;
    }
    if (state.heads_page != usual.heads_page) {
        out["heads_page"] = state.heads_page;
    }
    if (state.numbers != usual.numbers) {
        out["numbers"] = state.numbers;
    }
    if (state.by_piece != usual.by_piece) {
        out["by_piece"] = state.by_piece;
    }
    if (state.rule != usual.rule) {
        out["rule"] = labels_of(state.rule).name;
    }
    if (state.chosen.has_value()) {
        out["chosen"] = {{"kind", name_of(state.chosen->kind)},
                         {"layer", state.chosen->layer},
                         {"head", state.chosen->head},
                         {"text", state.chosen->text}};
    }
    for (const AttentionEdit& edit : state.edits) {
        out["edits"].push_back(write_edit(edit));
    }
    return out;
}

ViewState read_state(const json& object, const std::string& file, std::vector<std::string>& notes) {
    ConfigReader reader(object, file, "view");
    Numbers numbers(reader, "view.", notes);
    ViewState state;
    state.text = reader.text("text");
    state.sentence = numbers.count("sentence", state.sentence, 0);
    if (reader.has("target")) {
        state.target = reader.text("target");
    }
    state.source_language = reader.text("source_language");
    state.target_language = reader.text("target_language");
    if (reader.has("checkpoint")) {
        state.checkpoint = numbers.integer("checkpoint", 0, 0, kAny);
    }
    state.beam = static_cast<int>(numbers.integer("beam", state.beam, 1, SearchOptions::kMaxBeam));
    state.length_penalty =
        numbers.number("length_penalty", state.length_penalty, 0.0, SearchOptions::kMaxLengthPenalty);
    for (const json& edit : reader.list("edits")) {
        state.edits.push_back(read_edit(edit, file, notes));
    }
    state.continuation_beam =
        static_cast<int>(numbers.integer("continuation_beam", state.continuation_beam, 1, SearchOptions::kMaxBeam));
    state.max_tokens = static_cast<int>(numbers.integer("max_tokens", state.max_tokens, 1, kMaxTokens));
    state.chat = reader.boolean("chat", state.chat);
    if (reader.has("conversation")) {
        state.conversation = read_conversed(reader.child("conversation"), file);
    }
    state.second = reader.text("second");
    state.panel = reader.choice_of("panel", panel_names(), state.panel);
    state.kind = reader.choice_of("kind", kKinds, state.kind);
    state.layer = numbers.count("layer", state.layer, 1);
    state.heads = numbers.rising("heads");
    state.word = numbers.count("word", state.word, -1);
    state.direction = reader.choice_of("direction", kDirections, state.direction);
    state.key = numbers.count("key", state.key, -1);
    if (reader.has("overview")) {
        state.overview = reader.boolean("overview", false);
    }
    state.least = numbers.number("least", state.least, 0.0, 1.0);
    state.top = numbers.count("top", state.top, 0);
    state.numbers = reader.boolean("numbers", state.numbers);
    state.rule = reader.choice_of("rule", rule_names(), state.rule);
    if (reader.has("chosen")) {
        state.chosen = read_chosen(reader.child("chosen"), file, notes);
    }
    state.join_words = reader.boolean("join_words", state.join_words);
    state.show_special = reader.boolean("show_special", state.show_special);
    state.show_first = reader.boolean("show_first", state.show_first);
    state.palette = reader.choice_of("palette", kPalettes, state.palette);
    state.order = reader.choice_of("order", order_names(), state.order);
    state.small_figures = reader.boolean("small_figures", state.small_figures);
    state.heads_page = numbers.count("heads_page", state.heads_page, 0);
    state.matrix = reader.choice_of("matrix", kMatrices, state.matrix);
    state.logarithmic = reader.boolean("logarithmic", state.logarithmic);
    state.step = numbers.count("step", state.step, -1);
    state.show_fallen = reader.boolean("show_fallen", state.show_fallen);
    state.by_piece = reader.boolean("by_piece", state.by_piece);
    state.block = reader.text("block");
    reader.finish();
    return state;
}

}  // namespace

std::string to_json(const SavedView& view) {
    json out{{"format", kFormat},
             {"version", kVersion},
             {"model", view.model},
             {"model_name", view.model_name},
             {"parameters", view.parameters},
             {"device", view.device},
             {"other_model", view.other_model},
             {"other_device", view.other_device},
             {"view", write_state(view.state)}};
    if (view.other_checkpoint.has_value()) {
        out["other_checkpoint"] = *view.other_checkpoint;
    }
    // Typed or pasted text may not be UTF-8, which the file has to be.
    return out.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

SavedView read_view(const std::string& file) {
    return parse_view(read_whole_file(file, "'" + file + "'"), file);
}

SavedView parse_view(const std::string& text, const std::string& file) {
    std::istringstream stream(text);
    const json document = parse_json(stream, file);
    ConfigReader reader(document, file, "");
    if (reader.text("format") != kFormat) {
        reader.fail("format", fmt::format("should be \"{}\": this is not a saved view", kFormat));
    }
    if (const std::int64_t version = reader.integer("version", 0, 0, kLargest); version != kVersion) {
        reader.fail("version", fmt::format("is {}, and this program reads version {}", version, kVersion));
    }
    SavedView view;
    Numbers numbers(reader, "", view.notes);
    view.model = reader.text("model");
    view.model_name = reader.text("model_name");
    view.parameters = numbers.integer("parameters", 0, 0, kAny);
    view.device = reader.text("device");
    view.other_model = reader.text("other_model");
    view.other_device = reader.text("other_device");
    if (reader.has("other_checkpoint")) {
        view.other_checkpoint = numbers.integer("other_checkpoint", 0, 0, kAny);
    }
    view.state = read_state(reader.child("view"), file, view.notes);
    view.file = file;
    reader.finish();
    return view;
}

}  // namespace headscope::viewer
