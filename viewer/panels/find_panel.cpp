// Heads ranked by what they do in the sentence.
#include <utility>

#include <fmt/format.h>

#include "figures/head_ranking.h"
#include "viewer/panels/controls.h"
#include "viewer/panels/numbers.h"
#include "viewer/panels/parts.h"
#include "viewer/session/rows.h"

namespace headscope::viewer {

namespace {

using nlohmann::json;

// The chosen words, if the rows have that many.
SentenceQuestion question_of(const Scene& scene) {
    const ViewState& state = scene.state;
    SentenceQuestion question{.rule = state.rule, .kind = shown_kind(scene), .rows = row_options(scene)};
    const auto chosen = [&](int column, Direction direction) {
        return column < static_cast<int>(words_of(scene, direction)) ? column : -1;
    };
    if (state.rule == SentenceRule::Link) {  // the other rules choose the words themselves
        const bool from = state.direction == Direction::From;
        question.query = from ? chosen(state.word, Direction::From) : -1;
        question.key = chosen(from ? state.key : state.word, Direction::To);
    }
    return question;
}

std::vector<TellingHead> ranking_of(const Scene& scene) {
    return rank_heads(scene.main.shown->record, question_of(scene));
}

std::string note_of_ranking(const SentenceQuestion& question) {
    if (question.rule == SentenceRule::Structure) {  // a mean over all words, not a pair
        return fmt::format("By rule: {}.", labels_of(question.rule).meaning);
    }
    const bool both = question.query >= 0 && question.key >= 0;
    return both ? "By the weight from the first chosen word to the second."
                : fmt::format(
                      "By how much the weight of a head's best pair exceeds the mean weight that all words "
                      "give to the same key: {}.",
                      labels_of(question.rule).meaning);
}

std::string missing_ranking(const Scene& scene) {
    const std::string missing = missing_figure(scene);
    return missing.empty() ? no_words(scene) : missing;
}

Drawing draw_find(const Scene& scene, const PanelOptions& options, RecordParts& /*parts*/) {
    const AttentionRecord& record = scene.main.shown->record;
    const SentenceQuestion question = question_of(scene);
    SelectedAttention words = select_attention(record, selection_of(scene, record));
    words.chosen.clear();
    words.chosen_keys.clear();
    if (question.query >= 0) {
        words.chosen = {static_cast<std::size_t>(question.query)};
    }
    if (question.key >= 0) {
        words.chosen_keys = {static_cast<std::size_t>(question.key)};
    }
    return draw_head_ranking(words, ranking_of(scene), record.family,
                             {.title = "Heads of this sentence",
                              .note = note_of_ranking(question),
                              .width = options.width / options.text_size - 4.0,
                              .palette = scene.state.palette,
                              .look = look_of(options)});
}

json find_numbers(const Scene& scene) {
    json heads = json::array();
    for (const TellingHead& one : ranking_of(scene)) {
        json item = site_json(one.site, one.head);
        item.update({{"score", one.score},
                     {"query", one.query},
                     {"key", one.key},
                     {"from", one.from},
                     {"to", one.to},
                     {"weight", one.weight}});
        heads.push_back(std::move(item));
    }
    return {{"rule", labels_of(scene.state.rule).name}, {"heads", std::move(heads)}};
}

void find_controls(Controls& ui) {
    ViewState& state = ui.state();
    if (!has_heads(ui)) {
        return;
    }
    kind_and_layer(ui, false);
    ui.heading("Rule");
    std::vector<const char*> titles;
    for (const SentenceRuleLabels& labels : kSentenceRules) {
        titles.push_back(labels.title);
    }
    ui.choice("rule", state.rule, titles);
    if (ui.button("words.clear", "Clear the words", "", state.word >= 0 || state.key >= 0)) {
        state.word = state.key = -1;
    }
    row_toggles(ui);
    ui.remark(
        "Click a word to look from and one to look at: the heads are ranked by the weight between them. Without "
        "words each head shows its best pair by the rule. Click a head to open it in the figure.");
}

void find_events(Controls& ui, const Drawing& /*drawing*/, const PanelEvents& events) {
    if (!events.hovered.has_value()) {
        return;
    }
    ui.point_out();
    if (!events.clicked) {
        return;
    }
    ViewState& state = ui.state();
    const Mark& mark = *events.hovered;
    if (mark.role == Role::Bar) {
        const std::vector<TellingHead> ranking = ranking_of(ui.scene());
        if (mark.item >= 0 && mark.item < std::ssize(ranking)) {
            show_head(state, ranking[static_cast<std::size_t>(mark.item)]);
            state.panel = PanelId::Figure;
        }
        return;
    }
    int& word = mark.role == Role::QueryLabel ? state.word : state.key;
    const int column = mark.role == Role::QueryLabel ? mark.query : mark.key;
    if (state.rule != SentenceRule::Link) {  // the other rules showed no word as chosen
        state.word = state.key = -1;
    }
    if (state.direction == Direction::To) {
        state.key = std::exchange(state.word, -1);
    }
    state.rule = SentenceRule::Link;
    state.direction = Direction::From;
    word = word == column ? -1 : column;
}

}  // namespace

const Panel kFindPanel{.id = PanelId::Find,
                       .title = "Find a head",
                       .keys = "Ctrl+F",
                       .unfit = no_words,
                       .missing = missing_ranking,
                       .draw = draw_find,
                       .numbers = find_numbers,
                       .forget_unseen = forget_input,
                       .follows_pointer = false,
                       .pointable = {Role::QueryLabel, Role::KeyLabel, Role::Bar},
                       .fit_height = false,
                       .controls = find_controls,
                       .events = find_events};

}  // namespace headscope::viewer
