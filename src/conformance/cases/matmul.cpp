// Matmul.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <limits>

#include "backend/ops/matmul.h"
#include "conformance/cases/catalogue.h"
#include "conformance/cases/product.h"

namespace headscope::conformance {

Case matmul(const Product& product, const Names& names) {
    const auto build = [product, names](float sign) {
        return [=](const Operands& t) {
            const bool adds = t.write(names.out) == Write::Accumulate;
            return Matmul{.a = t[names.a],
                          .b = t[names.b],
                          .out = t[names.out],
                          .transpose_a = product.transpose_a,
                          .transpose_b = product.transpose_b,
                          .alpha = sign > 0 ? std::abs(product.alpha) : product.alpha,
                          .beta = !adds      ? 0.0F
                                  : sign > 0 ? std::abs(product.beta)
                                             : product.beta,
                          .compute = product.compute,
                          .b_scales = t.maybe("b_scales")};
        };
    };
    const Operand out = Operand(names.out, product.shape(product.m, product.n));
    const Operand b = Operand(names.b, product.shape_b());
    std::vector<Operand> operands{{names.a, product.shape_a()},
                                  product.weights == DType::F32 ? b : b.narrow(product.weights),
                                  product.full_out ? out.full() : out};
    if (product.weights == DType::I8) {
        operands[1] = operands[1].filled(integers(-127, 128));
        operands.push_back({"b_scales", {product.n}, uniform(0.001, 0.01)});
    }
    Case stated = make_case(product.title(), operands, build(-1.0F));
    stated.magnitude = runs(build(1.0F));
    if (product.compute != Compute::F32) {
        stated.compute = product.compute;
    }
    if (product.compute == Compute::TF32) {
        stated.operand_roundoff = 0x1p-10;  // where the oracle rounds to nearest, a device may truncate
    }
    return stated.sums(static_cast<double>(product.k));
}

}  // namespace headscope::conformance

namespace headscope::conformance::matmul_cases {

namespace {

// The four cases of a product's transposes.
std::vector<Product> transposes(Product product) {
    std::vector<Product> all;
    for (const bool a : {false, true}) {
        for (const bool b : {false, true}) {
            product.transpose_a = a;
            product.transpose_b = b;
            all.push_back(product);
        }
    }
    return all;
}

// The backward of out = alpha op(a) op(b) uses Matmul itself.
Differentiation differentiation(const Product& p) {
    Product a = p;
    Product b = p;
    Case grad_a;
    Case grad_b;
    if (!p.transpose_a) {  // [m, k] = grad_out . op(b)^T
        a.n = p.k;
        a.k = p.n;
        a.transpose_a = false;
        a.transpose_b = !p.transpose_b;
        grad_a = matmul(a, {"grad_out", "b", "grad_a"});
    } else {  // [k, m] = op(b) . grad_out^T
        a.m = p.k;
        a.n = p.m;
        a.k = p.n;
        a.transpose_a = p.transpose_b;
        a.transpose_b = true;
        grad_a = matmul(a, {"b", "grad_out", "grad_a"});
    }
    if (!p.transpose_b) {  // [k, n] = op(a)^T . grad_out
        b.m = p.k;
        b.k = p.m;
        b.transpose_a = !p.transpose_a;
        b.transpose_b = false;
        grad_b = matmul(b, {"a", "grad_out", "grad_b"});
    } else {  // [n, k] = grad_out^T . op(a)
        b.m = p.n;
        b.n = p.k;
        b.k = p.m;
        b.transpose_a = true;
        b.transpose_b = p.transpose_a;
        grad_b = matmul(b, {"grad_out", "a", "grad_b"});
    }
    return {matmul(p), {grad_a, grad_b}};
}

std::vector<Case> transposes_cases() {
    std::vector<Case> cases;
    const std::vector<std::array<std::int64_t, 3>> sizes{{1, 1, 1},    {1, 33, 3},    {33, 1, 257}, {3, 257, 33},
                                                         {257, 3, 33}, {33, 33, 1},   {64, 64, 64}, {65, 130, 129},
                                                         {1, 257, 64}, {128, 48, 256}};
    for (const auto& [m, n, k] : sizes) {
        for (const Product& product : transposes({{}, m, n, k})) {
            cases.push_back(matmul(product));
        }
    }
    for (const Product& product : transposes({{}, 257, 257, 257, false, false, -0.125F, 0.5F})) {
        cases.push_back(matmul(product));
    }
    // Few rows, as in decoding.
    for (const Product& product : transposes({{}, 3, 37, 132, false, false, -0.125F, 0.5F})) {
        cases.push_back(matmul(product));
    }
    // The same with vec4 loads.
    for (const Product& product : transposes({{}, 64, 68, 32, false, false, -0.125F, 0.5F})) {
        cases.push_back(matmul(product));
    }
    return cases;
}

// Weights of decoding: rows that GPUs have kernels of their own for, and one more; sums of one vector and of several
// blocks' loads, outputs of several tiles.
std::vector<Case> few_rows_cases() {
    std::vector<Case> cases;
    for (const auto& [m, n, k] : {std::array<std::int64_t, 3>{1, 37, 264},
                                  {2, 8, 1048},
                                  {4, 9, 520},
                                  {5, 392, 40},
                                  {8, 41, 8},
                                  {9, 33, 296},
                                  {16, 17, 2056},
                                  {17, 24, 64}}) {
        for (const bool full_out : {false, true}) {
            cases.push_back(matmul(
                {.batch = {}, .m = m, .n = n, .k = k, .transpose_b = true, .alpha = -0.5F, .full_out = full_out}));
        }
    }
    return cases;
}

std::vector<Case> into_f32_cases() {
    std::vector<Case> cases;
    const auto add = [&](Product product) {
        product.full_out = true;
        cases.push_back(matmul(product));
    };
    for (const auto& [m, n, k] : {std::array<std::int64_t, 3>{1, 33, 3}, {65, 130, 129}, {64, 48, 300}, {3, 5, 0}}) {
        for (const Product& product : transposes({{}, m, n, k, false, false, 0.5F, 1.0F})) {
            add(product);
        }
    }
    add({{2, 3}, 9, 5, 17, true, false});
    return cases;
}

// Every sum is k, which is exact in F32. The lengths are from a report that cuBLAS drops the part of k past a multiple
// of 64 when it splits a sum of 16-bit products (facebookexperimental/triton, pull request 2767).
std::vector<Case> long_sums_cases() {
    std::vector<Case> cases;
    for (const Compute compute : {Compute::F16, Compute::BF16}) {
        for (const auto& [m, n, k] :
             {std::array<std::int64_t, 3>{1, 8, 8648}, {1, 8, 11528}, {1, 8, 57608}, {64, 64, 8648}}) {
            Case stated = matmul({.batch = {}, .m = m, .n = n, .k = k, .transpose_a = true, .compute = compute});
            stated.name += " of ones";
            stated.operands[0].values = stated.operands[1].values = these({1.0});
            stated.one_layout = true;
            cases.push_back(stated);
        }
    }
    return cases;
}

std::vector<Case> batched_cases() {
    std::vector<Case> cases;
    for (const auto& batch : {std::vector<std::int64_t>{3}, {1, 1}, {2, 3}, {33, 1}}) {
        for (const auto& [m, n, k] : {std::array<std::int64_t, 3>{1, 1, 1}, {5, 7, 9}, {33, 17, 3}, {1, 33, 64}}) {
            for (const Product& product : transposes({batch, m, n, k, false, false, 0.7F, -1.5F})) {
                cases.push_back(matmul(product));
            }
        }
    }
    cases.push_back(matmul({{2, 8}, 33, 64, 33, false, true, 0.125F}));
    return cases;
}

std::vector<Case> empty_cases() {
    std::vector<Case> cases;
    for (const Product& product : transposes({{}, 3, 5, 0, false, false, 1.0F, 0.5F})) {
        cases.push_back(matmul(product));  // k = 0 gives beta * out
    }
    for (const auto& [m, n, k] : {std::array<std::int64_t, 3>{0, 5, 3}, {3, 0, 5}, {0, 0, 0}}) {
        cases.push_back(matmul({{}, m, n, k}));
    }
    cases.push_back(matmul({{0}, 3, 4, 5}));
    cases.push_back(matmul({{2, 0}, 3, 4, 5}));
    cases.push_back(matmul({{2, 3}, 3, 4, 0, true, true}));
    cases.push_back(matmul({{}, 3, 5, 7, false, false, 0.0F, 2.0F}));
    return cases;
}

std::vector<Case> rounded_operands_cases() {
    std::vector<Case> cases;
    for (const Compute compute : {Compute::BF16, Compute::F16, Compute::TF32}) {
        for (const auto& [m, n, k] : {std::array<std::int64_t, 3>{1, 1, 1},
                                      {33, 17, 65},
                                      {64, 128, 96},
                                      {1, 257, 64},
                                      {65, 130, 129},
                                      {5, 7, 0}}) {
            for (Product product : transposes({{}, m, n, k, false, false, 0.5F, 1.0F})) {
                product.compute = compute;
                cases.push_back(matmul(product));
            }
        }
        cases.push_back(matmul({{2, 3}, 9, 5, 17, false, true, 1.0F, 1.0F, compute}));
        cases.push_back(matmul({{2, 3}, 70, 9, 33, true, false, -0.7F, 1.5F, compute}));
    }
    return cases;
}

std::vector<Case> narrow_weights_cases() {
    std::vector<Case> cases;
    for (const DType weights : {DType::F16, DType::BF16, DType::I8}) {
        const auto narrow = [&](std::int64_t m, std::int64_t n, std::int64_t k) {
            return Product{.batch = {}, .m = m, .n = n, .k = k, .transpose_b = true, .alpha = 0.5F, .weights = weights};
        };
        for (const auto& [m, n, k] : std::vector<std::array<std::int64_t, 3>>{{1, 1, 1},
                                                                              {1, 33, 3},
                                                                              {3, 257, 33},
                                                                              {4, 16, 64},
                                                                              {7, 40, 256},
                                                                              {64, 48, 300},
                                                                              {70, 300, 128},
                                                                              {3, 5, 0},
                                                                              {0, 5, 3},
                                                                              {3, 0, 5}}) {
            cases.push_back(matmul(narrow(m, n, k)));
        }
        for (const double value :
             {std::numeric_limits<double>::quiet_NaN(), -std::numeric_limits<double>::infinity()}) {
            cases.push_back(matmul(narrow(5, 17, 33)).holding(value, "a", 40));
        }
        // Rows of zeros, and of numbers whose inverse overflows.
        Case zeros = matmul(narrow(3, 5, 8));
        zeros.operands[0].values = these({0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1e-35});
        zeros.name += " of next to nothing";
        cases.push_back(zeros);
    }
    return cases;
}

std::vector<Case> special_values_cases() {
    std::vector<Case> cases;
    for (const Product& product : transposes({{2}, 9, 17, 33})) {
        for (const double value :
             {std::numeric_limits<double>::quiet_NaN(), -std::numeric_limits<double>::infinity()}) {
            cases.push_back(matmul(product).holding(value, "a", 40));
            cases.push_back(matmul(product).holding(value, "b", 40));
        }
    }
    return cases;
}

std::vector<Differentiation> differentiations() {
    std::vector<Differentiation> all;
    for (const auto& batch : {std::vector<std::int64_t>{}, {2}, {2, 2}}) {
        for (const Product& product : transposes({batch, 3, 4, 5, false, false, -0.7F})) {
            all.push_back(differentiation(product));
        }
    }
    return all;
}

// Sizes that no tile divides, slightly above and below one.
std::vector<Case> size_cases() {
    std::vector<Case> cases;
    for (const auto& [m, n, k] : std::vector<std::array<std::int64_t, 3>>{
             {9, 9, 9}, {6, 13, 3}, {15, 37, 7}, {81, 19, 41}, {457, 330, 512}, {31, 33, 127}, {129, 63, 65}}) {
        for (const Product& product : transposes({{}, m, n, k})) {
            cases.push_back(m > 400 ? matmul(product).past_a_grid() : matmul(product));
        }
    }
    cases.push_back(matmul({{2, 3}, 57, 33, 31, false, true, 0.125F}));
    // Several tiles in both directions, of the largest size too: workgroups walk along the shorter one first.
    for (const Compute compute : {Compute::F32, Compute::F16}) {
        for (const auto& [m, n] : {std::array<std::int64_t, 2>{140, 330}, {330, 140}}) {
            cases.push_back(matmul({{2}, m, n, 40, false, true, 1.0F, 1.0F, compute}));
        }
    }
    return cases;
}

// 134 MB of one operand: more than a binding of some devices.
std::vector<Case> huge_cases() {
    return {matmul({{}, 70001, 4, 480}).past_a_grid(), matmul({{}, 4, 70001, 480, false, true}).past_a_grid(),
            matmul({{}, 4, 480, 70001}).past_a_grid()};
}

// A device may flush any denormals to 0: the sum of that many terms, or anything between that and 0.
Case::Accept flushed_terms(const Case& stated) {
    return [a = stated.operands[0].name, b = stated.operands[1].name, terms = stated.terms](
               const std::string& /*output*/, std::size_t /*index*/, double got, const HostValues& inputs) {
        const auto largest = [&inputs](const std::string& name) {
            double most = 0.0;
            for (const double value : inputs.at(name)) {
                most = std::max(most, std::abs(value));
            }
            return most;
        };
        return std::abs(got) <= terms * largest(a) * largest(b);
    };
}

std::vector<Case> extreme_cases() {
    std::vector<Case> cases;
    for (const auto& [what, values] :
         std::vector<std::pair<const char*, Values>>{{"large", {1e18, -3e17, 2e18, 5e17, 7e17}},
                                                     {"small", {1e-18, -3e-17, 2e-18, 5e-17, 7e-17}},
                                                     {"F16's subnormal", {0x1p-15, -0x1p-24, 0x1.8p-18, 0x1.ff8p-15}},
                                                     {"denormal", {0x1p-140, -0x1p-149, 0x1p-130, 0.0, 0x1p-127}}}) {
        Case stated = matmul({{}, 9, 17, 33});
        stated.name += fmt::format(" of {} numbers", what);
        stated.operands[0].values = these(values);
        if (std::abs(values[0]) < 0x1p-126) {
            stated.accept = flushed_terms(stated);
        }
        cases.push_back(stated);
    }
    return cases;
}

}  // namespace

Family family() {
    return {.name = "matmul",
            .groups =
                {
                    {"transposes", "products of all four transposes", transposes_cases},
                    {"few-rows", "products of few rows, as in decoding", few_rows_cases},
                    {"into-f32", "products into F32, whatever their operands are stored in", into_f32_cases},
                    {"long-sums", "products of ones in long sums that 64 does not divide", long_sums_cases},
                    {"batched", "products in one and two levels of batches", batched_cases},
                    {"empty", "products of nothing", empty_cases},
                    {"rounded-operands", "products of rounded operands", rounded_operands_cases},
                    {"narrow-weights", "products with weights in F16 and I8", narrow_weights_cases},
                    {"special-values", "NaN and infinity spread through products", special_values_cases},
                    {"sizes", "products of sizes that no tile divides", size_cases},
                    {"huge", "an operand larger than a binding may be", huge_cases, true},
                    {"extreme", "products of very large, very small and denormal numbers", extreme_cases},
                },
            .differentiations = differentiations,
            .speeds = matmul_speeds};
}

}  // namespace headscope::conformance::matmul_cases
