#include "parallel/local_group.h"

#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <new>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "support/check.h"

namespace headscope {
namespace {

constexpr std::size_t kPipeBytes = std::size_t{1} << 18U;

// A text that one rank writes and others read, perhaps while it changes.
template <std::size_t N>
class SharedText {
public:
    void set(const std::string& text) {
        const std::size_t length = std::min(text.size(), N);
        for (std::size_t i = 0; i < length; ++i) {
            letters_[i].store(text[i], std::memory_order_relaxed);
        }
        length_.store(static_cast<unsigned>(length), std::memory_order_release);
    }
    std::string get() const {
        std::string text(std::min<std::size_t>(length_.load(std::memory_order_acquire), N), ' ');
        for (std::size_t i = 0; i < text.size(); ++i) {
            text[i] = letters_[i].load(std::memory_order_relaxed);
        }
        return text;
    }

private:
    std::atomic<unsigned> length_ = 0;
    std::array<std::atomic<char>, N> letters_ = {};
};

int futex(const std::atomic<unsigned>& word, int operation, unsigned value, const timespec* timeout) {
    return static_cast<int>(::syscall(SYS_futex, &word, operation, value, timeout, nullptr, 0));
}

std::string failure_text(const char* function) {
    return fmt::format(
        "ranks of one machine share memory, and {} failed: {}; raise the limits of memory and open files "
        "(ulimit -v, ulimit -n), or start fewer ranks",
        function, std::generic_category().message(errno));
}

}  // namespace

struct LocalGroup::Header {
    std::atomic<int> size = 0;
    std::atomic<int> failed = 0;  // the rank that failed first: its number plus 1
    std::atomic<bool> begun = false;
};

struct alignas(64) LocalGroup::Rank {
    std::atomic<unsigned> rings = 0;
    std::atomic<unsigned> words = 0;
    std::atomic<bool> long_work = false;
    SharedText<160> word;
    SharedText<8192> reason;  // why it failed
    std::atomic<int> exit_code = 0;
};

// Bytes from one rank to another: a ring of which the counters never go back.
struct alignas(64) LocalGroup::Pipe {
    std::atomic<std::uint64_t> written = 0;
    std::atomic<std::uint64_t> read = 0;
    std::array<std::byte, kPipeBytes> bytes;
};

std::size_t LocalGroup::bytes_for(int size) {
    const auto n = static_cast<std::size_t>(size);
    const std::size_t header = (sizeof(Header) + 63) / 64 * 64;
    return header + n * sizeof(Rank) + n * n * sizeof(Pipe);
}

LocalGroup::LocalGroup(int size)
    : descriptor_(::memfd_create("headscope-ranks", MFD_CLOEXEC)), size_(size), memory_(MAP_FAILED) {
    if (descriptor_ < 0) {
        throw Error(failure_text("memfd_create"));
    }
    // Pages take memory once they are used.
    const bool sized = ::ftruncate(descriptor_, static_cast<off_t>(bytes_for(size))) == 0;
    if (sized) {
        memory_ = ::mmap(nullptr, bytes_for(size), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, 0);
    }
    if (memory_ == MAP_FAILED) {
        const std::string text = failure_text(sized ? "mmap" : "ftruncate");
        ::close(descriptor_);
        throw Error(text);
    }
    // A new file is all zeros, which is what an object of atomics at 0 is; this only begins their life.
    new (memory_) Header;
    header().size = size;
}

LocalGroup::LocalGroup(int descriptor, int size, void* memory)
    : descriptor_(descriptor), size_(size), memory_(memory) {}

LocalGroup LocalGroup::of(int descriptor) {
    void* first = ::mmap(nullptr, sizeof(Header), PROT_READ, MAP_SHARED, descriptor, 0);
    if (first == MAP_FAILED) {
        throw Error(failure_text("mmap"));
    }
    const int size = static_cast<const Header*>(first)->size;
    ::munmap(first, sizeof(Header));
    void* memory = ::mmap(nullptr, bytes_for(size), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (size < 1 || memory == MAP_FAILED) {
        throw Error(failure_text("mmap"));
    }
    return {descriptor, size, memory};
}

LocalGroup::LocalGroup(LocalGroup&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      size_(other.size_),
      memory_(std::exchange(other.memory_, MAP_FAILED)) {}

LocalGroup::~LocalGroup() {
    if (memory_ != MAP_FAILED) {
        ::munmap(memory_, bytes_for(size_));
        ::close(descriptor_);
    }
}

int LocalGroup::size() const {
    return size_;
}

LocalGroup::Header& LocalGroup::header() const {
    return *static_cast<Header*>(memory_);
}

LocalGroup::Rank& LocalGroup::rank(int number) const {
    auto* ranks = reinterpret_cast<Rank*>(static_cast<std::byte*>(memory_) + (sizeof(Header) + 63) / 64 * 64);
    return ranks[number];
}

LocalGroup::Pipe& LocalGroup::pipe(int from, int to) const {
    auto* pipes = reinterpret_cast<Pipe*>(&rank(0) + size_);
    return pipes[from * size_ + to];
}

void LocalGroup::fail(const RankFailure& failure) {
    rank(failure.rank).exit_code = failure.exit_code;
    rank(failure.rank).reason.set(failure.reason);
    int nobody = 0;
    header().failed.compare_exchange_strong(nobody, failure.rank + 1);
    for (int other = 0; other < size_; ++other) {
        ring(other);
    }
}

bool LocalGroup::failed() const {
    return header().failed != 0;
}

std::optional<RankFailure> LocalGroup::failure() const {
    const int failed = header().failed;
    if (failed == 0) {
        return std::nullopt;
    }
    const int told = rank(0).reason.get().empty() ? failed - 1 : 0;
    return RankFailure{told, rank(told).reason.get(), rank(told).exit_code};
}

void LocalGroup::begin() {
    header().begun = true;
}

bool LocalGroup::begun() const {
    return header().begun;
}

std::size_t LocalGroup::write(int from, int to, std::span<const std::byte> bytes) {
    Pipe& way = pipe(from, to);
    const std::uint64_t written = way.written.load(std::memory_order_relaxed);
    const std::uint64_t room = kPipeBytes - (written - way.read.load(std::memory_order_acquire));
    const std::size_t at = written % kPipeBytes;
    const std::size_t count = std::min({bytes.size(), static_cast<std::size_t>(room), kPipeBytes - at});
    if (count > 0) {
        std::memcpy(way.bytes.data() + at, bytes.data(), count);
        way.written.store(written + count, std::memory_order_release);
        ring(to);
    }
    return count;
}

std::size_t LocalGroup::read(int from, int to, std::span<std::byte> bytes) {
    Pipe& way = pipe(from, to);
    const std::uint64_t read = way.read.load(std::memory_order_relaxed);
    const std::uint64_t there = way.written.load(std::memory_order_acquire) - read;
    const std::size_t at = read % kPipeBytes;
    const std::size_t count = std::min({bytes.size(), static_cast<std::size_t>(there), kPipeBytes - at});
    if (count > 0) {
        std::memcpy(bytes.data(), way.bytes.data() + at, count);
        way.read.store(read + count, std::memory_order_release);
        ring(from);
    }
    return count;
}

unsigned LocalGroup::rings(int number) const {
    return rank(number).rings.load();
}

void LocalGroup::wait(int number, unsigned rings, int milliseconds) const {
    const timespec timeout{.tv_sec = milliseconds / 1000, .tv_nsec = milliseconds % 1000 * 1'000'000L};
    futex(rank(number).rings, FUTEX_WAIT, rings, &timeout);
}

void LocalGroup::ring(int number) {
    rank(number).rings.fetch_add(1);
    futex(rank(number).rings, FUTEX_WAKE, INT_MAX, nullptr);
}

void LocalGroup::say(int number, const std::string& word, bool long_work) {
    Rank& speaker = rank(number);
    speaker.word.set(word);
    speaker.long_work = long_work;
    speaker.words.fetch_add(1);
}

void LocalGroup::stay(int number) {
    rank(number).words.fetch_add(1);
}

HeardWord LocalGroup::word(int number) const {
    const Rank& speaker = rank(number);
    return {speaker.words, speaker.long_work, speaker.word.get()};
}

}  // namespace headscope
