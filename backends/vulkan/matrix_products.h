// Products with operands rounded to F16, by a device's cooperative matrices (shaders/matmul_cooperative.comp) or, for
// proofs, by their emulation, which takes the same way through shared memory on any device. What the emulation errs in
// is to be seen: it has no trial, unless that is what is to be proven.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "backend/backend.h"
#include "backends/vulkan/options.h"
#include "backends/vulkan/pipelines.h"
#include "backends/vulkan/product_plan.h"

namespace headscope::vulkan {

class MatrixProducts {
public:
    // `backend` runs the trial, and `info` is told where matrices fail it. Nothing is done before the first product in
    // F16.
    MatrixProducts(Backend& backend, const ProductDevice& product_device, Pipelines& pipelines, bool storage16,
                   const Options& options, DeviceInfo& info);

    // How operands are multiplied that are rounded to F16.
    Support support();

    // Whether there are matrices that multiply rightly. The first call waits for a trial: some products are held
    // against the host's, and a device whose matrices err goes without, with a word on standard error.
    bool usable();

    // How to compute what is on trial.
    const std::optional<ProductChoice>& on_trial() const { return on_trial_; }

private:
    enum class State : std::uint8_t { Untried, OnTrial, Right, Wrong };

    void hold_trial();
    void give_up(const std::string& why);

    Backend& backend_;
    Pipelines& pipelines_;
    DeviceInfo& info_;
    const ProductDevice product_device_;
    const bool storage16_;  // then what is stored in F16 is tried, too
    float factor_;          // on what is tried: Options::trial_error
    State state_ = State::Untried;
    std::optional<ProductChoice> on_trial_;
};

}  // namespace headscope::vulkan
