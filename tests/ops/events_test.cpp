// Backend::record_event on every device.
#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <vector>

#include "backend/ops/elementwise.h"
#include "backend/ops/matmul.h"
#include "devices.h"
#include "registry/registry.h"
#include "support/check.h"
#include "tests/house/open_options.h"

using namespace headscope;
using namespace headscope::conformance;

namespace {

// A product that takes longer than a clock's resolution on any device.
class Work {
public:
    explicit Work(Backend& backend)
        : backend_(backend),
          a_(backend.empty({kSide, kSide}, backend.full_dtype())),
          out_(backend.empty({kSide, kSide}, backend.full_dtype())) {
        backend.run(Fill{.out = a_, .value = 1.0F});
        run();  // the first one may include one-time work
        backend.synchronize();
    }
    void run() const { backend_.run(Matmul{.a = a_, .b = a_, .out = out_}); }

private:
    static constexpr std::int64_t kSide = 96;
    Backend& backend_;
    Tensor a_, out_;
};

}  // namespace

TEST_CASE("events give the device's time between them", "[events]") {
    for (const std::string& id : devices_under_test()) {
        INFO(id);
        const std::unique_ptr<Backend> device = open_device(id, environment_options());
        const Work work(*device);
        double least_nothing = 1e9;
        double least_something = 1e9;
        for (int turn = 0; turn < 5; ++turn) {  // retried, since the machine may be busy
            const auto begin = std::chrono::steady_clock::now();
            const std::shared_ptr<Event> first = device->record_event();
            const std::shared_ptr<Event> second = device->record_event();
            for (int i = 0; i < 8; ++i) {
                work.run();
            }
            const std::shared_ptr<Event> third = device->record_event();
            third->wait();
            const std::chrono::duration<double> all = std::chrono::steady_clock::now() - begin;
            CHECK(third->reached());
            CHECK(first->reached());  // so is what came before
            const double nothing = second->seconds_since(*first);
            const double something = third->seconds_since(*second);
            CHECK(nothing >= 0.0);
            // A device's clock may run a little faster than the host's.
            CHECK(nothing + something < 1.1 * all.count());
            CHECK(third->seconds_since(*first) == Approx(nothing + something).margin(2e-6));
            least_nothing = std::min(least_nothing, nothing);
            least_something = std::min(least_something, something);
        }
        CHECK(least_something > 0.0);
        CHECK(least_something > least_nothing);
    }
}

TEST_CASE("any number of events can exist at once", "[events]") {
    for (const std::string& id : devices_under_test()) {
        INFO(id);
        const std::unique_ptr<Backend> device = open_device(id, environment_options());
        const Tensor x = device->empty({8}, device->full_dtype());
        for (int turn = 0; turn < 2; ++turn) {  // the second time they are those that were let go
            std::vector<std::shared_ptr<Event>> events{device->record_event()};
            for (int i = 0; i < 3000; ++i) {
                device->run(Fill{.out = x, .value = 1.0F});
                events.push_back(device->record_event());
            }
            events.back()->wait();
            double sum = 0.0;
            bool in_order = true;
            for (std::size_t i = 1; i < events.size(); ++i) {
                REQUIRE(events[i]->reached());
                const double length = events[i]->seconds_since(*events[i - 1]);
                in_order = in_order && length >= 0.0;
                sum += length;
            }
            CHECK(in_order);
            const double all = events.back()->seconds_since(*events.front());
            CHECK(all > 0.0);
            CHECK(sum == Approx(all).epsilon(0.01));
        }
    }
}

TEST_CASE("an event is reached without waiting for it", "[events]") {
    for (const std::string& id : devices_under_test()) {
        INFO(id);
        const std::unique_ptr<Backend> device = open_device(id, environment_options());
        const Work work(*device);
        work.run();
        const std::shared_ptr<Event> event = device->record_event();
        device->synchronize();
        CHECK(event->reached());
        event->wait();  // returns at once
    }
}

TEST_CASE("there is no time between events of two backends", "[events]") {
    const std::unique_ptr<Backend> other = open_device("cpu");
    const std::shared_ptr<Event> theirs = other->record_event();
    for (const std::string& id : devices_under_test()) {
        const std::unique_ptr<Backend> device = open_device(id, environment_options());
        if (device->device().backend == "cpu" || device->events().level != SupportLevel::Native) {
            continue;  // both use the host's clock
        }
        INFO(id);
        const std::shared_ptr<Event> ours = device->record_event();
        ours->wait();
        CHECK_THROWS_AS(ours->seconds_since(*theirs), CheckFailure);
        CHECK_THROWS_AS(theirs->seconds_since(*ours), CheckFailure);
    }
}
