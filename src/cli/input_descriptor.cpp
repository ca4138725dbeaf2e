#include "cli/input_descriptor.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include <fmt/format.h>

#include "io/missing_file.h"

namespace headscope {

InputDescriptor::InputDescriptor(const std::string& path)
    : owned_(path != "-"),
      descriptor_(owned_ ? ::open(path.c_str(), O_RDONLY | O_CLOEXEC) : STDIN_FILENO),
      name_(owned_ ? "'" + path + "'" : "standard input") {
    if (descriptor_ < 0) {
        if (errno == ENOENT) {
            throw MissingFile(path, name_);
        }
        throw Error(fmt::format("cannot read '{}': {}", path, std::generic_category().message(errno)));
    }
}

InputDescriptor::~InputDescriptor() {
    if (owned_) {
        ::close(descriptor_);
    }
}

}  // namespace headscope
