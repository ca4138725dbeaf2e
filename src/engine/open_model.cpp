#include "engine/open_model.h"

#include <utility>

namespace headscope {

void OpenModel::describe(const LoadedModel& loaded) {
    directory_ = loaded.model();
    choices_ = loaded.decoding_choices();
    longest_ = loaded.longest();
}

SearchOptions OpenModel::search_options(const DecodingChoices& chosen) const {
    check_choices(chosen, directory_.config);
    return chosen.over(choices_.over(default_search(directory_.config.architecture)));
}

void OpenModel::set_successor(ModelHandle next) const {
    const std::lock_guard lock(mutex_);
    successor_ = std::move(next);
}

ModelHandle OpenModel::successor() const {
    const std::lock_guard lock(mutex_);
    return successor_;
}

UsedModel::UsedModel(ModelHandle asked) {
    for (ModelHandle next = std::move(asked); next != nullptr; next = model_->successor()) {
        if (model_ != nullptr) {
            model_->release();
        }
        model_ = std::move(next);
        model_->use();
    }
}

}  // namespace headscope
