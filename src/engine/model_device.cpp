#include "engine/model_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "registry/registry.h"

namespace headscope {

bool device_failed(const Error& error) {
    return dynamic_cast<const DeviceLost*>(&error) != nullptr || dynamic_cast<const OutOfMemory*>(&error) != nullptr;
}

ModelDevice::ModelDevice(const std::string& id, Precision precision, std::vector<std::string> models,
                         OpenOptions open_options, Warn warn)
    : precision_(precision),
      models_(std::move(models)),
      open_options_(std::move(open_options)),
      warn_(std::move(warn)) {
    const auto opening = [&] { open(id); };
    kept_open(opening, [] {});
}

void ModelDevice::load() {
    const auto loading = [this] {
        translator_.reset();  // remains of a failed attempt
        translator_ = std::make_unique<Translator>(*backend_, models_, arithmetic_.storage);
    };
    kept_open(loading, [this] {
        close();
        open(info_.id);
    });
}

void ModelDevice::run(const std::function<void(Backend&, const Translator&)>& work) {
    kept_open([&] { work(backend(), translator()); }, [this] { reopen(); });
}

const Translator& ModelDevice::reopen() {
    close();
    open(info_.id);
    translator_ = std::make_unique<Translator>(*backend_, models_, arithmetic_.storage);
    return *translator_;
}

Backend& ModelDevice::backend() const {
    HEADSCOPE_CHECK(backend_ != nullptr, "the device could not be reopened");
    return *backend_;
}

const Translator& ModelDevice::translator() const {
    HEADSCOPE_CHECK(translator_ != nullptr, "the models are not loaded");
    return *translator_;
}

std::size_t ModelDevice::peak_bytes() const {
    return std::max(peak_bytes_, backend_ == nullptr ? 0 : backend_->memory().peak);
}

void ModelDevice::open(const std::string& id) {
    backend_ = open_device(id, open_options_);
    info_ = backend_->device();
    arithmetic_ = inference_arithmetic_for(*backend_, precision_, std::string("the precision ") + name_of(precision_));
}

// Free everything before reopening: the device may not have memory for the weights twice.
void ModelDevice::close() {
    peak_bytes_ = peak_bytes();
    translator_.reset();
    backend_.reset();
}

void ModelDevice::kept_open(const std::function<void()>& work, const std::function<void()>& reopened) {
    with_fresh_device(chance_, work, reopened, [this](const std::string& what) {
        warn_(fmt::format("reopened {} after a failure: {}", info_.id, what));
    });
}

}  // namespace headscope
