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

std::shared_ptr<const LoadedModel> OpenModel::load(Backend& backend, const WeightStorage& storage) const {
    if (!backend.device().lends) {
        return load_(backend, storage);
    }
    const std::lock_guard lock(loading_);
    if (const auto lender = lender_.lock(); lender != nullptr && lent_ == storage) {
        return std::make_shared<const LoadedModel>(backend, *lender);
    }
    std::shared_ptr<const LoadedModel> loaded = load_(backend, storage);
    lender_ = loaded;
    lent_ = storage;
    return loaded;
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
