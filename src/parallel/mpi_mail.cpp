#include "parallel/mpi_mail.h"

#include <algorithm>

#include <fmt/format.h>

#include "support/check.h"

namespace headscope {
namespace {

// MPI sends messages of this length at once, without asking the receiver first.
constexpr std::size_t kLongest = 3000;
constexpr std::size_t kLongestWord = 160;
constexpr std::size_t kMostUnread = 32;

}  // namespace

void check_mpi(const char* failed) {
    if (failed != nullptr) {
        throw Error(
            fmt::format("MPI failed, {}: does the network between the hosts work? docs/mpi.md has advice", failed));
    }
}

MpiMail::MpiMail(const mpi::Module& module, int rank, int size)
    : module_(module),
      rank_(rank),
      size_(size),
      sent_(static_cast<std::size_t>(size)),
      waits_(static_cast<std::size_t>(size), false),
      letter_(kLongest),
      heard_(static_cast<std::size_t>(size)),
      left_(static_cast<std::size_t>(size), false) {
    left_[static_cast<std::size_t>(rank)] = true;
    begin_receive();
}

void MpiMail::begin_receive() {
    check_mpi(module_.receive(mpi::Control, mpi::kAny, mpi::kAny, letter_.data(), static_cast<int>(letter_.size()),
                              &receive_));
}

void MpiMail::turn() {
    for (;;) {
        mpi::Arrival arrival;
        check_mpi(module_.test(&receive_, &arrival));
        if (arrival.done == 0) {
            break;
        }
        read(arrival);
        begin_receive();
    }
    drop_read_letters();
    for (int to = 0; to < size_; ++to) {
        const auto at = static_cast<std::size_t>(to);
        if (waits_[at] && sent_[at].size() < kMostUnread) {
            send_word(to);
        }
    }
}

void MpiMail::read(const mpi::Arrival& arrival) {
    const auto from = static_cast<std::size_t>(arrival.from);
    const std::string text(letter_.data(), static_cast<std::size_t>(arrival.bytes));
    switch (arrival.tag) {
        case Word:
        case LongWord: heard_[from] = {heard_[from].count + 1, arrival.tag == LongWord, text}; break;
        case Failure:
            failure_ = failure_ ? failure_ : RankFailure{arrival.from, text.substr(1), static_cast<int>(text.front())};
            break;
        case End: ended_ = true; break;
        default: left_[from] = true;
    }
}

void MpiMail::drop_read_letters() {
    for (std::list<Letter>& letters : sent_) {
        letters.remove_if([&](Letter& letter) {
            mpi::Arrival arrival;
            check_mpi(module_.test(&letter.request, &arrival));
            return arrival.done != 0;
        });
    }
}

void MpiMail::send(int to, Tag tag, const std::string& text) {
    Letter& letter = sent_[static_cast<std::size_t>(to)].emplace_back();
    letter.text = text.substr(0, kLongest);
    check_mpi(module_.send(mpi::Control, to, tag, letter.text.data(), static_cast<int>(letter.text.size()), 1,
                           &letter.request));
}

void MpiMail::send_to_all(Tag tag) {
    for (int to = 0; to < size_; ++to) {
        if (to != rank_) {
            send(to, tag, "");
        }
    }
}

void MpiMail::send_word(int to) {
    waits_[static_cast<std::size_t>(to)] = false;
    send(to, long_work_ ? LongWord : Word, word_);
}

void MpiMail::say(const std::string& word, bool long_work) {
    word_ = word.substr(0, kLongestWord);
    long_work_ = long_work;
    for (int to = 0; to < size_; ++to) {
        const auto at = static_cast<std::size_t>(to);
        if (to != rank_ && sent_[at].size() < kMostUnread) {
            send_word(to);
        } else if (to != rank_) {
            waits_[at] = true;
        }
    }
}

void MpiMail::stay() {
    for (int to = 0; to < size_; ++to) {
        if (to != rank_ && sent_[static_cast<std::size_t>(to)].empty()) {
            send_word(to);
        }
    }
}

bool MpiMail::unsaid() const {
    return std::ranges::find(waits_, true) != waits_.end();
}

void MpiMail::send_failure(const std::string& reason, int exit_code) {
    send(0, Failure, static_cast<char>(exit_code) + reason);
}

void MpiMail::send_end() {
    send_to_all(End);
}

void MpiMail::send_leave() {
    waits_.assign(waits_.size(), false);
    send_to_all(Leave);
}

bool MpiMail::has_read(int rank) const {
    return sent_[static_cast<std::size_t>(rank)].empty();
}

bool MpiMail::all_have_read() const {
    return std::ranges::all_of(sent_, [](const std::list<Letter>& letters) { return letters.empty(); });
}

void MpiMail::close() {
    check_mpi(module_.cancel(&receive_));
}

}  // namespace headscope
