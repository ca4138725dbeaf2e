// A sequence of ops that its owner replays step after step, and what its ops depend on: Backend::replay_again.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "support/hash128.h"
#include "tensor/tensor.h"

namespace headscope {

class Capture;

// Adds a tensor's place, dtype and layout.
void add_operand(Hash128& hash, const Tensor& tensor);

// All that changes between two replays of a body and that its ops depend on: tensors by place, dtype and layout, not by
// their values, and numbers.
class Dependencies {
public:
    void add(const Tensor& tensor) { add_operand(hash_, tensor); }
    void add(std::int64_t number) { hash_.add(static_cast<std::uint64_t>(number)); }
    bool operator==(const Dependencies& other) const { return hash_.value() == other.hash_.value(); }

private:
    Hash128 hash_;
};

// Stands for the ops that a body enqueued under a name and with certain dependencies. With the same name and equal
// dependencies the body enqueues the same ops, so it need not be called to find that out; with any other it is. What is
// not stated (a model's weights) stays as it is while the sequence lives.
class RepeatedSequence {
public:
    // Null if nothing is known of this name and these dependencies.
    std::shared_ptr<const Capture> known(const std::string& name, const Dependencies& dependencies) const {
        return name == name_ && dependencies == dependencies_ ? ops_ : nullptr;
    }
    void remember(const std::string& name, const Dependencies& dependencies, std::shared_ptr<const Capture> ops) {
        name_ = name;
        dependencies_ = dependencies;
        ops_ = std::move(ops);
    }

private:
    std::string name_;
    Dependencies dependencies_;
    std::shared_ptr<const Capture> ops_;
};

}  // namespace headscope
