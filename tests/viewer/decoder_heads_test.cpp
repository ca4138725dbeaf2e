// What today's decoders have more of: heads, heads that share keys, and weight on the first token.
#include "tests/viewer/stage.h"

#include <map>
#include <utility>

#include "tests/figures/layout_checks.h"
#include "tests/viewer/language_model.h"
#include "viewer/panels/panel_drawing.h"

using namespace headscope;
using namespace headscope::viewer;
using Catch::Matchers::Contains;

TEST_CASE("Many heads fill pages of whole layers, and those that share keys stand together", "[panels]") {
    const TemporaryFolder folder;
    const std::string model = write_language_model(folder, "many", Architecture::CausalLm, 3, [](ModelConfig& config) {
        config.decoder_layers = 9;
        config.attention.heads = 64;
        config.attention.kv_heads = 16;
        config.attention.d_k = config.attention.d_v = 2;
    });
    Session session(on_cpu(model, sentence("the small dog", PanelId::Heads)), [] {});
    settle(session);
    using Tiles = std::map<std::pair<int, int>, double>;  // the left edges, by layer and head
    const auto drawn = [&](const std::string& said) {
        const Drawing drawing = draw_panel(session.scene(), PanelId::Heads, {});
        test::check_layout(drawing);
        CHECK_THAT(texts_of(drawing), Contains(said));
        Tiles tiles;
        for (const Primitive& primitive : drawing.primitives) {
            if (const auto* frame = std::get_if<Rect>(&primitive.shape); primitive.mark.role == Role::Frame) {
                tiles[{primitive.mark.layer, primitive.mark.head}] = frame->x;
            }
        }
        return tiles;
    };
    const Tiles first = drawn("Layers 1 to 8 of 9. The 4 heads of a group share");
    CHECK(first.size() == 512);
    CHECK(first.rbegin()->first == std::pair(8, 64));
    const double within = first.at({1, 4}) - first.at({1, 3});
    CHECK(first.at({1, 5}) - first.at({1, 4}) > 1.2 * within);
    CHECK(first.at({1, 6}) - first.at({1, 5}) == Approx(within));
    session.state().heads_page = 1;
    CHECK(drawn("Layer 9 of 9").size() == 64);
    session.state().order = HeadOrder::Entropy;
    CHECK(drawn("Heads 513 to 576 of 576").size() == 64);
}

TEST_CASE("Without the first token the other weights are renormalised, and the figure says so", "[panels]") {
    const TemporaryFolder folder;
    Session session(on_cpu(write_language_model(folder, "causal", Architecture::CausalLm), sentence("the small dog")),
                    [] {});
    session.state().show_special = false;
    settle(session);
    const auto shown = [&] { return panel_contents(session.scene(), PanelId::Figure).at(0); };
    const SelectedAttention all = shown();
    session.state().show_special = true;
    session.state().show_first = false;
    for (const bool joined : {true, false}) {
        session.state().join_words = joined;
        const SelectedAttention rest = shown();
        CHECK_THAT(rest.note, Contains("The first token left out: the other weights renormalised"));
        for (std::size_t query = 1; query < rest.queries.size(); ++query) {
            double sum = 0.0;
            for (std::size_t key = 0; key < rest.keys.size(); ++key) {
                sum += static_cast<double>(rest.weight(1, query, key));
            }
            CHECK(sum == Approx(1.0).margin(1e-5));
        }
        session.state().show_first = true;
        CHECK(shown().keys.size() == rest.keys.size() + 1);
        session.state().show_first = false;
    }
    session.state().text = "a";
    session.state().max_tokens = 1;
    session.state().show_special = false;
    settle(session);
    CHECK_FALSE(shown().keys.empty());
    CHECK_NOTHROW(draw_panel(session.scene(), PanelId::Figure, {}));
    CHECK(all.note.find("first token") == std::string::npos);
}
