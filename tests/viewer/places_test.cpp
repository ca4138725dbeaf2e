// What the window offers to open.
#include "viewer/session/places.h"

#include <filesystem>

#include "tests/viewer/stage.h"

using namespace headscope;
using namespace headscope::viewer;
using Catch::Matchers::Contains;

namespace {

std::string listed(const std::vector<FilePlace>& places) {
    std::string names;
    for (const FilePlace& place : places) {
        names += place.name + (place.kind == FilePlaceKind::Model ? "*" : "") + " ";
    }
    return names;
}

const std::vector<std::filesystem::path> kAssets{HEADSCOPE_SOURCE_DIR "/assets"};

}  // namespace

TEST_CASE("A folder offers its folders, models and views", "[places]") {
    const TemporaryFolder folder;
    for (const char* name : {"b", "a", ".hidden"}) {
        std::filesystem::create_directories(folder.file(name));
    }
    folder.write("a/config.json", "{}");
    folder.write("my.headscope", "{}");
    folder.write("notes.txt", "");
    folder.write("tiny.gguf", "GGUF");
    folder.write("fair.pt", "");
    CHECK(listed(places_in(folder.file(""))) == ".. a* b fair.pt* my.headscope tiny.gguf* ");
    CHECK(listed(places_in(folder.file("nowhere"))) == ".. ");
    CHECK_THAT(listed(places_in("/")), !Contains(".. "));
}

TEST_CASE("The models that come along are offered, and the recent ones that exist", "[places]") {
    CHECK(listed(bundled_places(kAssets)) == "en-causal* en-de* en-masked* en-trees* ");
    CHECK(bundled_places({}).empty());
    const TemporaryFolder folder;
    folder.write("my.headscope", "{}");
    const ViewerSettings settings{.recent_models = {folder.file("my.headscope"), folder.file("gone")}};
    REQUIRE(recent_places(settings).size() == 1);
    CHECK(recent_places(settings).front().kind == FilePlaceKind::View);
}

TEST_CASE("A view may have any name, a model has its own", "[places][view]") {
    const TemporaryFolder folder;
    Session session(on_cpu(write_model(folder, "tiny", 3), sentence("a cat")), [] {});
    settle(session);
    session.save_view(folder.file("my.headscope"));
    std::filesystem::rename(folder.file("my.headscope"), folder.file("mine.json"));
    session.state().text = "a dog";
    session.open(folder.file("mine.json"), "");
    settle(session);
    CHECK(session.state().text == "a cat");
    CHECK(errors_of(session).empty());
    CHECK_FALSE(is_view(folder.write("tiny.gguf", "GGUF")));
    CHECK_FALSE(is_view(folder.file("tiny")));
    CHECK_FALSE(is_view(folder.file("nowhere")));
}

TEST_CASE("What could not be opened is remembered until something else is asked for", "[places][session]") {
    const TemporaryFolder folder;
    Session session(on_cpu(write_model(folder, "tiny", 3), sentence("a cat")), [] {});
    settle(session);
    CHECK_FALSE(session.refused().has_value());
    session.open("tniy", "cpu");  // no file, and no model that comes along
    REQUIRE(session.refused().has_value());
    CHECK(session.refused()->path == "tniy");
    std::filesystem::create_directories(folder.file("empty"));
    session.open(folder.file("empty"), "cpu");
    CHECK_FALSE(session.refused().has_value());
    CHECK(errors_of(session).empty());  // that of the first attempt went with it
    settle(session);
    REQUIRE(session.refused().has_value());
    CHECK(session.refused()->path == folder.file("empty"));
    CHECK(session.refused()->why + "\n" == errors_of(session));
    session.open(folder.write("bad.headscope", "{}"), "");
    REQUIRE(session.refused().has_value());
    CHECK(session.refused()->path == folder.file("bad.headscope"));
    session.open(folder.file("tiny"), "cpu");
    settle(session);
    CHECK_FALSE(session.refused().has_value());
    CHECK(errors_of(session).empty());
}

TEST_CASE("A session opens models by name, and views", "[places][session]") {
    const TemporaryFolder folder;
    SessionOptions options = on_cpu(write_model(folder, "tiny", 3), sentence("a cat"));
    options.search_path = kAssets;
    Session session(options, [] {});
    settle(session);
    session.open("en-cusal", "cpu");
    CHECK_THAT(errors_of(session), Contains("did you mean 'en-causal'"));
    CHECK(session.scene().main.model->name == "tiny");
    session.open("en-causal", "cpu");
    settle(session);
    CHECK(session.scene().main.model->name == "en-causal");
    session.save_view(folder.file("my.headscope"));
    CHECK(read_view(folder.file("my.headscope")).model == "en-causal");
    session.open(folder.file("tiny"), "cpu");
    settle(session);
    session.open(folder.file("my.headscope"), "");
    settle(session);
    CHECK(session.scene().main.model->name == "en-causal");
    CHECK(session.settings().recent_models.size() >= 3);
}

TEST_CASE("A view and the model beside it may move together", "[places][view]") {
    const TemporaryFolder folder;
    std::filesystem::create_directories(folder.file("here"));
    Session session(on_cpu(write_model(folder, "here/tiny", 3), sentence("a cat")), [] {});
    settle(session);
    session.save_view(folder.file("here/my.headscope"));
    CHECK(read_view(folder.file("here/my.headscope")).model == "tiny");
    std::filesystem::rename(folder.file("here"), folder.file("there"));
    session.open(folder.file("there/my.headscope"), "cpu");
    settle(session);
    CHECK(session.model_path() == folder.file("there/tiny"));
    CHECK(errors_of(session).empty());
}
