// One device's part of a plan: every case by every path that shows something new.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "conformance/bench.h"
#include "conformance/harness.h"
#include "conformance/report.h"
#include "conformance/run.h"

namespace headscope::conformance {

class DeviceRun {
public:
    // `losses`: how often the device was lost, in all its runs. Error if the device cannot be opened; the calls below
    // throw if it cannot be opened again, or once the plan requests a stop.
    DeviceRun(const Plan& plan, const std::string& id, std::atomic<int>& losses);

    bool compiles_in_software() const { return info_.software && info_.backend == "vulkan"; }

    // `turn`: of the first case, different for each group.
    void examine(const Family& family, const Group& group, std::size_t turn);
    // Times the family's speeds.
    void time(const Family& family);

    // The results so far: the device's own choice first, then by path.
    DeviceReport report() const;

private:
    using Seen = std::set<std::vector<std::string>>;  // lists of kernels that ran already

    void begin(const Bench& bench, const Group& group, const Case& stored) const;
    void unless_lost(Bench& bench, const Family& family, const Group& group, const Case& stored,
                     const std::function<void()>& step);
    void lose(Bench& bench);
    void close_full(Bench& bench) const;
    bool by_turns() const;
    bool is_new(Bench& bench, Seen& seen, const std::function<std::vector<std::string>()>& kernels_of) const;

    void examine(const Family& family, const Group& group, const Case& stated, std::optional<std::size_t> turn);
    void examine(Bench& bench, Examination& examination, Seen& seen, const std::function<Result&()>& result_of);
    void time(const Family& family, const Group& group, const Case& stored);
    bool time(Bench& bench, const Family& family, const Group& group, const Case& stored, const HostValues& values,
              Seen& seen);

    const Plan& plan_;
    std::unique_ptr<Backend> oracle_;
    DeviceInfo info_;
    std::vector<Bench> benches_;  // the first is the device's own choice
    std::atomic<int>& losses_;
};

}  // namespace headscope::conformance
