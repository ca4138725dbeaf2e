// A learner's steps in shards, on one rank or many.
#include <cmath>
#include <cstring>
#include <span>
#include <vector>

#include <fmt/format.h>

#include "backend/ops/bias.h"
#include "backend/ops/elementwise.h"
#include "backend/ops/optimizer.h"
#include "data/device_batch.h"
#include "support/check.h"
#include "train/learner.h"

namespace headscope {
namespace {

// Of the sums of losses: loss, nll and what the objective measures.
std::int64_t width_of(const LearnerOptions& options) {
    return 2 + options.objective.measured();
}

std::string bytes_of(std::span<const double> numbers) {
    return {reinterpret_cast<const char*>(numbers.data()), numbers.size_bytes()};
}

std::vector<double> numbers_of(const std::string& bytes) {
    std::vector<double> numbers(bytes.size() / sizeof(double));
    std::memcpy(numbers.data(), bytes.data(), bytes.size());
    return numbers;
}

}  // namespace

void Learner::make_facts() {
    const std::int64_t losses = options_.shards * width_of(options_);
    const std::int64_t watched = watch_ ? watch_->count() : 0;
    facts_ = backend_.empty({losses + ShardedSum::kRanges + watched}, backend_.full_dtype());
    backend_.run(Fill{.out = facts_});
    if (watch_) {
        watch_->use(facts(losses + ShardedSum::kRanges, watched));
    }
}

// Whether the rank computed this one of the facts.
bool Learner::knows(std::int64_t fact, int rank) const {
    const std::int64_t width = width_of(options_);
    const std::int64_t losses = options_.shards * width;
    if (fact < losses) {
        return shards_of(rank, ranks().size(), options_.shards).contains(static_cast<int>(fact / width));
    }
    const ShardRange ranges = sum_->ranges_of(rank);
    const std::int64_t square = fact - losses;
    return square < ShardedSum::kRanges ? ranges.contains(static_cast<int>(square))
                                        : watch_->within(square - ShardedSum::kRanges, ranges);
}

void Learner::exchange_facts() {
    if (ranks().size() == 1) {
        return;
    }
    std::vector<double> numbers = to_host<double>(backend_, facts_);
    const std::vector<std::string> all = ranks().gather(bytes_of(numbers));
    for (int rank = 0; rank < ranks().size(); ++rank) {
        const std::vector<double> theirs = numbers_of(all[static_cast<std::size_t>(rank)]);
        for (std::size_t i = 0; i < numbers.size(); ++i) {
            if (knows(static_cast<std::int64_t>(i), rank)) {
                numbers[i] = theirs.at(i);
            }
        }
    }
    from_host(backend_, facts_, numbers);
}

// An empty shard has gradients and losses of 0.
void Learner::add_shards(const ShardParts& shards, const Tensor& balance_scale) {
    const std::int64_t width = width_of(options_);
    sum_->begin();
    for (int shard = sum_->mine().first; shard < sum_->mine().end; ++shard) {
        const std::vector<Batch>& parts = shards[static_cast<std::size_t>(shard)];
        const Tensor row = facts(shard * width, width);
        if (parts.empty()) {
            backend_.run(Fill{.out = parameters_.flat_gradients()});
            backend_.run(Fill{.out = row});
        } else {
            const LossSums sums = passes(parts, balance_scale);
            backend_.run(Copy{.x = sums.loss, .out = row.narrow(0, 0, 1)});
            backend_.run(Copy{.x = sums.nll, .out = row.narrow(0, 1, 1)});
            if (sums.measures.defined()) {
                backend_.run(Copy{.x = sums.measures, .out = row.narrow(0, 2, width - 2)});
            }
        }
        sum_->add(shard);
    }
}

// OutOfMemory on all ranks if one of them lacked memory; "": this one did not.
void Learner::require_memory(const std::string& lack) const {
    const std::vector<std::string> lacks = ranks().gather(lack);
    for (std::size_t rank = 0; rank < lacks.size(); ++rank) {
        if (!lacks[rank].empty()) {
            throw OutOfMemory(ranks().size() == 1
                                  ? lacks[rank]
                                  : fmt::format("{}: {}", ranks().name_of(static_cast<int>(rank)), lacks[rank]));
        }
    }
}

LossSums Learner::learn_shards(const ShardParts& shards, const Tensor& balance_scale, double learning_rate,
                               double divisor) {
    std::string lack;
    try {
        add_shards(shards, balance_scale);
    } catch (const OutOfMemory& error) {
        lack = error.what();
    }
    require_memory(lack);
    const std::int64_t width = width_of(options_);
    const std::int64_t losses = options_.shards * width;
    const auto finish = [&] {
        sum_->reduce();
        const ShardRange ranges = sum_->ranges_of(ranks().rank());
        for (int number = ranges.first; number < ranges.end; ++number) {
            const FlatRange range = sum_->range(number);
            backend_.run(SquareSum{.x = parameters_.flat_gradients().narrow(0, range.begin, range.elements),
                                   .out = facts(losses + number, 1)});
        }
        if (watch_) {
            watch_->measure(ranges);
        }
        exchange_facts();
        const Tensor square_sum = backend_.empty({1}, backend_.full_dtype());
        backend_.run(
            SumRows{.x = facts(losses, ShardedSum::kRanges).reshape({ShardedSum::kRanges, 1}), .out = square_sum});
        optimizer_.step(learning_rate, divisor, square_sum);
        sum_->share(parameters_.flat_values());
        if (ranks().size() > 1) {
            parameters_.refresh_working();
        }
        const Tensor total = backend_.empty({width}, backend_.full_dtype());
        backend_.run(SumRows{.x = facts(0, losses).reshape({options_.shards, width}), .out = total});
        LossSums sums{.loss = total.narrow(0, 0, 1), .nll = total.narrow(0, 1, 1)};
        if (width > 2) {
            sums.measures = total.narrow(0, 2, width - 2);
        }
        return sums;
    };
    if (ranks().size() == 1) {
        return finish();
    }
    try {
        return finish();
    } catch (const OutOfMemory& error) {  // the others go on with the step, so this one cannot repeat it
        throw Error(
            fmt::format("{}, after the gradients were computed: ask for smaller steps, or for parts by "
                        "\"training.micro_batch_tokens\"",
                        error.what()));
    }
}

// The sums over all batches, added in their order as the device would: [loss, nll, measures..].
std::vector<double> Learner::sums_of_batches(const Batcher& batcher, std::int64_t& counted) const {
    const std::int64_t width = width_of(options_);
    const auto add_batch = [&](const Batch& host, const LossSums& sums, Write write) {
        const DeviceBatch batch = upload(backend_, host);
        Context context{.backend = backend_, .compute = options_.arithmetic.compute};
        add(options_.objective.loss(context, *model_, batch, options_.loss), sums, write);
    };
    const auto row_of = [&](const LossSums& sums) {
        std::vector<double> row = {to_host<double>(backend_, sums.loss)[0], to_host<double>(backend_, sums.nll)[0]};
        if (width > 2) {
            const auto measures = to_host<double>(backend_, sums.measures);
            row.insert(row.end(), measures.begin(), measures.end());
        }
        return row;
    };
    counted = 0;
    if (ranks().size() == 1) {
        const LossSums sums = empty_sums();
        batcher.for_each_step(0, [&](const Batcher::Step& step) {
            const Batch host = batcher.batch(step);
            add_batch(host, sums, counted == 0 ? Write::Overwrite : Write::Accumulate);
            counted += host.counted();
        });
        return row_of(sums);
    }
    std::vector<LossSums> own;
    std::vector<double> mine;  // of own batches: what each counts, and its sums
    std::int64_t batches = 0;
    batcher.for_each_step(0, [&](const Batcher::Step& step) {
        if (batches++ % ranks().size() == ranks().rank()) {
            const Batch host = batcher.batch(step);
            ranks().announce(fmt::format("validation, batch {}", batches), Communicator::Takes::Long);
            add_batch(host, own.emplace_back(empty_sums()), Write::Overwrite);
            mine.push_back(static_cast<double>(host.counted()));
        }
    });
    for (const LossSums& sums : own) {
        const std::vector<double> row = row_of(sums);
        mine.insert(mine.end(), row.begin(), row.end());
    }
    std::vector<std::vector<double>> all;
    for (const std::string& bytes : ranks().gather(bytes_of(mine))) {
        all.push_back(numbers_of(bytes));
    }
    std::vector<double> sums(static_cast<std::size_t>(width), 0.0);
    for (std::int64_t batch = 0; batch < batches; ++batch) {
        const std::vector<double>& theirs = all[static_cast<std::size_t>(batch % ranks().size())];
        const auto columns = static_cast<std::size_t>(width);
        const std::size_t rows = theirs.size() / (1 + columns);
        const auto row = static_cast<std::size_t>(batch / ranks().size());
        counted += static_cast<std::int64_t>(theirs.at(row));
        for (std::size_t column = 0; column < columns; ++column) {
            const double sum = sums[column] + theirs.at(rows + row * columns + column);
            sums[column] = backend_.full_dtype() == DType::F32 ? static_cast<float>(sum) : sum;
        }
    }
    return sums;
}

}  // namespace headscope
