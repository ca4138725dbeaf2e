// What happens if cuBLASLt has no algorithm, rejects the one it chose, or cannot be asked.
#include <catch2/catch.hpp>

#include "backend/ops/matmul.h"
#include "linear_machine.h"
#include "tests/house/environment.h"

using namespace headscope;
using namespace headscope::cuda_tests;

TEST_CASE("without an algorithm the product and its bias run one after the other", "[linear]") {
    const Environment hopper("HEADSCOPE_EMULATION_SM", "90");  // has BF16 products
    const Machine machine;
    for (const DType dtype : {DType::F32, DType::F16, DType::BF16}) {
        Linear op = machine.layer(dtype == DType::F32 ? 9 : 10, dtype);
        {
            const NoAlgorithms none;
            CHECK(machine.questions(op) == 1);
            CHECK(machine.questions(op) == 0);  // not asked again
        }
        CHECK(machine.first(op.y) == 5.0);
        // Rounded operands too; the result is not rounded.
        op.compute = Compute::F16;
        op.bias = machine.make({4}, DType::F32, -2.999);
        if (dtype == DType::F32) {
            const NoAlgorithms none;
            CHECK(machine.questions(op) == 1);
            CHECK(machine.first(op.y) == Approx(5.001).epsilon(1e-6));
        }
    }
}

TEST_CASE("the first usable algorithm of cuBLASLt's list is chosen", "[linear]") {
    const Machine machine;
    for (const int useless : {1, 3, 4}) {
        INFO(useless);
        Linear op = machine.layer(15 + useless, DType::F16);
        op.bias = machine.make({4}, DType::F32, -7.999);  // of which F16 makes -8, and what is composed does not
        lt_heuristics().useless = useless;
        CHECK(machine.questions(op) == 1);
        lt_heuristics().useless = 0;
        CHECK((machine.first(op.y) == 0.0) == (useless < 4));
    }
}

TEST_CASE("an algorithm that is rejected when called is never called again", "[linear]") {
    const Machine machine;
    std::int64_t rows = 20;
    for (const cublasStatus_t refusal : kRefusals) {
        INFO(refusal);
        Linear op = machine.layer(++rows, DType::F16);
        op.bias = machine.make({4}, DType::F32, -7.999);  // of which F16 would make -8
        {
            const NoCalls none(refusal);
            CHECK(machine.questions(op) == 1);
        }
        const double value = machine.first(op.y);
        CHECK(value == Approx(0.001).epsilon(1e-3));
        CHECK(machine.questions(op) == 0);
        CHECK(machine.first(op.y) == value);
    }
}

TEST_CASE("an unsupported shape is not a failure for cuBLASLt, a fault is", "[linear]") {
    const Machine machine;
    std::int64_t rows = 30;
    for (const cublasStatus_t refusal : kRefusals) {
        INFO(refusal);
        const Linear op = machine.layer(++rows);
        const NoAlgorithms none(refusal);
        CHECK(machine.questions(op) == 1);
        CHECK(machine.first(op.y) == 5.0);
    }
    for (const cublasStatus_t fault : {CUBLAS_STATUS_EXECUTION_FAILED, CUBLAS_STATUS_INTERNAL_ERROR}) {
        const Linear op = machine.layer(++rows);
        {
            const NoAlgorithms none(fault);
            CHECK_THROWS_AS(machine.backend->run(op), Error);
        }
        machine.backend->run(op);
        {
            const NoCalls none(fault);
            CHECK_THROWS_AS(machine.backend->run(op), Error);
        }
        CHECK(machine.questions(op) == 0);
        CHECK(machine.first(op.y) == 5.0);
    }
}

TEST_CASE("while a graph is recorded no algorithm is chosen: it is recorded the next time", "[linear]") {
    const Machine machine;
    const Linear op = machine.layer(40);
    int calls = 0;
    const auto run = [&] {
        machine.backend->replay("late", [&] {
            if (++calls > 1) {  // as if the plan had been evicted
                machine.backend->run(op);
            }
        });
    };
    const int before = lt_heuristics().asked;
    run();
    run();
    CHECK(calls == 3);  // a failed recording, and op by op
    CHECK(machine.first(op.y) == 5.0);
    CHECK(lt_heuristics().asked == before + 1);
    for (const double bias : {-2.0, -1.0, 0.0}) {
        from_host(*machine.backend, op.bias, std::vector<float>(4, static_cast<float>(bias)));
        run();
        CHECK(machine.first(op.y) == 8.0 + bias);
    }
    CHECK(calls == 4);
    CHECK(lt_heuristics().asked == before + 1);
}

TEST_CASE("an algorithm that is rejected only in a graph stays the op's", "[linear]") {
    const Machine machine;
    const Linear op = machine.layer(41);
    int calls = 0;
    const auto run = [&] {
        machine.backend->replay("refused", [&] {
            ++calls;
            const NoCalls in_a_graph(calls == 2 ? CUBLAS_STATUS_NOT_SUPPORTED : CUBLAS_STATUS_SUCCESS);
            machine.backend->run(op);
        });
    };
    run();
    run();
    CHECK_THAT(machine.warnings.text(), Catch::Contains("run one by one"));
    CHECK(calls == 3);
    CHECK(machine.first(op.y) == 5.0);
    const NoCalls none(CUBLAS_STATUS_EXECUTION_FAILED);
    CHECK_THROWS_AS(machine.backend->run(op), Error);  // it is still called
}
