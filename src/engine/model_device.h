// A device with a loaded model, which is reopened if it is lost.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "backend/open_options.h"
#include "backend/precision.h"
#include "infer/fresh_device.h"
#include "infer/loaded_model.h"
#include "support/check.h"

namespace headscope {

// True if an existing device failed; false if the device does not exist or lacks a requested feature.
bool device_failed(const Error& error);

// One thread at a time: members that are const lend the device, too.
class ModelDevice {
public:
    using Open = std::function<std::unique_ptr<Backend>(const std::string& id)>;
    using Load = std::function<std::unique_ptr<const LoadedModel>(Backend& backend, DType storage)>;
    using Warn = std::function<void(const std::string& message)>;

    // Opens the device. Error if it does not exist or lacks the precision. `warn` reports that the device was lost and
    // opened again.
    ModelDevice(const std::string& id, Precision precision, Open open_device, Warn warn);
    // A device of the registry; load() reads these model directories.
    ModelDevice(const std::string& id, Precision precision, std::vector<std::string> models,
                const OpenOptions& open_options, Warn warn);
    ModelDevice(const ModelDevice&) = delete;  // loading refers to this object
    ModelDevice& operator=(const ModelDevice&) = delete;
    ~ModelDevice() = default;

    // Reads the models. Before that there is no translator().
    void load() { load(load_); }
    // Replaces the loaded model. If this fails, the previous one stays, unless the device was lost or had no memory for
    // both. Reopening the device calls `load` again.
    void load(const Load& load);

    // Runs `work`. If the device is lost, reopens it and starts `work` again.
    void run(const std::function<void(Backend& backend, const LoadedModel& translator)>& work);
    // Closes the device, opens it again and loads the model.
    const LoadedModel& reopen();

    bool loaded() const { return translator_ != nullptr; }  // false after a loss that reopening did not repair
    // References are valid until run(), load() or reopen() is called.
    Backend& backend() const;
    const LoadedModel& translator() const;

    const DeviceInfo& info() const { return info_; }  // also of a lost device
    const Arithmetic& arithmetic() const { return arithmetic_; }
    std::size_t peak_bytes() const;  // maximum over all times it was open

private:
    void open(const std::string& id);
    void close();
    void kept_open(const std::function<void()>& work, const std::function<void()>& reopened);

    const Precision precision_;
    const Open open_device_;
    const Warn warn_;
    Load load_;
    DeviceInfo info_;
    Arithmetic arithmetic_;
    std::unique_ptr<Backend> backend_;
    std::unique_ptr<const LoadedModel> translator_;
    std::size_t peak_bytes_ = 0;
    SecondChance chance_;
};

}  // namespace headscope
