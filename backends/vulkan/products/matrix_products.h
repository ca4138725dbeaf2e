// Products with operands rounded to F16, by a device's cooperative matrices (shaders/matmul_cooperative.comp) or, for
// proofs, by their emulation, which takes the same way through shared memory on any device. What the emulation errs in
// is to be seen: it has no trial, unless that is what is to be proven.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "backend/backend.h"
#include "backends/vulkan/device/options.h"
#include "backends/vulkan/products/product_plan.h"
#include "backends/vulkan/stream/pipelines.h"

namespace headscope::vulkan {

class MatrixProducts {
public:
    // `backend` runs the trial; `product_device` and `info` are told what fails it. Nothing is done before the first
    // product in F16.
    MatrixProducts(Backend& backend, ProductDevice& product_device, Pipelines& pipelines, bool storage16,
                   const Options& options, DeviceInfo& info);

    // How operands are multiplied that are rounded to F16.
    Support support();

    // Whether there are matrices that multiply rightly. The first call waits for a trial: some products are held
    // against the host's in each tile that there is, and a device goes without those tiles in which its matrices err,
    // or without matrices where that is all, with a warning.
    bool usable();

    // How to compute what is on trial.
    const std::optional<ProductChoice>& on_trial() const { return on_trial_; }

private:
    enum class State : std::uint8_t { Untried, OnTrial, Right, Wrong };

    struct Attempt;
    void hold_trial();
    // What is wrong with what the device makes of a tile's; empty if nothing is.
    std::string complaint(const std::vector<Attempt>& attempts);
    void do_without(const std::string& what, const std::string& why);

    Backend& backend_;
    Pipelines& pipelines_;
    DeviceInfo& info_;
    const Diagnostics diagnostics_;
    ProductDevice& product_device_;
    const bool storage16_;    // then what is stored in F16 is tried, too
    const TrialError error_;  // of what is tried
    State state_ = State::Untried;
    std::optional<ProductChoice> on_trial_;
};

}  // namespace headscope::vulkan
