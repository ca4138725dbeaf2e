// Whatever is clicked, typed and opened, the window never ends by itself.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "display.h"
#include "io/atomic_file.h"
#include "random_script.h"
#include "registry/registry.h"
#include "tests/house/open_options.h"
#include "tests/viewer/families.h"
#include "viewer/ui/program.h"

namespace fs = std::filesystem;
using namespace headscope;
using namespace headscope::viewer;

namespace {

constexpr int kScripts = 3;  // of the ordinary tests; ./do check window plays 400
constexpr int kEvents = 40;

int number_in_environment(const char* name, int otherwise) {
    const char* text = std::getenv(name);
    return text == nullptr ? otherwise : std::atoi(text);
}

// The models, trainings and views that scripts open, and files that cannot be opened.
struct Things {
    TemporaryFolder folder;
    std::vector<ShownModel> models = write_families(folder);
    std::vector<std::string> files;

    Things() {
        models.push_back({"training", write_training(folder, "training", "self_attention", true), "12 7"});
        models.push_back({"training-lstm", write_training(folder, "training-lstm", "lstm", true), "12 7"});
        models.push_back({"training-gru", write_training(folder, "training-gru", "gru", false), "12 7", false});
        for (const ShownModel& model : models) {
            files.push_back(model.path);
        }
        folder.write("broken.headscope", "{");
        folder.write("text.txt", "text");
        for (const std::size_t of : {0, 1, 3, 7}) {
            const std::string name = fmt::format("{}.headscope", models[of].name);
            SavedView view{.state = {.text = models[of].text}, .model = models[of].path, .model_name = models[of].name};
            view.state.edits = {{.site = {AttentionKind::Cross, 1}, .head = 9}, {.site = {}, .kind = EditKind::Pin}};
            view.state.kind = AttentionKind::Cross;
            view.state.block = "encoder.layers.7.";
            view.state.panel = of % 2 == 0 ? PanelId::Surgery : PanelId::Model;
            view.other_model = models[of + 1].path;
            folder.write(name, to_json(view));
            files.push_back(folder.file(name));
        }
        files.insert(files.end(), {folder.file("broken.headscope"), folder.file("text.txt"), "/nowhere"});
    }
};

// The scripts save files in the working directory.
class WorkingFolder {
public:
    WorkingFolder() { fs::current_path(folder_.file("")); }
    WorkingFolder(const WorkingFolder&) = delete;
    WorkingFolder& operator=(const WorkingFolder&) = delete;
    ~WorkingFolder() {
        std::error_code ignored;
        fs::current_path(before_, ignored);
    }

private:
    TemporaryFolder folder_;
    fs::path before_ = fs::current_path();
};

}  // namespace

TEST_CASE("Random input never ends the window", "[window][random]") {
    if (!test::display()) {
        return;
    }
    const Things things;
    const WorkingFolder working;
    const int first = number_in_environment("HEADSCOPE_WINDOW_FIRST", 0);
    const int scripts = number_in_environment("HEADSCOPE_WINDOW_SCRIPTS", kScripts);
    for (int seed = first; seed < first + scripts; ++seed) {
        const ShownModel& model = things.models[static_cast<std::size_t>(seed) % things.models.size()];
        ProgramOptions options;
        options.open_options = environment_options();
        // Only one that fails stays, even if it ends the process: `headscope view MODEL --script FILE` plays it again.
        const std::string name = fmt::format("headscope-random-{}-{}.script", seed, getpid());
        options.script = (fs::temp_directory_path() / name).string();
        options.session.model = model.path;
        options.session.device = "cpu";
        options.session.view.state.text = model.text;
        options.session.view.state.panel = static_cast<PanelId>(seed % kPanels);
        atomic_write_file(options.script, test::random_script(static_cast<std::uint64_t>(seed), kEvents, things.files));
        INFO(options.script << " with " << model.name);
        const std::string problem = error_of([&] { run_program(options); });
        CHECK(problem == "");
        if (problem.empty()) {
            fs::remove(options.script);
        }
        if (scripts > kScripts) {
            fmt::print("script {} of {} ended\n", seed - first + 1, scripts);
            std::fflush(stdout);
        }
    }
}
