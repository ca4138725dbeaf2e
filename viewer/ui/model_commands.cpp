// Commands of what the model writes, of its edits, and of the model itself.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "model/description.h"
#include "model/family.h"
#include "viewer/panels/parts.h"
#include "viewer/session/fits.h"
#include "viewer/session/masking.h"
#include "viewer/session/shown.h"
#include "viewer/session/wording.h"
#include "viewer/ui/interface.h"

namespace headscope::viewer {

namespace {

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
    const int steps = count_of_steps(ui.session.scene());
    if (steps > 0) {
        ui.state().step = std::clamp(chosen_step(ui.session.scene()) + by, 0, steps - 1);
    }
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
    } else if (kind != EditKind::Off) {
        put_edit(ui.state(), {.site = shown_site(scene), .head = first_head(scene), .kind = kind});
    } else {
        switch_head(ui.state(), shown_site(scene), first_head(scene));
    }
}

std::string no_checkpoints(const Scene& scene) {
    const bool opened = scene.main.model.has_value() && scene.main.model->checkpoint.has_value();
    return scene.run != nullptr && opened ? "" : "This model has no checkpoints: open the folder of a training.";
}

void step_checkpoint(Interface& ui, int by) {
    const Scene& scene = ui.session.scene();
    const auto& steps = scene.run->checkpoints;
    const auto at = std::lower_bound(steps.begin(), steps.end(), *scene.main.model->checkpoint) - steps.begin();
    const auto wanted = std::clamp<std::ptrdiff_t>(at + by, 0, std::max<std::ptrdiff_t>(std::ssize(steps) - 1, 0));
    if (!steps.empty() && steps[static_cast<std::size_t>(wanted)] != *scene.main.model->checkpoint) {
        ui.session.open_checkpoint(steps[static_cast<std::size_t>(wanted)]);
    }
}

void add_time_commands(Interface& ui) {
    Interface* at = &ui;
    const Architecture family = family_of(ui.session.scene());
    if (!traits(family).writes_pieces) {
        return;
    }
    const Wording& words = wording(ui.session.scene());
    const CommandGroup add(ui.commands, words.steps_title, [at] { return no_single_pass(at->session.scene()); });
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
    const CommandGroup add(ui.commands, "Surgery", [at] { return no_attention(at->session.scene()); });
    add("edit.off", "Switch the first chosen head off or on", "X", [at] { edit_head(*at, EditKind::Off); });
    add("edit.uniform", "Make the first chosen head uniform", "U", [at] { edit_head(*at, EditKind::Uniform); });
    add("edit.pin", "Pin the chosen word to the other one", "N", [at] { edit_head(*at, EditKind::Pin); });
    add("edit.unmask", "Take the causal mask off the first chosen head", "T", [at] {
        edit_head(*at, EditKind::Unmasked);
    }).why_not = [at] { return no_causal_mask(at->session.scene()); };
    add("importance", "Measure every head's importance for this sentence", "I", [at] {
        at->state().panel = PanelId::Surgery;
        at->session.measure_importance();
    });
    add("edits.clear", "Clear all edits", "R", [at] { at->state().edits.clear(); }).why_not = [at] {
        return at->state().edits.empty() ? "There are no edits." : "";
    };
}

void add_chat_commands(Interface& ui) {
    Interface* at = &ui;
    const auto no_chat = [at] { return viewer::no_chat(at->session.scene()); };
    const CommandGroup add(ui.commands, "Chat", no_chat);
    add("chat.say", "Write a message", "", true, [at] {
        at->state().panel = PanelId::Chat;
        at->focus_entry = "message";
    });
    add("chat.stop", "Stop the reply", "Ctrl+Period", true, [at] { at->session.stop_reply(); }).why_not = [at] {
        return at->session.replying() ? "" : "No reply is being written.";
    };
    add("chat.copy", "Copy the last reply", "", true, [at] {
        at->copy(last_reply_in(at->session.scene()).value_or(""));
    }).why_not = [at, no_chat] {
        const std::string why = no_chat();
        return why.empty() && !last_reply_in(at->session.scene()).has_value() ? "There is no reply yet." : why;
    };
    add("chat.new", "New conversation", "", true, [at] {
        at->state().panel = PanelId::Chat;
        at->session.begin_conversation();
        at->focus_entry = "message";
    });
}

void add_other_commands(Interface& ui) {
    Interface* at = &ui;
    const CommandGroup add_model(ui.commands, "Model");
    add_model("block.next", "Weights of the next block", "B", [at] { step_block(*at, 1); });
    add_model("block.before", "Weights of the previous block", "Shift+B", [at] { step_block(*at, -1); });
    const CommandGroup add_comparison(ui.commands, "Compare", [at] { return no_single_pass(at->session.scene()); });
    add_comparison("compare.device", "Compare with the same model on another device, or stop", "", [at] {
        at->state().panel = PanelId::Compare;
        at->state().second.clear();  // both read the same text
        if (at->session.scene().other.has_value()) {
            at->session.end_comparison();
        } else {
            at->session.compare_with(at->session.model_path(), at->session.device());
        }
    });
    const CommandGroup add_training(ui.commands, "Training", [at] { return no_checkpoints(at->session.scene()); });
    add_training("checkpoint.next", "Next checkpoint", "Shift+Right", [at] { step_checkpoint(*at, 1); });
    add_training("checkpoint.before", "Previous checkpoint", "Shift+Left", [at] { step_checkpoint(*at, -1); });
}

}  // namespace

void add_model_commands(Interface& ui) {
    add_time_commands(ui);
    add_surgery_commands(ui);
    add_chat_commands(ui);
    add_other_commands(ui);
}

}  // namespace headscope::viewer
