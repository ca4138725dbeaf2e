// The cases of a family of ops, in groups: what the catalogue (cases/catalogue.h) is made of.
#pragma once

#include <string>
#include <vector>

#include "conformance/case.h"
#include "conformance/gradients.h"

namespace headscope::conformance {

// Cases of one class of shapes, layouts or values.
struct Group {
    std::string name;  // "transposes"
    std::string says;  // what holds where they pass: "products of all four transposes"
    std::vector<Case> (*cases)() = nullptr;
    bool is_large = false;  // takes long, or much memory
};

struct Family {
    std::string name;  // the stem of its files everywhere: "matmul"
    std::vector<Group> groups = {};
    // Every way back of the family's ops.
    std::vector<Differentiation> (*differentiations)() = nullptr;
    // What to time: the shapes of a Transformer, those of the paper's base model where `large`. Not compared with the
    // oracle, which would take minutes.
    std::vector<Case> (*speeds)(bool large) = nullptr;
};

}  // namespace headscope::conformance
