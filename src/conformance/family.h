// The cases of a family of ops, in groups: what the catalogue (cases/catalogue.h) is made of.
#pragma once

#include <cstdint>
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
    bool is_large = false;  // takes long, and as much memory as it does in F32: 16 bits of it would show nothing
};

// The Transformer whose shapes are timed, and how it computes.
struct Workload {
    std::int64_t sentences = 8;  // of a batch
    std::int64_t length = 128;   // of each, on either side
    std::int64_t d_model = 512;
    std::int64_t d_ff = 2048;
    std::int64_t heads = 8;
    std::int64_t vocabulary = 8000;
    std::int64_t parameters = 1'000'000;
    std::vector<std::int64_t> sides = {512};  // of square products
    bool every_product = false;               // of a layer, of its way back and of decoding; else one of a kind
    Compute compute = Compute::F32;           // of products of F32
    DType weights = DType::F32;               // what those of products and embeddings are stored in

    std::int64_t rows() const { return sentences * length; }
    std::int64_t d_k() const { return d_model / heads; }
};

struct Family {
    std::string name;  // the stem of its files everywhere: "matmul"
    std::vector<Group> groups = {};
    // Every way back of the family's ops.
    std::vector<Differentiation> (*differentiations)() = nullptr;
    // What to time, each under a name that no other case of its op has.
    std::vector<Case> (*speeds)(const Workload& work) = nullptr;
};

}  // namespace headscope::conformance
