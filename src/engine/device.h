// A device of an engine with its models: runs work, is reopened when it is lost, and shows that it still works.
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backend/backend.h"
#include "backend/precision.h"
#include "engine/open_model.h"
#include "engine/work.h"
#include "infer/fresh_device.h"

namespace headscope {

// For its own thread.
class Device {
public:
    using Open = std::function<std::unique_ptr<Backend>(const std::string& id)>;
    struct Hooks {
        std::function<void()> closing;                             // before the backend is closed: drop what is on it
        std::function<void(const std::string& message)> report{};  // the device was reopened
    };

    Device(std::string id, Precision precision, Open open_backend, Hooks hooks);

    // Error if it does not exist or lacks the precision.
    void open();
    void close();
    // False after a lost device could not be reopened with all its models.
    bool is_open() const { return backend_ != nullptr; }
    // Error if the model cannot be read.
    void load(const ModelHandle& model);
    bool holds(const OpenModel& model) const { return find(model) != nullptr; }
    bool holds(const std::weak_ptr<const OpenModel>& model) const;
    // Frees models that nobody uses.
    void free_unused();

    const std::string& id() const { return id_; }
    // What reports call it, if several have this id.
    void set_name(std::string name) { name_ = std::move(name); }
    const DeviceInfo& info() const { return info_; }  // also of a lost device
    const Arithmetic& arithmetic() const { return arithmetic_; }
    std::size_t peak_bytes() const;
    Place place(const OpenModel& model, std::function<bool()> goes_on) const;

    // After work has failed: notes it if the device was lost.
    void failed(const std::exception_ptr& why);
    void succeeded() { chance_.earn(); }
    // If that failure was the loss of the device and it has a chance left, reopens it and runs `again`. Throws what is
    // left of the failure.
    void repeat(std::exception_ptr why, const std::function<void()>& again);
    // After a failure: whether the device, reopened if it was lost, does what it or another one has done before, or a
    // small product before any success. A full memory is no defect. If it does, the losses since the last repeat()
    // began were a request's fault and do not count.
    bool works(const OpenModel& model);
    // Whether it was lost since it was opened, or since works() was true.
    bool lost() const { return lost_; }

private:
    struct Loaded {
        std::weak_ptr<const OpenModel> model;
        const OpenModel* key;
        std::shared_ptr<const LoadedModel> weights;
    };
    const LoadedModel* find(const OpenModel& model) const;
    void reopen();
    void kept_open(SecondChance& chance, const std::function<void()>& work);

    std::string id_, name_;
    const Precision precision_;
    const Open open_;
    const Hooks hooks_;
    DeviceInfo info_;
    Arithmetic arithmetic_;
    std::unique_ptr<Backend> backend_;  // null if is_open() is false
    std::vector<Loaded> loaded_;
    std::size_t peak_bytes_ = 0;
    SecondChance chance_;
    SecondChance before_;  // as it was when the last repeat() began
    bool lost_ = false;
};

}  // namespace headscope
