#include "viewer/app/state_file.h"

#include <array>
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
constexpr int kLargest = 1'000'000;  // of any count of a view
constexpr double kLargestPenalty = 100.0;

template <class Enum, std::size_t N>
using NameTable = std::array<std::pair<const char*, Enum>, N>;

constexpr NameTable<AttentionKind, 3> kKinds{{{"encoder", AttentionKind::EncoderSelf},
                                              {"decoder", AttentionKind::DecoderSelf},
                                              {"cross", AttentionKind::Cross}}};
constexpr NameTable<Direction, 2> kDirections{{{"from", Direction::From}, {"to", Direction::To}}};
constexpr NameTable<Palette, 2> kPalettes{{{"paper", Palette::Paper}, {"okabe-ito", Palette::OkabeIto}}};
constexpr NameTable<EditKind, 3> kEdits{
    {{"off", EditKind::Off}, {"uniform", EditKind::Uniform}, {"pin", EditKind::Pin}}};
constexpr NameTable<MatrixView, 4> kMatrices{{{"head", MatrixView::Head},
                                              {"head mean", MatrixView::HeadMean},
                                              {"layer mean", MatrixView::LayerMean},
                                              {"rollout", MatrixView::Rollout}}};
constexpr NameTable<HeadOrder, 5> kOrders{{{"model", HeadOrder::Model},
                                           {"entropy", HeadOrder::Entropy},
                                           {"distance", HeadOrder::Distance},
                                           {"sharpness", HeadOrder::Sharpness},
                                           {"diagonal", HeadOrder::Diagonal}}};

NameTable<PanelId, kPanels> panel_names() {
    NameTable<PanelId, kPanels> names;
    for (int panel = 0; panel < kPanels; ++panel) {
        const auto id = static_cast<PanelId>(panel);
        names[static_cast<std::size_t>(panel)] = {name_of(id), id};
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

int count(ConfigReader& reader, const char* key, int otherwise, int least) {
    return static_cast<int>(reader.integer(key, otherwise, least, kLargest));
}

json write_edit(const AttentionEdit& edit) {
    return {{"kind", name_of(edit.site.kind)},    {"layer", edit.site.layer + 1}, {"head", edit.head},
            {"edit", name_in(kEdits, edit.kind)}, {"query", edit.query},          {"key", edit.key}};
}

AttentionEdit read_edit(const json& object, const std::string& file) {
    ConfigReader reader(object, file, "view.edits");
    AttentionEdit edit;
    edit.site.kind = reader.choice_of("kind", kKinds, edit.site.kind);
    edit.site.layer = count(reader, "layer", 1, 1) - 1;
    edit.head = count(reader, "head", 1, 1);
    edit.kind = reader.choice_of("edit", kEdits, edit.kind);
    edit.query = count(reader, "query", -1, -1);
    edit.key = count(reader, "key", -1, -1);
    reader.finish();
    return edit;
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
             {"overview", state.overview},
             {"join_words", state.join_words},
             {"show_special", state.show_special},
             {"palette", name_in(kPalettes, state.palette)},
             {"order", name_in(kOrders, state.order)},
             {"small_figures", state.small_figures},
             {"matrix", name_in(kMatrices, state.matrix)},
             {"logarithmic", state.logarithmic},
             {"step", state.step},
             {"show_fallen", state.show_fallen},
             {"block", state.block}};
    if (state.target.has_value()) {
        out["target"] = *state.target;
    }
    if (state.checkpoint.has_value()) {
        out["checkpoint"] = *state.checkpoint;
    }
    for (const AttentionEdit& edit : state.edits) {
        out["edits"].push_back(write_edit(edit));
    }
    return out;
}

ViewState read_state(const json& object, const std::string& file) {
    ConfigReader reader(object, file, "view");
    ViewState state;
    state.text = reader.text("text");
    if (reader.has("target")) {
        state.target = reader.text("target");
    }
    if (reader.has("checkpoint")) {
        state.checkpoint = reader.integer("checkpoint", 0, 0, std::numeric_limits<std::int64_t>::max());
    }
    state.beam = static_cast<int>(reader.integer("beam", state.beam, 1, SearchOptions::kMaxBeam));
    state.length_penalty = reader.number("length_penalty", state.length_penalty, 0.0, kLargestPenalty);
    for (const json& edit : reader.list("edits")) {
        state.edits.push_back(read_edit(edit, file));
    }
    state.panel = reader.choice_of("panel", panel_names(), state.panel);
    state.kind = reader.choice_of("kind", kKinds, state.kind);
    state.layer = count(reader, "layer", state.layer, 1);
    for (const json& head : reader.list("heads")) {
        const bool follows = head.is_number_integer() && head > (state.heads.empty() ? 0 : state.heads.back());
        if (!follows || head > kLargest) {
            reader.fail("heads", "must hold numbers of heads, from 1 and rising, found " + head.dump());
        }
        state.heads.push_back(head.get<int>());
    }
    state.word = count(reader, "word", state.word, -1);
    state.direction = reader.choice_of("direction", kDirections, state.direction);
    state.key = count(reader, "key", state.key, -1);
    state.overview = reader.boolean("overview", state.overview);
    state.join_words = reader.boolean("join_words", state.join_words);
    state.show_special = reader.boolean("show_special", state.show_special);
    state.palette = reader.choice_of("palette", kPalettes, state.palette);
    state.order = reader.choice_of("order", kOrders, state.order);
    state.small_figures = reader.boolean("small_figures", state.small_figures);
    state.matrix = reader.choice_of("matrix", kMatrices, state.matrix);
    state.logarithmic = reader.boolean("logarithmic", state.logarithmic);
    state.step = count(reader, "step", state.step, -1);
    state.show_fallen = reader.boolean("show_fallen", state.show_fallen);
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
    // Text that is no UTF-8 came from the keyboard or a paste; a file must hold text.
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
        reader.fail("format", fmt::format("should be \"{}\": this is no saved view", kFormat));
    }
    if (const std::int64_t version = reader.integer("version", 0, 0, kLargest); version != kVersion) {
        reader.fail("version", fmt::format("is {}, and this program reads {}", version, kVersion));
    }
    SavedView view;
    view.model = reader.text("model");
    view.model_name = reader.text("model_name");
    view.parameters = reader.integer("parameters", 0, 0, std::numeric_limits<std::int64_t>::max());
    view.device = reader.text("device");
    view.other_model = reader.text("other_model");
    view.other_device = reader.text("other_device");
    if (reader.has("other_checkpoint")) {
        view.other_checkpoint = reader.integer("other_checkpoint", 0, 0, std::numeric_limits<std::int64_t>::max());
    }
    view.state = read_state(reader.child("view"), file);
    reader.finish();
    return view;
}

}  // namespace headscope::viewer
