#include "conformance/run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <tuple>

#include "conformance/harness.h"
#include "conformance/speed.h"
#include "support/check.h"

namespace headscope::conformance {

namespace {

using Clock = std::chrono::steady_clock;

// What is timed: enough work for the device, and not too much.
const Workload kOnCpus;
const Workload kOnGpus{.sentences = 256, .parameters = 60'000'000, .sides = {4096}};

bool has(const std::vector<std::string>& words, const std::string& word) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

// A device by one of its paths, and what was found out there.
class Bench {
public:
    Bench(const Plan& plan, std::string id, std::string path)
        : plan_(plan), id_(std::move(id)), path_(std::move(path)) {}

    // Opened when it is first used, and again after close().
    Backend& backend() {
        if (backend_ == nullptr) {
            backend_ = plan_.open(path_, id_);
        }
        return *backend_;
    }
    void close() {
        info_ = info();
        backend_.reset();
        kernels_.clear();
    }
    // The device as it was when it was last seen: some of what it can do shows only when it is used.
    DeviceInfo info() const { return backend_ == nullptr ? info_ : backend_->device(); }
    // The kernels that it was given since it was opened, as far as it tells.
    const std::set<std::string>& kernels() const { return kernels_; }
    std::vector<std::string> kernels_of(const Examination& examination) {
        std::vector<std::string> names = examination.kernels_on(backend());
        kernels_.insert(names.begin(), names.end());
        return names;
    }
    const std::string& path() const { return path_; }

    Result& result(const Family& family, const Group& group, const Case& stated) {
        const std::string precision = precision_of(stated, backend().real());
        auto [at, is_new] = places_.try_emplace({family.name, group.name, stated.op, precision}, results_.size());
        if (is_new) {
            results_.push_back({.op = stated.op,
                                .family = family.name,
                                .group = group.name,
                                .says = group.says,
                                .precision = precision,
                                .path = path_});
        }
        return results_[at->second];
    }
    std::vector<Result>& results() { return results_; }

private:
    const Plan& plan_;
    std::string id_;
    std::string path_;
    std::unique_ptr<Backend> backend_;
    DeviceInfo info_;
    std::set<std::string> kernels_;
    std::map<std::tuple<std::string, std::string, std::string, std::string>, std::size_t> places_;
    std::vector<Result> results_;
};

// The case in F32 and in every storage that it may be tried in.
std::vector<Case> stored_cases(const Group& group, const Case& stated) {
    std::vector<Case> all{stated};
    for (const DType dtype : group.is_large ? std::vector<DType>{} : storages_of(stated)) {
        all.push_back(stated.stored_in(dtype));
    }
    return all;
}

void note_standing(const Standing& standing, const Backend& device, const Case& stated, Result& result) {
    result.level = std::max(result.level, standing.level);
    result.shortfalls.insert(standing.shortfalls.begin(), standing.shortfalls.end());
    if (standing.owed) {
        result.complaints.push_back(
            fmt::format("{}: {}: every backend has to have this", device.device().id, stated.title()));
    }
}

void add(Result& result, const Case& stated, const Outcome& outcome) {
    ++result.cases;
    result.runs += outcome.runs;
    result.closeness.widen(outcome.closeness);
    result.kernels.insert(outcome.kernels.begin(), outcome.kernels.end());
    result.complaints.insert(result.complaints.end(), outcome.complaints.begin(), outcome.complaints.end());
    for (const Operand& operand : stated.operands) {
        if (const Tolerance tolerance = tolerance_of(stated, operand);
            operand.written() && tolerance.element >= result.tolerance.element) {
            result.tolerance = tolerance;
        }
    }
}

// One device's part of a plan.
class DeviceRun {
public:
    DeviceRun(const Plan& plan, const std::string& id) : plan_(plan), oracle_(open_device("cpu:oracle")) {
        benches_.emplace_back(plan, id, "");
        info_ = benches_.front().backend().device();
        for (const std::string& path : plan.full ? info_.paths : std::vector<std::string>{}) {
            benches_.emplace_back(plan, info_.id, path);
        }
    }

    DeviceReport operator()(const std::vector<Family>& families) {
        const auto begin = Clock::now();
        DeviceReport report;
        try {
            for (const Family& family : families) {
                examine(family);
            }
        } catch (const Error& error) {
            report.failure = error.what();  // it cannot be opened any more
        }
        report.device = benches_.front().info();
        for (Bench& bench : benches_) {
            report.results.insert(report.results.end(), bench.results().begin(), bench.results().end());
        }
        report.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
        return report;
    }

private:
    void examine(const Family& family) {
        for (const Group& group : family.groups) {
            if (group.is_large && !plan_.full) {
                continue;
            }
            say(family.name + ": " + group.says);
            for (const Case& stated : group.cases()) {
                examine(family, group, stated);
                close_full_paths();
            }
        }
        if (plan_.timed && family.speeds != nullptr) {
            time(family);
        }
    }

    // The first bench stays: what it says of the device in the end is what it has found out by then.
    void close_full_paths() {
        for (std::size_t path = 1; info_.software && path < benches_.size(); ++path) {
            if (benches_[path].kernels().size() > plan_.kernels_held) {
                benches_[path].close();
            }
        }
    }

    void say(const std::string& what) const {
        if (plan_.progress) {
            plan_.progress(info_.id + ": " + what);
        }
    }

    bool wanted(const Family& family, const Case& stated) const {
        if (!plan_.ops.empty() && !has(plan_.ops, stated.op) && !has(plan_.ops, family.name)) {
            return false;
        }
        const std::string precision = precision_of(stated);
        return plan_.dtypes.empty() ||
               std::any_of(plan_.dtypes.begin(), plan_.dtypes.end(), [&](const std::string& dtype) {
                   // Whole words: "f16" is none of "bf16 products".
                   return (" " + precision + " ").find(" " + dtype + " ") != std::string::npos ||
                          ("+" + precision + "+").find("+" + dtype + "+") != std::string::npos;
               });
    }

    void examine(const Family& family, const Group& group, const Case& stated) {
        for (const Case& stored : stored_cases(group, stated)) {
            if (!wanted(family, stored)) {
                continue;
            }
            Examination examination(*oracle_, stored);
            std::set<std::vector<std::string>> seen;
            for (Bench& bench : benches_) {
                unless_lost(bench, family, group, stored, [&] {
                    examine(bench, examination, seen, [&]() -> Result& { return bench.result(family, group, stored); });
                });
            }
        }
    }

    template <class ResultOf>
    void examine(Bench& bench, Examination& examination, std::set<std::vector<std::string>>& seen,
                 const ResultOf& result_of) {
        const Case& stored = examination.stated();
        const Standing standing = standing_of(bench.backend(), stored);  // what has a trial is tried by this
        if (standing.level == SupportLevel::None) {
            if (bench.path().empty()) {
                note_standing(standing, bench.backend(), stored, result_of());
            }
            return;
        }
        if (!is_new(examination, bench, seen)) {
            return;
        }
        Result& result = result_of();
        note_standing(standing, bench.backend(), stored, result);
        const Outcome outcome = examination.on(bench.backend());
        add(result, stored, outcome);
        if (outcome.lost) {
            bench.close();  // what comes is tried on a fresh one
        }
    }

    // Where `step` loses the device the case has failed, and what comes has a fresh one.
    template <class Step>
    void unless_lost(Bench& bench, const Family& family, const Group& group, const Case& stored, const Step& step) {
        try {
            step();
        } catch (const DeviceLost& error) {
            bench.close();
            bench.result(family, group, stored)
                .complaints.push_back(info_.id + ": " + stored.title() + ": " + error.what());
        }
    }

    // A path that runs what has been examined already shows nothing.
    bool is_new(const Examination& examination, Bench& bench, std::set<std::vector<std::string>>& seen) const {
        if (benches_.size() == 1) {
            return true;
        }
        try {
            return seen.insert(bench.kernels_of(examination)).second;
        } catch (const std::exception&) {
            return true;  // the examination says what is wrong
        }
    }

    void time(const Family& family) {
        const Group group{.name = "speed", .says = "how fast it is"};
        for (const Case& stated : family.speeds(info_.gpu ? kOnGpus : kOnCpus)) {
            for (const Case& stored : stored_cases(group, stated)) {
                if (wanted(family, stored)) {
                    Bench& bench = benches_.front();
                    unless_lost(bench, family, group, stored, [&] { time(bench, family, group, stored); });
                }
            }
        }
    }

    void time(Bench& bench, const Family& family, const Group& group, const Case& stored) {
        const Standing standing = standing_of(bench.backend(), stored);
        if (standing.level == SupportLevel::None) {
            return;
        }
        say("how fast is " + stored.title());
        Result& result = bench.result(family, group, stored);
        note_standing(standing, bench.backend(), stored, result);
        bench.backend().take_kernels();
        try {
            result.speeds.push_back(measure(bench.backend(), stored));
        } catch (const DeviceLost&) {
            throw;
        } catch (const std::exception& error) {
            result.complaints.push_back(info_.id + ": " + stored.title() + ": " + error.what());
        }
        for (const std::string& kernel : bench.backend().take_kernels()) {
            result.kernels.insert(kernel);
        }
    }

    const Plan& plan_;
    std::unique_ptr<Backend> oracle_;
    DeviceInfo info_;
    std::vector<Bench> benches_;  // the first is what the device chooses
};

// Of a device that cannot be opened, too: those before and after it have theirs.
DeviceReport report_of(const Plan& plan, const std::string& id, const std::vector<Family>& families) {
    std::optional<DeviceRun> device;
    try {
        device.emplace(plan, id);
    } catch (const Error& error) {
        DeviceReport report;
        report.device.id = id;
        report.failure = error.what();
        return report;
    }
    return (*device)(families);
}

// Error for a word that no case knows.
void require_known(const Plan& plan, const std::vector<Family>& families) {
    std::vector<std::string> ops;
    for (const Family& family : families) {
        ops.push_back(family.name);
        for (const Group& group : family.groups) {
            for (const Case& stated : group.is_large ? std::vector<Case>{} : group.cases()) {
                ops.push_back(stated.op);
            }
        }
    }
    require_known_ops(plan.ops, ops);
    const std::vector<std::string> dtypes{"f32", "f16", "bf16", "tf32", "i8", "i32"};
    for (const std::string& dtype : plan.dtypes) {
        if (!has(dtypes, dtype)) {
            throw Error(fmt::format("there is no dtype \"{}\"; there are: {}", dtype, fmt::join(dtypes, ", ")));
        }
    }
}

std::string lower(const char* name) {
    std::string text = name;
    std::transform(text.begin(), text.end(), text.begin(), [](unsigned char letter) { return std::tolower(letter); });
    return text;
}

}  // namespace

void require_known_ops(const std::vector<std::string>& wanted, const std::vector<std::string>& known) {
    std::vector<std::string> names;  // each once
    for (const std::string& name : known) {
        if (!has(names, name)) {
            names.push_back(name);
        }
    }
    for (const std::string& op : wanted) {
        if (!has(names, op)) {
            throw Error(fmt::format("there is no op or family \"{}\"; there are: {}", op, fmt::join(names, ", ")));
        }
    }
}

std::string precision_of(const Case& stated, DType real) {
    if (stated.storage) {
        return lower(name_of(*stated.storage));
    }
    if (stated.compute) {
        return lower(name_of(*stated.compute)) + " products";
    }
    std::set<DType> dtypes;  // in the order of the enumeration: the widest first
    for (const Operand& operand : stated.operands) {
        const DType dtype = stated.dtype_of(operand, real);
        if (operand.is_narrow) {
            return lower(name_of(dtype)) + " weights";
        }
        const bool is_index = dtype == DType::I32 && stated.operands.size() > 1 && !operand.written();
        if (!is_index) {
            dtypes.insert(dtype);
        }
    }
    std::vector<std::string> names;
    for (const DType dtype : dtypes) {
        names.push_back(lower(name_of(dtype)));
    }
    return fmt::format("{}", fmt::join(names, "+"));
}

Report run(const Plan& plan, const std::vector<Family>& families) {
    require_known(plan, families);
    Report report;
    report.scope = plan.full ? "full" : "quick";
    for (const std::string& id : plan.devices) {
        static_cast<void>(plan.open("", id));  // one that is not there is told before minutes are spent on others
    }
    for (const std::string& id : plan.devices) {
        report.devices.push_back(report_of(plan, id, families));
        if (report.devices.back().results.empty() && report.devices.back().failure.empty()) {
            throw Error(
                fmt::format("nothing was to be done on {}: no case has the ops and dtypes that were asked for", id));
        }
    }
    return report;
}

}  // namespace headscope::conformance
