// The controls of the search, and of the Time panel.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <imgui.h>

#include "model/family.h"
#include "model/frame_of_config.h"
#include "support/counted.h"
#include "viewer/session/wording.h"
#include "viewer/ui/interface.h"
#include "viewer/ui/widgets.h"

namespace headscope::viewer {

namespace {

// A choice of the languages of a model that needs one; "" is its author's.
void language_combo(Interface& ui, const ModelConfig& config, const char* name, std::int32_t word,
                    std::string& language) {
    if (!needs_language(config, word)) {
        return;
    }
    const std::string side = word == kSourceLanguage ? "from" : "to";
    const std::string author = side + " the model's default language";
    ImGui::SetNextItemWidth(-1.0F);
    if (ImGui::BeginCombo((std::string("##") + name).c_str(),
                          language.empty() ? author.c_str() : (side + " " + language).c_str())) {
        const auto offer = [&](const std::string& id, const std::string& text) {
            if (text_row(std::string(name) + id, text, language == id, 0.0F)) {
                language = id;
            }
            ui.probes.item(std::string(name) + "." + (id.empty() ? "default" : id));
        };
        offer("", author);
        for (const auto& [id, token] : config.frame.languages) {
            offer(id, id);
        }
        ImGui::EndCombo();
    }
    ui.probes.item(name, language);
}

}  // namespace

void search_controls(Interface& ui) {
    ViewState& state = ui.state();
    const Architecture family = family_of(ui.session.scene());
    if (traits(family).fills_masks) {
        return;  // it does not search
    }
    if (const auto& model = ui.session.scene().main.model; model && !model->config.frame.languages.empty()) {
        heading(ui, "Languages");
        language_combo(ui, model->config, "source_language", kSourceLanguage, state.source_language);
        language_combo(ui, model->config, "target_language", kTargetLanguage, state.target_language);
    }
    heading(ui, "Beam");
    int& beam = beam_of(state, family);
    stepper(ui, "beam", counted(beam, "hypothesis", "hypotheses"), beam, 1, SearchOptions::kMaxBeam);
    if (traits(family).continues_text) {
        heading(ui, "Length");
        stepper(ui, "tokens", fmt::format("at most {}", counted(state.max_tokens, "token")), state.max_tokens, 1,
                kMaxTokens);
        return;
    }
    auto penalty = static_cast<float>(state.length_penalty);
    ImGui::SetNextItemWidth(-1.0F);
    if (ImGui::SliderFloat("##penalty", &penalty, 0.0F, 2.0F, "length penalty %.1f")) {
        state.length_penalty = std::round(static_cast<double>(penalty) * 10.0) / 10.0;
    }
    ui.probes.item("penalty", fmt::format("{:.1f}", state.length_penalty));
}

void time_controls(Interface& ui) {
    ViewState& state = ui.state();
    const Wording& words = wording(ui.session.scene());
    const auto& shown = ui.session.scene().main.shown;
    const int steps = shown ? static_cast<int>(shown->steps.size()) : 0;
    const bool masks = traits(family_of(ui.session.scene())).fills_masks;
    heading(ui, masks ? "Mask" : "Step");
    int step = state.step < 0 ? steps : std::min(state.step + 1, steps);
    if (stepper(ui, "step", fmt::format("{} of {}", step, steps), step, 1, std::max(steps, 1))) {
        state.step = step - 1;
        ui.playing = false;
    }
    ImGui::SetNextItemWidth(-1.0F);
    if (steps > 1 && ImGui::SliderInt("##scrubber", &step, 1, steps, "")) {
        state.step = step - 1;
        ui.playing = false;
    }
    ui.probes.item("scrubber", fmt::format("{}", step));
    if (!masks && button(ui, "play", ui.playing ? "Stop" : "Play", "Space", steps > 0)) {
        ui.commands.run("time.play");
    }
    search_controls(ui);
    if (!masks) {
        toggle(ui, "fallen", "Show branches that fell", state.show_fallen);
    }
    remark(ui, words.steps_remark);
}

}  // namespace headscope::viewer
