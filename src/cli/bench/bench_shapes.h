// The sizes of a benchmark's model and batch, set by name, from a model, or one by one.
#pragma once

#include "cli/bench/bench_runs.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace headscope {

enum class BenchKind { Train, Translate, Complete, Ops };

struct BenchSizes {
    BenchShape shape;
    ModelConfig named = {};  // from --config or --model, before other options change it
};

// The default sizes.
BenchSizes default_sizes(BenchKind kind);

// Adds --config and --model. Call it first: later options override their choice, wherever they are on the command line.
void add_named_sizes(CLI::App& command, BenchKind kind, BenchSizes& sizes);
// Adds --sentences and --length, for batches with sides of equal length.
void add_batch_sizes(CLI::App& command, BenchSizes& sizes);
CLI::Option* add_sentences(CLI::App& command, BenchSizes& sizes);  // alone
// Adds an option for each size of the model.
void add_model_sizes(CLI::App& command, BenchSizes& sizes);

// Derives the remaining sizes, and from the layers the family. Error if they are not valid for a model.
void complete(BenchSizes& sizes);

}  // namespace headscope
