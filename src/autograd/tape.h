// The eager tape: each differentiable function runs at once and records how to go back.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "autograd/variable.h"

namespace headscope {

class Tape {
public:
    // `backward` reads its output's gradient and writes those of its inputs, among them those of `parameters` (others
    // that are no parameters, or undefined, are ignored). `name` is for traces and messages.
    void record(std::string name, const std::vector<Var>& parameters, std::function<void(Backend&)> backward);

    // Runs the closures in reverse, each let go as soon as it has run, so that what it kept is freed. Gradients of the
    // roots must have been written before.
    void backward(Backend& backend);

    // What runs now ("encoder.0.self_attention"): goes before the names of what is recorded from here on.
    void set_label(std::string label) { label_ = std::move(label); }

    std::size_t size() const { return entries_.size(); }

    // Called when no later closure will write this parameter's gradient in this pass (for overlapped all-reduce). What
    // was recorded packed is handed over packed.
    std::function<void(const Var& parameter)> on_final_gradient;

    // Told the name of each closure before it runs, "encoder.0.self_attention.linear"; may be empty.
    std::function<void(const std::string& name)> on_replay;

private:
    struct Entry {
        std::string name;
        std::vector<Var> parameters;
        std::function<void(Backend&)> backward;
    };
    std::vector<Entry> entries_;
    std::string label_;
    std::map<const void*, int> pending_;  // entries that will still write a parameter's gradient
};

}  // namespace headscope
