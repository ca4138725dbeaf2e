// The harness on every device under test: each promise that is broken fails the running test.
#pragma once

#include <string>
#include <vector>

#include "conformance/family.h"

namespace headscope::conformance {

// Runs the cases on the oracle itself, where holds_oracle(), and on every device under test, each in F32 and in every
// one of storages_of(). Says which ops a device composes of others, or does not have in the case's dtype.
void check_on_every_device(const std::vector<Case>& cases);

// Fails for every complaint, and where not every real input of a forward was compared.
void check_gradients(const std::vector<Differentiation>& all);

// The catalogue's family of that name: every group a section of its own.
const Family& family_named(const std::string& name);
void check_cases_of(const std::string& family);
void check_gradients_of(const std::string& family);

}  // namespace headscope::conformance
