// A device by one of its paths, and what was found out there.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "conformance/harness.h"
#include "conformance/report.h"
#include "conformance/run.h"

namespace headscope::conformance {

class Bench {
public:
    Bench(const Plan& plan, std::string id, std::string path)
        : plan_(plan), id_(std::move(id)), path_(std::move(path)) {}

    // Opened when it is first used, and again after close().
    Backend& backend() {
        if (backend_ == nullptr) {
            backend_ = plan_.open(path_, id_);
            opened_ = backend_->device();
            real_ = backend_->real();
        }
        return *backend_;
    }
    void close() {
        info_ = info();
        backend_.reset();
        kernels_.clear();
    }
    // The device as it was when it was last seen. Some of what it can do shows only when it is used: what was found out
    // before a close() stays until it is found out again.
    DeviceInfo info() const {
        if (backend_ == nullptr) {
            return info_;
        }
        DeviceInfo now = backend_->device();
        for (std::size_t i = 0; i < std::min(now.features.size(), info_.features.size()); ++i) {
            if (now.features[i] == opened_.features[i] && now.features[i].first == info_.features[i].first) {
                now.features[i] = info_.features[i];
            }
        }
        return now;
    }
    // The kernels that it was given since it was opened, as far as it tells.
    const std::set<std::string>& kernels() const { return kernels_; }
    void add_kernels(const std::vector<std::string>& names) { kernels_.insert(names.begin(), names.end()); }
    // Of tensors, since it was opened: what its pool may still hold.
    std::size_t peak_bytes() const { return backend_ == nullptr ? 0 : backend_->memory().peak; }
    const std::string& path() const { return path_; }

    // Without opening it anew: of a device that was lost, too.
    Result& result(const Family& family, const Group& group, const Case& stated) {
        const std::string precision = precision_of(stated, real_);
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
    const std::vector<Result>& results() const { return results_; }

private:
    const Plan& plan_;
    std::string id_;
    std::string path_;
    std::unique_ptr<Backend> backend_;
    DeviceInfo opened_;  // as it was just opened
    DeviceInfo info_;    // when it was closed
    DType real_ = DType::F32;
    std::set<std::string> kernels_;
    std::map<std::tuple<std::string, std::string, std::string, std::string>, std::size_t> places_;
    std::vector<Result> results_;
};

}  // namespace headscope::conformance
