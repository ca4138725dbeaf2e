// The contract of Backend::replay, for the tests of each backend that records.
#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "backend/ops/elementwise.h"
#include "support/check.h"

namespace headscope::replay_contract {

inline Tensor filled(Backend& backend, float value) {
    Tensor tensor = backend.empty({1000}, DType::F32);
    backend.run(Fill{.out = tensor, .value = value});
    return tensor;
}

inline float first(Backend& backend, const Tensor& tensor) {
    return to_host<float>(backend, tensor)[0];
}

// A repeated sequence is launched without its body.
inline void launches_what_comes_again(Backend& backend) {
    const Tensor x = filled(backend, 1.0F);
    const Tensor sum = filled(backend, 0.0F);
    int calls = 0;
    const auto add_twice = [&] {
        ++calls;
        const Tensor twice = backend.empty(x.shape, x.dtype);  // from the recordings' own memory
        backend.run(AddScaled{.a = x, .out = twice, .alpha = 2.0F});
        backend.run(AddScaled{.a = sum, .b = twice, .out = sum});
    };
    for (int run = 1; run <= 5; ++run) {
        backend.replay("add_twice", add_twice);
        CHECK(first(backend, sum) == 2.0F * static_cast<float>(run));
        CHECK(calls == std::min(run, 2));
        // Memory allocated between replays does not belong to the recording.
        const Tensor between = filled(backend, -7.0F);
        CHECK(first(backend, between) == -7.0F);
    }
    backend.run(Fill{.out = x, .value = 10.0F});  // what changes is read from the operands
    backend.replay("add_twice", add_twice);
    CHECK(first(backend, sum) == 30.0F);
    // Many in flight at once, between ops that touch the same memory.
    for (int run = 0; run < 100; ++run) {
        backend.run(Fill{.out = x, .value = static_cast<float>(run % 10)});
        backend.replay("add_twice", add_twice);
        backend.run(AddScaled{.a = sum, .out = sum, .alpha = run % 2 == 0 ? 2.0F : 0.5F});
    }
    double expected = 30.0;
    for (int run = 0; run < 100; ++run) {
        expected = (expected + 2.0 * (run % 10)) * (run % 2 == 0 ? 2.0 : 0.5);
    }
    CHECK(first(backend, sum) == static_cast<float>(expected));
    CHECK(calls == 2);
}

// Another key is another sequence.
inline void tells_runs_apart(Backend& backend) {
    const Tensor x = filled(backend, 1.0F);
    int calls = 0;
    const auto run = [&](const char* key, float factor) {
        backend.replay(key, [&] {
            ++calls;
            backend.run(AddScaled{.a = x, .out = x, .alpha = factor});
        });
    };
    for (int i = 0; i < 3; ++i) {
        run("triple", 3.0F);
    }
    CHECK(calls == 2);
    run("double", 2.0F);
    CHECK(calls == 3);
    CHECK(first(backend, x) == 27.0F * 2.0F);
}

// A body that does more than enqueue ops is rejected with an error, and the backend still works.
inline void refuses_other_than_ops(Backend& backend) {
    const Tensor x = filled(backend, 1.0F);
    Tensor kept;
    const auto refuses = [&](const std::string& name, const std::string& why, const std::function<void()>& other) {
        INFO(name);
        const auto body = [&] {
            backend.run(AddScaled{.a = x, .out = x, .alpha = 3.0F});
            other();
        };
        backend.run(Fill{.out = x, .value = 1.0F});
        backend.replay(name, body);  // the first time nothing is recorded
        kept = {};
        CHECK_THROWS_AS(backend.replay(name, body), CheckFailure);
        kept = {};
        CHECK_THROWS_WITH(backend.replay(name, body), Catch::Contains(why));
        kept = {};
        CHECK(first(backend, x) == 3.0F);  // what was to be recorded did not run
        backend.run(Fill{.out = x, .value = 5.0F});
        CHECK(first(backend, x) == 5.0F);
    };
    refuses("marks", "it recorded an event", [&] { backend.record_event(); });
    refuses("waits", "it waited for the device", [&] { backend.synchronize(); });
    refuses("uploads", "it uploaded", [&] { from_host(backend, x, std::vector<float>(1000, 3.0F)); });
    refuses("downloads", "it downloaded", [&] { to_host<float>(backend, x); });
    refuses("keeps", "what the body of a replay allocates must not outlive it", [&] { kept = filled(backend, 1.0F); });
}

}  // namespace headscope::replay_contract
