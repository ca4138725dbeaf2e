// The harness on every device under test: each violation fails the running test.
#pragma once

#include <string>
#include <vector>

#include "conformance/family.h"

namespace headscope::conformance {

// Whether the next case is for this process, which is one of several with HEADSCOPE_TEST_PART.
bool falls_to_this_process();

// Runs the cases on the oracle itself, if holds_oracle(), and on every device under test, each in F32 and in every one
// of storages_of(). Reports which ops a device composes, or lacks in the case's dtype.
void check_on_every_device(const std::vector<Case>& cases);

// Fails for every complaint, and if a real input of a forward was not compared.
void check_gradients(const std::vector<Differentiation>& all);

// The catalogue's family of that name, with each group as a section.
const Family& family_named(const std::string& name);
void check_cases_of(const std::string& family);
void check_gradients_of(const std::string& family);

}  // namespace headscope::conformance
