// What ranks tell each other by MPI besides the bytes of exchanges: words, failures, and that they are done. Nothing
// here waits. A rank has at most a few dozen words that another has not read yet: when that one is busy, only the
// newest counts.
#pragma once

#include <list>
#include <optional>
#include <string>
#include <vector>

#include "parallel/local_group.h"
#include "parallel/mpi_module.h"
#include "parallel/silence.h"

namespace headscope {

// Every function throws Error if MPI fails.
class MpiMail {
public:
    MpiMail(const mpi::Module& module, int rank, int size);
    MpiMail(const MpiMail&) = delete;
    MpiMail& operator=(const MpiMail&) = delete;

    // Reads what has arrived and sends what had to wait.
    void turn();

    // To all others.
    void say(const std::string& word, bool long_work);
    void stay();          // the last word again, to those who have read it
    bool unsaid() const;  // a word waits, since somebody has not read those before
    const HeardWord& word(int rank) const { return heard_[static_cast<std::size_t>(rank)]; }

    void send_failure(const std::string& reason, int exit_code);            // to rank 0
    const std::optional<RankFailure>& failure() const { return failure_; }  // at rank 0: the first that arrived
    void send_end();                                                        // to all others, which then end
    bool ended() const { return ended_; }
    void send_leave();  // to all others: this is the last letter
    bool left(int rank) const { return left_[static_cast<std::size_t>(rank)]; }
    bool has_read(int rank) const;  // all that was sent to it
    bool all_have_read() const;

    void close();  // after all have left

private:
    struct Letter {
        std::string text;
        mpi::Request request;
    };
    enum Tag : int { Word, LongWord, Failure, End, Leave };
    void send(int to, Tag tag, const std::string& text);
    void send_to_all(Tag tag);
    void send_word(int to);
    void drop_read_letters();
    void begin_receive();
    void read(const mpi::Arrival& arrival);

    const mpi::Module& module_;
    int rank_;
    int size_;
    std::string word_;
    bool long_work_ = false;
    std::vector<std::list<Letter>> sent_;  // to each rank, not read yet
    std::vector<bool> waits_;              // the word for each rank
    std::vector<char> letter_;             // that arrives
    mpi::Request receive_;
    std::vector<HeardWord> heard_;
    std::optional<RankFailure> failure_;
    bool ended_ = false;
    std::vector<bool> left_;
};

// Error for the text of a failed function of a module, if it is not null.
void check_mpi(const char* failed);

}  // namespace headscope
