// Commands that change the view.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "model/description.h"
#include "model/family.h"
#include "observe/family_labels.h"
#include "viewer/panels/parts.h"
#include "viewer/session/masking.h"
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
    const int words = static_cast<int>(words_of(ui.session.scene(), ui.state().direction));
    int& word = ui.state().word;
    if (words > 0) {
        word = word < 0 ? (by > 0 ? 0 : words - 1) : std::clamp(word + by, 0, words - 1);
    }
}

void step_sentence(Interface& ui, int by) {
    const auto& model = ui.session.scene().main.model;
    const PartsOfText* parts = model.has_value() ? parts_of(ui.state(), *model) : nullptr;
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

// Steps through the blocks of the model map, from the inputs up.
void step_block(Interface& ui, int by) {
    const auto& model = ui.session.scene().main.model;
    ui.state().panel = PanelId::Model;
    if (!model.has_value()) {
        return;
    }
    const int shown = shown_layer(ui.state(), layers_of(ui.session.scene()));
    std::vector<std::string> prefixes;
    for (const Block& block : describe(model->config).blocks) {
        const bool is_shown = !block.prefix.empty() && (block.layer == 0 || block.layer == shown);
        if (is_shown && std::find(prefixes.begin(), prefixes.end(), block.prefix) == prefixes.end()) {
            prefixes.push_back(block.prefix);
        }
    }
    const auto found = std::find(prefixes.begin(), prefixes.end(), ui.state().block);
    if (prefixes.empty()) {
        return;
    }
    const auto at = found == prefixes.end() ? (by > 0 ? -1 : std::ssize(prefixes)) : found - prefixes.begin();
    ui.state().block =
        prefixes[static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(at + by, 0, std::ssize(prefixes) - 1))];
}

void change_penalty(Interface& ui, double by) {
    double& penalty = ui.state().length_penalty;
    penalty = std::clamp(std::round((penalty + by) * 10.0) / 10.0, 0.0, 2.0);
}

void change_least(Interface& ui, double by) {
    double& least = ui.state().least;
    least = std::clamp(std::round((least + by) * 100.0) / 100.0, 0.0, 1.0);
}

void mask_chosen(Interface& ui) {
    const std::optional<std::size_t> word = selected_word(ui.session.scene());
    if (!word.has_value()) {
        ui.session.notify("Choose a word of the text first: click one in the figure.");
        return;
    }
    const int mask = words_in(ui.state().text)[*word].mask;
    const std::vector<Filling> likeliest = fillings(ui.session.scene(), mask);
    if (mask < 0) {
        mask_word(ui.state(), *word);
    } else if (!likeliest.empty()) {
        fill_mask(ui.state(), mask, likeliest.front());
    }
}

void step_time(Interface& ui, int by) {
    const auto& shown = ui.session.scene().main.shown;
    const int steps = shown ? static_cast<int>(shown->steps.size()) : 0;
    int& step = ui.state().step;
    if (steps > 0) {
        step = std::clamp(shown_step(ui.session.scene()) + by, 0, steps - 1);
    }
}

void choose_matrix(Interface& ui, MatrixView view) {
    ui.state().panel = PanelId::Matrix;
    ui.state().matrix = view;
}

void sort_heads(Interface& ui, HeadOrder order) {
    ui.state().panel = PanelId::Heads;
    ui.state().order = order;
}

void change_beam(Interface& ui, int by) {
    int& beam = beam_of(ui.state(), family_of(ui.session.scene()));
    beam = std::clamp(beam + by, 1, SearchOptions::kMaxBeam);
}

void edit_head(Interface& ui, EditKind kind) {
    const Scene& scene = ui.session.scene();
    ui.state().panel = PanelId::Surgery;
    if (kind == EditKind::Pin && !pinnable(scene)) {
        ui.session.notify("Choose two words first: click a cell of the matrix.");
    } else if (kind == EditKind::Pin) {
        put_edit(ui.state(), pinned(scene));
    } else if (kind == EditKind::Uniform) {
        put_edit(ui.state(), {.site = shown_site(scene), .head = first_head(scene), .kind = kind});
    } else {
        switch_head(ui.state(), shown_site(scene), first_head(scene));
    }
}

void step_checkpoint(Interface& ui, int by) {
    const Scene& scene = ui.session.scene();
    if (scene.run == nullptr || !scene.main.model.has_value() || !scene.main.model->checkpoint.has_value()) {
        ui.session.notify("A model has no checkpoints: open the folder of a training.");
        return;
    }
    const auto& steps = scene.run->checkpoints;
    const auto at = std::lower_bound(steps.begin(), steps.end(), *scene.main.model->checkpoint) - steps.begin();
    const auto wanted = std::clamp<std::ptrdiff_t>(at + by, 0, std::max<std::ptrdiff_t>(std::ssize(steps) - 1, 0));
    if (!steps.empty() && steps[static_cast<std::size_t>(wanted)] != *scene.main.model->checkpoint) {
        ui.session.open_checkpoint(steps[static_cast<std::size_t>(wanted)]);
    }
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
                                            title_of(panel, family_of(ui.session.scene())), keys, true,
                                            [at, panel] { at->state().panel = panel; }});
        command.enabled = [at, panel] { return offered(at->session.scene(), panel); };
    }
}

void add_attention_commands(Interface& ui) {
    Interface* at = &ui;
    const CommandGroup add(ui.commands, "Attention");
    const std::vector<AttentionKind> kinds = attentions_of(ui.session.scene());
    for (const AttentionKind one : kinds.size() > 1 ? kinds : std::vector<AttentionKind>()) {
        const KindTraits& labels = traits(family_of(ui.session.scene()), one);
        add(fmt::format("kind.{}", name_of(labels.kind)), fmt::format("{}: {}", labels.name, labels.meaning),
            std::string(labels.name, 1), [at, kind = labels.kind] { choose_kind(at->state(), kind); });
    }
    add("layer.up", "Next layer up", "Up", [at] { step_layer(*at, 1); });
    add("layer.down", "Next layer down", "Down", [at] { step_layer(*at, -1); });
    add("word.right", "Next word", "Right", [at] { step_word(*at, 1); });
    add("word.left", "Previous word", "Left", [at] { step_word(*at, -1); });
    add("key.right", "Next word of the other row", "Alt+Right", [at] { step_key(*at, 1); });
    add("key.left", "Previous word of the other row", "Alt+Left", [at] { step_key(*at, -1); });
    add("sentence.next", "Next sentence of a long text", "Ctrl+PageDown", [at] { step_sentence(*at, 1); });
    add("sentence.before", "Previous sentence of a long text", "Ctrl+PageUp", [at] { step_sentence(*at, -1); });
    add("direction", "What a word attends to, or is attended by", "W", [at] {
        ViewState& state = at->state();
        state.direction = state.direction == Direction::From ? Direction::To : Direction::From;
    });
    add("overview", "Overview: opacity divided by the root of the number of heads", "O",
        [at] { at->state().overview = !shows_overview(at->state(), heads_of(at->session.scene())); });
    add("least.more", "Hide weaker lines", "RightBracket", [at] { change_least(*at, kLeastStep); });
    add("least.less", "Show weaker lines", "LeftBracket", [at] { change_least(*at, -kLeastStep); });
    add("numbers", "Numbers of a chosen word", "V", [at] { at->state().numbers = !at->state().numbers; });
    add("pieces", "Words, or subword pieces", "P", [at] {
        at->state().join_words = !at->state().join_words;
        at->state().word = -1;
        at->state().key = -1;
    });
    add("special", "Show or hide <BOS> and <EOS>", "S", [at] {
        at->state().show_special = !at->state().show_special;
        at->state().word = -1;
        at->state().key = -1;
    });
    add("palette.colours", "The paper's colours, or Okabe and Ito's", "K",
        [at] { at->state().palette = at->state().palette == Palette::Paper ? Palette::OkabeIto : Palette::Paper; });
}

void add_head_commands(Interface& ui) {
    Interface* at = &ui;
    const CommandGroup add(ui.commands, "Heads");
    add("heads.all", "All heads", "A", [at] { at->state().heads.clear(); });
    for (int head = 1; head <= kPaletteColours; ++head) {
        add(fmt::format("head.{}", head), fmt::format("Head {} on or off", head),
            head <= kHeadKeys ? fmt::format("{}", head) : "",
            [at, head] { toggle_head(at->state(), heads_of(at->session.scene()), head, false); });
        add(fmt::format("head.{}.alone", head), fmt::format("Only head {}, or all again", head),
            head <= kHeadKeys ? fmt::format("Shift+{}", head) : "", [at, head] { isolate(*at, head); });
    }
    const CommandGroup add_overview(ui.commands, "All heads");
    add_overview("order.layers", "Sort heads by layer", "", [at] { sort_heads(*at, HeadOrder::Model); });
    add_overview("order.entropy", "Sort heads by entropy", "", [at] { sort_heads(*at, HeadOrder::Entropy); });
    add_overview("order.distance", "Sort heads by distance", "", [at] { sort_heads(*at, HeadOrder::Distance); });
    add_overview("order.sharpness", "Sort heads by sharpness", "", [at] { sort_heads(*at, HeadOrder::Sharpness); });
    add_overview("order.diagonal", "Sort heads by their diagonal", "", [at] { sort_heads(*at, HeadOrder::Diagonal); });
    add_overview("pictures", "Small figures, or matrices", "G",
                 [at] { at->state().small_figures = !at->state().small_figures; });
}

void add_matrix_commands(Interface& ui) {
    Interface* at = &ui;
    const CommandGroup add(ui.commands, "Matrix");
    add("matrix.head", "One head", "", [at] { choose_matrix(*at, MatrixView::Head); });
    add("matrix.head-mean", "The mean of a layer's heads", "", [at] { choose_matrix(*at, MatrixView::HeadMean); });
    add("matrix.layer-mean", "The mean of all layers", "", [at] { choose_matrix(*at, MatrixView::LayerMean); });
    add("matrix.rollout", "Attention rollout", "", [at] { choose_matrix(*at, MatrixView::Rollout); });
    add("scale", "A linear or a logarithmic scale", "L", [at] { at->state().logarithmic = !at->state().logarithmic; });
}

void add_time_commands(Interface& ui) {
    Interface* at = &ui;
    const Architecture family = family_of(ui.session.scene());
    const Wording& words = wording(family);
    const CommandGroup add(ui.commands, words.steps_title);
    if (traits(family).reads_source) {
        add("penalty.more", "A larger length penalty", "", [at] { change_penalty(*at, 0.1); });
        add("penalty.less", "A smaller length penalty", "", [at] { change_penalty(*at, -0.1); });
    }
    add("time.forward", words.step_forward, "Period", [at] { step_time(*at, 1); });
    add("time.back", words.step_back, "Comma", [at] { step_time(*at, -1); });
    if (traits(family).fills_masks) {
        add("mask", "Mask the chosen word, or fill in its mask", "M", [at] { mask_chosen(*at); });
        return;
    }
    add("time.play", "Play the decoding, or stop", "Space", [at] {
        at->playing = !at->playing;
        if (at->playing) {  // behind the prompt, if there is one
            const auto& shown = at->session.scene().main.shown;
            at->state().step = shown == nullptr ? 0 : static_cast<int>(shown->prompt);
        }
    });
    add("beam.wider", "A wider beam", "Shift+Period", [at] { change_beam(*at, 1); });
    add("beam.narrower", "A narrower beam", "Shift+Comma", [at] { change_beam(*at, -1); });
    add("time.fallen", "Show or hide pruned hypotheses", "F",
        [at] { at->state().show_fallen = !at->state().show_fallen; });
}

void add_surgery_commands(Interface& ui) {
    Interface* at = &ui;
    const CommandGroup add(ui.commands, "Surgery");
    add("edit.off", "Switch the first chosen head off or on", "X", [at] { edit_head(*at, EditKind::Off); });
    add("edit.uniform", "Make the first chosen head uniform", "U", [at] { edit_head(*at, EditKind::Uniform); });
    add("edit.pin", "Pin the chosen word to the other one", "N", [at] { edit_head(*at, EditKind::Pin); });
    add("importance", "Measure every head's importance for this sentence", "I", [at] {
        at->state().panel = PanelId::Surgery;
        at->session.measure_importance();
    });
    add("edits.clear", "Clear all edits", "R", [at] { at->state().edits.clear(); });
}

void add_other_commands(Interface& ui) {
    Interface* at = &ui;
    const CommandGroup add_model(ui.commands, "Model");
    add_model("block.next", "Weights of the next block", "B", [at] { step_block(*at, 1); });
    add_model("block.before", "Weights of the previous block", "Shift+B", [at] { step_block(*at, -1); });
    const CommandGroup add_comparison(ui.commands, "Compare");
    add_comparison("compare.device", "Compare with the same model on another device, or stop", "", [at] {
        at->state().panel = PanelId::Compare;
        at->state().second.clear();  // both read the same text
        if (at->session.scene().other.has_value()) {
            at->session.end_comparison();
        } else {
            at->session.compare_with(at->session.model_path(), at->session.device());
        }
    });
    const CommandGroup add_training(ui.commands, "Training");
    add_training("checkpoint.next", "Next checkpoint", "Shift+Right", [at] { step_checkpoint(*at, 1); });
    add_training("checkpoint.before", "Previous checkpoint", "Shift+Left", [at] { step_checkpoint(*at, -1); });
}

}  // namespace

void add_view_commands(Interface& ui) {
    add_panel_commands(ui);
    add_attention_commands(ui);
    add_head_commands(ui);
    add_matrix_commands(ui);
    add_time_commands(ui);
    add_surgery_commands(ui);
    add_other_commands(ui);
}

}  // namespace headscope::viewer
