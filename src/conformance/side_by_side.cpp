#include "conformance/side_by_side.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "conformance/judge.h"
#include "conformance/run.h"
#include "conformance/speed.h"
#include "support/median.h"

namespace headscope::conformance {

namespace {

using Cases = std::map<std::pair<std::string, std::string>, Case>;  // by op and name

Cases cases_of(const Family& family, const Workload& work, const Arithmetic& arithmetic) {
    Cases found;
    for (const Case& stated : speed_cases(family, work, arithmetic)) {
        found.emplace(std::pair{stated.op_name(), stated.name}, stated);
    }
    return found;
}

class SideBySide {
public:
    SideBySide(const SpeedPlan& plan, const std::vector<Contender>& contenders)
        : plan_(plan), contenders_(contenders), rates_(contenders.size()) {}

    void time(const Family& family, std::vector<OpSpeeds>& found) {
        std::vector<Cases> cases;
        for (const Contender& contender : contenders_) {
            cases.push_back(cases_of(family, plan_.work, contender.arithmetic));
        }
        std::set<std::pair<std::string, std::string>> seen;
        for (const Case& stated : family.speeds(plan_.work)) {  // in the family's order
            const std::pair key{stated.op_name(), stated.name};
            if (!wanted(family, stated) || plan_.left_out.contains(key) || !seen.insert(key).second) {
                continue;
            }
            OpSpeeds op{
                .op = stated.op_name(), .family = family.name, .shape = stated.name, .length = 0, .devices = {}};
            time(key, cases, op);
            if (std::any_of(op.devices.begin(), op.devices.end(),
                            [](const DeviceSpeed& each) { return each.speed || !each.error.empty(); })) {
                found.push_back(std::move(op));
            }
        }
    }

private:
    bool wanted(const Family& family, const Case& stated) const {
        const std::vector<std::string>& ops = plan_.ops;
        return ops.empty() || std::find(ops.begin(), ops.end(), stated.op_name()) != ops.end() ||
               std::find(ops.begin(), ops.end(), family.name) != ops.end();
    }

    void time(const std::pair<std::string, std::string>& key, const std::vector<Cases>& cases, OpSpeeds& op) {
        op.devices.resize(contenders_.size());
        std::vector<std::unique_ptr<TimedCase>> timed(contenders_.size());
        for (std::size_t i = 0; i < contenders_.size(); ++i) {
            const auto stated = cases[i].find(key);
            if (stated == cases[i].end()) {
                op.devices[i].reason = "it has no weights to be stored in less";
                continue;
            }
            say(fmt::format("{}: {} {}", contenders_[i].backend.device().id, op.op, op.shape));
            timed[i] = prepare(i, stated->second, op.devices[i]);
        }
        for (int turn = 0; turn < plan_.repeat; ++turn) {
            for (std::size_t i = 0; i < contenders_.size(); ++i) {
                take_turn(timed[i], op.devices[i]);
            }
        }
        for (std::size_t i = 0; i < contenders_.size(); ++i) {
            if (timed[i]) {
                op.devices[i].speed = timed[i]->speed(median(op.devices[i].seconds));
                rates_[i][op.op] = std::max(rates_[i][op.op], op.devices[i].speed->giga_a_second());
            }
        }
    }

    // The case set up on a device and checked; null if it is not timed there.
    std::unique_ptr<TimedCase> prepare(std::size_t index, const Case& stated, DeviceSpeed& found) {
        Backend& device = contenders_[index].backend;
        found.precision = precision_of(stated, device.full_dtype());
        const Standing standing = standing_of(device, stated);
        for (const Shortfall& each : standing.shortfalls) {
            found.reason += (found.reason.empty() ? "" : "; ") + each.text();
        }
        const double expected = 1e-9 * stated.arithmetic / std::max(rates_[index][stated.op_name()], 1e-9);
        const bool is_too_slow = rates_[index][stated.op_name()] > 0.0 && expected > plan_.most_seconds;
        if (is_too_slow) {
            found.reason = fmt::format("one run would take about {:.1f} s", expected);
        }
        if (is_too_slow || standing.level == SupportLevel::None) {
            return nullptr;
        }
        found.level = standing.level;
        try {
            const Verdict verdict = judge_.verdict(device, stated);
            found.checked = verdict.reference;
            found.closeness = verdict.outcome.closeness;
            found.kernels = verdict.outcome.kernels;
            if (!verdict.outcome.complaints.empty()) {
                found.error = "its results are wrong: " + verdict.outcome.complaints.front();
            }
            if (!found.error.empty()) {
                return nullptr;
            }
            auto timed = std::make_unique<TimedCase>(device, stated, generate(stated));
            if (const std::string invalid_reason = timed->invalid_reason(); !invalid_reason.empty()) {
                found.error = "its results are wrong: " + invalid_reason;
                return nullptr;
            }
            return timed;
        } catch (const std::exception& error) {
            found.error = error.what();
            return nullptr;
        }
    }

    static void take_turn(std::unique_ptr<TimedCase>& timed, DeviceSpeed& found) {
        if (!timed) {
            return;
        }
        try {
            found.seconds.push_back(timed->seconds());
        } catch (const std::exception& error) {
            found.error = error.what();
            timed.reset();
        }
    }

    void say(const std::string& what) const {
        if (plan_.progress) {
            plan_.progress(what);
        }
    }

    const SpeedPlan& plan_;
    const std::vector<Contender>& contenders_;
    Judge judge_{plan_.open_options};
    std::vector<std::map<std::string, double>> rates_;  // the best of each op that counts operations, in 1e9 a second
};

}  // namespace

std::vector<OpSpeeds> time_side_by_side(const SpeedPlan& plan, const std::vector<Family>& families,
                                        const std::vector<Contender>& contenders) {
    std::vector<std::string> known;
    for (const Family& family : families) {
        if (family.speeds == nullptr) {
            continue;
        }
        known.push_back(family.name);
        for (const Case& stated : family.speeds(plan.work)) {
            known.push_back(stated.op_name());
        }
    }
    require_known_ops(plan.ops, known);
    SideBySide side_by_side(plan, contenders);
    std::vector<OpSpeeds> found;
    for (const Family& family : families) {
        if (family.speeds != nullptr) {
            side_by_side.time(family, found);
        }
    }
    return found;
}

}  // namespace headscope::conformance
