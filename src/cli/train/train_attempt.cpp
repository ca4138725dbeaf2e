#include "cli/train/train_attempt.h"

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "cli/command.h"
#include "cli/train/train_setup.h"
#include "support/check.h"
#include "train/dry_run.h"
#include "train/first_model.h"
#include "train/overfit.h"
#include "train/run_folder.h"

namespace headscope {
namespace {

namespace fs = std::filesystem;

// A temporary folder, removed at the end.
class ScratchFolder {
public:
    ScratchFolder() {
        std::string pattern = (fs::temp_directory_path() / "headscope-XXXXXX").string();
        if (::mkdtemp(pattern.data()) == nullptr) {
            throw Error(
                fmt::format("cannot make a temporary folder {}: {}", pattern, std::generic_category().message(errno)));
        }
        path_ = pattern;
    }
    ~ScratchFolder() {
        std::error_code ignored;
        fs::remove_all(path_, ignored);
    }
    ScratchFolder(const ScratchFolder&) = delete;
    ScratchFolder& operator=(const ScratchFolder&) = delete;
    const std::string& path() const { return path_; }

private:
    std::string path_;
};

// A training that could start now.
struct Attempt {
    Attempt(const TrainOptions& options, const Say& say) : setup(options, say) {
        setup.open();
        if (!setup.has_config()) {
            setup.choose_config(folder.path());
        }
        setup.inputs().files.refuse("-");
        if (!options.from.empty()) {
            try_first_model(setup.backend(), setup.config(), options.from);
        }
        setup.prepare_data((fs::path(folder.path()) / "tokenizer").string(), false);
    }

    ScratchFolder folder;
    TrainSetup setup;
};

}  // namespace

void dry_run(const TrainOptions& options, Terminal& terminal) {
    Attempt attempt(options, terminal.say());
    TrainSetup& setup = attempt.setup;
    write_output(describe_training(setup.backend(), setup.config(), setup.data(), options.output));
}

void overfit_one_batch(const TrainOptions& options, Terminal& terminal) {
    constexpr std::int64_t kSteps = 300;
    constexpr double kEnough = 0.1;  // nll per token
    require_unused(options.output);
    Attempt attempt(options, terminal.say());
    TrainSetup& setup = attempt.setup;
    const double nll = overfit_one_batch(setup.backend(), setup.config(), setup.data(), options.from,
                                         options.given.steps.value_or(kSteps), hooks_for(setup.backend(), terminal));
    if (!(nll < kEnough)) {
        throw Error(fmt::format(
            "cannot overfit one batch: nll {:.4f} per token, expected less than {}: something in the set-up is "
            "wrong, or --steps is too low",
            nll, kEnough));
    }
    terminal.say()("one batch was overfitted: the set-up can learn");
}

}  // namespace headscope
