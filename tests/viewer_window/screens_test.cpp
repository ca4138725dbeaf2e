// The real window: scripts drive it with mouse and keys, check values and compare screenshots with goldens.
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "display.h"
#include "pictures.h"
#include "registry/registry.h"
#include "support/check.h"
#include "tests/house/open_options.h"
#include "tests/train/digits_run.h"
#include "tests/train/experiment_folder.h"
#include "tests/viewer/language_model.h"
#include "tests/viewer/multilingual_model.h"
#include "tests/viewer/parser_model.h"
#include "viewer/session/wording.h"
#include "viewer/ui/program.h"
#include "viewer/ui/script.h"

namespace fs = std::filesystem;
using namespace headscope;

namespace {

const fs::path kHere = fs::path(HEADSCOPE_SOURCE_DIR) / "tests" / "viewer_window";

// A temporary working directory for a script's files.
class Folder {
public:
    explicit Folder(const std::string& name)
        : before_(fs::current_path()),
          path_(fs::temp_directory_path() / fmt::format("headscope-{}-{}", name, getpid())) {
        fs::create_directories(path_);
        fs::current_path(path_);
    }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    ~Folder() {
        fs::current_path(before_);
        std::error_code failed;
        fs::remove_all(path_, failed);
    }
    const fs::path& path() const { return path_; }

private:
    fs::path before_, path_;
};

viewer::ProgramOptions played(const std::string& name, const std::string& model = "", const std::string& text = "",
                              const std::string& target = "") {
    viewer::ProgramOptions options;
    options.open_options = environment_options();
    options.script = (kHere / "scripts" / (name + ".script")).string();
    options.session.model = model.empty() ? std::string(HEADSCOPE_SOURCE_DIR) + "/assets/models/en-de" : model;
    options.session.device = "cpu";
    options.session.search_path = {HEADSCOPE_SOURCE_DIR "/assets"};
    options.session.view.state.text =
        text.empty() ? viewer::wording(Architecture::EncoderDecoder).examples.front() : text;
    if (!target.empty()) {
        options.session.view.state.target = target;
    }
    if (name == "first") {
        options.session.view.state.chosen.emplace();  // as headscope view does
    }
    return options;
}

void play(const std::string& name, const std::string& model = "", const std::string& text = "",
          const std::string& target = "") {
    viewer::run_program(played(name, model, text, target));
}

// Compares every screenshot of the script with its golden.
void compare_pictures(const fs::path& folder) {
    const bool update = std::getenv("HEADSCOPE_UPDATE_GOLDENS") != nullptr;
    for (const auto& entry : fs::directory_iterator(folder)) {
        const fs::path& file = entry.path();
        if (file.extension() != ".png" || file.filename().string().starts_with("export")) {
            continue;
        }
        const fs::path golden = kHere / "goldens" / file.filename();
        INFO("picture " << file.filename() << "; HEADSCOPE_UPDATE_GOLDENS=1 keeps it as " << golden);
        const std::string difference =
            fs::exists(golden) ? test::difference_of(test::read_png(file.string()), test::read_png(golden.string()))
                               : "there is no golden to compare with";
        if (!difference.empty() && update) {
            fs::copy_file(file, golden, fs::copy_options::overwrite_existing);
        } else if (!difference.empty()) {
            const fs::path kept = fs::temp_directory_path() / ("headscope-differs-" + file.filename().string());
            fs::copy_file(file, kept, fs::copy_options::overwrite_existing);
            FAIL_CHECK(difference << "; see " << kept);
        }
    }
}

void check_script(const std::string& name, const std::string& model = "", const std::string& text = "",
                  const std::string& target = "") {
    if (!test::display()) {
        return;
    }
    const Folder folder(name);
    REQUIRE_NOTHROW(play(name, model, text, target));
    compare_pictures(folder.path());
}

bool is_usable(const std::string& id) {
    const std::vector<DeviceInfo> devices = list_devices(environment_options());
    return std::any_of(devices.begin(), devices.end(),
                       [&](const DeviceInfo& device) { return device.id == id && device.rejected.empty(); });
}

}  // namespace

TEST_CASE("Every golden belongs to a script's screenshot, and vice versa", "[pictures]") {
    std::set<std::string> taken;
    for (const auto& script : fs::directory_iterator(kHere / "scripts")) {
        std::ifstream stream(script.path());
        const std::string text((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
        for (const viewer::ScriptLine& line : viewer::parse_script(text, script.path().filename().string())) {
            if (line.verb == "shot" && !line.rest.starts_with("export")) {
                CHECK(taken.insert(line.rest).second);
            }
        }
    }
    std::set<std::string> kept;
    for (const auto& picture : fs::directory_iterator(kHere / "goldens")) {
        kept.insert(picture.path().filename().string());
    }
    CHECK(taken == kept);
}

TEST_CASE("The first picture is an answer, and Find ranks the others", "[window]") {
    check_script("first");
}

TEST_CASE("A first start shows a figure, and words respond to the pointer", "[window]") {
    check_script("figure");
}
TEST_CASE("What is below a tooltip is kept until it changes", "[window]") {
    if (!test::display()) {
        return;
    }
    const Folder folder("tooltip");
    REQUIRE_NOTHROW(play("tooltip"));
    const auto differ = [](const char* one, const char* other) {
        return !test::difference_of(test::read_png(one), test::read_png(other)).empty();
    };
    CHECK_FALSE(differ("export-tip.png", "export-tip-anew.png"));
    CHECK(differ("export-tip.png", "export-changed.png"));
    CHECK_FALSE(differ("export-changed.png", "export-changed-anew.png"));
}
TEST_CASE("Typed text is translated, whatever it is", "[window]") {
    check_script("typing");
}
TEST_CASE("All heads: sorted, as figures, and opened by a click", "[window]") {
    check_script("heads");
}
TEST_CASE("The matrix, its scales and means, and equation 1 for a pair", "[window]") {
    check_script("matrix");
}
TEST_CASE("The decoding step by step, its candidates and its beam", "[window]") {
    check_script("time");
}
TEST_CASE("Heads are switched off, made uniform, pinned, and measured", "[window]") {
    check_script("surgery");
}
TEST_CASE("The model's map", "[window]") {
    check_script("model");
}
TEST_CASE("Two devices side by side", "[window]") {
    if (!is_usable("vulkan:0")) {  // other tests fail if it is required
        WARN("SKIPPED: there is no vulkan:0");
        return;
    }
    check_script("compare");
}
TEST_CASE("Help, palette, settings, files", "[window]") {
    check_script("overlays");
}
TEST_CASE("Menus, the dialog to open something, and the side bars", "[window]") {
    check_script("desktop");
}
TEST_CASE("Saliency, patching and two texts side by side", "[window]") {
    check_script("inside");
}
TEST_CASE("A small window, large text, the dark theme", "[window]") {
    check_script("looks");
}

TEST_CASE("A prompt with its continuation, candidates and an edit", "[window]") {
    const TemporaryFolder folder;
    check_script("causal", viewer::write_language_model(folder, "causal", Architecture::CausalLm), "the small dog");
}
TEST_CASE("A language is chosen beside the beam", "[window]") {
    const TemporaryFolder folder;
    check_script("languages", viewer::write_multilingual_model(folder), "the small dog");
}
TEST_CASE("A word is masked by a click, and filled in", "[window]") {
    const TemporaryFolder folder;
    check_script("masked", viewer::write_language_model(folder, "masked", Architecture::MaskedLm),
                 "the small dog sleeps on the mat.");
}
TEST_CASE("What may stand in a gap is listed, and put in by a click", "[window]") {
    const TemporaryFolder folder;
    const std::string model = viewer::write_language_model(folder, "span", Architecture::EncoderDecoder, 3, {},
                                                           {"<extra_id_0>", "<extra_id_1>"});
    check_script("gaps", model, "the [MASK] sees the [MASK] on the mat.", "<extra_id_0> small dog<extra_id_1> cat");
}

TEST_CASE("A picture, what heads look at on it, and its class", "[window]") {
    if (!test::display()) {
        return;
    }
    const Folder folder("pictures");
    fs::create_directory("seen");
    for (const char* name : {"picture.png", "grey.png"}) {
        fs::copy_file(fs::path(viewer::picture_classifier()) / name, fs::path("seen") / name);
    }
    REQUIRE_NOTHROW(play("pictures", viewer::picture_classifier(), "seen/picture.png"));
    compare_pictures(folder.path());
}

TEST_CASE("A conversation, and its heads", "[window]") {
    const TemporaryFolder folder;
    check_script("chat", viewer::write_chat_model(folder, "talker", 300), "the small dog");
}

TEST_CASE("A training's checkpoints are stepped through", "[window]") {
    if (!test::display()) {
        return;
    }
    const TemporaryFolder training;
    DigitsRun run(training, write_digits(training), "out");
    run.start().train();
    const Folder folder("training");
    REQUIRE_NOTHROW(play("training", training.file("out"), "12 7"));
}

TEST_CASE("A parser's tree beside its heads", "[window]") {
    const TemporaryFolder folder;
    check_script("tree", viewer::write_parser(folder), viewer::kParsed, viewer::kSymbols);
}

TEST_CASE("The table of an experiment opens its trainings", "[window]") {
    const TemporaryFolder folder;
    write_experiment(folder, viewer::write_model);
    check_script("experiment", folder.file("table3"), "the small dog");
}

TEST_CASE("A window that is closed while the model is busy exits at once", "[window]") {
    check_script("closing");
}

TEST_CASE("A failed expectation of a script has its line number", "[window]") {
    if (!test::display()) {
        return;
    }
    const Folder folder("wrong");
    CHECK_THROWS_WITH(play("wrong"), Catch::Matchers::Contains("wrong.script, line 3") &&
                                         Catch::Matchers::Contains("got \"Input-Input Layer5\""));
}

TEST_CASE("No control is cut in a small window or a large one", "[window]") {
    check_script("sizes");
}

TEST_CASE("A new size of the window is kept while it is open", "[window]") {
    if (!test::display()) {
        return;
    }
    const Folder folder("kept-size");
    viewer::ProgramOptions options = played("kept-size");
    options.session.settings_file = (folder.path() / "viewer.json").string();
    std::vector<int> widths;  // in the file, at each line that the script prints
    options.print = [&](const std::string&) {
        std::string problem;
        widths.push_back(viewer::load_settings(options.session.settings_file, problem).width);
    };
    viewer::run_program(options);
    CHECK(widths == std::vector{1360, 900});
}

TEST_CASE("A missing model is reported in the window", "[window]") {
    if (!test::display()) {
        return;
    }
    const Folder folder("missing");
    REQUIRE_NOTHROW(play("missing", "/nowhere/model"));
}
