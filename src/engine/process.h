// The process that an engine belongs to: after fork() its threads are not there.
#pragma once

#include <unistd.h>

#include <memory>
#include <utility>

#include "engine/failures.h"

namespace headscope {

class OwnProcess {
public:
    bool left() const { return ::getpid() != id_; }
    // Forked in a child.
    void check() const {
        if (left()) {
            throw Forked("this engine belongs to the process before fork(): open one in the new process");
        }
    }

private:
    pid_t id_ = ::getpid();
};

// An object that only its own process destroys: threads that wait for it are not there in a child.
template <class Object, class... Arguments>
std::shared_ptr<Object> make_owned(Arguments&&... arguments) {
    return {new Object(std::forward<Arguments>(arguments)...), [process = OwnProcess()](Object* object) {
                if (!process.left()) {
                    delete object;
                }
            }};
}

}  // namespace headscope
