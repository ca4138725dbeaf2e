// Masks in a text, and what differs between the families of models.
#include <catch2/catch.hpp>

#include "viewer/panels/panel_drawing.h"
#include "viewer/panels/parts.h"
#include "viewer/session/masking.h"
#include "viewer/session/rows.h"
#include "viewer/session/wording.h"

using namespace headscope;
using namespace headscope::viewer;

namespace {

std::string split(const std::string& text) {
    std::string all;
    for (const TextWord& word : words_in(text)) {
        all += (all.empty() ? "" : "|") + text.substr(word.begin, word.size) +
               (word.mask >= 0 ? "#" + std::to_string(word.mask) : "");
    }
    return all;
}

Scene masked_scene(const std::string& text) {
    Scene scene;
    scene.state.text = text;
    scene.main.model.emplace();
    scene.main.model->config.architecture = Architecture::MaskedLm;
    return scene;
}

}  // namespace

TEST_CASE("A text is split at spaces, punctuation and masks", "[masking]") {
    CHECK(split("The cat sleeps.") == "The|cat|sleeps|.");
    CHECK(split("  \u201CDon't\u201D, he\tsaid\u2026 ") == "\u201C|Don't|\u201D|,|he|said|\u2026");
    CHECK(split("The [MASK] [MASK]s, ([MASK])") == "The|[MASK]#0|[MASK]#1|s|,|(|[MASK]#2|)");
    CHECK(split("...") == ".|.|.");
    CHECK(split("\xff x") == "\xff|x");
    CHECK(split("") == "");
}

TEST_CASE("A word is masked and filled in again", "[masking]") {
    ViewState state;
    state.text = "The cat sees [MASK], a dog.";
    state.word = 2;
    state.edits = {{.site = {AttentionKind::EncoderSelf, 0}}, {.site = {AttentionKind::EncoderSelf, 0}, .query = 1}};
    mask_word(state, 6);
    CHECK(state.text == "The cat sees [MASK], a [MASK].");
    CHECK(state.step == 1);
    CHECK(state.word == -1);
    CHECK(state.edits.size() == 1);
    mask_word(state, 1);
    CHECK(state.text == "The [MASK] sees [MASK], a [MASK].");
    CHECK(state.step == 0);
    const ViewState before = state;
    mask_word(state, 1);   // a mask already
    mask_word(state, 99);  // no word
    CHECK(state == before);
    fill_mask(state, 2, {"bird"});
    CHECK(state.text == "The [MASK] sees [MASK], a bird.");
    CHECK(state.step == -1);
    fill_mask(state, 0, {"s", false});
    CHECK(state.text == "Thes sees [MASK], a bird.");
}

TEST_CASE("The selected column is a word of the text, and the selected mask a column", "[masking]") {
    Scene scene = masked_scene("The cat, [MASK] the [MASK] the cat\u263A");
    auto shown = std::make_shared<Exploration>();
    shown->record.source = {{"<BOS>", TokenKind::Begin},
                            {"\u2581The"},
                            {"\u2581c"},
                            {"at"},
                            {","},
                            {"[MASK]", TokenKind::Mask},
                            {"\u2581the"},
                            {"[MASK]", TokenKind::Mask},
                            {"\u2581the"},
                            {"\u2581c"},
                            {"at"},
                            {"<unk>", TokenKind::Unknown},
                            {"<EOS>", TokenKind::End}};
    shown->steps = {{.position = 5}, {.position = 7}};
    scene.main.shown = shown;
    scene.main.answered = ExploreRequest{.source = scene.state.text};
    const auto word_at = [&](int column) {
        scene.state.word = column;
        const std::optional<std::size_t> word = selected_word(scene);
        return word.has_value() ? static_cast<int>(*word) : -1;
    };
    CHECK(word_at(-1) == -1);
    CHECK(word_at(0) == -1);  // <BOS>
    CHECK(word_at(2) == 1);   // cat
    CHECK(word_at(4) == 3);   // the first mask
    CHECK(word_at(6) == 5);   // the second one
    CHECK(word_at(7) == 6);   // the second "the"
    CHECK(word_at(8) == -1);  // "cat<unk>" is not in the text
    CHECK(word_at(99) == -1);
    CHECK(mask_column(scene) == -1);
    scene.state.step = 1;
    CHECK(mask_column(scene) == 6);
    scene.state.show_special = false;
    CHECK(mask_column(scene) == 5);
    CHECK(word_at(1) == 1);
    scene.state.join_words = false;
    CHECK(mask_column(scene) == 6);
    CHECK(word_at(2) == 1);  // a piece of "cat"
    scene.state.text = "Another";
    CHECK(word_at(1) == -1);
}

TEST_CASE("The separator of two texts is one word", "[masking]") {
    const std::vector<TextWord> words = words_in("a [SEP] [b");
    REQUIRE(words.size() == 4);
    CHECK(words[1].begin == 2);
    CHECK(words[1].size == 5);
    CHECK(words[2].size == 1);
}

TEST_CASE("The fillings of a mask are those of the text shown", "[masking]") {
    Scene scene = masked_scene("The [MASK]");
    CHECK(fillings(scene, 0).empty());
    auto shown = std::make_shared<Exploration>();
    shown->steps.push_back({.candidates = {{.text = "\u2581cat"}, {.text = "s"}, {.text = "##s"}}});
    scene.main.shown = shown;
    scene.main.answered = ExploreRequest{.source = "The [MASK]"};
    CHECK(fillings(scene, 0) == std::vector<Filling>{{"cat", true}, {"s", false}, {"##s", false}});
    scene.main.model->tokenizer = TokenizerType::WordPiece;
    CHECK(fillings(scene, 0) == std::vector<Filling>{{"\u2581cat", true}, {"s", true}, {"s", false}});
    scene.main.model->tokenizer = TokenizerType::ByteBpe;  // shown in SentencePiece's notation
    CHECK(fillings(scene, 0) == std::vector<Filling>{{"cat", true}, {"s", false}, {"##s", false}});
    CHECK(fillings(scene, 1).empty());
    CHECK(fillings(scene, -1).empty());
    scene.state.text = "A [MASK]";
    CHECK(fillings(scene, 0).empty());
}

TEST_CASE("The fillings of a gap are texts, and its mark may be a sentinel", "[masking]") {
    Scene scene = masked_scene("The <extra_id_0> [MASK].");
    scene.main.model->config.architecture = Architecture::EncoderDecoder;
    CHECK(words_in(scene.state.text).size() == 6);
    const std::vector<TextWord> words = words_in(scene.state.text, true);
    REQUIRE(words.size() == 4);
    CHECK(words[1].mask == 0);
    CHECK(words[2].mask == 1);
    auto shown = std::make_shared<Exploration>();
    shown->steps.resize(6);
    shown->gaps = {{.token = 0, .candidates = {{0, " small dog"}, {1, ""}}, .position = 0},
                   {.token = 0, .candidates = {{0, " sees"}, {1, "s"}}, .position = 3}};
    CHECK_FALSE(shows_gaps(scene));
    scene.main.shown = shown;
    scene.main.answered = ExploreRequest{.source = scene.state.text};
    CHECK(fillings(scene, 0) == std::vector<Filling>{{"small dog", true}, {"", false}});
    CHECK(fillings(scene, 1) == std::vector<Filling>{{"sees", true}, {"s", false}});

    CHECK(shows_gaps(scene));
    CHECK(count_of_steps(scene) == 2);
    CHECK(chosen_step(scene) == 0);
    CHECK(shown_step(scene) == 1);  // the first token in the gap
    scene.state.step = 1;
    CHECK(shown_step(scene) == 4);
    scene.state.by_piece = true;
    CHECK(count_of_steps(scene) == 6);
    CHECK(shown_step(scene) == 1);

    fill_mask(scene.state, 1, {"s", false}, true);
    CHECK(scene.state.text == "The <extra_id_0>s.");
    fill_mask(scene.state, 0, {"small dog", true}, true);
    CHECK(scene.state.text == "The small dogs.");
}

TEST_CASE("Another family replaces examples, and what only the other one has", "[family]") {
    ViewState state;
    show_example(state, Architecture::EncoderDecoder);
    CHECK(state.text == "The cat sleeps because it is tired.");
    CHECK(state.word == kExampleWord);
    state.edits = {{.site = {AttentionKind::Cross, 0}}};
    state.target = "Die Katze";
    fit_reading(state, Architecture::EncoderDecoder, Architecture::MaskedLm);
    CHECK(state.text == wording(Architecture::MaskedLm).examples.front());
    CHECK(state.word == -1);
    CHECK(state.edits.empty());
    CHECK_FALSE(state.target.has_value());

    state.text = "A text of my own";
    state.target = "and its end";
    const ViewState own = state;
    fit_reading(state, std::nullopt, Architecture::CausalLm);
    CHECK(state == own);
    state.text = wording(Architecture::MaskedLm).examples.front();
    fit_reading(state, Architecture::CausalLm, Architecture::CausalLm);  // such as another checkpoint
    CHECK(state.text == wording(Architecture::MaskedLm).examples.front());
}

TEST_CASE("A language model has one kind of attention, and searches of its own", "[family]") {
    Scene scene;
    scene.state.kind = AttentionKind::Cross;
    CHECK(shown_kind(scene) == AttentionKind::Cross);
    CHECK(std::string(title_of(PanelId::Time, reading_of(scene))) == "Time");
    scene = masked_scene("The cat");
    scene.state.kind = AttentionKind::Cross;
    CHECK(shown_kind(scene) == AttentionKind::EncoderSelf);
    CHECK(std::string(title_of(PanelId::Time, reading_of(scene))) == "Masks");
    scene.main.model->config.architecture = Architecture::CausalLm;
    CHECK(shown_kind(scene) == AttentionKind::DecoderSelf);

    scene.state.target = "and";
    const ExploreRequest completion = request_of(scene.state, Architecture::CausalLm);
    CHECK(completion.search.beam == 1);
    CHECK(completion.search.max_extra == 24);
    CHECK(completion.target == "and");
    const ExploreRequest translation = request_of(scene.state, Architecture::EncoderDecoder);
    CHECK(translation.search.beam == 4);
    CHECK_FALSE(translation.search.max_extra.has_value());
    CHECK(request_of(scene.state, Architecture::MaskedLm).search == DecodingChoices{});

    CHECK_FALSE(completion.chat);
    scene.state.chat = true;
    CHECK(request_of(scene.state, Architecture::CausalLm).chat);
    CHECK_FALSE(request_of(scene.state, Architecture::EncoderDecoder).chat);
}
