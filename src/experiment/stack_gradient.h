// What residual connections do to the gradient of a deep stack (3.1): stacks of self-attention and feed-forward parts
// with and without them, as they begin.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "experiment/study_report.h"
#include "model/config.h"

namespace headscope {

struct StackKind {
    const char* name;   // "post-norm"
    const char* title;  // "Post-norm"
    NormPlacement placement;
    bool residual;  // whether a sub-layer's output is added to what it read
};
const std::vector<StackKind>& stack_kinds();

struct StackGradient {
    const StackKind* kind = nullptr;
    int layers = 0;
    double gradient = 0.0;  // the norm of the gradient at the stack's input, divided by that at its output
    // The share of the output's squares by which positions differ from their mean, 0 to 1; and of the squares of the
    // gradient at the input.
    double difference = 0.0, gradient_difference = 0.0;
};

struct StackSizes {
    std::int64_t length = 16, width = 64;  // n and d; heads have 16 columns, d_ff is 4 d
    int seeds = 3;
};

// Geometric means over seeds of the weights, the first of which is 1, for one random sequence and a random gradient.
StackGradient measure_stack(Backend& backend, const StackKind& kind, int layers, const StackSizes& sizes);

StudyReport report_of(const std::vector<StackGradient>& measured, const std::string& device);

}  // namespace headscope
