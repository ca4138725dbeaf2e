#include "viewer/session/state.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "model/family.h"
#include "support/check.h"

namespace headscope::viewer {

namespace {

constexpr int kCandidates = 10;

}  // namespace

PanelId parse_panel(const std::string& name) {
    const auto found = std::find(kPanelNames.begin(), kPanelNames.end(), name);
    if (found == kPanelNames.end()) {
        throw Error(fmt::format("there is no panel \"{}\": there are {}", name, fmt::join(kPanelNames, ", ")));
    }
    return static_cast<PanelId>(found - kPanelNames.begin());
}

int& beam_of(ViewState& state, Architecture family) {
    return traits(family).continues_text ? state.continuation_beam : state.beam;
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

bool shows_overview(const ViewState& state, int model_heads) {
    return state.overview.value_or(active_heads(state, model_heads).size() > kClearHeads);
}

bool follows_choice(const ViewState& state) {
    const std::optional<ChosenHead>& chosen = state.chosen;
    if (!chosen.has_value() || chosen->layer == 0) {
        return chosen.has_value();
    }
    const std::vector<int> heads = chosen->head == 0 ? std::vector<int>{} : std::vector<int>{chosen->head};
    return chosen->kind == state.kind && chosen->layer == state.layer && state.heads == heads;
}

int shown_layer(const ViewState& state, int layers) {
    return std::clamp(state.layer, 1, std::max(layers, 1));
}

ExploreRequest request_of(const ViewState& state, Architecture family) {
    ExploreRequest request{
        .source = state.text, .target = state.target, .edits = state.edits, .candidates = kCandidates};
    if (!traits(family).writes_pieces) {
        request.target.reset();
    } else if (traits(family).reads_source) {
        const auto chosen = [](const std::string& name) { return name.empty() ? std::nullopt : std::optional(name); };
        request.search.source_language = chosen(state.source_language);
        request.search.target_language = chosen(state.target_language);
        request.search.beam = state.beam;
        request.search.length_penalty = state.length_penalty;
        request.search.length_penalty_form = LengthPenaltyForm::Gnmt;  // the control has the range of this form
    } else if (traits(family).continues_text) {
        request.search.beam = state.continuation_beam;
        request.search.length_penalty = 0.0;
        request.search.max_extra = state.max_tokens;
        request.chat = state.chat;
        if (state.chat) {
            request.earlier = read_of(state.conversation);
            request.target = state.target.has_value() ? state.target : state.conversation.reply;
        }
    }
    return request;
}

ExploreRequest without_edits(ExploreRequest request) {
    request.edits.clear();
    return request;
}

namespace {

void forget_tokens(ViewState& state) {
    state.target.reset();
    state.conversation.reply.reset();
    state.word = state.key = state.step = -1;
    std::erase_if(state.edits, [](const AttentionEdit& edit) { return edit.query >= 0 || edit.key >= 0; });
}

}  // namespace

void new_sentence(ViewState& state, const std::string& text) {
    if (state.text == text) {
        return;
    }
    state.text = text;
    state.sentence = 0;
    forget_tokens(state);
}

void choose_sentence(ViewState& state, int sentence) {
    if (state.sentence != sentence) {
        state.sentence = sentence;
        forget_tokens(state);
    }
}

}  // namespace headscope::viewer
