// A device with the models on it, which is opened afresh where it is lost.
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

// Whether it was a device that is there which failed; else there is none of that name, or it has not what was asked
// for.
bool device_failed(const Error& error);

class ModelDevice {
public:
    using Warn = std::function<void(const std::string& message)>;

    // Opens it. Error where there is no such device, or it has not this precision. `warn` hears of a device that was
    // lost and opened again.
    ModelDevice(const std::string& id, Precision precision, std::vector<std::string> models, OpenOptions open_options,
                Warn warn);
    // Reads the models. Before that there is no translator().
    void load();

    // Does `work`, once more from its beginning where the device is lost meanwhile.
    void run(const std::function<void(Backend& backend, const Translator& translator)>& work);
    // Another backend in place of this one, with the models, at whose end nothing is left of the one before.
    const Translator& reopen();

    bool loaded() const { return translator_ != nullptr; }  // not where it was lost and did not come back
    // Of the one that is open: a reference does not outlast run() or reopen().
    Backend& backend() const;
    const Translator& translator() const;

    const DeviceInfo& info() const { return info_; }  // also of one that did not come back
    const Arithmetic& arithmetic() const { return arithmetic_; }
    std::size_t peak_bytes() const;  // of all that were open

private:
    void open(const std::string& id);
    void close();
    // `work`, and again where the device is lost meanwhile.
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
