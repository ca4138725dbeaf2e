// A device opened by one of its paths, and its results.
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

    // Opened on first use, and again after close().
    Backend& backend() {
        if (backend_ == nullptr) {
            backend_ = plan_.open(path_, id_);
            opened_ = backend_->device();
            real_ = backend_->full_dtype();
        }
        return *backend_;
    }
    void close() {
        info_ = info();
        backend_.reset();
        kernels_.clear();
    }
    // The device as last seen. Some of its abilities show only in use: what was found before a close() stays until it
    // is found again.
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
    // The kernels that ran since it was opened, if the device reports them.
    const std::set<std::string>& kernels() const { return kernels_; }
    void add_kernels(const std::vector<std::string>& names) { kernels_.insert(names.begin(), names.end()); }
    // Peak bytes of tensors since it was opened: what its pool may still hold.
    std::size_t peak_bytes() const { return backend_ == nullptr ? 0 : backend_->memory().peak; }
    const std::string& path() const { return path_; }

    // Works without opening the device, also for a lost one.
    Result& result(const Family& family, const Group& group, const Case& stated) {
        const std::string precision = precision_of(stated, real_);
        auto [at, is_new] =
            places_.try_emplace({family.name, group.name, stated.op_name(), precision}, results_.size());
        if (is_new) {
            results_.push_back({.op = stated.op_name(),
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
    DeviceInfo opened_;  // just after opening
    DeviceInfo info_;    // when it was closed
    DType real_ = DType::F32;
    std::set<std::string> kernels_;
    std::map<std::tuple<std::string, std::string, std::string, std::string>, std::size_t> places_;
    std::vector<Result> results_;
};

}  // namespace headscope::conformance
