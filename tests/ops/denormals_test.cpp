// Devices that flush denormals to 0, as Vulkan allows, and how far that may go.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backend/forwarding_backend.h"
#include "backend/ops/elementwise.h"
#include "backend/ops/layer_norm.h"
#include "backend/ops/matmul.h"
#include "conformance/cases/catalogue.h"
#include "conformance/harness.h"
#include "registry/registry.h"

using namespace headscope;
using namespace headscope::conformance;

namespace {

// Flushes denormals to 0 where they are read and written, and adds something to one of the results.
class Flushing final : public ForwardingBackend {
public:
    explicit Flushing(std::string spoilt = "", float added = 0.0F)
        : ForwardingBackend(open_device("cpu:oracle")), spoilt_(std::move(spoilt)), added_(added) {}

    using ForwardingBackend::run;
    void run(const Matmul& op) override {
        without_denormals(op.a, [&] { inner().run(op); });
        spoil("out", op.out);
    }
    void run(const AddLayerNorm& op) override {
        without_denormals(op.x, [&] { inner().run(op); });
        flush(op.sum);
        if (op.mean.defined()) {
            flush(op.mean);
        }
        spoil("sum", op.sum);
        spoil("mean", op.mean);
        spoil("y", op.y);
        spoil("rstd", op.rstd);
    }

private:
    Tensor whole(const Tensor& tensor) {
        return make_tensor(tensor.buffer, {static_cast<std::int64_t>(tensor.buffer->bytes() / 8)}, full_dtype());
    }

    void flush(const Tensor& tensor) {
        Values values = to_host<double>(inner(), whole(tensor));
        for (double& value : values) {
            value = std::abs(value) < 0x1p-126 ? 0.0 : value;
        }
        from_host<double>(inner(), whole(tensor), values);
    }

    template <class Run>
    void without_denormals(const Tensor& read, const Run& run) {
        const auto before = to_host<double>(inner(), whole(read));
        flush(read);
        const auto flushed = to_host<double>(inner(), whole(read));
        run();
        // Keeps what the op wrote in place.
        auto after = to_host<double>(inner(), whole(read));
        for (std::size_t i = 0; i < after.size(); ++i) {
            const bool is_written = after[i] != flushed[i] && !(std::isnan(after[i]) && std::isnan(flushed[i]));
            after[i] = is_written ? after[i] : before[i];
        }
        from_host<double>(inner(), whole(read), after);
    }

    void spoil(const std::string& output, const Tensor& out) {
        if (output != spoilt_ || !out.defined()) {
            return;
        }
        const Tensor added = inner().empty(out.shape, full_dtype());
        inner().run(Fill{.out = added, .value = added_});
        inner().run(AddScaled{.a = out, .b = added, .out = out, .alpha = 1.0F, .beta = 1.0F});
    }

    std::string spoilt_;
    float added_;
};

// Changes of outputs that must be noticed.
using Spoilt = std::map<std::string, float>;

// Runs the family's extreme cases on such a device: it passes as it is, and fails if it changes denormals otherwise.
void check_extremes(const Family& family, const Spoilt& spoilt) {
    const std::unique_ptr<Backend> oracle = open_device("cpu:oracle");
    const auto extreme = std::find_if(family.groups.begin(), family.groups.end(),
                                      [](const Group& group) { return group.name == "extreme"; });
    REQUIRE(extreme != family.groups.end());
    for (const Case& stated : extreme->cases()) {
        INFO(stated.name);
        Flushing flushing;
        CHECK(Examination(*oracle, stated).on(flushing).complaints == std::vector<std::string>{});
        for (const auto& [output, added] : spoilt) {
            INFO(output);
            Flushing off(output, added);
            const bool is_absent = std::none_of(stated.operands.begin(), stated.operands.end(),
                                                [&](const Operand& each) { return each.name == output; });
            const bool overlooks = is_absent || (added < 1e-20F && stated.name.find("denormal") == std::string::npos);
            CHECK(Examination(*oracle, stated).on(off).complaints.empty() == overlooks);
        }
    }
}

}  // namespace

TEST_CASE("a device may flush denormals to 0 in a product, but not change them otherwise", "[harness][matmul]") {
    check_extremes(matmul_cases::family(), {{"out", 1e-30F}});
}

TEST_CASE("a device may flush denormals to 0 in a norm, but not change them otherwise", "[harness][layer_norm]") {
    check_extremes(layer_norm_cases::family(), {{"sum", 1e-30F}, {"mean", 1e-30F}, {"y", 1e30F}, {"rstd", 1e30F}});
}
