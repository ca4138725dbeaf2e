// A device with loaded models, which is reopened if it is lost.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "backend/open_options.h"
#include "backend/precision.h"
#include "infer/fresh_device.h"
#include "infer/translator.h"
#include "support/check.h"

namespace headscope {

// True if an existing device failed; false if the device does not exist or lacks a requested feature.
bool device_failed(const Error& error);

class ModelDevice {
public:
    using Warn = std::function<void(const std::string& message)>;

    // Opens the device. Error if it does not exist or lacks the precision. `warn` is called when a lost device was
    // reopened.
    ModelDevice(const std::string& id, Precision precision, std::vector<std::string> models, OpenOptions open_options,
                Warn warn);
    // Loads the models. Call it before translator().
    void load();

    // Runs `work`, and again from the beginning if the device is lost meanwhile.
    void run(const std::function<void(Backend& backend, const Translator& translator)>& work);
    // Closes the backend and opens a new one with the models. References to the old one become invalid.
    const Translator& reopen();

    bool loaded() const { return translator_ != nullptr; }  // false if reopening failed
    // Of the current backend: references are invalid after run() or reopen().
    Backend& backend() const;
    const Translator& translator() const;

    const DeviceInfo& info() const { return info_; }  // also if reopening failed
    const Arithmetic& arithmetic() const { return arithmetic_; }
    std::size_t peak_bytes() const;  // over all backends opened so far

private:
    void open(const std::string& id);
    void close();
    // Runs `work`, and again if the device is lost meanwhile.
    void kept_open(const std::function<void()>& work, const std::function<void()>& reopened);

    const Precision precision_;
    const std::vector<std::string> models_;
    const OpenOptions open_options_;
    const Warn warn_;
    DeviceInfo info_;
    Arithmetic arithmetic_;
    std::unique_ptr<Backend> backend_;
    std::unique_ptr<Translator> translator_;
    std::size_t peak_bytes_ = 0;
    SecondChance chance_;
};

}  // namespace headscope
