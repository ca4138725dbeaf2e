// The eager tape: each differentiable function runs at once and records its backward.
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
    // `backward` reads the gradient of its output and writes those of its inputs, including those of `parameters`
    // (variables in that list that are undefined or not parameters are ignored). `name` is for traces and messages.
    void record(std::string name, const std::vector<Var>& parameters, std::function<void(Backend&)> backward);

    // Runs the closures in reverse and frees each as soon as it has run. The gradients of the roots must have been
    // written before.
    void backward(Backend& backend);

    // What runs now ("encoder.0.self_attention"): a prefix of the names recorded from here on.
    void set_label(std::string label) { label_ = std::move(label); }

    std::size_t size() const { return entries_.size(); }

    // Called when no later closure of this pass writes this parameter's gradient (for overlapped all-reduce). Packed
    // parameters are passed packed. Inside Backend::replay() it is called every time the body runs.
    std::function<void(const Var& parameter)> on_final_gradient;

    // Called with the name of each closure before it runs, "encoder.0.self_attention.linear"; may be empty.
    std::function<void(const std::string& name)> on_backward;

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
