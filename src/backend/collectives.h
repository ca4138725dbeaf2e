// For ranks that train together: how their devices send each other memory by themselves.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "tensor/tensor.h"

namespace headscope {

class Collectives {
public:
    Collectives() = default;
    Collectives(const Collectives&) = delete;
    Collectives& operator=(const Collectives&) = delete;
    virtual ~Collectives() = default;

    // Such as "NCCL 2.28.9". Error if what it needs is missing, too old or switched off.
    virtual std::string name() = 0;
    // Differs between devices, on whatever machine.
    virtual std::string device() const = 0;
    // Rank 0 makes it, and all ranks connect by it. Error if they cannot.
    virtual std::string invite() = 0;
    virtual void connect(const std::string& invitation, int rank, int size) = 0;

    // A contiguous tensor that goes to another rank, or comes from there.
    struct Part {
        int rank = 0;
        Tensor tensor;
    };
    // Follows what is enqueued and waits until all has arrived. What one rank sends another has there the same order
    // and sizes. Calls `while_waiting` now and then, which may throw. After an error nothing can be exchanged any more.
    virtual void exchange(std::span<const Part> sends, std::span<const Part> receives,
                          const std::function<void()>& while_waiting) = 0;
};

}  // namespace headscope
