#include "conformance/cases/fused_attention.h"

#include <array>

#include "backend/ops/attention.h"

namespace headscope::conformance {

namespace {

std::string title_of(const Heads& size, const Manner& manner) {
    return fmt::format("{} d_v {}{}", size.q().to_string(), size.v().to_string(), manner.title());
}

// q, k and v, with garbage at keys that no query may see.
std::vector<Operand> heads_of(const Heads& size, const Manner& manner) {
    return {{"q", size.q()},
            with_unseen_garbage(Operand("k", size.k()), manner.rule, size.queries),
            with_unseen_garbage(Operand("v", size.v()), manner.rule, size.queries)};
}

Attention forward_op(const Operands& t, const Heads& size, const Manner& manner) {
    return {.q = t["q"],
            .k = t["k"],
            .v = t["v"],
            .out = t["out"],
            .mask = mask_of(t, manner.rule),
            .key_rows = t.maybe("key_rows"),
            .scale = size.scale(),
            .dropout = rule(t, manner.rate),
            .compute = manner.compute};
}

// Rows for all keys of all sentences, [keys, batch]; no row for keys that no query may see.
Generator names_of_rows(const Heads& size, std::int64_t rows, const Rule& rule) {
    const std::int64_t seen = rule.causal ? std::max<std::int64_t>(rule.offset, 0) + size.queries : size.keys;
    return [=](std::int64_t count, Random& random) {
        Values names = integers(0, rows)(count, random);
        std::fill(names.begin() + std::min(seen * size.batch, count), names.end(), 1e6);
        return names;
    };
}

}  // namespace

Case attention_by_rows(const Heads& size, std::int64_t rows, const Manner& manner) {
    Heads stored = size;
    stored.batch = rows;
    Manner of_all = manner;  // rows belong to no sentence
    of_all.rule.lengths = false;
    std::vector<Operand> operands = heads_of(stored, of_all);
    operands[0] = {"q", size.q()};
    operands.push_back({"key_rows", {size.keys, size.batch}, names_of_rows(size, rows, manner.rule)});
    operands.push_back({"out", size.out()});
    return manner.measured(
        make_case(fmt::format("{} of {} rows", title_of(size, manner), rows), manner.operands(operands, size.weights()),
                  [=](const Operands& t) { return forward_op(t, size, manner); }),
        size);
}

Case attention(const Heads& size, const Manner& manner) {
    std::vector<Operand> operands = heads_of(size, manner);
    operands.push_back({"out", size.out()});
    return manner.measured(make_case(title_of(size, manner), manner.operands(operands, size.weights()),
                                     [=](const Operands& t) { return forward_op(t, size, manner); }),
                           size);
}

Case attention_backward(const Heads& size, const Manner& manner, const std::string& gradients) {
    std::vector<Operand> operands = heads_of(size, manner);
    operands.push_back({"grad_out", size.out()});
    operands.push_back({"out", size.out()});
    for (const auto& [letter, shape] : {std::pair{'q', size.q()}, {'k', size.k()}, {'v', size.v()}}) {
        if (gradients.find(letter) != std::string::npos) {
            operands.push_back({fmt::format("grad_{}", letter), shape});
        }
    }
    Case stated;
    stated.op = OpId::AttentionBackward;
    stated.name = title_of(size, manner) + (gradients == "qkv" ? "" : " for " + gradients);
    stated.operands = manner.operands(operands, size.weights());
    const auto backward = [=](const Attention& forward, const Operands& t) {
        AttentionBackward op{.q = forward.q,
                             .k = forward.k,
                             .v = forward.v,
                             .out = forward.out,
                             .grad_out = t["grad_out"],
                             .log_sums = forward.log_sums,
                             .grad_q = t.maybe("grad_q"),
                             .grad_k = t.maybe("grad_k"),
                             .grad_v = t.maybe("grad_v"),
                             .mask = forward.mask,
                             .scale = forward.scale,
                             .dropout = forward.dropout,
                             .compute = forward.compute};
        for (const auto& [name, write] :
             {std::pair{"grad_q", &op.write_q}, {"grad_k", &op.write_k}, {"grad_v", &op.write_v}}) {
            *write = t.accumulated.count(name) == 1 ? Write::Accumulate : Write::Overwrite;
        }
        return op;
    };
    stated.run = [=](Backend& backend, const Operands& t) {
        Attention forward = forward_op(t, size, manner);
        forward.log_sums = backend.empty(size.rows(), backend.full_dtype());
        backend.run(forward);
        backend.run(backward(forward, t));
    };
    const Operands stand_ins = stated.stand_ins();
    const AttentionBackward op = backward(forward_op(stand_ins, size, manner), stand_ins);
    stated.take(operands_of(op), stand_ins);
    for (Operand& operand : stated.operands) {
        operand.role = operand.name == "out" ? Role::Out : operand.role;  // by the forward
    }
    return manner.measured(stated, size);
}

Case into_columns(Case stated) {
    std::vector<std::string> written;
    for (Operand& operand : stated.operands) {
        if (operand.written()) {
            const Shape& own = operand.shape;
            operand.shape = {own[0], own[1], own[2], own[3] + 3};
            operand.role = Role::InOut;
            written.push_back(operand.name);
        }
    }
    stated.name += " into columns";
    stated.run = [run = stated.run, written](Backend& backend, const Operands& t) {
        Operands columns = t;
        for (const std::string& name : written) {
            columns.tensors[name] = t[name].narrow(3, 1, t[name].dim(3) - 3);
        }
        run(backend, columns);
    };
    return stated;
}

std::vector<std::pair<Heads, Manner>> fused_sizes() {
    std::vector<std::pair<Heads, Manner>> all;
    for (const Heads& size : {Heads{1, 1, 1, 1, 1, 1},
                              {2, 3, 5, 5, 8, 8},
                              {4, 2, 33, 33, 16, 16},
                              {3, 2, 3, 65, 33, 7},
                              {4, 2, 1, 40, 32, 32}}) {
        for (const Rule& rule : rules()) {
            all.push_back({size, {.rule = rule}});
        }
        all.push_back({size, {.rule = {.lengths = true, .causal = true}, .rate = 0.3F}});
        all.push_back({size, {.rule = {.causal = true, .ranges = Ranges::Documents, .size = 4}, .rate = 0.3F}});
    }
    const std::vector<std::pair<Heads, Manner>> others{
        {{5, 1, 65, 130, 16, 16}, {.rule = {.lengths = true}, .rate = 0.1F}},  // a length within a later tile
        {{1, 1, 130, 65, 64, 5}, {.rule = {.causal = true}}},
        {{1, 1, 65, 130, 5, 64}, {.rule = {.causal = true, .offset = 40}, .rate = 0.5F}},
        {{1, 1, 66, 130, 64, 64}, {.rule = {.causal = true, .offset = 64}}},
        {{3, 1, 33, 65, 65, 128}, {.rule = {.lengths = true}}},
        {{2, 1, 130, 130, 16, 16},
         {.rule = {.ranges = Ranges::Documents, .size = 20}, .rate = 0.3F}},  // some tiles see none
        {{2, 1, 130, 65, 64, 5}, {.rule = {.causal = true, .ranges = Ranges::Window, .size = 9}}},
        {{2, 1, 65, 130, 5, 64}, {.rule = {.ranges = Ranges::Window, .size = 3}, .rate = 0.5F}},
        {{2, 1, 70, 130, 64, 64}, {.rule = {.ranges = Ranges::Odd}}},
        {{2, 1, 130, 130, 16, 16}, {.rule = {.window = 9}, .rate = 0.3F}},
        {{2, 2, 300, 300, 16, 9}, {.rule = {.lengths = true, .causal = true, .window = 20}}},
        {{2, 1, 65, 200, 64, 5}, {.rule = {.causal = true, .offset = 100, .window = 33}, .rate = 0.5F}},
        {{1, 1, 200, 65, 5, 64}, {.rule = {.window = 30}}},
        {{2, 1, 300, 300, 8, 8},
         {.rule = {.causal = true, .ranges = Ranges::Documents, .size = 60, .window = 17}, .rate = 0.3F}},
        {{1, 2, 300, 300, 8, 8}, {.rule = {.ranges = Ranges::Odd, .window = 12}}},
        {{1, 1, 1, 300, 64, 64}, {.rule = {.causal = true, .offset = 250, .window = 40}}},  // decoding
        {{2, 1, 33, 40, 200, 130}, {.rule = {.ranges = Ranges::Documents, .size = 7}}},
        {{2, 1, 9, 17, 300, 257}, {.rule = {.ranges = Ranges::Odd}}},
        {{1, 2, 1024, 1024, 8, 8}, {.rule = {.causal = true, .ranges = Ranges::Documents, .size = 130}}},
        {{2, 1, 33, 65, 16, 16}, {.rule = {.ranges = Ranges::Window, .size = 5}, .compute = Compute::BF16}},
        {{1, 1, 65, 33, 128, 1}, {.rate = 0.3F}},
        {{1, 1, 33, 33, 200, 130}, {.rule = {.causal = true, .offset = 1}}},
        {{1, 1, 9, 17, 256, 256}, {.rate = 0.3F}},
        {{1, 1, 6, 5, 300, 257}, {.rule = {.causal = true}, .rate = 0.3F}},  // deeper than kernels are made for
        {{1, 2, 3, 257, 64, 64}, {}},
        {{1, 2, 3, 300, 64, 64}, {.rule = {.ranges = Ranges::Tail, .size = 70}, .rate = 0.3F}},
        {{1, 2, 5, 9, 32, 32}, {.rule = {.lengths = true}, .rate = 0.1F}},  // the paper's models and ours
        {{1, 2, 5, 9, 64, 64}, {.rule = {.lengths = true}, .rate = 0.1F}},
        {{2, 1, 40, 40, 64, 64}, {.rule = {.lengths = true}, .rate = 0.1F}},  // whole sentences on tensor cores
        {{1, 2, 40, 40, 64, 64}, {.rule = {.lengths = true, .causal = true}, .rate = 0.3F}},
        {{2, 1, 17, 17, 64, 32}, {.rule = {.causal = true}}},
        {{2, 1, 16, 16, 64, 64}, {.rule = {.ranges = Ranges::Odd}}},
        {{1, 1, 48, 48, 32, 32}, {}},
        {{1, 1, 20, 64, 128, 128}, {.rule = {.causal = true}, .rate = 0.1F}},
        {{1, 1, 65, 65, 64, 64}, {.rule = {.ranges = Ranges::Documents, .size = 9}, .rate = 0.3F}},
        {{1, 1, 96, 96, 32, 32}, {.rule = {.causal = true, .window = 9}}},
        {{1, 1, 40, 128, 32, 32}, {.rule = {.causal = true, .ranges = Ranges::Window, .size = 5}, .rate = 0.1F}},
        {{2, 1, 25, 100, 32, 32}, {.rule = {.lengths = true}, .rate = 0.1F}},
        {{1, 1, 100, 25, 32, 32}, {.rule = {.window = 30}}},
        {{2, 1, 12, 40, 24, 40}, {.rule = {.causal = true, .offset = 20}}},
        {{2, 1, 20, 40, 20, 20}, {.rule = {.lengths = true}}},
        {{1, 8, 128, 128, 64, 64}, {}},                         // weights larger than small bindings
        {{3, 1, 1, 300, 64, 65}, {.rule = {.lengths = true}}},  // decoding
        {{1, 2, 1, 130, 128, 16}, {.rule = {.causal = true, .offset = 128}, .rate = 0.3F}},
        {{1, 1, 3, 33, 256, 5}, {.rule = {.causal = true, .offset = 20}}},
        {{4, 1, 33, 65, 16, 16}, {.rule = {.lengths = true}, .compute = Compute::BF16}},
        {{1, 2, 1, 65, 64, 64}, {.compute = Compute::BF16}},
        {{2, 1, 40, 40, 64, 64}, {.rule = {.lengths = true, .causal = true}, .rate = 0.3F, .compute = Compute::TF32}},
        {{1, 1, 17, 130, 36, 20}, {.rule = {.causal = true, .offset = 70}, .rate = 0.1F, .compute = Compute::TF32}},
        {{1, 1, 70, 130, 64, 64}, {.rule = {.ranges = Ranges::Odd}, .rate = 0.3F, .compute = Compute::TF32}},
        {{1, 1, 5, 9000, 8, 8}, {.rate = 0.1F}},  // llvmpipe leaves kernels whose loops ran 65,535 times
        {{1, 1, 9000, 5, 8, 8}, {.rate = 0.1F}},
        {{1, 1, 1, 9000, 8, 8}, {.rate = 0.1F}},
        {{2, 2, 3, 0, 4, 5}, {}},  // no keys: 0
        {{2, 2, 6, 0, 4, 5}, {}},
        {{2, 0, 3, 4, 4, 5}, {}},
        {{2, 2, 0, 4, 4, 5}, {}},
    };
    all.insert(all.end(), others.begin(), others.end());
    return all;
}

std::vector<Case> by_rows_cases() {
    const Manner step{.rule = {.causal = true, .offset = 29}};
    return {attention_by_rows({8, 2, 1, 32, 32, 32}, 8, step),  // a beam's step
            attention_by_rows({3, 2, 1, 32, 64, 64}, 5, step),  // fewer hypotheses than rows
            attention_by_rows({6, 1, 1, 300, 128, 128}, 2, {.rule = {.causal = true, .offset = 250, .window = 40}}),
            attention_by_rows({2, 3, 3, 17, 9, 5}, 4),
            attention_by_rows({2, 1, 4, 9, 16, 16}, 3, {.rule = {.lengths = true}}),
            attention_by_rows({2, 1, 2, 9, 8, 8}, 3, {.rule = {.causal = true}, .rate = 0.3F}),
            attention_by_rows({2, 1, 1, 9, 8, 8}, 3, {.rule = step.rule, .compute = Compute::BF16}),
            attention_by_rows({2, 2, 9, 12, 16, 16}, 3, {.rule = {.causal = true, .offset = 1}}),  // composed
            attention_by_rows({1, 1, 1, 5, 300, 257}, 2),
            attention_by_rows({2, 1, 1, 0, 8, 8}, 2)};
}

std::vector<Case> grouped_cases() {
    std::vector<Case> cases;
    const auto both = [&](const Heads& size, const Manner& manner = {}) {
        cases.push_back(attention(size, manner));
        cases.push_back(attention_backward(size, manner));
    };
    for (const std::int64_t of_group : {2, 3, 6}) {
        for (const Rule& rule : rules()) {
            both({2, 6, 5, 7, 8, 8, of_group}, {.rule = rule});
        }
        both({2, 6, 33, 40, 16, 12, of_group}, {.rule = {.lengths = true, .causal = true}, .rate = 0.3F});
        for (const std::int64_t queries : {1, 2, 4}) {  // decoding
            cases.push_back(attention({2, 6, queries, 40, 64, 64, of_group}, {.rule = {.causal = true, .offset = 29}}));
        }
        cases.push_back(
            attention_by_rows({3, 6, 1, 32, 64, 64, of_group}, 5, {.rule = {.causal = true, .offset = 29}}));
        for (const char* gradients : {"q", "k", "v"}) {
            cases.push_back(attention_backward({3, 6, 9, 33, 8, 5, of_group}, {.rule = {.lengths = true}}, gradients));
        }
    }
    both({2, 4, 70, 70, 64, 64, 2}, {.rule = {.window = 30}, .rate = 0.3F});
    both({1, 4, 130, 130, 32, 32, 4}, {.rule = {.causal = true, .window = 20}, .rate = 0.1F});
    both({1, 4, 66, 66, 128, 128, 2}, {.rule = {.causal = true}});
    both({1, 2, 17, 17, 200, 130, 2}, {.rule = {.lengths = true}});
    both({1, 2, 9, 17, 300, 257, 2}, {.rule = {.causal = true}});  // deeper than kernels are made for
    both({1, 4, 65, 65, 64, 64, 2},
         {.rule = {.lengths = true, .causal = true}, .rate = 0.3F, .compute = Compute::TF32});
    both({1, 4, 3, 300, 64, 64, 2}, {.rule = {.causal = true, .offset = 290}});
    both({1, 2, 1100, 960, 8, 8, 2}, {.rule = {.lengths = true}, .rate = 0.3F});  // weights are never written
    both({1, 8, 8200, 5, 8, 8, 8});  // llvmpipe leaves kernels whose loops ran 65,535 times
    both({2, 4, 3, 0, 4, 5, 2});
    both({2, 4, 0, 3, 4, 5, 2});
    cases.push_back(into_columns(attention({2, 4, 9, 12, 16, 16, 2}, {.rule = {.lengths = true}})));
    cases.push_back(into_columns(attention_backward({2, 4, 9, 12, 16, 16, 2}, {.rule = {.lengths = true}})));
    return cases;
}

std::vector<std::pair<Heads, Manner>> tensor_core_sizes() {
    return {{{2, 3, 40, 40, 64, 64}, {.rule = {.lengths = true}, .rate = 0.1F}},
            {{2, 1, 40, 40, 64, 64}, {.rule = {.lengths = true, .causal = true}, .rate = 0.3F}},
            {{1, 2, 48, 48, 32, 32}, {}},
            {{1, 1, 64, 64, 128, 128}, {.rule = {.causal = true}, .rate = 0.1F}},
            {{2, 1, 65, 65, 64, 64}, {.rule = {.ranges = Ranges::Documents, .size = 9}, .rate = 0.3F}},
            {{1, 1, 96, 96, 64, 64}, {.rule = {.causal = true, .window = 9}}},
            {{1, 1, 128, 128, 32, 32}, {.rule = {.causal = true, .ranges = Ranges::Window, .size = 5}, .rate = 0.1F}},
            {{1, 1, 128, 128, 64, 64}, {.rule = {.lengths = true}}},
            {{4, 1, 25, 100, 64, 64}, {.rule = {.lengths = true}, .rate = 0.1F}},
            {{2, 1, 100, 25, 32, 32}, {.rule = {.window = 30}}},
            {{2, 1, 40, 40, 64, 64}, {.rule = {.ranges = Ranges::Odd}, .compute = Compute::TF32}},
            {{1, 1, 96, 80, 32, 32}, {.rule = {.window = 20}, .compute = Compute::TF32}},
            {{1, 1, 130, 140, 128, 128}, {.rule = {.causal = true, .offset = 10}, .compute = Compute::TF32}},
            {{2, 1, 200, 200, 64, 64}, {.rule = {.lengths = true, .causal = true}, .rate = 0.3F}},
            {{1, 1, 130, 200, 128, 128}, {.rule = {.causal = true, .offset = 70}, .rate = 0.1F}},
            {{1, 1, 200, 130, 128, 64}, {.rule = {.ranges = Ranges::Odd, .window = 40}}},
            {{1, 2, 192, 256, 32, 32}, {.rule = {.window = 50}, .rate = 0.1F}},
            {{2, 4, 40, 40, 64, 64, 2}, {.rule = {.lengths = true, .causal = true}, .rate = 0.3F}},
            {{1, 6, 130, 200, 64, 64, 3}, {.rule = {.causal = true, .offset = 70}, .rate = 0.1F}},
            {{1, 4, 96, 80, 32, 32, 4}, {.rule = {.window = 20}, .compute = Compute::TF32}}};
}

}  // namespace headscope::conformance
