// Stacks of their own for the threads of an emulated block.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

namespace headscope::cuda_emulation {

// Runs one body after another on a stack of its own; between resume() and suspend() control is there.
class Fiber {
public:
    Fiber();
    Fiber(const Fiber&) = delete;
    Fiber& operator=(const Fiber&) = delete;
    ~Fiber();

    // Gives the idle fiber a body.
    void start(const std::function<void()>* body) { body_ = body; }
    // Goes on until a body suspends itself or ends. Called outside of any fiber.
    void resume();
    // Back to resume()'s caller. Called by the body.
    void suspend();
    // On to another fiber, without a word to resume()'s caller. Called by the body.
    void hand_over(Fiber& other);
    bool idle() const { return body_ == nullptr; }

private:
    static void enter();
    [[noreturn]] void loop();

    struct Context;
    std::unique_ptr<Context> context_;
    const std::function<void()>* body_ = nullptr;
};

}  // namespace headscope::cuda_emulation
