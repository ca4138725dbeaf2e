// What a plan picks of the catalogue.
#pragma once

#include <string>
#include <vector>

#include "conformance/family.h"
#include "conformance/run.h"

namespace headscope::conformance {

// A group of a family: what a thread takes.
struct Unit {
    const Family& family;
    const Group& group;
};
std::vector<Unit> units_of(const Plan& plan, const std::vector<Family>& families);

// The case in F32 and in every storage that it may be tried in.
std::vector<Case> stored_cases(const Group& group, const Case& stated);

// Error for an op, a dtype or the text of a case that no case of the plan has.
void require_known(const Plan& plan, const std::vector<Family>& families);

}  // namespace headscope::conformance
