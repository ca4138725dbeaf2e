// The weights that did best on the validation text, and their file. A TrainingState records which they are.
#pragma once

#include <optional>
#include <string>

#include "train/learner.h"
#include "train/training_data.h"
#include "train/training_state.h"

namespace headscope {

class BestModel {
public:
    BestModel(Learner& learner, std::string file, Say say)
        : learner_(learner), file_(std::move(file)), say_(std::move(say)) {}

    void remove() const;
    void write(const TrainingState::Best& best) const;  // from the learner's weights, or from their mean if best.mean
    void write_loaded(const TrainingState::Best& best) const;  // from the learner's weights, which read() loaded
    bool read() const;  // into the learner's weights; false, with a warning, if the file is unusable
    // Replaces `best` by the record of the file: a killed run may have written a better model since its last
    // checkpoint.
    void update(std::optional<TrainingState::Best>& best) const;

private:
    Learner& learner_;
    std::string file_;
    Say say_;
};

}  // namespace headscope
