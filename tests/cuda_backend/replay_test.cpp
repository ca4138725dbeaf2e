// Backend::replay on the emulated device: what is recorded, launched again, and what cannot be.
#include <catch2/catch.hpp>
#include <memory>

#include "backends/cuda/cuda_backend.h"
#include "support/check.h"

using namespace headscope;
using headscope::cuda::CudaBackend;
using headscope::cuda::Replays;

namespace {

struct ReplayMachine {
    std::unique_ptr<CudaBackend> backend = std::make_unique<CudaBackend>(0, cuda::CudaOptions{});

    Tensor filled(float value) const {
        Tensor tensor = backend->empty({1000}, DType::F32);
        backend->run(Fill{.out = tensor, .value = value});
        return tensor;
    }
    float first(const Tensor& tensor) const { return to_host<float>(*backend, tensor)[0]; }
};

}  // namespace

TEST_CASE("a run that comes again is launched without its body", "[replay]") {
    const ReplayMachine machine;
    const Tensor x = machine.filled(1.0F);
    const Tensor sum = machine.filled(0.0F);
    int calls = 0;
    const auto add_twice = [&] {
        ++calls;
        const Tensor twice = machine.backend->empty(x.shape, x.dtype);  // from the graphs' own memory
        machine.backend->run(AddScaled{.a = x, .out = twice, .alpha = 2.0F});
        machine.backend->run(AddScaled{.a = sum, .b = twice, .out = sum});
    };
    for (int run = 1; run <= 5; ++run) {
        machine.backend->replay("add_twice", {x, sum}, add_twice);
        CHECK(machine.first(sum) == 2.0F * static_cast<float>(run));
        CHECK(calls == std::min(run, 2));
        // Whatever is allocated between runs is not the graph's.
        const Tensor between = machine.filled(-7.0F);
        CHECK(machine.first(between) == -7.0F);
    }
    machine.backend->run(Fill{.out = x, .value = 10.0F});  // what changes is read from the operands
    machine.backend->replay("add_twice", {x, sum}, add_twice);
    CHECK(machine.first(sum) == 30.0F);
    CHECK(calls == 2);
}

TEST_CASE("other operands or another name are another run", "[replay]") {
    const ReplayMachine machine;
    const Tensor x = machine.filled(1.0F);
    const Tensor y = machine.filled(1.0F);
    int calls = 0;
    const auto run = [&](const char* name, const Tensor& operand) {
        machine.backend->replay(name, {operand}, [&] {
            ++calls;
            machine.backend->run(AddScaled{.a = operand, .out = operand, .alpha = 3.0F});
        });
    };
    for (int i = 0; i < 3; ++i) {
        run("triple", x);
    }
    CHECK(calls == 2);
    run("triple", y);
    CHECK(calls == 3);
    run("triple", x.narrow(0, 0, 10));
    CHECK(calls == 4);
    run("other", x);
    CHECK(calls == 5);
    CHECK(machine.first(y) == 3.0F);
    CHECK(machine.first(x) == 27.0F * 9.0F);
}

TEST_CASE("a body that records an event cannot be recorded, and says so", "[replay]") {
    const ReplayMachine machine;
    const Tensor x = machine.filled(1.0F);
    const auto marks = [&] {
        machine.backend->run(AddScaled{.a = x, .out = x, .alpha = 3.0F});
        machine.backend->record_event();
    };
    machine.backend->replay("marks", {x}, marks);  // the first time nothing is recorded
    CHECK_THROWS_WITH(machine.backend->replay("marks", {x}, marks), Catch::Matchers::Contains("recorded an event"));
    CHECK(machine.first(x) == 3.0F);
}

TEST_CASE("a body that waits cannot be recorded, and says so", "[replay]") {
    const ReplayMachine machine;
    const Tensor x = machine.filled(1.0F);
    const auto waits = [&] {
        machine.backend->run(Fill{.out = x, .value = 2.0F});
        machine.backend->synchronize();
    };
    machine.backend->replay("waits", {x}, waits);
    CHECK_THROWS_AS(machine.backend->replay("waits", {x}, waits), Error);
    // And the backend goes on.
    machine.backend->run(Fill{.out = x, .value = 5.0F});
    CHECK(machine.first(x) == 5.0F);
}

TEST_CASE("a body that uploads cannot be recorded", "[replay]") {
    const ReplayMachine machine;
    const Tensor x = machine.filled(1.0F);
    const auto uploads = [&] { from_host(*machine.backend, x, std::vector<float>(1000, 3.0F)); };
    machine.backend->replay("uploads", {x}, uploads);
    CHECK_THROWS_AS(machine.backend->replay("uploads", {x}, uploads), CheckFailure);
}

TEST_CASE("what a replay's body allocates must not outlive it", "[replay]") {
    const ReplayMachine machine;
    const Tensor x = machine.filled(1.0F);
    Tensor kept;
    const auto keeps = [&] { kept = machine.filled(1.0F); };
    machine.backend->replay("keeps", {x}, keeps);
    CHECK_THROWS_AS(machine.backend->replay("keeps", {x}, keeps), CheckFailure);
}

TEST_CASE("without graphs every run calls its body", "[replay]") {
    CudaBackend backend(0, {.graphs = false});
    const Tensor x = backend.empty({8}, DType::F32);
    int calls = 0;
    for (int i = 0; i < 4; ++i) {
        backend.replay("fill", {x}, [&] {
            ++calls;
            backend.run(Fill{.out = x, .value = 1.0F});
        });
    }
    CHECK(calls == 4);
}

TEST_CASE("runs are kept at the second coming, and the one not used for longest goes", "[replay]") {
    using Turn = Replays<int>::Turn;
    Replays<int> replays(2);
    CHECK(replays.next("a") == Turn::Run);
    CHECK(replays.next("a") == Turn::Record);
    replays.keep("a", std::make_unique<int>(1));
    CHECK(replays.next("a") == Turn::Launch);
    CHECK(replays.graph("a") == 1);
    CHECK(replays.next("b") == Turn::Run);
    CHECK(replays.next("a") == Turn::Launch);
    CHECK(replays.next("c") == Turn::Run);  // b goes
    CHECK(replays.size() == 2);
    CHECK(replays.next("a") == Turn::Launch);
    CHECK(replays.next("b") == Turn::Run);
    CHECK(replays.next("b") == Turn::Record);  // which failed: nothing was kept
    CHECK(replays.next("b") == Turn::Record);
    replays.clear();
    CHECK(replays.next("a") == Turn::Run);
}

TEST_CASE("where there was no memory to keep a run, it is tried again after longer and longer pauses", "[replay]") {
    using Turn = Replays<int>::Turn;
    Replays<int> replays(2, 3);
    replays.next("a");
    for (const int pause : {3, 6, 12}) {
        CHECK(replays.next("a") == Turn::Record);
        replays.clear();  // which gave memory back, in vain
        replays.postpone();
        for (int run = 0; run < pause; ++run) {
            CHECK(replays.next(run % 2 == 0 ? "a" : "b") == Turn::Run);
        }
        CHECK(replays.next("a") == Turn::Run);  // for the first time since
    }
    CHECK(replays.next("a") == Turn::Record);
    replays.keep("a", std::make_unique<int>(1));
    CHECK(replays.next("a") == Turn::Launch);
}
