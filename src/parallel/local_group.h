// The memory that ranks of one machine share: processes over an unnamed file, threads directly.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "parallel/silence.h"

namespace headscope {

// Why the ranks end.
struct RankFailure {
    int rank = 0;
    std::string reason;
    int exit_code = 1;  // of the command
};

// All functions may be called from several processes and threads at a time.
class LocalGroup {
public:
    // Error if the system gives no such memory.
    explicit LocalGroup(int size);
    // That of another process, by the descriptor that it passed on.
    static LocalGroup of(int descriptor);
    LocalGroup(LocalGroup&& other) noexcept;
    LocalGroup& operator=(LocalGroup&&) = delete;
    ~LocalGroup();

    int size() const;
    int descriptor() const { return descriptor_; }  // closed by exec, unless it is passed on

    void fail(const RankFailure& failure);
    bool failed() const;
    void begin();        // see Communicator::begin()
    bool begun() const;  // whether a rank called it
    // That of rank 0 if it has one, else the first.
    std::optional<RankFailure> failure() const;

    // As many bytes as there is room for; at most one thread at a time writes from one rank to another. Returns their
    // number.
    std::size_t write(int from, int to, std::span<const std::byte> bytes);
    // As many bytes as have arrived, likewise.
    std::size_t read(int from, int to, std::span<std::byte> bytes);

    // A rank's bell rings when something was written to it or read from it.
    unsigned rings(int rank) const;
    // Returns after a ring beyond `rings`, after `milliseconds`, or now and then without a reason.
    void wait(int rank, unsigned rings, int milliseconds) const;

    // The last word of a rank, and how often it spoke.
    void say(int rank, const std::string& word, bool long_work);
    void stay(int rank);  // speaks without a new word
    HeardWord word(int rank) const;

private:
    struct Header;
    struct Rank;
    struct Pipe;
    LocalGroup(int descriptor, int size, void* memory);
    static std::size_t bytes_for(int size);
    Header& header() const;
    Rank& rank(int number) const;
    Pipe& pipe(int from, int to) const;
    void ring(int rank);

    int descriptor_;
    int size_;
    void* memory_;
};

}  // namespace headscope
