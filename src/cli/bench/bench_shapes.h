// The sizes of a benchmark's model and batch: by name, of a model, and one by one.
#pragma once

#include "cli/bench/bench_runs.h"

namespace CLI {
class App;
}

namespace headscope {

enum class BenchKind { Train, Translate, Ops };

struct BenchSizes {
    BenchShape shape;
    ModelConfig named = {};  // as a name or a model had it, before other options changed it
};

// What is measured without a word of the user's.
BenchSizes default_sizes(BenchKind kind);

// --config and --model. First of all options: those after them change what they chose, wherever they stand in the
// command.
void add_named_sizes(CLI::App& command, BenchKind kind, BenchSizes& sizes);
// Of a batch whose sides are alike: --sentences and --length.
void add_batch_sizes(CLI::App& command, BenchSizes& sizes);
// Of the model, each by an option of its own.
void add_model_sizes(CLI::App& command, BenchSizes& sizes);

// What the options leave open: sizes that follow from others. Error where they fit no model.
void complete(BenchSizes& sizes);

}  // namespace headscope
