#include "engine/model_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "registry/registry.h"

namespace headscope {

bool device_failed(const Error& error) {
    return dynamic_cast<const DeviceLost*>(&error) != nullptr || dynamic_cast<const OutOfMemory*>(&error) != nullptr;
}

ModelDevice::ModelDevice(const std::string& id, Precision precision, Open open_device, Warn warn)
    : precision_(precision), open_device_(std::move(open_device)), warn_(std::move(warn)) {
    const auto opening = [&] { open(id); };
    kept_open(opening, [] {});
}

ModelDevice::ModelDevice(const std::string& id, Precision precision, std::vector<std::string> models,
                         const OpenOptions& open_options, Warn warn)
    : ModelDevice(
          id, precision, [open_options](const std::string& name) { return open_device(name, open_options); },
          std::move(warn)) {
    load_ = [models = std::move(models), this](Backend& backend, DType storage) {
        auto translator = std::make_unique<const LoadedModel>(backend, models, storage);
        for (const std::string& remark : translator->model().remarks) {
            warn_(remark);
        }
        return translator;
    };
}

void ModelDevice::load(const Load& load) {
    const auto loading = [&] {
        try {
            translator_ = load(*backend_, arithmetic_.storage);
        } catch (const OutOfMemory&) {
            if (!loaded()) {
                throw;
            }
            translator_.reset();  // makes room
            translator_ = load(*backend_, arithmetic_.storage);
        }
    };
    kept_open(loading, [this] {
        close();
        open(info_.id);
    });
    load_ = load;
}

void ModelDevice::run(const std::function<void(Backend&, const LoadedModel&)>& work) {
    kept_open([&] { work(backend(), translator()); }, [this] { reopen(); });
}

const LoadedModel& ModelDevice::reopen() {
    close();
    open(info_.id);
    translator_ = load_(*backend_, arithmetic_.storage);
    return *translator_;
}

Backend& ModelDevice::backend() const {
    HEADSCOPE_CHECK(backend_ != nullptr, "the device was lost and is closed");
    return *backend_;
}

const LoadedModel& ModelDevice::translator() const {
    HEADSCOPE_CHECK(loaded(), "no model is loaded");
    return *translator_;
}

std::size_t ModelDevice::peak_bytes() const {
    return std::max(peak_bytes_, backend_ == nullptr ? 0 : backend_->memory().peak);
}

void ModelDevice::open(const std::string& id) {
    backend_ = open_device_(id);
    info_ = backend_->device();
    arithmetic_ = inference_arithmetic_for(*backend_, precision_, std::string("the precision ") + name_of(precision_));
}

// Call before reopening: the device may not have memory for two copies of the weights.
void ModelDevice::close() {
    peak_bytes_ = peak_bytes();
    translator_.reset();
    backend_.reset();
}

// A loss that reopening does not repair leaves the device closed.
void ModelDevice::kept_open(const std::function<void()>& work, const std::function<void()>& reopened) {
    try {
        with_fresh_device(chance_, work, reopened, [this](const std::string& what) {
            warn_(fmt::format("reopened {} after a failure: {}", info_.id, what));
        });
    } catch (const DeviceLost&) {
        close();
        throw;
    }
}

}  // namespace headscope
