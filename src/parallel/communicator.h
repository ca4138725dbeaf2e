// Ranks: processes or threads that train one model together. Everything that they tell each other passes through here,
// in host memory, and all of them make the same calls in the same order.
#pragma once

#include <chrono>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "support/check.h"

namespace headscope {

// Another rank has failed and says why, so that this one ends without a message of its own.
class OtherRankFailed : public Error {
public:
    OtherRankFailed() : Error("another rank failed") {}
};

class Communicator {
public:
    Communicator() = default;
    Communicator(const Communicator&) = delete;
    Communicator& operator=(const Communicator&) = delete;
    virtual ~Communicator() = default;

    virtual int rank() const = 0;  // from 0
    virtual int size() const = 0;  // the number of ranks

    // Sends out[r] to rank r and fills in[r] with what rank r sends here, for all ranks at once; what this rank sends
    // itself is copied. Both ends know the sizes. Waits until all has arrived. OtherRankFailed if a rank failed; Error
    // that names the rank if one has not answered for too long.
    virtual void exchange(std::span<const std::span<const std::byte>> out,
                          std::span<const std::span<std::byte>> in) = 0;
    // What this rank does next. Others that wait for it name its last word if it never answers; it may take longer if
    // that is known to be long.
    enum class Takes : unsigned char { Short, Long };
    virtual void announce(const std::string& what, Takes time = Takes::Short) = 0;
    // OtherRankFailed if a rank has failed. Does not wait.
    virtual void check() = 0;
    // Makes all ranks end, for the reason of the rank that failed first. `exit_code`: of the command.
    virtual void fail(const std::string& reason, int exit_code = 1) = 0;
    // How long a rank may be silent.
    virtual std::chrono::duration<double> patience() const = 0;
    // The long work begins: a failure from now on is none of the command line, the configuration or the data, and who
    // started the ranks may start them again.
    virtual void begin() {}

    bool leads() const { return rank() == 0; }
    // Everybody's `mine`, by rank.
    std::vector<std::string> gather(const std::string& mine);
    // Rank 0's `mine`, to all.
    std::string broadcast(const std::string& mine);
    // Returns when all ranks have called it.
    void meet() { gather(""); }
    // Tells the others what this rank is, such as "cpu on node3"; all ranks call it.
    void introduce(const std::string& name) { names_ = gather(name); }
    // "rank 3 (vulkan:1)".
    std::string name_of(int rank) const;

private:
    std::vector<std::string> names_;
};

// A program without other ranks.
class Alone final : public Communicator {
public:
    int rank() const override { return 0; }
    int size() const override { return 1; }
    void exchange(std::span<const std::span<const std::byte>> out, std::span<const std::span<std::byte>> in) override;
    void check() override {}
    void announce(const std::string& /*what*/, Takes /*time*/ = Takes::Short) override {}
    void fail(const std::string& /*reason*/, int /*exit_code*/ = 1) override {}
    std::chrono::duration<double> patience() const override { return std::chrono::duration<double>::max(); }
};

// The one that a program without other ranks uses.
Communicator& alone();

}  // namespace headscope
