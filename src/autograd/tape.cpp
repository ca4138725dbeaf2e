#include "autograd/tape.h"

#include <utility>

#include "support/check.h"

namespace headscope {

void Tape::record(std::string name, const std::vector<Var>& parameters, std::function<void(Backend&)> backward) {
    Entry entry{label_.empty() ? std::move(name) : label_ + "." + name, {}, std::move(backward)};
    for (const Var& parameter : parameters) {
        if (parameter.defined() && parameter.requires_grad() && !parameter.name().empty()) {
            ++pending_[parameter.identity()];
            entry.parameters.push_back(parameter);
        }
    }
    entries_.push_back(std::move(entry));
}

void Tape::backward(Backend& backend) {
    while (!entries_.empty()) {
        const Entry entry = std::move(entries_.back());
        entries_.pop_back();
        if (on_backward) {
            on_backward(entry.name);
        }
        try {
            entry.backward(backend);
        } catch (const CheckFailure& failure) {
            throw CheckFailure("in the backward of " + entry.name + ": " + failure.what());
        }
        for (const Var& parameter : entry.parameters) {
            if (--pending_[parameter.identity()] == 0 && on_final_gradient) {
                on_final_gradient(parameter);
            }
        }
    }
    pending_.clear();
}

}  // namespace headscope
