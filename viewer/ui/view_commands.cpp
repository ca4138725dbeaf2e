// Commands that change the view.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "model/family.h"
#include "observe/family_labels.h"
#include "support/counted.h"
#include "viewer/session/fits.h"
#include "viewer/session/wording.h"
#include "viewer/ui/interface.h"

namespace headscope::viewer {

namespace {

constexpr int kHeadKeys = 8;  // heads with a digit key
constexpr int kNumberKeys = 9;
constexpr double kLeastStep = 0.05;

void step_layer(Interface& ui, int by) {
    const int layers = layers_of(ui.session.scene());
    ui.state().layer = std::clamp(shown_layer(ui.state(), layers) + by, 1, std::max(layers, 1));
}

void step_word(Interface& ui, int by) {
    const int words = static_cast<int>(words_of(ui.session.scene(), shown_direction(ui.session.scene())));
    int& word = ui.state().word;
    if (words > 0) {
        word = word < 0 ? (by > 0 ? 0 : words - 1) : std::clamp(word + by, 0, words - 1);
    }
}

// The sentences of a long text; null if the text is read whole.
const PartsOfText* split_text(Interface& ui) {
    const auto& model = ui.session.scene().main.model;
    const PartsOfText* parts = model.has_value() ? parts_of(ui.state(), *model) : nullptr;
    return parts != nullptr && parts->sentences.size() > 1 ? parts : nullptr;
}

void step_sentence(Interface& ui, int by) {
    const PartsOfText* parts = split_text(ui);
    if (parts != nullptr) {
        const int wanted = shown_sentence(ui.state(), *parts) + by;
        choose_sentence(ui.state(), std::clamp(wanted, 0, static_cast<int>(parts->sentences.size()) - 1));
    }
}

// Moves the other word of a pair: the key that the chosen word is multiplied with or pinned to.
void step_key(Interface& ui, int by) {
    const int words = static_cast<int>(words_of(ui.session.scene(), Direction::To));
    int& key = ui.state().key;
    if (words > 0) {
        key = key < 0 ? (by > 0 ? 0 : words - 1) : std::clamp(key + by, 0, words - 1);
    }
}

void change_least(Interface& ui, double by) {
    double& least = ui.state().least;
    least = std::clamp(std::round((least + by) * 100.0) / 100.0, 0.0, 1.0);
}

void choose_matrix(Interface& ui, MatrixView view) {
    ui.state().panel = PanelId::Matrix;
    ui.state().matrix = view;
}

void sort_heads(Interface& ui, HeadOrder order) {
    ui.state().panel = PanelId::Heads;
    ui.state().order = order;
    ui.state().heads_page = 0;
}

void isolate(Interface& ui, int head) {
    toggle_head(ui.state(), heads_of(ui.session.scene()), head, true);
}

void add_panel_commands(Interface& ui) {
    Interface* at = &ui;
    for (int index = 0; index < kPanels; ++index) {
        const auto panel = static_cast<PanelId>(index);
        const std::string keys = index < kNumberKeys ? fmt::format("Ctrl+{}", index + 1) : panel_of(panel).keys;
        Command& command = ui.commands.add({fmt::format("panel.{}", name_of(panel)), "Panels",
                                            title_of(panel, reading_of(ui.session.scene())), keys, true,
                                            [at, panel] { at->state().panel = panel; }});
        command.why_not = [at, panel] { return why_not_offered(at->session.scene(), panel); };
    }
}

// Why commands of attention are disabled.
std::function<std::string()> unless_attends(Interface& ui) {
    return [at = &ui] { return no_attention(at->session.scene()); };
}

void add_attention_commands(Interface& ui) {
    Interface* at = &ui;
    const CommandGroup add(ui.commands, "Attention", unless_attends(ui));
    const CommandGroup add_lines(ui.commands, "Attention", [at] { return no_lines(at->session.scene()); });
    const CommandGroup add_words(ui.commands, "Attention", [at] { return no_single_pass(at->session.scene()); });
    const CommandGroup add_ends(ui.commands, "Attention", [at] { return no_text(at->session.scene()); });
    const auto one_layer = [at] { return layers_of(at->session.scene()) > 1 ? "" : "There is no other layer."; };
    const auto one_sentence = [at] {
        return split_text(*at) != nullptr ? "" : "The text is not split into sentences.";
    };
    const std::vector<AttentionKind> kinds = attentions_of(ui.session.scene());
    for (const AttentionKind one : kinds.size() > 1 ? kinds : std::vector<AttentionKind>()) {
        const KindTraits& labels = traits(family_of(ui.session.scene()), one);
        add(fmt::format("kind.{}", name_of(labels.kind)), fmt::format("{}: {}", labels.name, labels.meaning),
            std::string(labels.name, 1), [at, kind = labels.kind] { choose_kind(at->state(), kind); });
    }
    add("layer.up", "Next layer up", "Up", [at] { step_layer(*at, 1); }).why_not = one_layer;
    add("layer.down", "Next layer down", "Down", [at] { step_layer(*at, -1); }).why_not = one_layer;
    add("word.right", "Next word", "Right", [at] { step_word(*at, 1); });
    add("word.left", "Previous word", "Left", [at] { step_word(*at, -1); });
    add("key.right", "Next word of the other row", "Alt+Right", [at] { step_key(*at, 1); });
    add("key.left", "Previous word of the other row", "Alt+Left", [at] { step_key(*at, -1); });
    add("sentence.next", "Next sentence of a long text", "Ctrl+PageDown", [at] { step_sentence(*at, 1); }).why_not =
        one_sentence;
    add("sentence.before", "Previous sentence of a long text", "Ctrl+PageUp", [at] {
        step_sentence(*at, -1);
    }).why_not = one_sentence;
    add("direction", "What a word attends to, or is attended by", "W", [at] {
        ViewState& state = at->state();
        state.direction = state.direction == Direction::From ? Direction::To : Direction::From;
    });
    add_lines("overview", "Overview: opacity divided by the root of the number of heads", "O",
              [at] { at->state().overview = !shows_overview(at->state(), heads_of(at->session.scene())); });
    add_lines("least.more", "Hide weaker lines", "RightBracket", [at] { change_least(*at, kLeastStep); });
    add_lines("least.less", "Show weaker lines", "LeftBracket", [at] { change_least(*at, -kLeastStep); });
    add_lines("numbers", "Numbers of a chosen word", "V", [at] { at->state().numbers = !at->state().numbers; });
    add_words("pieces", "Words, or subword pieces", "P", [at] {
        at->state().join_words = !at->state().join_words;
        at->state().word = -1;
        at->state().key = -1;
    });
    add_ends("special", "Show or hide <BOS> and <EOS>", "S", [at] {
        at->state().show_special = !at->state().show_special;
        at->state().word = -1;
        at->state().key = -1;
    });
    if (!traits(family_of(ui.session.scene())).reads_source) {
        add_words("first", "Show or hide the first token", "H", [at] {
            at->state().show_first = !at->state().show_first;
            at->state().word = -1;
            at->state().key = -1;
        });
    }
    add("palette.colours", "The paper's colours, or Okabe and Ito's", "K",
        [at] { at->state().palette = at->state().palette == Palette::Paper ? Palette::OkabeIto : Palette::Paper; });
}

std::string missing_head(const Scene& scene, int head) {
    const std::string none = no_attention(scene);
    const int heads = heads_of(scene);
    return !none.empty() || !scene.main.model.has_value() || head <= heads
               ? none
               : fmt::format("A layer of this model has {}.", counted(heads, "head"));
}

void add_head_commands(Interface& ui) {
    Interface* at = &ui;
    const CommandGroup add(ui.commands, "Heads", unless_attends(ui));
    add("heads.all", "All heads", "A", [at] { at->state().heads.clear(); });
    for (int head = 1; head <= kPaletteColours; ++head) {
        const auto no_such_head = [at, head] { return missing_head(at->session.scene(), head); };
        add(fmt::format("head.{}", head), fmt::format("Head {} on or off", head),
            head <= kHeadKeys ? fmt::format("{}", head) : "",
            [at, head] { toggle_head(at->state(), heads_of(at->session.scene()), head, false); })
            .why_not = no_such_head;
        add(fmt::format("head.{}.alone", head), fmt::format("Only head {}, or all again", head),
            head <= kHeadKeys ? fmt::format("Shift+{}", head) : "", [at, head] { isolate(*at, head); })
            .why_not = no_such_head;
    }
    const CommandGroup add_overview(ui.commands, "All heads", unless_attends(ui));
    for (const HeadOrderRow& row : kHeadOrders) {
        add_overview(fmt::format("order.{}", row.name), fmt::format("Sort heads by {}", row.by), "",
                     [at, order = row.order] { sort_heads(*at, order); });
    }
    add_overview("pictures", "Small figures, or matrices", "G", [at] {
        at->state().small_figures = !at->state().small_figures;
    }).why_not = [at] { return no_lines(at->session.scene()); };
}

void add_matrix_commands(Interface& ui) {
    Interface* at = &ui;
    const CommandGroup add(ui.commands, "Matrix", unless_attends(ui));
    add("matrix.head", "One head", "", [at] { choose_matrix(*at, MatrixView::Head); });
    add("matrix.head-mean", "The mean of a layer's heads", "", [at] { choose_matrix(*at, MatrixView::HeadMean); });
    add("matrix.layer-mean", "The mean of all layers", "", [at] { choose_matrix(*at, MatrixView::LayerMean); });
    add("matrix.rollout", "Attention rollout", "", [at] { choose_matrix(*at, MatrixView::Rollout); });
    add("scale", "A linear or a logarithmic scale", "L", [at] { at->state().logarithmic = !at->state().logarithmic; });
}

}  // namespace

void add_view_commands(Interface& ui) {
    add_panel_commands(ui);
    add_attention_commands(ui);
    add_head_commands(ui);
    add_matrix_commands(ui);
    add_model_commands(ui);
}

}  // namespace headscope::viewer
