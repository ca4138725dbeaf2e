#include "conformance/by_length.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "support/check.h"

namespace headscope::conformance {

namespace {

using Key = std::pair<std::string, std::string>;  // op and name

std::vector<Key> keys_of(const std::vector<Family>& families, const Workload& work) {
    std::vector<Key> keys;
    for (const Family& family : families) {
        if (family.speeds != nullptr) {
            for (const Case& stated : family.speeds(work)) {
                keys.emplace_back(stated.op_name(), stated.name);
            }
        }
    }
    return keys;
}

// The cases of one length: which to time, and the number of each among those of its op.
struct Kinds {
    std::map<Key, std::size_t> timed;
    std::set<Key> left_out;
};

Kinds kinds_of(const SpeedPlan& plan, const std::vector<Family>& families) {
    Workload longer = plan.work;
    longer.length *= 2;
    const std::vector<Key> others = keys_of(families, longer);
    const std::set<Key> of_any_length(others.begin(), others.end());
    Kinds kinds;
    std::map<std::string, std::size_t> counts;
    for (const Key& key : keys_of(families, plan.work)) {
        const bool is_named = std::find(plan.ops.begin(), plan.ops.end(), key.first) != plan.ops.end();
        if (!is_named || of_any_length.contains(key)) {
            kinds.left_out.insert(key);
        } else if (kinds.timed.emplace(key, counts[key.first]).second) {
            ++counts[key.first];
        }
    }
    return kinds;
}

void compare(const OpSpeeds& before, OpSpeeds& now) {
    for (std::size_t i = 0; i < now.devices.size(); ++i) {
        const std::optional<Speed>& earlier = before.devices[i].speed;
        const std::optional<Speed>& later = now.devices[i].speed;
        if (earlier && later) {
            now.devices[i].growth = later->seconds / earlier->seconds;
        }
    }
}

}  // namespace

std::vector<OpSpeeds> time_by_length(const SpeedPlan& plan, const std::vector<std::int64_t>& lengths,
                                     const std::vector<Family>& families, const std::vector<Contender>& contenders) {
    std::map<std::pair<std::string, std::size_t>, std::vector<OpSpeeds>> series;  // by op and kind
    for (const std::int64_t length : lengths) {
        SpeedPlan one = plan;
        one.work.length = length;
        const Kinds kinds = kinds_of(one, families);
        one.left_out = kinds.left_out;
        for (OpSpeeds& found : time_side_by_side(one, families, contenders)) {
            found.length = length;
            std::vector<OpSpeeds>& earlier = series[{found.op, kinds.timed.at({found.op, found.shape})}];
            if (!earlier.empty()) {
                compare(earlier.back(), found);
            }
            earlier.push_back(std::move(found));
        }
    }
    std::vector<OpSpeeds> all;
    for (auto& [kind, speeds] : series) {
        std::move(speeds.begin(), speeds.end(), std::back_inserter(all));
    }
    if (all.empty()) {
        throw Error("none of these is an op whose time depends on the length, as of attention and attention_backward");
    }
    return all;
}

}  // namespace headscope::conformance
