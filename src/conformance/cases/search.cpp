// LogSoftmaxTopK, GatherRows.
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "backend/ops/search.h"
#include "conformance/cases/catalogue.h"

namespace headscope::conformance::search_cases {

namespace {

// A device sorts the logits as they are stored, so indices must be equal, ties by the smaller one.
Case top_k(std::int64_t rows, std::int64_t classes, std::int64_t k, Generator logits, const char* kind) {
    return make_case(fmt::format("{} of [{}, {}] {}", k, rows, classes, kind),
                     {{"logits", {rows, classes}, std::move(logits)}, {"values", {rows, k}}, {"indices", {rows, k}}},
                     [](const Operands& t) {
                         return LogSoftmaxTopK{t["logits"], t["values"], t["indices"]};
                     })
        .sums(static_cast<double>(classes));
}

Case gather(const Shape& x, Values index, DType dtype) {
    Shape target = x;
    target.set(0, static_cast<std::int64_t>(index.size()));
    Operand from = Operand("x", x).exact();
    Operand to = Operand("out", target).exact();
    if (dtype != DType::F32) {
        from = from.typed(dtype);
        to = to.typed(dtype);
    }
    if (dtype == DType::I32) {
        from = from.filled(integers(-2000000000, 2000000000));
    }
    return make_case(fmt::format("{} {} of {}", index.size(), name_of(dtype), x.to_string()),
                     {from, {"index", {static_cast<std::int64_t>(index.size())}, these(index)}, to},
                     [](const Operands& t) {
                         return GatherRows{t["x"], t["index"], t["out"]};
                     });
}

// The middle of [4, heads, 5, 7], so that x's strides differ from out's.
Case gather_part(std::int64_t heads, std::int64_t keys, std::int64_t depth, DType dtype, const Values& index) {
    return make_case(
        fmt::format("{} keys of 5, {} columns of 7, {} heads of 4, {}", keys, depth, heads, name_of(dtype)),
        {Operand("x", {4, 4, 5, 7}).typed(dtype).exact(),
         {"index", {static_cast<std::int64_t>(index.size())}, these(index)},
         Operand("out", {static_cast<std::int64_t>(index.size()), heads, keys, depth}).typed(dtype).exact()},
        [=](const Operands& t) {
            const Tensor x = t["x"].narrow(1, 4 - heads, heads).narrow(2, 5 - keys, keys);
            return GatherRows{x.narrow(3, 7 - depth, depth), t["index"], t["out"]};
        });
}

// No two numbers of a row are adjacent in both tensors: more iterations than llvmpipe allows a kernel's loops.
Case gather_turned(const Shape& x, const Values& index, DType dtype) {
    const auto rows = static_cast<std::int64_t>(index.size());
    return make_case(fmt::format("{} {} of {}, transposed", rows, name_of(dtype), x.to_string()),
                     {Operand("x", x).typed(dtype).exact(),
                      {"index", {rows}, these(index)},
                      Operand("out", {rows, x[2], x[1], x[3]}).typed(dtype).exact()},
                     [](const Operands& t) {
                         return GatherRows{t["x"].swap(1, 2), t["index"], t["out"]};
                     });
}

std::vector<Case> top_k_cases() {
    std::vector<Case> cases;
    for (const std::int64_t classes : {1, 3, 33, 257, 1003}) {
        for (const std::int64_t k : {1, 4, 33, 64}) {
            if (k <= classes) {
                cases.push_back(top_k(5, classes, k, normal(3.0), "normal"));
                cases.push_back(top_k(5, classes, k, integers(0, 4), "with ties"));
            }
        }
    }
    cases.push_back(top_k(1, 8000, 8, normal(3.0), "normal"));
    for (std::int64_t k = 1; k <= 12; ++k) {  // as many as an invocation keeps, and as a beam of 4 needs
        cases.push_back(top_k(3, 2048, k, normal(3.0), "normal"));
    }
    // More than one block of a GPU reads, with equal logits in all of them.
    cases.push_back(top_k(2, 8203, 5, integers(0, 4), "with ties"));
    cases.push_back(top_k(2, 12296, 64, normal(3.0), "normal"));
    cases.push_back(top_k(4, 33, 5, normal(60.0), "far apart"));
    cases.push_back(top_k(4, 33, 5, these({-2.5}), "all equal"));
    cases.push_back(top_k(4, 33, 5, these({0.0, -0.0}), "of both zeros"));
    cases.push_back(top_k(0, 33, 4, normal(), "no rows"));
    cases.push_back(top_k(70000, 3, 1, normal(), "many rows").past_a_grid());
    return cases;
}

// `classes` logits that are `most`, but one.
Generator all_but_one(double most, std::int64_t classes, std::int64_t at, double value) {
    Values values(static_cast<std::size_t>(classes), most);
    values[static_cast<std::size_t>(at)] = value;
    return these(values);
}

std::vector<Case> special_values_cases() {
    return {
        top_k(2, 4100, 3, all_but_one(kNan, 4100, 4099, 2.0), "NaN but the last"),
        top_k(2, 8200, 3, all_but_one(-kInfinity, 8200, 5000, -2.0), "infinite but one"),
        top_k(1, 4100, 2, these({kNan}), "NaN"),
        top_k(3, 5, 3, these({kNan, 1.0, -3.0, kNan, 2.0}), "with NaN"),
        top_k(3, 5, 5, these({kNan, 1.0, -3.0, kNan, 2.0}), "with NaN"),
        top_k(3, 5, 4, these({-kInfinity, 1.0, -3.0, kNan, -kInfinity}), "with infinities"),
    };
}

// Large vocabularies.
std::vector<Case> long_rows_cases() {
    std::vector<Case> cases;
    for (const std::int64_t classes : {37000, 60000}) {
        cases.push_back(top_k(2, classes, 8, normal(3.0), "normal"));
        cases.push_back(top_k(1, classes, 33, integers(0, 9), "with ties"));
    }
    return cases;
}

std::vector<Case> gather_cases() {
    std::vector<Case> cases;
    const Values outside{2, 0, -1, 2, 1, 3, 1e6, -2147483648.0, 2147483647.0};
    for (const DType dtype : {DType::F32, DType::I32, DType::F16, DType::BF16, DType::I8}) {
        cases.push_back(gather({3, 33}, {2, 0, 0, 1}, dtype));
        cases.push_back(gather({3}, outside, dtype));
        cases.push_back(gather({3, 2, 5, 7}, outside, dtype));
    }
    for (const DType dtype : {DType::F32, DType::F16}) {
        for (const Values& index : {Values{2, 0, 3, 3, 1}, Values{2, -1, 4, 3}}) {
            cases.push_back(gather_part(2, 3, 7, dtype, index));  // runs of keys and columns
            cases.push_back(gather_part(2, 3, 5, dtype, index));  // runs of columns
            cases.push_back(gather_part(4, 1, 7, dtype, index));
            cases.push_back(gather_part(1, 5, 3, dtype, index));
            cases.push_back(gather_part(4, 5, 3, dtype, index));  // more runs than a GPU's workgroup handles
        }
    }
    cases.push_back(gather({4, 8, 33, 16}, {3, 3, 0, 1, 2, 2, 1}, DType::F32));
    cases.push_back(gather({5, 257}, {4}, DType::F32));
    cases.push_back(gather({2, 40003}, {-1, 1, 0}, DType::F32));  // more than a workgroup handles
    cases.push_back(gather_turned({4, 200, 201, 1}, {2, -1, 3}, DType::F32));
    cases.push_back(gather_turned({4, 200, 201, 1}, {2, -1, 3}, DType::F16));
    cases.push_back(gather({0, 3}, {0, -1}, DType::F32));
    cases.push_back(gather({3, 0}, {0, 1}, DType::F32));
    cases.push_back(gather({3, 4}, {}, DType::F32));
    return cases;
}

std::vector<Case> speeds(const Workload& work) {
    constexpr std::int64_t kBeam = 4;
    const std::int64_t rows = kBeam * work.sentences;
    Values back(static_cast<std::size_t>(rows));  // every hypothesis from another
    for (std::size_t i = 0; i < back.size(); ++i) {
        back[i] = static_cast<double>(back.size() - 1 - i);
    }
    const Shape cache{rows, work.heads, work.length, work.d_k()};
    return {top_k(rows, work.vocabulary, kBeam, normal(), "at random")
                .named(fmt::format("{} of {}x{}", kBeam, rows, work.vocabulary)),
            gather(cache, back, DType::F32).named(fmt::format("{}x{}x{}x{}", cache[0], cache[1], cache[2], cache[3]))};
}

}  // namespace

Family family() {
    return {.name = "search",
            .groups =
                {
                    {"top-k", "the best entries of a row", top_k_cases},
                    {"special-values", "no number is less than every number", special_values_cases},
                    {.name = "long-rows",
                     .says = "the best entries of rows of large vocabularies",
                     .cases = long_rows_cases,
                     .is_slow = true},
                    {"gather", "gathered rows", gather_cases},
                },
            .speeds = speeds};
}

}  // namespace headscope::conformance::search_cases
