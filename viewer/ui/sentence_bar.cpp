// The text and what the model writes, as it grows, with menus for search, model and device.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <imgui.h>
#include <imgui_stdlib.h>

#include "model/family.h"
#include "observe/family_labels.h"
#include "text/normalised.h"
#include "viewer/draw/theme.h"
#include "viewer/session/wording.h"
#include "viewer/ui/interface.h"
#include "viewer/ui/widgets.h"

namespace headscope::viewer {

void start_editing(Interface& ui) {
    const auto& shown = ui.session.scene().main.shown;
    ui.typed_target = ui.state().target.value_or(shown ? shown->translation : "");
    ui.editing_target = true;
    ui.focus_target = true;
}

namespace {

// The same for both lines.
float label_width(const Interface& ui) {
    const Scene& scene = ui.session.scene();
    const float longest =
        std::max(ImGui::CalcTextSize(given_of(scene)).x, ImGui::CalcTextSize(wording(scene).output).x);
    return std::max(3.4F * ui.em(), longest + 0.3F * ui.em());
}

// A label before a field of large text, vertically centred.
void label(Interface& ui, const char* name, const char* text) {
    const float field = ui.fonts.large_size() + 2.0F * ImGui::GetStyle().FramePadding.y;
    ImGui::SetCursorPosY(ImGui::GetCursorPosY() + 0.5F * (field - ImGui::GetFontSize()));
    ImGui::PushStyleColor(ImGuiCol_Text, to_vec4(ui.ink().faint));
    ImGui::TextUnformatted(text);
    ui.probes.item(name, text);
    ImGui::PopStyleColor();
    ImGui::SameLine(label_width(ui) + ImGui::GetStyle().WindowPadding.x);
    ImGui::SetCursorPosY(ImGui::GetCursorPosY() - 0.5F * (field - ImGui::GetFontSize()));
}

// A button beside the last field of large text, with its height. Newer versions of ImGui would align the baselines.
bool large_button(Interface& ui, const char* name, const char* sign, const char* text) {
    ImGui::SetCursorScreenPos(ImVec2(ImGui::GetCursorScreenPos().x, ImGui::GetItemRectMin().y));
    ImGui::PushFont(ui.fonts.large());
    // Without padding, since a wide symbol would not be centred.
    ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, ImVec2(0.0F, ImGui::GetStyle().FramePadding.y));
    const bool pressed =
        ImGui::Button(fmt::format("{}##{}", sign, name).c_str(), ImVec2(ImGui::GetContentRegionAvail().x, 0.0F));
    ImGui::PopStyleVar();
    ImGui::PopFont();
    ui.probes.item(name);
    tip(text);
    return pressed;
}

// Sets a new sentence and clears the old target and chosen words.
void begin_sentence(Interface& ui, const std::string& text) {
    new_sentence(ui.state(), text);
    ui.editing_target = false;
}

// The menu for search options, model and device.
void search_menu(Interface& ui) {
    if (!ImGui::BeginPopup("search")) {
        return;
    }
    ImGui::Dummy(ImVec2(18.0F * ui.em(), 0.0F));
    search_controls(ui);
    if (!attentions_of(ui.session.scene()).empty()) {
        row_toggles(ui);
    }
    ui.heading("Model and device");
    ui.remark(ui.session.model_path());
    if (device_combo(ui, "bar.device", ui.typed_device)) {
        ui.session.open(ui.session.model_path(), ui.typed_device);
    }
    if (ui.button("bar.model", "Open another model\u2026")) {
        ImGui::CloseCurrentPopup();
        ui.show(Overlay::Open);
    }
    ImGui::EndPopup();
}

// The menu of recent sentences and examples.
void history_menu(Interface& ui) {
    if (!ImGui::BeginPopup("sentences")) {
        return;
    }
    const auto offer = [&](const std::vector<std::string>& texts, const char* title, const char* probe) {
        if (texts.empty()) {
            return;
        }
        ImGui::TextDisabled("%s", title);
        for (std::size_t index = 0; index < texts.size(); ++index) {
            ui.fonts.need(texts[index]);
            const float width = ImGui::CalcTextSize(texts[index].c_str()).x;
            if (text_row(fmt::format("{}{}", probe, index), texts[index], false, width)) {
                begin_sentence(ui, texts[index]);
            }
            ui.probes.item(fmt::format("{}.{}", probe, index));
        }
    };
    const ViewerSettings& settings = ui.session.settings();
    const bool pictures = reading_of(ui.session.scene()).pictures;
    offer(pictures ? settings.recent_pictures : settings.recent_texts, "Recent", "recent");
    if (pictures && ui.button("bar.picture", "Open a picture\u2026")) {
        ImGui::CloseCurrentPopup();
        ui.show(Overlay::Open);
    }
    offer(wording(ui.session.scene()).examples, "Examples", "example");
    if (const std::optional<Opened>& model = ui.session.scene().main.model; model && !model->repeated.empty()) {
        offer({model->repeated}, "Random words twice, for induction and previous-token heads", "repeated");
    }
    ImGui::EndPopup();
}

// Dear ImGui reverts a text field on Escape. Here the typed text is in use already, so it is kept.
bool large_field(Interface& ui, const char* id, const char* hint, std::string& text) {
    const std::string before = text;
    ImGui::PushFont(ui.fonts.large());
    const bool entered = ImGui::InputTextWithHint(id, hint, &text, ImGuiInputTextFlags_EnterReturnsTrue);
    ImGui::PopFont();
    if (ui.escaped) {
        text = before;
    }
    return entered;
}

void source_line(Interface& ui, float right) {
    const Wording& words = wording(ui.session.scene());
    label(ui, "label.given", given_of(ui.session.scene()));
    if (ui.typed_text != ui.state().text && !ui.typing) {
        ui.typed_text = ui.state().text;  // changed by undo, an example or another view
    }
    if (std::exchange(ui.focus_sentence, false)) {
        ImGui::SetKeyboardFocusHere();
    }
    ImGui::SetNextItemWidth(-right);
    const bool entered = large_field(ui, "##source", words.input_hint, ui.typed_text);
    ui.probes.item("source", ui.typed_text);
    if (ImGui::IsItemEdited() && !ui.escaped) {
        // A new sentence clears the old target and edits of single words.
        begin_sentence(ui, ui.typed_text);
        if (sizeof(ImWchar) == 2 && ui.typed_text.find("\uFFFD") != std::string::npos) {
            ui.session.report_error(
                "This window's text fields hold characters up to U+FFFF, so others, such as emoji, became "
                "\uFFFD. `headscope view --text` takes them.");
        }
    }
    if (!is_empty_text(ui.typed_text) && (entered || ImGui::IsItemDeactivatedAfterEdit())) {
        ViewerSettings& settings = ui.session.settings();
        const bool picture = reading_of(ui.session.scene()).pictures;
        remember(picture ? settings.recent_pictures : settings.recent_texts, ui.typed_text);
    }
    ImGui::SameLine();
    if (large_button(ui, "sentences", "\u25BE",
                     reading_of(ui.session.scene()).pictures ? "Recent pictures" : "Recent sentences and examples")) {
        ImGui::OpenPopup("sentences");
    }
    history_menu(ui);
}

std::string ending(const Exploration& shown, Architecture family) {
    if (!traits(family).writes_pieces) {
        return shown.steps.empty() ? "" : fmt::format(", {:.1f} %", 100.0 * std::exp(shown.log_probability));
    }
    const bool cut = shown.end == EndReason::Limit && traits(family).reads_source;
    return !shown.finished ? " \u2026" : cut ? " (cut at the maximum length)" : "";
}

void edited_line(Interface& ui, const Wording& words, float right) {
    ImGui::SetNextItemWidth(-right);
    if (std::exchange(ui.focus_target, false)) {
        ImGui::SetKeyboardFocusHere();
    }
    large_field(ui, "##target", words.output_hint, ui.typed_target);
    ui.probes.item("target", ui.typed_target);
    if (ImGui::IsItemEdited() && !ui.escaped) {
        ui.state().target = ui.typed_target;
        ui.state().step = -1;
    }
    ImGui::SameLine();
    if (large_button(ui, "target.own", "\u21BA", words.own_tip)) {
        ui.state().target.reset();
        ui.editing_target = false;
    }
}

void options_button(Interface& ui, const Wording& words) {
    ImGui::SameLine();
    if (large_button(ui, "search", "\u2699", words.options_tip)) {
        ui.typed_device = ui.session.device();
        ImGui::OpenPopup("search");
    }
    search_menu(ui);
}

float room_for_text(const Interface& ui, float right) {
    return std::max(ImGui::GetContentRegionAvail().x - right, 4.0F * ui.em());
}

void output_line(Interface& ui, const Wording& words, float right) {
    if (words.edit_output != nullptr && (ui.editing_target || ui.state().target.has_value())) {
        if (!ui.editing_target) {
            start_editing(ui);
        }
        edited_line(ui, words, right);
        return;
    }
    const Side& side = ui.session.scene().main;
    const bool nothing = side.shown == nullptr || !side.shown->problem.empty();
    // The panel says why there is nothing.
    const std::string text =
        nothing ? "" : output_text(*side.shown) + ending(*side.shown, family_of(ui.session.scene()));
    const bool pressed = large_text_button(ui, "translation", text, ui.ink().text, room_for_text(ui, right));
    tip(nothing ? "" : words.edit_tip);
    if (pressed && !nothing && words.edit_output != nullptr) {
        start_editing(ui);
    }
    options_button(ui, words);
}

}  // namespace

void show_sentence_bar(Interface& ui) {
    const float right = 2.2F * ui.em();
    source_line(ui, right);
    const Wording& words = wording(ui.session.scene());
    label(ui, "label.output", words.output);
    if (traits(family_of(ui.session.scene())).fills_masks) {
        show_words(ui, room_for_text(ui, right));
        options_button(ui, words);
    } else {
        output_line(ui, words, right);
    }
    show_text_notes(ui);
    ImGui::Dummy(ImVec2(0.0F, 0.1F * ui.em()));
}

}  // namespace headscope::viewer
