// One rank of tests/mpi/mpi_test.sh: rank MODE [NUMBER] [PATIENCE].
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "parallel/mpi_ranks.h"
#include "support/check.h"

using namespace headscope;

namespace {

struct Vanishes {};  // thrown through everything without a word

Settings settings_of_environment() {
    Settings settings;
    for (char** entry = environ; *entry != nullptr; ++entry) {
        const std::string text = *entry;
        settings.set(text.substr(0, text.find('=')), text.substr(text.find('=') + 1));
    }
    return settings;
}

void say(const std::string& text) {
    std::fprintf(stderr, "rank: %s\n", text.c_str());
}

void sleep_for(double seconds) {
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

// The sizes and bytes of a round's messages, which every rank knows.
std::size_t bytes_of(int round, int from, int to) {
    static constexpr std::size_t kSizes[] = {0, 1, 7, 4096, 65536, 65537, 300'000, 3'000'001, 5'000'000};
    std::minstd_rand random(static_cast<unsigned>(round * 1009 + from * 31 + to + 1));
    random.discard(3);
    return kSizes[random() % std::size(kSizes)];
}

std::byte byte_of(int round, int from, int to, std::size_t at) {
    return static_cast<std::byte>(at * 131 + static_cast<std::size_t>(round * 7 + from * 3 + to));
}

// Returns a number that depends on every byte that arrived.
std::uint64_t exchange_once(Communicator& ranks, int round) {
    const auto size = static_cast<std::size_t>(ranks.size());
    std::vector<std::vector<std::byte>> sent(size);
    std::vector<std::vector<std::byte>> got(size);
    std::vector<std::span<const std::byte>> out(size);
    std::vector<std::span<std::byte>> in(size);
    for (int other = 0; other < ranks.size(); ++other) {
        const auto at = static_cast<std::size_t>(other);
        sent[at].resize(bytes_of(round, ranks.rank(), other));
        for (std::size_t i = 0; i < sent[at].size(); ++i) {
            sent[at][i] = byte_of(round, ranks.rank(), other, i);
        }
        got[at].resize(bytes_of(round, other, ranks.rank()));
        out[at] = sent[at];
        in[at] = got[at];
    }
    ranks.exchange(out, in);
    std::uint64_t digest = 14695981039346656037U;
    for (int other = 0; other < ranks.size(); ++other) {
        const std::vector<std::byte>& bytes = got[static_cast<std::size_t>(other)];
        for (std::size_t i = 0; i < bytes.size(); ++i) {
            HEADSCOPE_CHECK(bytes[i] == byte_of(round, other, ranks.rank(), i), "a byte is wrong");
            digest = (digest ^ static_cast<std::uint64_t>(bytes[i])) * 1099511628211U;
        }
    }
    return digest;
}

void exchange_all(Communicator& ranks) {
    std::uint64_t digest = 0;
    for (int round = 0; round < 12; ++round) {
        ranks.announce("round " + std::to_string(round));
        digest = digest * 31 + exchange_once(ranks, round);
    }
    const std::string mine = std::string(static_cast<std::size_t>(ranks.rank()) * 1000, 'a') + std::to_string(digest);
    std::string all;
    for (const std::string& text : ranks.gather(mine)) {
        all += text.substr(text.find_first_not_of('a')) + " ";
    }
    HEADSCOPE_CHECK(ranks.broadcast(ranks.leads() ? all : "other") == all, "the broadcast differs");
    if (ranks.leads()) {
        std::printf("%d ranks, digests %s\n", ranks.size(), all.c_str());
    }
}

// Rank 2 waits for rank 0, which waits for rank 1, which has announced long work.
void chain(Communicator& ranks, double patience) {
    const int rank = ranks.rank();
    std::byte byte = {};
    const auto pass = [&](int from, int to) {
        std::vector<std::span<const std::byte>> out(3);
        std::vector<std::span<std::byte>> in(3);
        if (rank == from) {
            out[static_cast<std::size_t>(to)] = {&byte, 1};
        } else if (rank == to) {
            in[static_cast<std::size_t>(from)] = {&byte, 1};
        }
        ranks.exchange(out, in);
    };
    if (rank == 1) {
        ranks.announce("checkpoint", Communicator::Takes::Long);
        sleep_for(2 * patience);
    }
    pass(1, 0);
    pass(0, 2);
}

void run(Communicator& ranks, const std::string& mode, int number, double patience) {
    const bool chosen = ranks.rank() == number;
    if (mode == "exchange") {
        exchange_all(ranks);
        return;
    }
    if (mode == "chain") {
        chain(ranks, patience);
    }
    for (int step = 0;; ++step) {
        ranks.announce("step " + std::to_string(step));
        if (step == 3 && mode == "long") {  // the others wait, and some for those who wait
            ranks.announce("checkpoint", chosen ? Communicator::Takes::Long : Communicator::Takes::Short);
            sleep_for(chosen ? 3 * patience : 0);
        } else if (step == 3 && mode == "chatter") {  // far more words than are kept for one who does not listen
            for (int word = 0; chosen && word < 1000; ++word) {
                ranks.announce("word " + std::to_string(word));
            }
            sleep_for(chosen ? 0 : 0.5 * patience);
            if (chosen) {
                ranks.announce("checkpoint", Communicator::Takes::Long);
                sleep_for(2 * patience);
            }
        } else if (step == 3 && (mode == "fail" || mode == "fail-busy") && chosen) {
            throw Error("the disk is full");
        } else if (step == 3 && mode == "fail-all") {
            throw Error("the disk of rank " + std::to_string(ranks.rank()) + " is full");
        } else if (step == 3 && mode == "fail-busy") {
            sleep_for(60);
        } else if (step == 3 && mode == "stop" && chosen) {
            ranks.announce("step 3, validation");
            std::raise(SIGSTOP);
        } else if (step == 3 && mode == "vanish" && chosen) {
            throw Vanishes();
        } else if (step == 3 && mode == "kill" && chosen) {
            std::raise(SIGKILL);
        }
        const std::clock_t before = std::clock();
        exchange_once(ranks, step);
        const double busy = static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC;
        HEADSCOPE_CHECK(mode != "long" || step != 3 || busy < patience, "waiting takes a processor");
        if (step == 6) {
            break;
        }
    }
    ranks.meet();
    if (mode == "last" && chosen) {  // all has been said; the others wait to end MPI
        sleep_for(0.5 * patience);
    }
    if (ranks.leads()) {
        std::printf("all %d ranks came through\n", ranks.size());
    }
}

int with_ranks(Communicator& ranks, const std::string& mode, int number, double patience) {
    try {
        run(ranks, mode, number, patience);
        return 0;
    } catch (const Vanishes&) {
        throw;
    } catch (const std::exception& error) {
        ranks.fail(error.what());
        return 1;
    }
}

}  // namespace

int main(int argc, char** argv) {
    const std::string mode = argc > 1 ? argv[1] : "exchange";
    const int number = argc > 2 ? std::atoi(argv[2]) : 0;
    const double patience = argc > 3 ? std::atof(argv[3]) : 60;
    constexpr std::size_t kPartBytes = 100'000;  // so that many messages have several parts
    try {
        const std::unique_ptr<MpiCommunicator> ranks = mpi_ranks(settings_of_environment(), patience, say, kPartBytes);
        if (!ranks) {
            std::printf("not started by MPI\n");
            return with_ranks(alone(), mode, number, patience);
        }
        if (mode == "places") {
            std::printf("rank %d of %d, %d of %d on its host\n", ranks->rank(), ranks->size(),
                        ranks->place().local_rank, ranks->place().local_size);
            return 0;
        }
        ranks->introduce(std::string("host ") + ranks->place().host + ", cpu");
        return with_ranks(*ranks, mode, number, patience);
    } catch (const Vanishes&) {
        return 1;
    } catch (const Error& error) {
        say(error.what());
        return 1;
    }
}
