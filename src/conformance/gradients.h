// Checks every backward against central differences, in double precision on the oracle.
#pragma once

#include <string>
#include <vector>

#include "conformance/case.h"

namespace headscope::conformance {

// The steps of a backward are cases too, linked by names: an input of a step is the forward's tensor of that name, or
// an earlier step's output, or "grad_y" for an output y of the forward: its cotangent. Other inputs have their own
// values. A step's output "grad_x" is the gradient of the forward's input x.
struct Differentiation {
    Case forward;
    std::vector<Case> backward;
    // Outputs whose cotangent is 1, not random, since the op computes the gradient of their sum itself.
    std::set<std::string> summed = {};
    std::set<std::string> given = {};  // real inputs that are never learned
    std::string title() const { return "gradient of " + forward.title(); }
};

// What was compared, so that the caller can check that something was; complaints in words.
struct GradientReport {
    std::vector<std::string> complaints;
    std::set<std::string> compared;  // inputs of the forward
};

GradientReport check_gradient(Backend& oracle, const Differentiation& stated);

}  // namespace headscope::conformance
