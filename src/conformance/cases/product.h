// A product as cases state it: matmul.cpp tests devices with it, matmul_speeds.cpp times it.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <vector>

#include "conformance/family.h"

namespace headscope::conformance {

struct Product {
    std::vector<std::int64_t> batch;
    std::int64_t m, n, k;
    bool transpose_a = false;
    bool transpose_b = false;
    float alpha = 1.0F;
    float beta = 1.0F;  // if the output is accumulated
    Compute compute = Compute::F32;
    bool full_out = false;       // F32 even for 16-bit a and b: a weight's gradient
    DType weights = DType::F32;  // the dtype of b: F16 and I8 with a in F32

    Shape shape(std::int64_t rows, std::int64_t columns) const {
        switch (batch.size()) {
            case 0: return {rows, columns};
            case 1: return {batch[0], rows, columns};
            default: return {batch[0], batch[1], rows, columns};
        }
    }
    Shape shape_a() const { return transpose_a ? shape(k, m) : shape(m, k); }
    Shape shape_b() const { return transpose_b ? shape(n, k) : shape(k, n); }
    std::string title() const {
        return fmt::format("{} {}{} alpha {} beta {} {} k {}{}{}", shape(m, n).to_string(), transpose_a ? "t" : "n",
                           transpose_b ? "t" : "n", alpha, beta, name_of(compute), k, full_out ? " to F32" : "",
                           weights == DType::F32 ? "" : fmt::format(" weights {}", name_of(weights)));
    }
};

struct Names {
    const char* a = "a";
    const char* b = "b";
    const char* out = "out";
};

Case matmul(const Product& product, const Names& names = {});

// The timed products.
std::vector<Case> matmul_speeds(const Workload& work);

}  // namespace headscope::conformance
