// Every panel of every family: drawn, as JSON, in a file, and with the importance of heads measured.
#include "tests/viewer/families.h"

#include <map>

#include "paint/svg.h"
#include "tests/viewer/stage.h"
#include "viewer/panels/export.h"
#include "viewer/panels/panel_drawing.h"
#include "viewer/panels/render.h"
#include "viewer/session/rows.h"
#include "viewer/session/shown.h"

using namespace headscope;
using namespace headscope::viewer;
using Catch::Matchers::Contains;

namespace {

// Written once, since every test reads all of them.
const std::vector<ShownModel>& shown_models() {
    static const TemporaryFolder folder;
    static const std::vector<ShownModel> models = write_families(folder);
    return models;
}

// The panels of which a file has nothing to show, and why.
std::map<PanelId, std::string> refused_panels(const ShownModel& model, bool trained) {
    std::map<PanelId, std::string> refused{{PanelId::Patching, "Type another text"}};
    if (!trained) {
        refused[PanelId::Training] = "not a training";
    }
    if (model.name != "parser") {
        refused[PanelId::Tree] = "does not write trees";
    }
    const bool continues = model.name.starts_with("causal") || model.name == "adaptive";
    refused[PanelId::Chat] = model.name == "talker" ? "Nothing was said yet"
                             : continues            ? "has no chat template"
                                                    : "does not reply";
    if (!model.attends) {
        for (const PanelId panel : {PanelId::Figure, PanelId::Heads, PanelId::Matrix, PanelId::Find}) {
            refused[panel] = "has no attention";
        }
    }
    if (model.name == "captioner" || model.name == "classifier") {
        for (const PanelId panel : {PanelId::Find, PanelId::Saliency, PanelId::Patching, PanelId::Vectors}) {
            refused[panel] = "reads pictures";
        }
    }
    if (model.name == "classifier") {
        refused[PanelId::Lens] = "writes no text";
    }
    if (model.name == "mask-predict") {
        for (int panel = 0; panel < kPanels; ++panel) {
            refused[static_cast<PanelId>(panel)] = "fills in masks";
        }
        refused.erase(PanelId::Model);
        refused[PanelId::Training] = "not a training";
        refused[PanelId::Chat] = "does not reply";
    }
    return refused;
}

void check_panels(const ShownModel& model, bool trained = false) {
    const TemporaryFolder folder;
    const std::map<PanelId, std::string> refused = refused_panels(model, trained);
    for (int index = 0; index < kPanels; ++index) {
        const auto panel = static_cast<PanelId>(index);
        INFO(model.name << ", " << name_of(panel));
        SavedView view{.state = state_of(model, panel), .model = model.path, .device = "cpu"};
        const auto file = [&](const std::string& name) {
            return error_of(
                [&] { render(view, Precision::F32, folder.file(name), 1.0, {}, {}, [](const std::string&) {}); });
        };
        const auto why = refused.find(panel);
        if (why != refused.end()) {
            CHECK_THAT(file("panel.svg"), Contains(why->second));
        } else {
            CHECK(file("panel.json").empty());
            if (trained || model.name == "translation") {  // the window's test draws the others
                CHECK(file("panel.svg").empty());
            }
        }
    }
}

}  // namespace

TEST_CASE("Every panel of every family has a file, or its file says why not", "[families]") {
    for (const ShownModel& model : shown_models()) {
        check_panels(model);
    }
}

TEST_CASE("The training panel needs no attention", "[families]") {
    const TemporaryFolder folder;
    check_panels({"lstm", write_training(folder, "lstm", "lstm", true), "12 7", true}, true);
    check_panels({"gru", write_training(folder, "gru", "gru", false), "12 7", false}, true);
}

TEST_CASE("In the window every panel of every family has a drawing for every choice", "[families]") {
    for (const ShownModel& model : shown_models()) {
        Session session(on_cpu(model.path, state_of(model)), [] {});
        settle(session);
        PanelPictures pictures;
        for (int panel = 0; panel < kPanels; ++panel) {
            for (const auto kind : {AttentionKind::EncoderSelf, AttentionKind::DecoderSelf, AttentionKind::Cross}) {
                for (const auto matrix : {MatrixView::Head, MatrixView::LayerMean, MatrixView::Rollout}) {
                    INFO(model.name << ", " << name_of(static_cast<PanelId>(panel)) << ", " << name_of(kind));
                    session.state().kind = kind;
                    session.state().matrix = matrix;
                    session.state().word = 1;
                    session.state().key = 0;
                    session.state().panel = static_cast<PanelId>(panel);
                    CHECK_NOTHROW(pictures.of(session.scene(), session.state().panel, {}));
                }
            }
        }
        session.measure_importance();
        settle(session);
        INFO(model.name);
        CHECK((shown_importance(session.scene()) != nullptr) == (model.attends && model.name != "mask-predict"));
        CHECK(errors_of(session).empty());
    }
}

TEST_CASE("A model without attention shows no stacks, heads and panels of attention", "[families]") {
    for (const ShownModel& model : shown_models()) {
        INFO(model.name);
        Session session(on_cpu(model.path, state_of(model)), [] {});
        settle(session);
        CHECK(attentions_of(session.scene()).empty() == !model.attends);
        CHECK((heads_of(session.scene()) == 0) == !model.attends);
        CHECK((session.state().panel == PanelId::Time) == !model.attends);
        const bool in_turns = model.name == "mask-predict";  // which has attention, but no single pass
        CHECK((session.state().panel == PanelId::Model) == in_turns);
        CHECK(offered(session.scene(), PanelId::Surgery) == (model.attends && !in_turns));
        CHECK(offered(session.scene(), PanelId::Lens) == (!in_turns && model.name != "classifier"));
        CHECK(offered(session.scene(), PanelId::Model));
        CHECK_THAT(why_not_offered(session.scene(), PanelId::Heads), Contains(in_turns        ? "in turns"
                                                                              : model.attends ? ""
                                                                                              : "no attention"));
        if (model.name == "lstm-cross") {
            CHECK(attentions_of(session.scene()) == std::vector{AttentionKind::Cross});
            CHECK(shown_site(session.scene()) == AttentionSite{AttentionKind::Cross, 1});
        }
    }
}

TEST_CASE("A model that is opened shows no panel that means nothing for it", "[families]") {
    const TemporaryFolder folder;
    const auto write = [&](const std::string& name, const std::function<void(ModelConfig&)>& change) {
        return write_language_model(folder, name, Architecture::EncoderDecoder, 3, change);
    };
    const std::string usual = write("usual", {});
    const std::string turns = write("turns", [](ModelConfig& config) { config.generation = Generation::MaskPredict; });
    const std::string lstm = write("lstm", [](ModelConfig& config) {
        config.mixer.encoder = config.mixer.decoder = MixerKind::Lstm;
        config.attention.cross = false;
    });
    Session session(on_cpu(usual, sentence("the small dog", PanelId::Matrix)), [] {});
    session.state().heads_page = 1;
    settle(session);
    CHECK(session.state().panel == PanelId::Matrix);
    session.open(turns, "cpu");
    settle(session);
    CHECK(session.state().panel == PanelId::Model);
    CHECK(session.state().heads_page == 0);
    session.state().panel = PanelId::Heads;
    session.open(lstm, "cpu");
    settle(session);
    CHECK(session.state().panel == PanelId::Time);
    session.state().panel = PanelId::Tree;
    session.open(usual, "cpu");
    settle(session);
    CHECK(session.state().panel == PanelId::Figure);
}

TEST_CASE("What a new choice has no result for yet is not drawn from the last one's", "[families]") {
    const TemporaryFolder folder;
    Session session(on_cpu(write_model(folder, "tiny", 3), sentence(kSentence, PanelId::Model)), [] {});
    session.state().block = "decoder.layers.1.feed_forward.";
    settle(session);
    REQUIRE(shown_weights(session.scene()) != nullptr);
    session.state().block = "encoder.layers.0.self_attention.norm.";
    CHECK(shown_weights(session.scene()) == nullptr);
    CHECK_THAT(texts_of(draw_panel(session.scene(), PanelId::Model, {})), !Contains("Weights of"));
    settle(session);
    REQUIRE(shown_weights(session.scene()) != nullptr);

    session.measure_importance();
    settle(session);
    REQUIRE(shown_importance(session.scene()) != nullptr);
    session.state().edits = {first_head_off()};
    CHECK(shown_importance(session.scene()) == nullptr);

    session.state().panel = PanelId::Matrix;
    session.state().word = 1;
    settle(session);
    REQUIRE(shown_neuron(session.scene()) != nullptr);
    session.state().heads = {2};
    CHECK(shown_neuron(session.scene()) == nullptr);
}
