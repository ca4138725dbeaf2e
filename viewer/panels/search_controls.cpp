// The controls of the search that writes the output.
#include <cmath>

#include <fmt/format.h>

#include "model/family.h"
#include "model/frame_of_config.h"
#include "support/counted.h"
#include "viewer/panels/controls.h"

namespace headscope::viewer {

namespace {

// A choice of the languages of a model that needs one; "" is its author's.
void language_choice(Controls& ui, const ModelConfig& config, const char* name, std::int32_t word,
                     std::string& language) {
    if (!needs_language(config, word)) {
        return;
    }
    const std::string side = word == kSourceLanguage ? "from " : "to ";
    std::vector<Controls::Offer> offers{{.id = "", .text = side + "the model's default language", .chosen = {}}};
    for (const auto& [id, token] : config.frame.languages) {
        offers.push_back({.id = id, .text = id, .chosen = side + id});
    }
    ui.drop_down(name, language, offers);
}

}  // namespace

void search_controls(Controls& ui) {
    ViewState& state = ui.state();
    const Architecture family = family_of(ui.scene());
    if (traits(family).fills_masks || !traits(family).writes_pieces) {
        return;  // it does not search
    }
    if (const auto& model = ui.scene().main.model; model && !model->config.frame.languages.empty()) {
        ui.heading("Languages");
        language_choice(ui, model->config, "source_language", kSourceLanguage, state.source_language);
        language_choice(ui, model->config, "target_language", kTargetLanguage, state.target_language);
    }
    ui.heading("Beam");
    int& beam = beam_of(state, family);
    ui.stepper("beam", counted(beam, "hypothesis", "hypotheses"), beam, 1, SearchOptions::kMaxBeam);
    if (traits(family).continues_text) {
        if (const auto& model = ui.scene().main.model; model && (model->no_chat.empty() || state.chat)) {
            ui.heading("Prompt");
            ui.toggle("chat", "a message", state.chat, "The text is a message in the model's chat template");
        }
        ui.heading("Length");
        ui.stepper("tokens", fmt::format("at most {}", counted(state.max_tokens, "token")), state.max_tokens, 1,
                   kMaxTokens);
    } else if (ui.slider("penalty", state.length_penalty, 0.0, 2.0,
                         fmt::format("length penalty {:.1f}", state.length_penalty))) {
        state.length_penalty = std::round(state.length_penalty * 10.0) / 10.0;
    }
}

}  // namespace headscope::viewer
