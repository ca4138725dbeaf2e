// A saved view finds its model on another machine.
#include "viewer/session/view_model.h"

#include <filesystem>

#include "tests/viewer/stage.h"

using namespace headscope;
using namespace headscope::viewer;
using Catch::Matchers::Contains;

namespace {

std::string notices_of(const Session& session) {
    std::string all;
    for (const Notice& notice : session.notices()) {
        all += notice.text + "\n";
    }
    return all;
}

// A view of `path` in the folder, saved with this name and number of parameters.
std::string write_view(const TemporaryFolder& folder, const std::string& name, const std::string& path,
                       std::int64_t parameters) {
    const SavedView view{.state = sentence("a cat"), .model = path, .model_name = name, .parameters = parameters};
    folder.write("my.headscope", to_json(view));
    return folder.file("my.headscope");
}

const std::vector<std::filesystem::path> kPlaces{HEADSCOPE_SOURCE_DIR "/assets"};

SessionOptions of_view(const std::string& file) {
    const SavedView view = read_view(file);
    return {.model = view.model, .device = "cpu", .view = view};
}

}  // namespace

TEST_CASE("A model is looked for by its name beside the view, then among the recent and the bundled ones", "[view]") {
    const TemporaryFolder folder;
    const std::string view = folder.file("my.headscope");
    CHECK(place_of_model("/nowhere/tiny", "tiny", view, {}, kPlaces).empty());
    CHECK(place_of_model("/nowhere/en-de", "en-de", view, {}, kPlaces).ends_with("models/en-de"));
    std::filesystem::create_directories(folder.file("elsewhere/tiny"));
    const std::vector<std::string> recent{folder.file("other"), folder.file("elsewhere/tiny")};
    CHECK(place_of_model("/nowhere/tiny", "tiny", view, recent, kPlaces) == folder.file("elsewhere/tiny"));
    CHECK(place_of_model("/nowhere/tiny", "", view, recent, kPlaces).empty());
    std::filesystem::create_directories(folder.file("tiny"));
    CHECK(place_of_model("/nowhere/tiny", "tiny", view, recent, kPlaces) == folder.file("tiny"));
    CHECK(place_of_model(folder.file("elsewhere/tiny"), "tiny", view, {}, kPlaces) == folder.file("elsewhere/tiny"));
}

TEST_CASE("A view whose model is elsewhere opens, and says so", "[view][session]") {
    const TemporaryFolder folder;
    write_model(folder, "tiny", 3);
    const std::string file = write_view(folder, "tiny", "/nowhere/tiny", 5);
    Session session(of_view(file), [] {});
    settle(session);
    CHECK(session.model_path() == folder.file("tiny"));
    CHECK(session.scene().main.shown->source == "a cat");
    CHECK_THAT(notices_of(session), Contains("/nowhere/tiny is not on this machine: opened " + folder.file("tiny")));
    CHECK_THAT(notices_of(session), Contains("saved with another model"));  // it had 5 parameters

    Session window(on_cpu(folder.file("tiny"), sentence()), [] {});
    settle(window);
    window.open_view(file);
    settle(window);
    CHECK(window.scene().main.shown->source == "a cat");
    CHECK_THAT(notices_of(window), Contains("is not on this machine"));
}

TEST_CASE("A view whose model is nowhere says where it was looked for", "[view][session]") {
    const TemporaryFolder folder;
    const std::string file = write_view(folder, "tiny", "/nowhere/tiny", 5);
    Session session(of_view(file), [] {});
    settle(session);
    CHECK_THAT(session.scene().main.problem,
               Contains("/nowhere/tiny") && Contains("There is no \"tiny\" beside the view"));
}

TEST_CASE("A model of a view that is there but fails to open is not said to be missing", "[view][session]") {
    const TemporaryFolder folder;
    std::filesystem::create_directories(folder.file("tiny"));
    const std::string file = write_view(folder, "tiny", folder.file("tiny"), 5);
    Session session(of_view(file), [] {});
    settle(session);
    CHECK_FALSE(session.scene().main.problem.empty());
    CHECK_THAT(session.scene().main.problem, !Contains("beside the view"));
}

TEST_CASE("What is opened while a view's model is awaited is not the view's", "[view][session]") {
    const TemporaryFolder folder;
    Session session(of_view(write_view(folder, "", "/nowhere/tiny", 5)), [] {});
    session.open(folder.file("another"), "cpu");
    settle(session);
    CHECK_THAT(session.scene().main.problem, Contains("another") && !Contains("beside the view"));
}

TEST_CASE("A view that names no model looks for its folder's name", "[view][session]") {
    const TemporaryFolder folder;
    Session session(of_view(write_view(folder, "", "/nowhere/tiny", 5)), [] {});
    settle(session);
    CHECK_THAT(session.scene().main.problem, Contains("There is no \"tiny\" beside the view"));
}
