#include "conformance/tune.h"

#include <fmt/format.h>

#include <memory>
#include <set>

#include "backend/product_ways.h"
#include "conformance/judge.h"
#include "support/check.h"
#include "support/median.h"

namespace headscope::conformance {

namespace {

constexpr double kNoise = 0.03;  // another way must be faster by more

class Tuner {
public:
    Tuner(Backend& device, ProductWays& ways, const TunePlan& plan) : device_(device), ways_(ways), plan_(plan) {}
    Tuner(const Tuner&) = delete;
    Tuner& operator=(const Tuner&) = delete;
    ~Tuner() { ways_.force(""); }

    ProductTuned tune(const Case& stated) {
        ProductTuned found{.shape = stated.name, .left_out = {}, .ways = {}, .kept = {}};
        if (!judge_.can_judge(device_, stated)) {
            found.left_out = "too large to compare with the oracle or the CPU";
            return found;
        }
        ways_.force("");
        const HostValues values = generate(stated);
        const TimedCase timed(device_, stated, values);
        const std::vector<std::string> names = ways_.ways();
        if (names.size() == 1) {
            found.left_out = "there is one way, " + names.front();
            return found;
        }
        for (const std::string& way : names) {
            found.ways.push_back({way, complaint(stated, way)});
        }
        time(timed, found);
        keep(timed, found);
        return found;
    }

private:
    std::string complaint(const Case& stated, const std::string& way) {
        say(fmt::format("{}: {} by {}", device_.device().id, stated.name, way));
        ways_.force(way);
        const Verdict verdict = judge_.verdict(device_, stated);
        return verdict.outcome.complaints.empty() ? "" : verdict.outcome.complaints.front();
    }

    // In turn, so that other load on the machine affects all ways alike.
    void time(const TimedCase& timed, ProductTuned& found) {
        std::vector<std::vector<double>> seconds(found.ways.size());
        for (int turn = 0; turn < plan_.repeat; ++turn) {
            for (std::size_t i = 0; i < found.ways.size(); ++i) {
                if (found.ways[i].complaint.empty()) {
                    ways_.force(found.ways[i].way);
                    seconds[i].push_back(plan_.seconds(timed));
                }
            }
        }
        for (std::size_t i = 0; i < found.ways.size(); ++i) {
            found.ways[i].seconds = seconds[i].empty() ? 0.0 : median(seconds[i]);
        }
    }

    void keep(const TimedCase& timed, ProductTuned& found) {
        const WayTried* best = nullptr;
        for (const WayTried& tried : found.ways) {
            if (tried.complaint.empty() && (best == nullptr || tried.seconds < (1.0 - kNoise) * best->seconds)) {
                best = &tried;
            }
        }
        if (best == nullptr) {
            return;
        }
        ways_.force(best->way);
        timed.seconds();  // so that this product is the last
        found.kept = best->way;
        found.on_disk = ways_.keep(best->way, best->seconds);
    }

    void say(const std::string& line) const {
        if (plan_.progress) {
            plan_.progress(line);
        }
    }

    Backend& device_;
    ProductWays& ways_;
    const TunePlan& plan_;
    Judge judge_{plan_.open_options};
};

}  // namespace

std::vector<ProductTuned> tune_products(Backend& device, const TunePlan& plan, const Family& products) {
    ProductWays* ways = device.product_ways();
    if (ways == nullptr) {
        throw Error(
            fmt::format("{} has one way to compute a product and nothing to tune; GPUs through Vulkan have several: "
                        "--device vulkan takes the first",
                        device.device().id));
    }
    if (const std::string why = ways->why_not_saved(); !why.empty()) {
        throw Error(why);
    }
    Tuner tuner(device, *ways, plan);
    std::set<std::string> seen;
    std::vector<ProductTuned> found;
    for (const Case& stated : speed_cases(products, plan.work, plan.arithmetic)) {
        if (seen.insert(stated.name).second) {
            found.push_back(tuner.tune(stated));
        }
    }
    return found;
}

}  // namespace headscope::conformance
