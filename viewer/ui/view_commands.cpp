// What can be done, with its keys: what is looked at.
#include <algorithm>

#include <fmt/format.h>

#include "observe/head_selection.h"
#include "viewer/ui/app.h"

namespace headscope::viewer {

namespace {

int heads_of_model(const Interface& ui) {
    const auto& model = ui.session.scene().main.model;
    return model.has_value() ? static_cast<int>(model->config.heads) : 0;
}

void choose_kind(Interface& ui, AttentionKind kind) {
    ViewState& state = ui.state();
    if (state.kind != kind) {
        state.kind = kind;
        state.word = -1;  // other words stand there
        state.key = -1;
    }
}

void step_layer(Interface& ui, int by) {
    const int layers = layers_of(ui.session.scene());
    ui.state().layer = std::clamp(shown_layer(ui.state(), layers) + by, 1, std::max(layers, 1));
}

void step_word(Interface& ui, int by) {
    const int words = static_cast<int>(words_of(ui.session.scene(), ui.state().direction));
    int& word = ui.state().word;
    if (words > 0) {
        word = word < 0 ? (by > 0 ? 0 : words - 1) : std::clamp(word + by, 0, words - 1);
    }
}

void step_time(Interface& ui, int by) {
    const auto& shown = ui.session.scene().main.shown;
    const int steps = shown ? static_cast<int>(shown->steps.size()) : 0;
    int& step = ui.state().step;
    if (steps > 0) {
        step = std::clamp((step < 0 ? steps - 1 : step) + by, 0, steps - 1);
    }
}

void alone(Interface& ui, int head) {
    toggle_head(ui.state(), heads_of_model(ui), head, true);
}

}  // namespace

void add_view_commands(Interface& ui) {
    Interface* at = &ui;
    Commands& commands = ui.commands;
    for (int index = 0; index < kPanels; ++index) {
        const auto panel = static_cast<PanelId>(index);
        commands.add({fmt::format("panel.{}", name_of(panel)), "Panels", title_of(panel),
                      fmt::format("Ctrl+{}", index + 1), true, [at, panel] { at->state().panel = panel; }});
    }
    const auto add = [&](const char* id, const char* group, const char* title, const char* keys,
                         std::function<void()> run) {
        commands.add({id, group, title, keys, false, std::move(run)});
    };
    add("kind.encoder", "Attention", "Encoder: the source looks at itself", "E",
        [at] { choose_kind(*at, AttentionKind::EncoderSelf); });
    add("kind.decoder", "Attention", "Decoder: the translation looks at itself", "D",
        [at] { choose_kind(*at, AttentionKind::DecoderSelf); });
    add("kind.cross", "Attention", "Cross: the translation looks at the source", "C",
        [at] { choose_kind(*at, AttentionKind::Cross); });
    add("layer.up", "Attention", "The layer above", "Up", [at] { step_layer(*at, 1); });
    add("layer.down", "Attention", "The layer below", "Down", [at] { step_layer(*at, -1); });
    add("word.right", "Attention", "The next word", "Right", [at] { step_word(*at, 1); });
    add("word.left", "Attention", "The word before", "Left", [at] { step_word(*at, -1); });
    add("direction", "Attention", "Where it looks, or who looks at it", "W", [at] {
        ViewState& state = at->state();
        state.direction = state.direction == Direction::From ? Direction::To : Direction::From;
    });
    add("overview", "Attention", "Overview: all heads thinned by their number", "O",
        [at] { at->state().overview = !at->state().overview; });
    add("pieces", "Attention", "Words, or the model's pieces", "P", [at] {
        at->state().join_words = !at->state().join_words;
        at->state().word = -1;
        at->state().key = -1;
    });
    add("special", "Attention", "Show or hide <BOS> and <EOS>", "S", [at] {
        at->state().show_special = !at->state().show_special;
        at->state().word = -1;
        at->state().key = -1;
    });
    add("palette.colours", "Attention", "The paper's colours, or Okabe and Ito's", "K",
        [at] { at->state().palette = at->state().palette == Palette::Paper ? Palette::OkabeIto : Palette::Paper; });
    add("heads.all", "Heads", "All heads", "A", [at] { at->state().heads.clear(); });
    for (int head = 1; head <= 8; ++head) {
        commands.add({fmt::format("head.{}", head), "Heads", fmt::format("Head {} on or off", head),
                      fmt::format("{}", head), false,
                      [at, head] { toggle_head(at->state(), heads_of_model(*at), head, false); }});
        commands.add({fmt::format("head.{}.alone", head), "Heads", fmt::format("Head {} alone, or all again", head),
                      fmt::format("Shift+{}", head), false, [at, head] { alone(*at, head); }});
    }
    add("time.forward", "Time", "The next step of the decoding", "Period", [at] { step_time(*at, 1); });
    add("time.back", "Time", "The step before", "Comma", [at] { step_time(*at, -1); });
    add("time.play", "Time", "Play the decoding, or stop", "Space", [at] {
        at->playing = !at->playing;
        if (at->playing) {
            at->state().step = 0;
        }
    });
    add("importance", "Surgery", "Measure every head's importance for this sentence", "I", [at] {
        at->state().panel = PanelId::Surgery;
        at->session.measure_importance();
    });
    add("edits.clear", "Surgery", "Take all edits back", "R", [at] { at->state().edits.clear(); });
}

}  // namespace headscope::viewer
