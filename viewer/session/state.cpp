#include "viewer/session/state.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "support/check.h"

namespace headscope::viewer {

namespace {

constexpr int kCandidates = 10;

struct Names {
    const char* name;
    const char* title;
};
constexpr std::array<Names, kPanels> kNames{{{"figure", "Figure"},
                                             {"heads", "All heads"},
                                             {"matrix", "Matrix"},
                                             {"time", "Time"},
                                             {"surgery", "Surgery"},
                                             {"model", "Model"},
                                             {"compare", "Compare"},
                                             {"training", "Training"}}};

}  // namespace

const char* name_of(PanelId panel) {
    return kNames[static_cast<std::size_t>(panel)].name;
}
const char* title_of(PanelId panel) {
    return kNames[static_cast<std::size_t>(panel)].title;
}

PanelId parse_panel(const std::string& name) {
    std::vector<std::string_view> names;
    for (std::size_t panel = 0; panel < kNames.size(); ++panel) {
        if (name == kNames[panel].name) {
            return static_cast<PanelId>(panel);
        }
        names.emplace_back(kNames[panel].name);
    }
    throw Error(fmt::format("there is no panel \"{}\": there are {}", name, fmt::join(names, ", ")));
}

std::vector<int> active_heads(const ViewState& state, int model_heads) {
    std::vector<int> heads;
    std::copy_if(state.heads.begin(), state.heads.end(), std::back_inserter(heads),
                 [&](int head) { return head >= 1 && head <= model_heads; });
    if (heads.empty()) {
        heads.resize(static_cast<std::size_t>(model_heads));
        std::iota(heads.begin(), heads.end(), 1);
    }
    return heads;
}

int shown_layer(const ViewState& state, int layers) {
    return std::clamp(state.layer, 1, std::max(layers, 1));
}

ExploreRequest request_of(const ViewState& state) {
    ExploreRequest request{.source = state.text, .target = state.target, .edits = state.edits};
    request.search.beam = state.beam;
    request.search.length_penalty = state.length_penalty;
    request.search.length_penalty_form = LengthPenaltyForm::Gnmt;  // the range of the window's control is for this form
    request.candidates = kCandidates;
    return request;
}

ExploreRequest without_edits(ExploreRequest request) {
    request.edits.clear();
    return request;
}

void new_sentence(ViewState& state, const std::string& text) {
    if (state.text == text) {
        return;
    }
    state.text = text;
    state.target.reset();
    state.word = state.key = state.step = -1;
    std::erase_if(state.edits, [](const AttentionEdit& edit) { return edit.query >= 0 || edit.key >= 0; });
}

}  // namespace headscope::viewer
