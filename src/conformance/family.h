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
    std::string says;  // what passing shows: "products of all four transposes"
    std::vector<Case> (*cases)() = nullptr;
    bool is_large = false;  // slow, and as large in F32: 16-bit storage would show nothing new
    bool is_slow = false;

    // Run only by `headscope conform --full` and with HEADSCOPE_TEST_FULL=1.
    bool is_left_out() const { return is_slow || is_large; }
};

// The Transformer whose shapes are timed, and how it computes.
struct Workload {
    std::int64_t sentences = 8;  // of a batch
    std::int64_t length = 128;   // of each, on either side
    std::int64_t d_model = 512;
    std::int64_t d_ff = 2048;
    std::int64_t heads = 8;
    std::int64_t vocabulary = 8000;
    std::int64_t window = 0;  // of restricted attention, which is timed if this is not 0
    std::int64_t parameters = 1'000'000;
    std::vector<std::int64_t> sides = {512};  // of square products
    bool every_product = false;               // of a layer, its backward and decoding; else one of each kind
    Compute compute = Compute::F32;           // of products of F32
    DType weights = DType::F32;               // the dtype of weights of products and embeddings

    std::int64_t rows() const { return sentences * length; }
    std::int64_t d_k() const { return d_model / heads; }
};

struct Family {
    std::string name;  // the stem of its files: "matmul"
    std::vector<Group> groups = {};
    // All backward passes of the family's ops.
    std::vector<Differentiation> (*differentiations)() = nullptr;
    // What to time, each with a name that is unique within its op.
    std::vector<Case> (*speeds)(const Workload& work) = nullptr;
};

}  // namespace headscope::conformance
