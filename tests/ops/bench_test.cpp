// A device opened by a path: what is known while it is open and closed.
#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <utility>

#include "backend/forwarding_backend.h"
#include "conformance/bench.h"

namespace headscope::conformance {

namespace {

// Reveals some of its abilities only in use.
class Secretive final : public ForwardingBackend {
public:
    Secretive(std::unique_ptr<Backend> inner, Secretive*& now) : ForwardingBackend(std::move(inner)) {
        info_.features = {{"matrices", "untried"}, {"vectors", "yes"}};
        now = this;
    }
    const DeviceInfo& device() const override { return info_; }
    void find_out(std::string what) { info_.features[0].second = std::move(what); }

private:
    DeviceInfo info_;
};

}  // namespace

TEST_CASE("what was found about a device stays when it is reopened", "[bench]") {
    Secretive* now = nullptr;
    Plan plan;
    plan.open = [&](const std::string&, const std::string&) {
        return std::make_unique<Secretive>(open_device("cpu"), now);
    };
    Bench bench(plan, "cpu", "");
    const auto says = [&] { return bench.info().features.at(0).second; };
    static_cast<void>(bench.backend());
    CHECK(says() == "untried");
    now->find_out("yes");
    CHECK(says() == "yes");
    bench.close();
    CHECK(says() == "yes");
    static_cast<void>(bench.backend());
    CHECK(now->device().features.at(0).second == "untried");
    CHECK(says() == "yes");
    now->find_out("no, it failed");
    CHECK(says() == "no, it failed");
    bench.close();
    bench.close();
    CHECK(says() == "no, it failed");
    CHECK(bench.info().features.at(1).second == "yes");
}

TEST_CASE("a closed device holds no kernels", "[bench]") {
    Plan plan;
    plan.open = [](const std::string&, const std::string&) { return open_device("cpu"); };
    Bench bench(plan, "cpu", "");
    static_cast<void>(bench.backend());
    bench.add_kernels({"a", "b"});
    bench.add_kernels({"b", "c"});
    CHECK(bench.kernels().size() == 3);
    bench.close();
    CHECK(bench.kernels().empty());
}

}  // namespace headscope::conformance
