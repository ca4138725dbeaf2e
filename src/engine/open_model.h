// A model that an engine has open, on every device that could load it.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "engine/known_work.h"
#include "infer/loaded_model.h"

namespace headscope {

class OpenModel;
// Counted: when the last handle is gone, the devices free the weights.
using ModelHandle = std::shared_ptr<const OpenModel>;

// Reads a model; called again whenever a lost device is reopened.
using LoadModel = std::function<std::unique_ptr<const LoadedModel>(Backend& backend, const WeightStorage& storage)>;

class OpenModel {
public:
    // `freed` is called when devices may free it, from any thread.
    OpenModel(LoadModel load, std::function<void()> freed) : load_(std::move(load)), freed_(std::move(freed)) {}
    OpenModel(const OpenModel&) = delete;
    OpenModel& operator=(const OpenModel&) = delete;
    ~OpenModel() { freed_(); }

    // The first directory: its tokenizers and configuration.
    const ModelDirectory& directory() const { return directory_; }
    std::int64_t longest() const { return longest_; }  // source that all members take, including the end
    const DecodingChoices& choices() const { return choices_; }
    // `chosen` over the author's choices. Error for choices that mean nothing to the model.
    SearchOptions search_options(const DecodingChoices& chosen) const;

    // For the engine.
    // For a device; it borrows the weights of another one that lends them. From any thread.
    std::shared_ptr<const LoadedModel> load(Backend& backend, const WeightStorage& storage) const;
    void describe(const LoadedModel& loaded);
    KnownWork& known() const { return known_; }
    void use() const { ++users_; }
    void release() const {
        --users_;
        tell_if_free();
    }
    // Devices may free it if it was unloaded, and no request uses it.
    void set_unloaded(bool unloaded) const {
        unloaded_ = unloaded;
        tell_if_free();
    }
    bool unloaded() const { return unloaded_; }
    bool free() const { return unloaded_ && users_ == 0; }
    // New requests go to the successor instead, if there is one, and to none if it was unloaded.
    bool refuses() const { return unloaded_ && successor() == nullptr; }
    void set_successor(ModelHandle next) const;
    ModelHandle successor() const;

private:
    void tell_if_free() const {
        if (free()) {
            freed_();
        }
    }

    const LoadModel load_;
    const std::function<void()> freed_;
    ModelDirectory directory_;
    DecodingChoices choices_;
    std::int64_t longest_ = 0;
    mutable KnownWork known_;  // thread-safe
    mutable std::atomic<int> users_{0};
    mutable std::atomic<bool> unloaded_{false};
    mutable std::mutex mutex_;
    mutable ModelHandle successor_;
    mutable std::mutex loading_;  // the first of some devices that lend reads the model, the others wait
    mutable std::weak_ptr<const LoadedModel> lender_;
    mutable WeightStorage lent_;
};

// The model that takes requests for another, which devices do not free meanwhile.
class UsedModel {
public:
    explicit UsedModel(ModelHandle asked);
    UsedModel(const UsedModel&) = delete;
    UsedModel& operator=(const UsedModel&) = delete;
    ~UsedModel() { model_->release(); }
    const ModelHandle& handle() const { return model_; }

private:
    ModelHandle model_;
};

}  // namespace headscope
