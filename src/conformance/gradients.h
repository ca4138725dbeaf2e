// Every way back against central differences, in double precision on the oracle.
#pragma once

#include <string>
#include <vector>

#include "conformance/case.h"

namespace headscope::conformance {

// The steps of the way back are cases as well, and meet by name: an input of a step is the forward's tensor of that
// name, or an earlier step's output, or "grad_y" for an output y of the forward: its cotangent. What is left has values
// of its own. A step's output "grad_x" is the gradient of the forward's input x.
struct Differentiation {
    Case forward;
    std::vector<Case> backward;
    // Outputs whose cotangent is 1, not noise: where the op computes the gradient of their sum itself.
    std::set<std::string> summed = {};
    std::string title() const { return "gradient of " + forward.title(); }
};

// How often each gradient was compared, for the caller to see that it was; complaints in words.
struct GradientReport {
    std::vector<std::string> complaints;
    std::set<std::string> compared;  // inputs of the forward
};

GradientReport check_gradient(Backend& oracle, const Differentiation& stated);

}  // namespace headscope::conformance
