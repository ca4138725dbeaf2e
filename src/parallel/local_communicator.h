// A rank among ranks of one machine.
#pragma once

#include <chrono>

#include "parallel/communicator.h"
#include "parallel/local_group.h"

namespace headscope {

class LocalCommunicator final : public Communicator {
public:
    // `patience`: how long a rank may be silent while others wait for it; with long work twelve times as long.
    LocalCommunicator(LocalGroup& group, int rank, std::chrono::duration<double> patience);

    int rank() const override { return rank_; }
    int size() const override { return group_.size(); }
    void exchange(std::span<const std::span<const std::byte>> out, std::span<const std::span<std::byte>> in) override;
    void check() override;
    void announce(const std::string& what, Takes time = Takes::Short) override;
    void fail(const std::string& reason, int exit_code = 1) override;
    std::chrono::duration<double> patience() const override { return patience_; }
    void begin() override { group_.begin(); }

private:
    LocalGroup& group_;
    int rank_;
    std::chrono::duration<double> patience_;
};

}  // namespace headscope
