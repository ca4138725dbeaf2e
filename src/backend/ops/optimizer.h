// The optimizer step of section 5.3; the host reads nothing back. Contiguous operands.
#pragma once

#include "backend/bias_correction.h"
#include "backend/choices.h"
#include "backend/declarations.h"
#include "backend/loss_scaling.h"
#include "tensor/tensor.h"

namespace headscope {

// out[0] = sum of x^2 in a fixed order, or out[0] += that.
struct SquareSum {
    static constexpr const char* kName = "square_sum";
    Tensor x, out;
    Write write = Write::Overwrite;

    void declare(Declarations& d) const {
        d.in("x", x).full();
        d.gradient("out", out, write, {1}).full();
    }
};

// A step's scalars on the device, [StepScalars::Count].
struct StepScalars {
    enum Slot : int {
        LearningRate,     // host writes; equation 3
        GradientDivisor,  // host writes the target tokens of the whole step
        Correction1,      // StepControl writes 1 - beta1^Updates
        Correction2,      // StepControl writes 1 - beta2^Updates
        GradientScale,    // StepControl writes: clip / (divisor * LossScale)
        Skip,             // StepControl writes 1 if the gradient is not finite, else 0
        GradientNorm,     // StepControl writes the norm of the unscaled gradient, divided, before clipping
        LossScale,        // the factor of the incoming gradient, 1 for none; StepControl updates it
        GoodSteps,        // steps since LossScale last changed; StepControl counts
        Updates,          // of the parameters, with this step's: steps that were not skipped; StepControl counts
        Count
    };
};

// divisor = GradientDivisor * LossScale;  norm = sqrt(square_sum) / divisor;  GradientNorm = norm;
// Skip = norm is not finite;  GradientScale = min(1, max_norm / norm) / divisor (max_norm = 0: no clipping).
// If the norm is finite, Updates grows by 1, and the corrections follow: bias_correction(). A skipped step moves no
// moment, so it must not count there, as in PyTorch's GradScaler.
// Then LossScale and GoodSteps become those of the next step: next_loss_scale().
struct StepControl {
    static constexpr const char* kName = "step_control";
    Tensor square_sum, scalars;
    float max_norm = 0.0F;
    LossScaling scaling = {};
    float beta1 = 0.9F;  // Adam's
    float beta2 = 0.98F;

    void declare(Declarations& d) const {
        d.in("square_sum", square_sum, {1}).full();
        d.in_out("scalars", scalars, {StepScalars::Count}).full();
    }
};

// With g = grad * GradientScale:  m = b1 m + (1-b1) g;  v = b2 v + (1-b2) g^2; parameter -= LearningRate * (m /
// Correction1) / (sqrt(v / Correction2) + epsilon). Nothing changes if Skip is 1. `working`, also unchanged then, is
// the new parameter rounded to 16 bits for products. One launch covers every parameter: they share one flat buffer.
// Kingma & Ba, algorithm 1; paper 5.3. With `decay`, one number for every kGroup parameters, also parameter -=
// LearningRate * decay * (the old parameter): weight decay that does not pass through the moments (Loshchilov & Hutter
// 2019, algorithm 2).
struct Adam {
    static constexpr const char* kName = "adam";
    static constexpr std::int64_t kGroup = 16;
    Tensor parameter, grad, m, v, scalars, working = {}, decay = {};
    float beta1 = 0.9F;
    float beta2 = 0.98F;
    float epsilon = 1e-9F;

    static constexpr std::int64_t groups(std::int64_t parameters) { return (parameters + kGroup - 1) / kGroup; }

    void declare(Declarations& d) const {
        d.in_out("parameter", parameter, {"n"}).full();
        d.in("grad", grad, {"n"}).full();
        d.in_out("m", m, {"n"}).full();
        d.in_out("v", v, {"n"}).full();
        d.in("scalars", scalars, {StepScalars::Count}).full();
        d.in_out("working", working, {"n"}).as(OperandType::Half).optional();
        d.in("decay", decay, {groups(parameter.elements())}).full().optional();
    }
};

}  // namespace headscope
