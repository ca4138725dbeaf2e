#include "io/scratch.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "support/check.h"

namespace headscope {
namespace {

constexpr std::size_t kWriteAtOnce = std::size_t{1} << 20U;

std::string reason(int error) {
    return std::generic_category().message(error);
}

}  // namespace

Scratch::Scratch(std::string folder, std::size_t in_memory) : folder_(std::move(folder)), in_memory_(in_memory) {}

Scratch::Scratch(Scratch&& other) noexcept
    : folder_(std::move(other.folder_)),
      in_memory_(other.in_memory_),
      memory_(std::move(other.memory_)),
      pending_(std::move(other.pending_)),
      file_size_(std::exchange(other.file_size_, 0)),
      descriptor_(std::exchange(other.descriptor_, -1)) {}

Scratch::~Scratch() {
    if (descriptor_ >= 0) {
        ::close(descriptor_);
    }
}

void Scratch::open() {
    // Unlinked while open, because not every filesystem supports O_TMPFILE.
    std::string name = (std::filesystem::path(folder_) / "scratch-XXXXXX").string();
    descriptor_ = ::mkostemp(name.data(), O_CLOEXEC);
    if (descriptor_ < 0) {
        throw Error(fmt::format("cannot create a scratch file in '{}': {}", folder_, reason(errno)));
    }
    ::unlink(name.c_str());
}

void Scratch::flush() {
    if (descriptor_ < 0) {
        open();
    }
    std::size_t done = 0;
    while (done < pending_.size()) {
        const ssize_t written = ::pwrite(descriptor_, pending_.data() + done, pending_.size() - done,
                                         static_cast<off_t>(file_size_ + done));
        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written <= 0) {
            throw Error(fmt::format(
                "cannot write the scratch file in '{}' past {} MiB: {}; free some space, or choose a folder "
                "on another disk",
                folder_, (file_size_ + done) >> 20U, reason(written == 0 ? ENOSPC : errno)));
        }
        done += static_cast<std::size_t>(written);
    }
    file_size_ += pending_.size();
    pending_.clear();
}

std::uint64_t Scratch::append(const void* data, std::size_t bytes) {
    const std::uint64_t at = size();
    const auto* from = static_cast<const std::byte*>(data);
    const std::size_t kept = file_size_ + pending_.size() > 0 ? 0 : std::min(bytes, in_memory_ - memory_.size());
    memory_.insert(memory_.end(), from, from + kept);
    pending_.insert(pending_.end(), from + kept, from + bytes);
    if (pending_.size() >= kWriteAtOnce) {
        flush();
    }
    return at;
}

void Scratch::read(std::uint64_t at, void* into, std::size_t bytes) const {
    HEADSCOPE_CHECK(at + bytes <= size(), "read() past the appended bytes");
    auto* to = static_cast<std::byte*>(into);
    // Copies the requested part of a region that begins at `begin`.
    const auto copy_from = [&](const std::vector<std::byte>& region, std::uint64_t begin) {
        if (bytes > 0 && at >= begin && at < begin + region.size()) {
            const std::size_t count = std::min<std::size_t>(bytes, begin + region.size() - at);
            std::memcpy(to, region.data() + (at - begin), count);
            to += count;
            at += count;
            bytes -= count;
        }
    };
    copy_from(memory_, 0);
    const std::uint64_t pending_begin = memory_.size() + file_size_;
    while (bytes > 0 && at < pending_begin) {
        const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(bytes, pending_begin - at));
        const ssize_t got = ::pread(descriptor_, to, count, static_cast<off_t>(at - memory_.size()));
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            throw Error(fmt::format("cannot read the scratch file in '{}': {}", folder_,
                                    got == 0 ? "it is truncated" : reason(errno)));
        }
        to += got;
        at += static_cast<std::uint64_t>(got);
        bytes -= static_cast<std::size_t>(got);
    }
    copy_from(pending_, pending_begin);
}

}  // namespace headscope
