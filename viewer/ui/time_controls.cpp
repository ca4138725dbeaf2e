// The controls of the search, and of the Time panel.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <imgui.h>

#include "support/counted.h"
#include "viewer/session/wording.h"
#include "viewer/ui/interface.h"
#include "viewer/ui/widgets.h"

namespace headscope::viewer {

void search_controls(Interface& ui) {
    ViewState& state = ui.state();
    const Architecture family = family_of(ui.session.scene());
    if (family == Architecture::MaskedLm) {
        return;  // it does not search
    }
    heading(ui, "Beam");
    int& beam = beam_of(state, family);
    stepper(ui, "beam", counted(beam, "hypothesis", "hypotheses"), beam, 1, SearchOptions::kMaxBeam);
    if (family == Architecture::CausalLm) {
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
    const bool masks = family_of(ui.session.scene()) == Architecture::MaskedLm;
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
