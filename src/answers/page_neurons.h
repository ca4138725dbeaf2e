// The queries and keys that a page of all heads shows.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "engine/work.h"
#include "explore/exploration.h"

namespace headscope {

struct PageNeurons {
    std::vector<NeuronView> neurons = {};
    std::vector<std::string> notes = {};  // why there are none, to display
};

// Of the heads of the record, until `most_bytes` (HeadsPageOptions::neuron_bytes) are full. `request`: that of the
// record, with its target.
PageNeurons page_neurons(const Place& place, const ExploreRequest& request, const AttentionRecord& record,
                         std::size_t most_bytes);

}  // namespace headscope
