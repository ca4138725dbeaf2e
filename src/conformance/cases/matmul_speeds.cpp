// The products that are timed: square ones and a model's.
#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "conformance/cases/product.h"

namespace headscope::conformance {

namespace {

Case timed(Product product, const Workload& work) {
    const bool has_weights = product.batch.empty() && product.transpose_b && !product.transpose_a;
    product.compute = work.compute;
    product.weights = has_weights ? work.weights : DType::F32;
    double batch = 1.0;
    std::string text;
    for (const std::int64_t each : product.batch) {
        batch *= static_cast<double>(each);
        text += fmt::format("{}{}", text.empty() ? "" : "x", each);
    }
    Case stated =
        matmul(product).named(fmt::format("{}{}{}x{}x{} {}{}", text, text.empty() ? "" : " of ", product.m, product.n,
                                          product.k, product.transpose_a ? "t" : "n", product.transpose_b ? "t" : "n"));
    stated.arithmetic =
        2.0 * batch * static_cast<double>(product.m) * static_cast<double>(product.n) * static_cast<double>(product.k);
    return stated;
}

// Forward, and backward to the input and to the weight.
std::vector<Product> layer_products(const Workload& work) {
    return {{{}, work.rows(), work.d_model, work.d_model, false, true},
            {{}, work.rows(), work.d_ff, work.d_model, false, true},
            {{}, work.rows(), work.d_model, work.d_ff, false, true},
            {{}, work.rows(), work.vocabulary, work.d_model, false, true},
            {{}, work.rows(), work.d_model, work.d_ff, false, false},
            {.batch = {}, .m = work.d_ff, .n = work.d_model, .k = work.rows(), .transpose_a = true, .full_out = true}};
}

std::vector<Product> decoding_products(const Workload& work) {
    std::vector<Product> products;
    for (const std::int64_t rows : {1, 4}) {  // greedy, and a beam
        products.push_back({{}, rows, work.d_ff, work.d_model, false, true});
        products.push_back({{}, rows, work.d_model, work.d_ff, false, true});
        products.push_back({{}, rows, work.vocabulary, work.d_model, false, true});
    }
    return products;
}

// Weights times values, and the gradient of the keys.
std::vector<Product> attention_products(const Workload& work) {
    const std::vector<std::int64_t> heads{work.sentences, work.heads};
    return {{heads, work.length, work.d_k(), work.length, false, false},
            {heads, work.length, work.d_k(), work.length, true, false}};
}

}  // namespace

std::vector<Case> matmul_speeds(const Workload& work) {
    std::vector<Product> products;
    for (const std::int64_t side : work.sides) {
        for (const auto& [a, b] : {std::pair{false, false}, {false, true}, {true, false}}) {
            products.push_back({{}, side, side, side, a, b});
        }
    }
    const auto add = [&](const std::vector<Product>& more) {
        products.insert(products.end(), more.begin(), more.end());
    };
    add(work.every_product ? layer_products(work) : std::vector<Product>{});
    add(work.every_product ? decoding_products(work)
                           : std::vector<Product>{{{}, 4, work.d_ff, work.d_model, false, true}});
    const float scale = 1.0F / std::sqrt(static_cast<float>(work.d_k()));
    add({{{work.sentences, work.heads}, work.length, work.length, work.d_k(), false, true, scale}});
    add(work.every_product ? attention_products(work) : std::vector<Product>{});
    std::vector<Case> cases;
    for (const Product& product : products) {
        cases.push_back(timed(product, work));
    }
    // By matrices, if a device has them.
    Workload rounded = work;
    rounded.compute = Compute::F16;
    for (const std::int64_t side : work.every_product ? std::vector<std::int64_t>{} : work.sides) {
        cases.push_back(timed({{}, side, side, side, false, true}, rounded));
    }
    return cases;
}

}  // namespace headscope::conformance
