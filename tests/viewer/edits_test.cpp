// Toggling heads, the words of a row, and edits.
#include "tests/viewer/stage.h"

#include "tests/observe/paper_record.h"
#include "viewer/session/edits.h"
#include "viewer/session/rows.h"

using namespace headscope;
using namespace headscope::viewer;

namespace {

using Heads = std::vector<int>;

// Figure 3's sentence, with made-up attention.
Scene paper_scene() {
    Scene scene;
    Opened model;
    model.config.encoder_layers = 6;
    model.config.attention.heads = 8;
    scene.main.model = model;
    const auto shown = std::make_shared<Exploration>();
    shown->record = test::paper_record();
    scene.main.shown = shown;
    scene.state.layer = 5;
    return scene;
}

ViewState with_heads(Heads heads) {
    ViewState state;
    state.heads = std::move(heads);
    return state;
}

}  // namespace

TEST_CASE("Heads are toggled, and one always stays on", "[rows]") {
    ViewState state;
    toggle_head(state, 4, 2, false);
    CHECK(state.heads == Heads{1, 3, 4});
    toggle_head(state, 4, 2, false);
    CHECK(state.heads.empty());  // all
    toggle_head(state, 4, 3, true);
    CHECK(state.heads == Heads{3});
    for (const bool alone : {false, true}) {
        ViewState last = with_heads({3});
        toggle_head(last, 4, 3, alone);
        CHECK_FALSE(active_heads(last, 4).empty());
    }
    ViewState same = state;
    toggle_head(same, 4, 0, false);
    toggle_head(same, 4, 5, true);
    CHECK(same == state);
    for (int seed = 1; seed < 500; ++seed) {  // whatever is clicked
        toggle_head(state, 4, 1 + seed * 7 % 5, seed % 11 == 0);
        const Heads on = active_heads(state, 4);
        REQUIRE_FALSE(on.empty());
        REQUIRE(std::is_sorted(on.begin(), on.end()));
    }
}

TEST_CASE("Heads and layers that a model lacks are ignored", "[rows]") {
    CHECK(active_heads(with_heads({2, 7, 9}), 8) == Heads{2, 7});
    CHECK(active_heads(with_heads({7, 9}), 4) == Heads{1, 2, 3, 4});
    CHECK(active_heads({}, 2) == Heads{1, 2});
    CHECK(shown_layer(ViewState{}, 6) == 5);
    CHECK(shown_layer(ViewState{}, 2) == 2);
    CHECK(shown_layer(ViewState{}, 0) == 1);

    Scene scene = paper_scene();
    scene.state.layer = 9;
    scene.state.heads = {3, 9};
    CHECK(shown_site(scene) == AttentionSite{AttentionKind::EncoderSelf, 5});
    CHECK(first_head(scene) == 3);
    CHECK(layers_of({}) == 0);
    CHECK(first_head({}) == 1);
    CHECK(words_of({}, Direction::From) == 0);
}

TEST_CASE("Edits are described in words", "[edits]") {
    const AttentionSite site{AttentionKind::Cross, 2};
    CHECK(describe({.site = site, .head = 3}) == "Cross layer 3, head 3: off");
    CHECK(describe({.site = {AttentionKind::EncoderSelf, 0}, .head = 1, .kind = EditKind::Uniform}) ==
          "Encoder layer 1, head 1: uniform");
    CHECK(describe({.site = {AttentionKind::DecoderSelf, 4}, .head = 8, .kind = EditKind::Pin, .query = 1, .key = 0}) ==
          "Decoder layer 5, head 8: looks at token 1 (from token 2)");
    CHECK(describe({.site = {AttentionKind::DecoderSelf, 0}, .head = 2, .kind = EditKind::Unmasked},
                   Architecture::CausalLm) == "Layer 1, head 2: no causal mask");
}

TEST_CASE("An edit replaces the one of the same head and row", "[edits]") {
    ViewState state;
    const AttentionSite site{AttentionKind::Cross, 1};
    switch_head(state, site, 2);
    REQUIRE(state.edits == std::vector<AttentionEdit>{{.site = site, .head = 2}});
    put_edit(state, {.site = site, .head = 2, .kind = EditKind::Uniform});
    REQUIRE(state.edits.size() == 1);
    CHECK(state.edits[0].kind == EditKind::Uniform);
    put_edit(state, {.site = site, .head = 2, .kind = EditKind::Pin, .query = 3, .key = 1});
    put_edit(state, {.site = site, .head = 3});
    put_edit(state, {.site = {AttentionKind::EncoderSelf, 1}, .head = 2});
    CHECK(state.edits.size() == 4);
    put_edit(state, {.site = site, .head = 2, .kind = EditKind::Pin, .query = 3, .key = 5});
    REQUIRE(state.edits.size() == 4);
    CHECK(state.edits.back().key == 5);
    switch_head(state, site, 2);  // uniform so far: now off
    REQUIRE(state.edits.size() == 4);
    CHECK(state.edits.back() == AttentionEdit{.site = site, .head = 2});
    switch_head(state, site, 2);
    switch_head(state, site, 3);
    CHECK(state.edits.size() == 2);
}

TEST_CASE("Pinning words uses their first pieces", "[edits]") {
    Scene scene = paper_scene();
    auto split = std::make_shared<Exploration>(*scene.main.shown);
    REQUIRE(split->record.source[2].text == "\u2581in");
    split->record.source[3].text = "side";  // "in" and "this" are the pieces of one word now
    scene.main.shown = split;
    CHECK_FALSE(pinnable(scene));
    scene.state.word = 3;
    CHECK_FALSE(pinnable(scene));
    scene.state.key = 2;
    REQUIRE(pinnable(scene));
    scene.state.heads = {2, 4};
    CHECK(
        pinned(scene) ==
        AttentionEdit{.site = {AttentionKind::EncoderSelf, 4}, .head = 2, .kind = EditKind::Pin, .query = 4, .key = 2});
    scene.state.join_words = false;
    CHECK(pinned(scene).query == 3);
    scene.state.key = static_cast<int>(words_of(scene, Direction::To));
    CHECK_FALSE(pinnable(scene));
    scene.state.key = 0;
    scene.state.word = 500;
    CHECK_FALSE(pinnable(scene));
}
