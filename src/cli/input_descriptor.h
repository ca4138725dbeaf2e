// Standard input ("-"), or a file that is closed in the destructor.
#pragma once

#include <string>

namespace headscope {

class InputDescriptor {
public:
    // Error if the file cannot be read.
    explicit InputDescriptor(const std::string& path);
    InputDescriptor(const InputDescriptor&) = delete;
    InputDescriptor& operator=(const InputDescriptor&) = delete;
    ~InputDescriptor();

    int get() const { return descriptor_; }
    const std::string& name() const { return name_; }  // for messages

private:
    bool owned_;
    int descriptor_;
    std::string name_;
};

}  // namespace headscope
