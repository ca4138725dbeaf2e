// Sessions with a model that needs a language.
#include "tests/viewer/multilingual_model.h"
#include "tests/viewer/stage.h"

using namespace headscope;
using namespace headscope::viewer;
using Catch::Matchers::Contains;

TEST_CASE("The chosen language is that of the translation", "[session]") {
    const TemporaryFolder folder;
    Session session(on_cpu(write_multilingual_model(folder), sentence()), [] {});
    settle(session);
    REQUIRE(session.scene().main.shown != nullptr);
    CHECK_THAT(session.scene().main.shown->problem, Contains("--target-language: deu, fra"));
    for (const auto& [name, token] : {std::pair("deu", 21), std::pair("fra", 22)}) {
        session.state().target_language = name;
        settle(session);
        REQUIRE(session.scene().main.shown != nullptr);
        CHECK(session.scene().main.shown->problem.empty());
        CHECK(session.scene().main.shown->steps.at(0).token == token);
    }
}
