// What a plan selects from the catalogue.
#pragma once

#include <string>
#include <vector>

#include "conformance/family.h"
#include "conformance/run.h"

namespace headscope::conformance {

// A group of a family: a thread's unit of work.
struct Unit {
    const Family& family;
    const Group& group;
    std::size_t number = 0;  // among those of all parts
};
std::vector<Unit> units_of(const Plan& plan, const std::vector<Family>& families);

// The case in F32 and in every storage in which it may run.
std::vector<Case> stored_cases(const Group& group, const Case& stated);

// Error for an op, dtype or title that matches no case of the plan.
void require_known(const Plan& plan, const std::vector<Family>& families);

}  // namespace headscope::conformance
