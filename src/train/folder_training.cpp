#include "train/folder_training.h"

#include <filesystem>
#include <utility>

namespace headscope {

TrainedFolder train_in_folder(RunFolder& folder, Backend& backend, FolderTraining training, const RunHooks& hooks) {
    const RunConfig& given = training.given;
    Learner learner = make_learner(backend, training.config, training.data, hooks);
    Run run(learner, training.config, std::move(training.data), folder.path(), hooks);
    if (!training.from.empty()) {
        run.begin_from(training.from);
    }
    if (training.resumed) {
        given.naming_options([&] { run.resume(training.purpose); });
    }
    folder.keep();
    TrainedFolder trained;
    if (training.purpose == Purpose::Train) {
        given.save(folder.path());
        trained.end = run.train();
    }
    trained.step = run.step();
    trained.minutes = run.minutes();
    trained.ended_by = given.with_options(run.ended_by());
    if (trained.end == RunEnd::Finished) {
        run.write_model((std::filesystem::path(folder.path()) / "model").string());
    }
    return trained;
}

}  // namespace headscope
