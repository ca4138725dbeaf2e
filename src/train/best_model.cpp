#include "train/best_model.h"

#include <filesystem>

#include <fmt/format.h>

#include "support/check.h"
#include "train/checkpoint.h"

namespace headscope {

void BestModel::remove() const {
    std::filesystem::remove(file_);
}

void BestModel::write(const TrainingState::Best& best) const {
    const Tensor weights = best.mean ? learner_.mean()->values() : learner_.parameters().flat_values();
    write_checkpoint(learner_.backend(), file_, {weights}, to_json(best));
}

void BestModel::write_loaded(const TrainingState::Best& best) const {
    write_checkpoint(learner_.backend(), file_, {learner_.parameters().flat_values()}, to_json(best));
}

bool BestModel::read() const {
    try {
        Checkpoint::open(file_).read(learner_.backend(), {learner_.parameters().flat_values()});
        learner_.parameters().refresh_working();
        return true;
    } catch (const Error& error) {
        say_(fmt::format("warning: passing over the best single model: {}", error.what()));
        return false;
    }
}

void BestModel::update(std::optional<TrainingState::Best>& best) const {
    if (!std::filesystem::exists(std::filesystem::symlink_status(file_))) {
        return;
    }
    try {
        const Checkpoint file = Checkpoint::open(file_);
        const TrainingState::Best found = parse_best(file.state(), file.path());
        if (!best || found.step != best->step) {
            best = found;
        }
    } catch (const Error& error) {
        if (!best) {  // else read() warns, where it matters
            say_(fmt::format("warning: passing over the best single model: {}", error.what()));
        }
    }
}

}  // namespace headscope
