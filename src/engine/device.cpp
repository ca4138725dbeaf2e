#include "engine/device.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/failures.h"

namespace headscope {

Device::Device(std::string id, Precision precision, Open open_backend, Hooks hooks)
    : id_(std::move(id)), precision_(precision), open_(std::move(open_backend)), hooks_(std::move(hooks)) {}

void Device::open() {
    const auto opening = [this] {
        backend_ = open_(id_);
        info_ = backend_->device();
        arithmetic_ =
            inference_arithmetic_for(*backend_, precision_, std::string("the precision ") + name_of(precision_));
    };
    with_fresh_device(
        chance_, opening, [this] { close(); },
        [this](const std::string& what) {
            hooks_.report(fmt::format("reopened {} after a failure: {}", name_.empty() ? id_ : name_, what));
        });
    id_ = info_.id;
}

// The device may not have memory for two copies of the weights.
void Device::close() {
    hooks_.closing();
    peak_bytes_ = peak_bytes();
    for (Loaded& one : loaded_) {
        one.weights.reset();
    }
    backend_.reset();
}

void Device::reopen() {
    close();
    try {
        backend_ = open_(id_);
        info_ = backend_->device();
        free_unused();
        for (Loaded& one : loaded_) {
            if (const ModelHandle model = one.model.lock()) {
                one.weights = model->load(*backend_, arithmetic_.weights());
            }
        }
    } catch (...) {
        close();  // it would lack models
        throw;
    }
}

void Device::load(const ModelHandle& model) {
    free_unused();
    if (find(*model) != nullptr) {
        return;
    }
    const auto loading = [&] {
        loaded_.push_back({model, model.get(), model->load(*backend_, arithmetic_.weights())});
    };
    kept_open(chance_, loading);
}

void Device::free_unused() {
    const std::size_t freed = std::erase_if(loaded_, [](const Loaded& one) {
        const ModelHandle model = one.model.lock();
        return model == nullptr || model->free();
    });
    if (freed > 0 && backend_ != nullptr) {
        backend_->trim();
    }
}

const LoadedModel* Device::find(const OpenModel& model) const {
    const auto found =
        std::ranges::find_if(loaded_, [&](const Loaded& one) { return one.key == &model && !one.model.expired(); });
    return found == loaded_.end() ? nullptr : found->weights.get();
}

bool Device::holds(const std::weak_ptr<const OpenModel>& model) const {
    return !model.expired() && std::ranges::any_of(loaded_, [&](const Loaded& one) {
        return !one.model.owner_before(model) && !model.owner_before(one.model);
    });
}

std::size_t Device::peak_bytes() const {
    return std::max(peak_bytes_, backend_ == nullptr ? 0 : backend_->memory().peak);
}

Place Device::place(const OpenModel& model, std::function<bool()> goes_on) const {
    const LoadedModel* weights = find(model);
    HEADSCOPE_CHECK(backend_ != nullptr && weights != nullptr, "the device is closed, or has not loaded the model");
    return {*backend_, *weights, arithmetic_.compute, std::move(goes_on)};
}

void Device::failed(const std::exception_ptr& why) {
    lost_ = lost_ || classify(why) == Fault::DeviceLost;
}

void Device::kept_open(SecondChance& chance, const std::function<void()>& work) {
    const auto noting = [&] {
        try {
            work();
        } catch (...) {
            failed(std::current_exception());
            throw;
        }
    };
    const auto fresh = [&] {
        reopen();
        lost_ = false;
    };
    with_fresh_device(chance, noting, fresh, [&](const std::string& what) {
        hooks_.report(fmt::format("reopened {} after a failure: {}", name_.empty() ? id_ : name_, what));
    });
}

void Device::repeat(std::exception_ptr why, const std::function<void()>& again) {
    before_ = chance_;
    kept_open(chance_, [&] {
        if (why != nullptr) {
            std::rethrow_exception(std::exchange(why, nullptr));
        }
        again();
    });
}

bool Device::works(const OpenModel& model) {
    if (backend_ == nullptr) {
        return false;
    }
    SecondChance chance = before_;
    chance.earn();
    try {
        kept_open(chance, [&] { model.known().run(place(model, [] { return true; })); });
    } catch (...) {
        if (classify(std::current_exception()) != Fault::OutOfMemory) {
            return false;
        }
    }
    chance_ = before_;
    lost_ = false;
    return true;
}

}  // namespace headscope
