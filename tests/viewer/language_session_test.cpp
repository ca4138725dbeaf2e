// Sessions with language models: continuations, masks, and comparisons across families.
#include "tests/viewer/stage.h"

#include <cmath>

#include <nlohmann/json.hpp>

#include "tests/viewer/language_model.h"
#include "viewer/panels/panel_drawing.h"
#include "viewer/panels/parts.h"
#include "viewer/session/fits.h"
#include "viewer/session/masking.h"
#include "viewer/session/rows.h"
#include "viewer/session/text_notes.h"
#include "viewer/session/wording.h"

using namespace headscope;
using namespace headscope::viewer;
using Catch::Matchers::Contains;
using nlohmann::json;

namespace {

const Exploration& result_of(const Session& session) {
    REQUIRE(session.scene().main.shown != nullptr);
    REQUIRE(session.scene().main.shown->problem.empty());
    return *session.scene().main.shown;
}

json numbers(const Session& session, PanelId panel) {
    return json::parse(panel_json(session.scene(), panel));
}

// Every panel but the training's is drawn and exported.
void check_panels(Session& session) {
    for (const PanelId panel : {PanelId::Figure, PanelId::Heads, PanelId::Matrix, PanelId::Time, PanelId::Surgery,
                                PanelId::Model, PanelId::Compare}) {
        INFO(name_of(panel));
        session.state().panel = panel;
        session.state().word = panel == PanelId::Matrix ? 2 : -1;
        settle(session);
        CHECK_FALSE(draw_panel(session.scene(), panel, {}).primitives.empty());
        CHECK_FALSE(numbers(session, panel).empty());
    }
    CHECK(errors_of(session).empty());
}

}  // namespace

TEST_CASE("A prompt is continued, with its heads", "[session][family]") {
    const TemporaryFolder folder;
    Session session(on_cpu(write_language_model(folder, "causal", Architecture::CausalLm), sentence("the small dog")),
                    [] {});
    settle(session);
    CHECK(result_of(session).finished);
    CHECK(result_of(session).prompt > 0);
    CHECK(result_of(session).steps.size() > result_of(session).prompt);
    CHECK(shown_site(session.scene()).kind == AttentionKind::DecoderSelf);
    CHECK(layers_of(session.scene()) == 2);
    check_panels(session);
    const json time = numbers(session, PanelId::Time);
    CHECK(time.at("prompt") == "the small dog");
    CHECK(time.at("completion") == result_of(session).translation);
    CHECK(time.at("prompt_tokens") == result_of(session).prompt);
    CHECK(time.at("steps").size() == result_of(session).steps.size());

    const std::size_t long_one = result_of(session).steps.size();
    session.state().max_tokens = 2;
    settle(session);
    CHECK(result_of(session).steps.size() == result_of(session).prompt + 2);
    CHECK(result_of(session).steps.size() < long_one);
    session.measure_importance();
    settle(session);
    REQUIRE(session.scene().importance != nullptr);
    CHECK(session.scene().importance->heads.size() == 2 * 4);
    session.state().target = " sees the cat";
    settle(session);
    CHECK(result_of(session).forced);
    session.state().target.reset();
    session.state().edits = {{.site = {AttentionKind::DecoderSelf, 1}, .head = 2}};
    session.state().panel = PanelId::Surgery;
    settle(session);
    CHECK_THAT(texts_of(draw_panel(session.scene(), PanelId::Surgery, {})), Contains("The continuation "));
    session.state().text = " ";
    settle(session);
    CHECK(session.scene().main.problem == "Type a prompt above.");
}

TEST_CASE("A masked word has candidates", "[session][family]") {
    const TemporaryFolder folder;
    Session session(
        on_cpu(write_language_model(folder, "masked", Architecture::MaskedLm), sentence("the small dog sleeps")),
        [] {});
    settle(session);
    CHECK(result_of(session).steps.empty());
    CHECK_THAT(texts_of(draw_panel(session.scene(), PanelId::Time, {})), Contains("Click a word above to mask it"));
    session.measure_importance();  // of what?
    CHECK_FALSE(session.measuring());
    CHECK_THAT(session.notices().back().text, Contains("Mask a word first"));

    mask_word(session.state(), 2);
    settle(session);
    REQUIRE(result_of(session).steps.size() == 1);
    const std::vector<Filling> words = fillings(session.scene(), 0);
    CHECK(words.size() == 10);
    CHECK(shown_site(session.scene()).kind == AttentionKind::EncoderSelf);
    check_panels(session);
    CHECK(numbers(session, PanelId::Time).at("text") == "the small [MASK] sleeps");
    session.measure_importance();
    settle(session);
    CHECK(session.scene().importance->heads.size() == 2 * 4);

    fill_mask(session.state(), 0, words.front());
    settle(session);
    CHECK(result_of(session).steps.empty());
    session.undo();
    settle(session);
    CHECK(result_of(session).steps.size() == 1);
}

TEST_CASE("A gap of a span model has candidates, and one is put in", "[session][family]") {
    const TemporaryFolder folder;
    const std::string model =
        write_language_model(folder, "span", Architecture::EncoderDecoder, 3, {}, {"<extra_id_0>", "<extra_id_1>"});
    Session session(on_cpu(model, sentence("the [MASK] sees the [MASK]", PanelId::Time)), [] {});
    settle(session);
    REQUIRE(result_of(session).gaps.size() == 2);
    CHECK(count_of_steps(session.scene()) == 2);
    session.state().target = "<extra_id_0> small dog<extra_id_1> cat";
    settle(session);
    CHECK_THAT(texts_of(draw_panel(session.scene(), PanelId::Time, {})),
               Contains("small dog") && Contains("cat") && Contains("there is no beam"));
    const json masks = numbers(session, PanelId::Time).at("masks");
    REQUIRE(masks.size() == 2);
    CHECK(masks[1].at(0).at("word") == "cat");
    CHECK(masks[1].at(0).at("probability") == Approx(std::exp(masks[1].at(0).at("log_probability").get<double>())));
    session.state().by_piece = true;
    CHECK(count_of_steps(session.scene()) == static_cast<int>(result_of(session).steps.size()));
    session.state().by_piece = false;
    settle(session);

    fill_mask(session.state(), 1, fillings(session.scene(), 1).front(), true);
    settle(session);
    CHECK(session.state().text == "the [MASK] sees the cat");
    CHECK(result_of(session).gaps.size() == 1);
    session.undo();
    settle(session);
    CHECK(result_of(session).gaps.size() == 2);
    CHECK(errors_of(session).empty());
}

TEST_CASE("Without its mask a head sees what the continuation says", "[session][family]") {
    const TemporaryFolder folder;
    Session session(on_cpu(write_language_model(folder, "causal", Architecture::CausalLm),
                           sentence("the small dog sees", PanelId::Surgery)),
                    [] {});
    settle(session);
    CHECK(no_causal_mask(session.scene()).empty());
    Scene translator = session.scene();
    translator.main.model->config.architecture = Architecture::EncoderDecoder;
    translator.main.model->config.encoder_layers = 2;
    CHECK_THAT(no_causal_mask(translator), Contains("Only a decoder's self-attention"));
    session.state().target = " the big cat";
    settle(session);
    const double before = result_of(session).log_probability;
    session.state().edits = {{.site = {AttentionKind::DecoderSelf, 1}, .head = 3, .kind = EditKind::Unmasked}};
    settle(session);
    CHECK(find_site(result_of(session).record, AttentionKind::DecoderSelf, 2).at(2, 0, 1) > 0.0F);
    CHECK(result_of(session).log_probability != before);
    CHECK(session.scene().main.original->log_probability == before);
    CHECK_THAT(texts_of(draw_panel(session.scene(), PanelId::Surgery, {})),
               Contains("The log probability changed by") && !Contains("no effect"));
    CHECK(numbers(session, PanelId::Surgery).at("edits").at(0).at("edit") == "unmasked");
}

TEST_CASE("Models of different families are not compared", "[session][family]") {
    const TemporaryFolder folder;
    const std::string causal = write_language_model(folder, "causal", Architecture::CausalLm);
    const std::string masked = write_language_model(folder, "masked", Architecture::MaskedLm);
    Session session(on_cpu(causal, sentence("the small dog", PanelId::Compare)), [] {});
    session.compare_with(masked, "cpu");
    settle(session);
    const std::string problem =
        "masked is a masked language model and cannot be compared with a causal language model: open two models of one "
        "family.";
    CHECK(session.scene().other->problem == problem);
    CHECK_THAT(texts_of(draw_panel(session.scene(), PanelId::Compare, {.width = 3000.0})), Contains(problem));
    CHECK(result_of(session).finished);
    session.compare_with(write_language_model(folder, "second", Architecture::CausalLm, 4), "cpu");
    settle(session);
    CHECK(session.scene().other->problem.empty());
    REQUIRE(session.scene().other->shown != nullptr);
    session.open(masked, "cpu");
    settle(session);
    CHECK_THAT(session.scene().other->problem, Contains("second is a causal language model"));
    CHECK(result_of(session).record.family == Architecture::MaskedLm);
}

TEST_CASE("A saved view of a language model shows the same again", "[session][family]") {
    const TemporaryFolder folder;
    const std::string file = folder.file("a.headscope");
    SessionOptions options =
        on_cpu(write_language_model(folder, "causal", Architecture::CausalLm), sentence("the big", PanelId::Time));
    Session session(options, [] {});
    session.state().max_tokens = 3;
    session.state().continuation_beam = 2;
    session.state().edits = {{.site = {AttentionKind::DecoderSelf, 0}, .head = 1}};
    settle(session);
    const std::string before = panel_json(session.scene(), PanelId::Time);
    session.save_view(file);
    session.state() = sentence("a cat");
    settle(session);
    session.open_view(file);
    settle(session);
    CHECK(panel_json(session.scene(), PanelId::Time) == before);
    CHECK(errors_of(session).empty());
}

TEST_CASE("Of a long text the layer shown is read, and another one when it is chosen", "[session][family]") {
    const TemporaryFolder folder;
    SessionOptions options =
        on_cpu(write_language_model(folder, "causal", Architecture::CausalLm), sentence("the small dog"));
    options.view.state.target = "";
    options.view.state.chosen.reset();
    options.most_weights = [&] {
        Session whole(options, [] {});
        settle(whole);
        return std::ssize(result_of(whole).record.sites.front().values);
    }();
    Session session(options, [] {});
    for (const int layer : {1, 2, 1}) {
        session.state().layer = layer;
        settle(session);
        REQUIRE(result_of(session).record.sites.size() == 1);
        CHECK(result_of(session).record.sites.front().site.layer == layer - 1);
        CHECK(missing_figure(session.scene()).empty());
        CHECK_THAT(note_on_length(session.scene()), Contains("only the weights of the layer shown"));
        CHECK(shown_site(session.scene()).layer == layer - 1);
        check_panels(session);
        session.state().panel = PanelId::Figure;
    }
    session.state().edits = {{.site = {AttentionKind::DecoderSelf, 0}, .head = 2}};
    settle(session);
    CHECK(result_of(session).record.sites.size() == 1);
    CHECK(edits_answered(session.scene()));
    CHECK(original_answered(session.scene()));
    session.state().text = "dog";
    settle(session);
    CHECK(result_of(session).record.sites.size() == 2);
    CHECK(note_on_length(session.scene()).empty());
}
